//go:build unix

package hard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// colour is the one kind of sequence that aster itself writes to a terminal.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// steers says which character of what a terminal got could move it or hide text, "" for
// none.
func steers(got string) string {
	for _, r := range colour.ReplaceAllString(got, "") {
		if !strings.ContainsRune("\n\r\t", r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// steering is text that a terminal would obey: it clears, names the window, sets a link,
// speaks in 8 bits, turns the direction of text, hides letters, asks the terminal to type.
const steering = "Reads \x1b[2J\x1b]0;pwned\x07\x1b]8;;http://evil.example\x1b\\\u009b6n\u202egnp\u200b\u2066\U000e0041\x08\x1b[c now"

// serverTerminal shows names and words of a server on a terminal, in lists and in a
// question.
func serverTerminal(a *arena) {
	object := `{"type":"object","properties":{"text":{"type":"string","description":` + quote(steering) + `}}}`
	file := a.write("list.json", `{"tools":[{"name":"talk","title":`+quote(steering)+`,"description":`+quote(steering)+`,"inputSchema":`+object+`},{"name":`+quote(steering)+`,"description":"d","inputSchema":{"type":"object"}},{"name":"plain","description":"Acts","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}`)
	instructions := a.write("instructions", steering)
	a.config([]string{"some: file " + file + " " + instructions})
	seen := 0
	for _, args := range [][]string{
		{"mcp", "list"}, {"mcp", "list", "--changes"}, {"mcp", "tools"}, {"mcp", "describe", "some/talk"}, {"mcp", "search", "reads"}, {"mcp", "doctor"}, {"mcp", "approve", "some"}, {"mcp", "tools"}, {"mcp", "describe", "some/talk"},
		{"mcp", "call", "some/talk", `{"text":` + quote(steering) + `}`}, {"mcp", "call", "some/plain", `{"text":` + quote(steering) + `}`}, {"mcp", "call", "some/" + steering, "{}"}, {"mcp", "log"}, {"mcp", "stats"},
	} {
		got := a.terminal(nil, "y", args...)
		if got == "" && args[1] != "tools" { // all wait for approval at first
			a.Errorf("aster %q shows nothing", args[:2])
		}
		if r := steers(got); r != "" {
			a.Errorf("aster %q: the terminal gets %s: %q", args[:2], r, got)
		}
		if plain := a.terminal([]string{"NO_COLOR=1"}, "y", args...); strings.Contains(plain, "\x1b") {
			a.Errorf("aster %q without colour: %q", args[:2], plain)
		}
		seen += len(got)
	}
	if text, err := os.ReadFile(filepath.Join(a.home, "audit.jsonl")); err != nil || !strings.Contains(string(text), "some/plain") {
		a.Errorf("no call of some/plain is on record: %v", err)
	}
	a.holds("no byte that steers it, in lists, questions and errors; without colour no escape at all")
	a.figure("%d bytes", seen)
}
