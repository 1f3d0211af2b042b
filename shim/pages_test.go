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
	for name, last := range map[string]string{"register.html": "after an abort", "execute.html": "waits rejects", "frames.html": "its tool rejects"} {
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
		pg := openShim(t, server().At("localhost", "/"+name), shim.Config{})
		eventually(t, name+" comes to its end", func() bool {
			return strings.Contains(pg.EvalString(t, "document.getElementById('log').textContent"), last)
		})
	}
}
