package cdptest_test

import (
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func TestBrowserOpensPages(t *testing.T) {
	for _, native := range []bool{false, true} {
		b := cdptest.New(t, &cdptest.Options{Native: native})
		s := cdptest.Serve(t)
		p := b.NewPage(t, s.At("localhost", "/tools.html"))
		want := "undefined"
		if native {
			want = "object"
		}
		if got := p.EvalString(t, "typeof document.modelContext"); got != want {
			t.Errorf("native %v: typeof document.modelContext is %s, want %s", native, got, want)
		}
		if got := p.EvalString(t, "document.title"); got != "Two tools and a form" {
			t.Errorf("title is %q", got)
		}
		if len(b.Renderers(t)) == 0 {
			t.Error("no renderer process found")
		}
		b.Kill()
		b.Restart(t)
		q := b.NewPage(t, s.Page("/inline", "<title>inline</title>"))
		if got := q.EvalString(t, "document.title"); got != "inline" {
			t.Errorf("title after the restart is %q", got)
		}
	}
}
