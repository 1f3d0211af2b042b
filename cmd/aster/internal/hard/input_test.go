//go:build unix

package hard_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

func TestInput(t *testing.T) {
	play(t, "input", []attack{
		{name: "config-types", did: pick("half of the keys of aster.yaml, each with a value", "each key of aster.yaml with values") + " of any type, against its JSON schema", run: inputConfig},
		{name: "config-text", did: "files that are no configuration: binary, bombs of aliases, deep nesting, odd encodings, devices", run: inputText},
		{name: "flags", did: pick("a flag of each command with nonsense", "each flag of each command with each kind of nonsense"), run: inputFlags},
		{name: "web-arguments", did: "each argument of the web tools at its bounds, beyond, and of a wrong type", run: func(a *arena) { inputArguments(a, "web", "--local-only", "--chromium", "off") }},
		{name: "webmcp-arguments", did: "each argument of the fixed tools at its bounds, beyond, and of a wrong type, with no browser", run: func(a *arena) { inputArguments(a, "webmcp", "--cdp-url", "http://127.0.0.1:1") }},
		{name: "bridge-arguments", did: fmt.Sprintf("%d wrong shapes of the arguments of aster_mcp", len(bridgeShapes)), run: inputBridge},
		{name: "lines", did: fmt.Sprintf("%d lines that are no request, between requests", len(hostileLines)), run: inputLines},
	})
}

// leaf is a key of the configuration's schema.
type leaf struct {
	path   []string // object keys; "*" of a map is filled with a name
	schema map[string]any
}

// leaves walks the properties of a schema.
func leaves(schema map[string]any, path []string) (found []leaf) {
	if len(path) > 0 {
		found = append(found, leaf{slices.Clone(path), schema})
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p, ok := properties[name].(map[string]any); ok && name != "$schema" {
			found = append(found, leaves(p, append(slices.Clone(path), name))...)
		}
	}
	if each, ok := schema["additionalProperties"].(map[string]any); ok {
		found = append(found, leaves(each, append(slices.Clone(path), "name"))...)
	}
	if items, ok := schema["items"].(map[string]any); ok && items["properties"] != nil {
		found = append(found, leaves(items, append(slices.Clone(path), "[]"))...)
	}
	return found
}

// oddValues are values of every type, as JSON.
var oddValues = []string{`"x"`, `""`, `-1`, `0`, `1.5`, `1e400`, `99999999999999999999`, `true`, `null`, `[]`, `[[]]`, `{}`, `{"x":{"y":[1]}}`, `"\u001b[2J"`, `"${NO_SUCH}"`}

// document puts a value at a path of an otherwise empty document.
func document(path []string, value string) string {
	for _, key := range slices.Backward(path) {
		if key == "[]" {
			value = "[" + value + "]"
		} else {
			value = "{" + quote(key) + ":" + value + "}"
		}
	}
	return value
}

func inputConfig(a *arena) {
	out, errs, code := a.run(nil, "config", "schema")
	if code != 0 {
		a.Fatal(errs)
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(out), &schema); err != nil {
		a.Fatal(err)
	}
	check, err := argcheck.New(json.RawMessage(out))
	if err != nil {
		a.Fatal(err)
	}
	keys := leaves(schema, nil)
	rnd, files, refused := random("config-types"), 0, 0
	for _, l := range keys {
		values := oddValues
		if !long {
			if rnd.IntN(2) == 0 {
				continue
			}
			values = []string{oddValues[rnd.IntN(len(oddValues))]}
		}
		for _, v := range values {
			text := document(l.path, v)
			file := a.write("aster.json.yaml", text)
			out, errs, code := a.run(nil, "config", "check", "--config", file)
			files++
			if code != 0 {
				refused++
			}
			wrong := ""
			if v != "1e400" { // YAML's reader takes a number beyond a double as text
				wrong = mismatch(check, text)
			}
			switch {
			case code == 0 && wrong != "":
				a.Errorf("%s: accepted, but the schema says: %s", text, wrong)
			case code != 0 && code != 1 && code != 2:
				a.Errorf("%s: exit code %d", text, code)
			case code != 0 && !strings.Contains(errs+out, "aster.json.yaml"):
				a.Errorf("%s: the error does not name the file: %s", text, errs+out)
			case strings.ContainsAny(errs+out, "\x1b\x00"):
				a.Errorf("%s: control characters: %q", text, errs+out)
			}
		}
	}
	a.holds("none accepted that the schema refuses, each error names the file")
	a.figure("%d keys, %d files, %d refused", len(keys), files, refused)
}

// mismatch says what is wrong with a document, "" if nothing is.
func mismatch(check *argcheck.Checker, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return ""
	}
	m, err := check.Check(json.RawMessage(text))
	if err != nil || m == nil {
		return ""
	}
	return m.Error()
}

