package shim_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// Every family of scenarios has a page that a person can open, which the README names;
// under the shim each page shows what it has to show.
func TestPages(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(cdptest.PagesDir(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios(t) {
		family, _, _ := strings.Cut(s.name, ":")
		if !regexp.MustCompile(`[| ]` + family + `[,| ]`).Match(readme) {
			t.Fatalf("the README names no page of the family %s", family)
		}
	}
	for _, tc := range []struct {
		name, last string
		compat     int
	}{
		{"register.html", "after an abort", 0},
		{"execute.html", "waits rejects", 0},
		{"frames.html", "its tool rejects", 0},
		{"compat.html", "Chromium 156 to 158", 0},
		{"compat.html", "Chromium 159", shim.Compat159},
		{"compat.html", "Chromium 160", shim.Compat160},
		{"register.html", "after an abort", shim.Compat160},
		{"execute.html", "waits rejects", shim.Compat160},
		{"frames.html", "its tool rejects", shim.Compat160},
	} {
		name, last := tc.name, tc.last
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
		pg := openShim(t, server().At("localhost", "/"+name), shim.Config{Compat: tc.compat})
		eventually(t, name+" comes to its end", func() bool {
			return strings.Contains(pg.EvalString(t, "document.getElementById('log').textContent"), last)
		})
	}
}
