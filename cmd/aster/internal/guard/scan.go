package guard

import (
	"fmt"
	"sort"

	"encoding/json"
)

// A Warning is something about a tool's definition that a user should know. It blocks
// nothing by itself; a hard one keeps a tool out of the baseline of [Pins], so that it
// waits for approval.
type Warning struct {
	Check string `json:"check"` // hidden, shadow, lookalike, encoded, phrase, secret, size, broken
	Field string `json:"field,omitempty"`
	Text  string `json:"text"` // one line, safe to show
	Hard  bool   `json:"hard,omitempty"`
}

// Bounds on detection. What is over is named in a warning, never silently skipped.
const (
	maxScanBytes    = 256 << 10 // of one field
	maxScanWarnings = 20        // of one tool
	maxScanStrings  = 20_000    // strings of a schema
)

// checks are what is looked for in every field of a definition, on its own.
var checks = []struct {
	name string
	run  func(field, text string) []Warning
}{
	{"hidden", hiddenWarnings},
	{"encoded", encodedWarnings},
	{"phrase", phraseWarnings},
	{"secret", secretWarnings},
}

// scanDefinition looks for what does not belong into a tool's definition. It needs no
// network, no files and no other program, takes time linear in the definition, and never
// fails: a check that breaks is a warning itself, and the others go on.
func scanDefinition(d definition) (out []Warning) {
	for i, field := range fieldNames {
		if field == "annotations" || d[i] == "" {
			continue
		}
		text := d[i]
		if len(text) > maxScanBytes {
			out = append(out, Warning{Check: "size", Field: field, Text: fmt.Sprintf("%s has %d bytes; only the first %d were checked", field, len(text), maxScanBytes)})
			text = cutBytes(text, maxScanBytes)
		}
		if field == "inputSchema" || field == "outputSchema" {
			text = schemaText(d[i])
		}
		for _, c := range checks {
			out = append(out, guarded(c.name, field, func() []Warning { return c.run(field, text) })...)
		}
	}
	out = append(out, guarded("lookalike", "name", func() []Warning { return mixedScripts(d[0]) })...)
	if len(out) > maxScanWarnings {
		// The hard ones first: they decide.
		sort.SliceStable(out, func(i, j int) bool { return out[i].Hard && !out[j].Hard })
		out = out[:maxScanWarnings]
	}
	return out
}

// guarded runs one check and turns its panic into a warning.
func guarded(name, field string, run func() []Warning) (out []Warning) {
	defer func() {
		if v := recover(); v != nil {
			out = []Warning{{Check: "broken", Field: field, Text: fmt.Sprintf("the check %q could not be made of %s", name, field)}}
		}
	}()
	return run()
}

func anyHard(ws []Warning) bool {
	for _, w := range ws {
		if w.Hard {
			return true
		}
	}
	return false
}

// schemaText is all text of a schema, escapes resolved, one string a line; the raw text
// where it cannot be read. Escapes would hide characters from the checks.
func schemaText(raw string) string {
	v, err := decodeStrict([]byte(raw))
	if err != nil {
		var s any
		if json.Unmarshal([]byte(raw), &s) != nil {
			return cutBytes(raw, maxScanBytes)
		}
		v = s
	}
	var b []byte
	n := 0
	var walk func(v any)
	add := func(s string) {
		if n++; n <= maxScanStrings && len(b)+len(s) < maxScanBytes {
			b = append(append(b, s...), '\n')
		}
	}
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			add(v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			for _, k := range keys {
				add(k)
				walk(v[k])
			}
		}
	}
	walk(v)
	return string(b)
}
