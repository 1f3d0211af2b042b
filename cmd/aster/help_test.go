package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/google/go-cmp/cmp"
)

// inProcess runs a command of aster that has to succeed, and returns its stdout.
func inProcess(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), &cli.Env{Args: args, Stdout: &out, Stderr: &errs, Docs: pages()}); code != cli.ExitOK {
		t.Fatalf("aster %s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// doc reads a page of help.
func doc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// same compares a page with what it has to be, or with -update writes it.
func same(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("docs", name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(doc(t, name), want); diff != "" {
		t.Errorf("docs/%s is stale (-file +program); run go test ./cmd/aster -run %s -update\n%s", name, t.Name(), diff)
	}
}

// TestHelpKeys keeps the list of keys in config.md that of the program.
func TestHelpKeys(t *testing.T) {
	const begin, end = "-update -->\n", "<!-- end -->"
	text := doc(t, "config.md")
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("config.md has no place for the keys")
	}
	var schema map[string]any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	lines := keyLines("", schema["properties"].(map[string]any)["mcp"].(map[string]any), "mcp")
	if len(lines) < 60 {
		t.Fatalf("only %d keys found", len(lines))
	}
	same(t, "config.md", before+begin+"\n```text\n"+strings.Join(lines, "\n")+"\n```\n\n"+end+after)
}

// keyLines are a key, what it is for, and the same of all below it.
func keyLines(above string, schema map[string]any, name string) (lines []string) {
	path := strings.TrimPrefix(above+"."+name, ".")
	about, _ := schema["description"].(string)
	if d, ok := schema["default"]; ok && d != false && d != "" {
		if enc, err := json.Marshal(d); err == nil {
			about += " Default: " + strings.Trim(string(enc), `"`) + "."
		}
	}
	if enum, ok := schema["enum"].([]any); ok {
		var words []string
		for _, v := range enum {
			words = append(words, fmt.Sprint(v))
		}
		about += " One of " + strings.Join(words, ", ") + "."
	}
	lines = append(lines, path, "    "+about)
	below := schema
	if each, ok := schema["additionalProperties"].(map[string]any); ok {
		below, path = each, path+".NAME"
	}
	if items, ok := schema["items"].(map[string]any); ok {
		below, path = items, path+"[]"
	}
	props, _ := below["properties"].(map[string]any)
	names := make([]string, 0, len(props))
	for n := range props {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		lines = append(lines, keyLines(path, props[n].(map[string]any), n)...)
	}
	return lines
}

// TestHelpCommands keeps commands.md the program's commands and flags.
func TestHelpCommands(t *testing.T) {
	same(t, "commands.md", inProcess(t, "man", "--markdown"))
}

// topics are the pages of help, by name.
func topicFiles(t *testing.T) map[string]string {
	t.Helper()
	out := inProcess(t, "help")
	files := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  aster help (\S+)`).FindAllStringSubmatch(out, -1) {
		files[m[1]] = doc(t, m[1]+".md")
	}
	for _, want := range []string{"config", "policy", "webmcp", "web", "bridge", "security", "embedding", "benchmarks", "exit-codes"} {
		if files[want] == "" {
			t.Errorf("help lists no topic %q", want)
		}
	}
	return files
}

// TestHelpNames looks up every command, flag and key that a topic names.
func TestHelpNames(t *testing.T) {
	files := topicFiles(t)
	var schema map[string]any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := "\n" + strings.Join(keyLines("", schema["properties"].(map[string]any)["mcp"].(map[string]any), "mcp"), "\n") + "\n"
	flag := regexp.MustCompile(`--[a-z][a-z-]+`)
	key := regexp.MustCompile("`(mcp\\.[a-z_.]+)")
	known := files["commands"] + files["exit-codes"]
	foreign := []string{"--remote-debugging-port"}
	for name, text := range files {
		for _, f := range flag.FindAllString(text, -1) {
			if !strings.Contains(known, f+" ") && !strings.Contains(known, f+"\n") && !slices.Contains(foreign, f) && f != "--help" {
				t.Errorf("%s.md names %s, which no command knows", name, f)
			}
		}
		for _, m := range key.FindAllStringSubmatch(text, -1) {
			if k := strings.TrimSuffix(m[1], "."); !strings.Contains(keys, "\n"+k+"\n") {
				t.Errorf("%s.md names the key %s, which does not exist", name, k)
			}
		}
		for c := range commandsIn(text) {
			first, _, _ := strings.Cut(strings.TrimPrefix(c, "help "), " ")
			if first != "COMMAND" && !strings.Contains(known, "\n## aster "+first+"\n") && files[first] == "" {
				t.Errorf("%s.md names the command aster %s", name, c)
			}
		}
	}
}

// TestHelpExitCodes compares exit-codes.md with the constants.
func TestHelpExitCodes(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("internal", "cli", "exit.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(v.Names[0].Name, "Exit") && len(v.Values) == 1 {
			want = append(want, v.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(\d+) +\S`).FindAllStringSubmatch(doc(t, "exit-codes.md"), -1) {
		if _, err := strconv.Atoi(m[1]); err == nil {
			got = append(got, m[1])
		}
	}
	if len(want) < 8 || !slices.Equal(got, want) {
		t.Errorf("exit-codes.md has the codes %v, the program %v", got, want)
	}
}

// TestHelpEnvironment wants every variable that the program reads in environment.md, and
// no other.
func TestHelpEnvironment(t *testing.T) {
	read := map[string]bool{}
	for _, dir := range []string{"cli", "config"} {
		files, err := filepath.Glob(filepath.Join("internal", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range regexp.MustCompile(`"(ASTER_[A-Z_]+|[A-Z_]+_API_(?:KEY|TOKEN)|CLOUDFLARE_[A-Z_]+|NO_COLOR)"`).FindAllStringSubmatch(string(text), -1) {
				read[m[1]] = true
			}
		}
	}
	if len(read) < 10 {
		t.Fatalf("only %d variables found", len(read))
	}
	text := doc(t, "environment.md")
	for name := range read {
		if !strings.Contains(text, name) {
			t.Errorf("environment.md lacks %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`\b(ASTER|EXA|CLOUDFLARE|[A-Z]+_API)_[A-Z_]+\b`).FindAllString(text, -1) {
		if !read[name] {
			t.Errorf("environment.md names %s, which nothing reads", name)
		}
	}
}
