package cli

import (
	"strings"
	"testing"
)

func TestRecipes(t *testing.T) {
	for goos, exe := range map[string]string{
		"linux":   "/home/ann o'hara/bin/aster",
		"darwin":  "/Users/ann/Application Support/aster",
		"windows": `C:\Program Files\aster\aster.exe`,
	} {
		all := recipes(exe, goos)
		if len(all) != 5 {
			t.Fatalf("%d recipes", len(all))
		}
		want := map[string]string{
			"linux":   `-- '/home/ann o'\''hara/bin/aster' mcp serve webmcp`,
			"darwin":  `-- '/Users/ann/Application Support/aster' mcp serve webmcp`,
			"windows": `-- "C:\Program Files\aster\aster.exe" mcp serve webmcp`,
		}[goos]
		for _, r := range all {
			switch r.client {
			case "Claude Code", "Codex":
				if !strings.HasSuffix(r.lines, want) {
					t.Errorf("%s on %s: %s", r.client, goos, r.lines)
				}
			default:
				if !strings.Contains(r.lines, jsonQuote(exe)) || !strings.Contains(r.lines, `"serve",`) {
					t.Errorf("%s on %s: %s", r.client, goos, r.lines)
				}
			}
		}
	}
	if got := shellQuote("linux", []string{"/usr/bin/aster", "", "a$b"}); got != `/usr/bin/aster '' 'a$b'` {
		t.Errorf("shellQuote: %s", got)
	}
}

func TestTemporary(t *testing.T) {
	for exe, want := range map[string]bool{
		"/tmp/go-build3056/b001/exe/aster":      true,
		"/home/u/.cache/go-build/ab/cd-d/aster": true,
		"/home/u/go/bin/aster":                  false,
	} {
		if got := temporary(exe); got != want {
			t.Errorf("temporary(%q) = %v", exe, got)
		}
	}
}

func jsonQuote(s string) string {
	return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"`
}
