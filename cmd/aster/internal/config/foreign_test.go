package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForeignFaults shows what a file of other clients gets wrong at the place where it
// is wrong, and that a fault costs only its server.
func TestForeignFaults(t *testing.T) {
	w := newWorld(t)
	w.write("home/.aster/mcp.json", `{"mcpServers": {
  "number": {"command": 5},
  "switch": {"command": "x", "disabled": "yes"},
  "kind": {"command": "x", "type": 3},
  "list": {"command": "x", "args": "y"},
  "near": {"command": "x", "arg": ["y"], "description": "theirs"},
  "time": {"command": "x", "timeout": "soon"},
  "texts": {"command": "x", "args": [1, true], "env": {"PORT": 80}}
}}`)
	c := w.load()
	if got := serverNames(c); got != "near texts time" {
		t.Errorf("servers %s", got)
	}
	if s := c.Server("texts"); s != nil && (strings.Join(s.Args, " ") != "1 true" || s.Env["PORT"] != "80") {
		t.Errorf("texts: %v %v", s.Args, s.Env)
	}
	var got []string
	for _, p := range c.Problems {
		lines := p.Lines()
		got = append(got, filepath.Base(lines[0]))
		got = append(got, lines[1:]...)
	}
	want := []string{
		`mcp.json:6:28: server "near": the key "arg" is not known; did you mean "args"?`,
		`  6 |   "near": {"command": "x", "arg": ["y"], "description": "theirs"},`,
		`    |                            ^^^^^`,
		`mcp.json:7:3: server "time": timeout "soon" is not a time that can be used`,
		`mcp.json:2:25: server "number": command must be a text, and is a whole number`,
		`  2 |   "number": {"command": 5},`,
		`    |                         ^`,
		`mcp.json:3:42: server "switch": disabled must be true or false, and is a text`,
		`  3 |   "switch": {"command": "x", "disabled": "yes"},`,
		`    |                                          ^^^^^`,
		`mcp.json:4:36: server "kind": the type must be a text, and is a whole number`,
		`  4 |   "kind": {"command": "x", "type": 3},`,
		`    |                                    ^`,
		`mcp.json:5:36: server "list": args must be a list, and is a text`,
		`  5 |   "list": {"command": "x", "args": "y"},`,
		`    |                                    ^^^`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