func inputText(a *arena) {
	bomb := "x-a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("x-%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i)
	}
	texts := map[string]string{
		"binary": "\x7fELF\x00\x01\x02\xff\xfe", "bomb": bomb, "deep": "mcp: " + strings.Repeat("[", 20000), "deep-map": strings.Repeat("{a: ", 20000),
		"long-line": "x-l: " + strings.Repeat("y", 1<<20), "utf16": "\xff\xfem\x00c\x00p\x00:\x00", "nul": "mcp:\x00 {}", "bad-utf8": "x-a: \xff\xc0\x80",
		"recursive": "x-a: &a {b: *a}", "merge": "x-a: &a {mcp: {servers: {s: {command: sh}}}}\n<<: *a\n", "tags": "!!python/object/apply:os.system [touch pwned]",
		"twice": "mcp: {servers: {}}\nmcp: {servers: {}}\n", "documents": "mcp: {}\n---\nmcp: {servers: {evil: {command: sh}}}\n", "escape": "\"\\e[2J\": 1\n", "cr": "mcp:\r  servers:\r", "tabs": "mcp:\n\tservers: {}\n",
		"many": "mcp:\n  servers:\n" + strings.Repeat("    s: {command: x}\n", 2000), "numbers": "mcp: {call_timeout: 0x1p-2, search_limit: 1_0, context_tokens: .inf}",
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		file := a.write(name+".yaml", texts[name])
		begun := time.Now()
		out, errs, code := a.run(nil, "config", "check", "--config", file)
		if code < 0 || code > 2 || code != 0 && errs+out == "" {
			a.Errorf("%s: exit code %d, %q", name, code, errs)
		}
		if strings.ContainsAny(errs+out, "\x1b\x00") || len(errs+out) > 64<<10 {
			a.Errorf("%s: %d bytes of %.300q", name, len(errs+out), errs+out)
		}
		if took := time.Since(begun); took > slackTime {
			a.Errorf("%s took %v", name, took)
		}
	}
	for _, file := range []string{a.dir, filepath.Join(a.dir, "none"), "/dev/null", "/dev/zero", "/proc/self/mem"} {
		if _, errs, code := a.run(nil, "config", "check", "--config", file); code > 2 || code != 0 && errs == "" {
			a.Errorf("%s: exit code %d, %q", file, code, errs)
		}
	}
	if exists(filepath.Join(a.dir, "pwned")) {
		a.Error("a tag of a file ran a program")
	}
	a.holds("each read or refused with a reason, in bounded time")
	a.figure("%d files", len(texts)+5)
}

var (
	commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +\S`)
	flagLine    = regexp.MustCompile(`(?m)^ +(?:-\w, |    )--([a-z-]+)( \S+)?   `)
)

// skipCommands do what a nonsense flag does not keep them from: start a browser or a
// daemon, wait for a person, or run until they are stopped.
var skipCommands = []string{"demo", "help", "completion", "login", "ui"}

// commands finds the commands below one, by their help, with the flags that each has.
func (a *arena) commands(path ...string) map[string][]string {
	a.Helper()
	out, errs, code := a.run(nil, append(slices.Clone(path), "--help")...)
	if code != 0 {
		a.Fatalf("%q --help: %s", path, errs)
	}
	found := map[string][]string{}
	for _, m := range flagLine.FindAllStringSubmatch(out, -1) {
		flag := m[1]
		if m[2] != "" {
			flag += "="
		}
		found[strings.Join(path, " ")] = append(found[strings.Join(path, " ")], flag)
	}
	if _, list, ok := strings.Cut(out, "Available Commands:\n"); ok {
		list, _, _ = strings.Cut(list, "\n\n")
		for _, m := range commandLine.FindAllStringSubmatch(list, -1) {
			if !slices.Contains(skipCommands, m[1]) {
				maps.Copy(found, a.commands(append(slices.Clone(path), m[1])...))
			}
		}
	}
	return found
}

var nonsense = []string{"", "-1", "99999999999999999999", "\x1b[2Jx", "$(touch pwned)", "../../../../etc/passwd", "NaN", "%s%n", "\xff\xfe", strings.Repeat("long", 5000), "--help=", "null\n[error]"}

func inputFlags(a *arena) {
	a.config(nil)
	rnd, runs, wrong := random("flags"), 0, map[int]int{}
	commands := a.commands()
	for _, command := range slices.Sorted(maps.Keys(commands)) {
		flags := commands[command]
		if !long {
			rnd.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
			flags = flags[:min(len(flags), 1)]
		}
		for _, flag := range flags {
			values := nonsense
			if !long {
				values = []string{nonsense[rnd.IntN(len(nonsense))]}
			}
			for _, v := range values {
				args := append(strings.Fields(command), "--"+strings.TrimSuffix(flag, "=")+"="+v)
				if flag != "cdp-url=" && strings.Contains(command, "webmcp") {
					args = append(args, "--cdp-url", "http://127.0.0.1:1")
				}
				// No browser, no network: what is not refused at once ends soon.
				out, errs, code := a.run([]string{"PATH=/nonexistent", "ASTER_WEBMCP_CDP_URL=http://127.0.0.1:1"}, args...)
				runs++
				wrong[code]++
				if !slices.Contains([]int{0, 1, 2, 3, 4, 10, 11, 12}, code) {
					a.Errorf("aster %q: exit code %d; stderr:\n%.500s", args, code, errs)
				}
				if code != 0 && errs == "" && out == "" {
					a.Errorf("aster %q: exit code %d without a word", args, code)
				}
				if strings.ContainsAny(errs, "\x1b\x00") || len(errs) > 64<<10 {
					a.Errorf("aster %.200q: stderr %d bytes: %.300q", args, len(errs), errs)
				}
			}
		}
	}
	if exists(filepath.Join(a.dir, "pwned")) {
		a.Error("a shell read a flag")
	}
	a.holds("each ends with a documented exit code and a reason, no control character on stderr")
	a.figure("%d commands, %d runs, exit codes %v", len(commands), runs, wrong)
}

// inputArguments calls each tool of a built-in server with values at and beyond the bounds
// that its schema states, one argument at a time.
func inputArguments(a *arena, server string, args ...string) {
	a.config(nil, "policy: {approve: never}")
	c := a.open(nil, append([]string{"mcp", "serve", server}, args...)...)
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(c.must("tools/list", `{}`).Result, &list); err != nil || len(list.Tools) == 0 {
		a.Fatal(err)
	}
	var all times
	calls, refused := 0, 0
	for _, t := range list.Tools {
		for _, name := range slices.Sorted(maps.Keys(t.InputSchema.Properties)) {
			for _, v := range boundValues(t.InputSchema.Properties[name]) {
				arguments := map[string]json.RawMessage{}
				for _, r := range t.InputSchema.Required {
					arguments[r] = harmless(r, t.InputSchema.Properties[r])
				}
				arguments[name] = json.RawMessage(v)
				raw, err := json.Marshal(arguments)
				if err != nil {
					a.Fatal(err)
				}
				begun := time.Now()
				text, failed := c.call(t.Name, string(raw)).isError()
				all.add(time.Since(begun), nil)
				calls++
				if failed {
					refused++
				}
				if text == "" && failed {
					a.Errorf("%s %.200s: an error without a word", t.Name, raw)
				}
			}
		}
		for _, whole := range []string{`{}`, `null`, `[]`, `"x"`, `{"no_such_argument":1}`} {
			if text, failed := c.call(t.Name, whole).isError(); failed && text == "" {
				a.Errorf("%s %s: an error without a word", t.Name, whole)
			}
		}
	}
	all.report(a)
	a.holds("each answered, errors say what is wrong")
	a.figure("%d tools, %d calls, %d refused", len(list.Tools), calls, refused)
	c.close()
}

// harmless is a value for a required argument that reaches nothing.
func harmless(name string, schema map[string]any) json.RawMessage {
	text := "x"
	if strings.Contains(name, "url") {
		text = "http://127.0.0.1:1/"
	}
	switch schema["type"] {
	case "array":
		return json.RawMessage(`[` + quote(text) + `]`)
	case "object":
		return json.RawMessage(`{}`)
	case "integer", "number":
		return json.RawMessage(`1`)
	case "boolean":
		return json.RawMessage(`false`)
	}
	return json.RawMessage(quote(text))
}

// boundValues are values at and beyond the bounds of an argument, and of other types.
func boundValues(schema map[string]any) (values []string) {
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if n, ok := schema[key].(float64); ok {
			values = append(values, fmt.Sprint(int64(n)), fmt.Sprint(int64(n)-1), fmt.Sprint(int64(n)+1))
		}
	}
	for _, key := range []string{"minLength", "maxLength"} {
		if n, ok := schema[key].(float64); ok && n < 1<<20 {
			values = append(values, quote(strings.Repeat("l", int(n))), quote(strings.Repeat("l", int(n)+1)))
		}
	}
	for _, key := range []string{"minItems", "maxItems"} {
		if n, ok := schema[key].(float64); ok && n < 1<<12 {
			values = append(values, "["+strings.Repeat(`"i",`, int(n))+`"i"]`)
		}
	}
	values = append(values, `null`, `true`, `-1`, `1e99`, `99999999999999999999`, `1.5`, `""`, `"nonsense"`, `"\u0000\u001b[2J"`, `"\ud800"`, `[]`, `[null]`, `[[[]]]`, `{}`, `{"a":{"b":1}}`, quote(strings.Repeat("x", pick(1<<12, 1<<20))))
	return values
}
