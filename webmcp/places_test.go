package webmcp_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// whenever registers a tool once there is a modelContext: late in a document that was open before us.
func whenever(name string) string {
	return script(`(function look() { if (document.modelContext) {` + register(name, "() => self.origin") + `} else setTimeout(look, 5); })()`)
}

// Frames with a document of their own text, also in a sandbox, serve their tools when they
// were there before us. One in a sandbox always was: the browser gives it a process of
// its own and does not hold it there for us (measured in Chromium 156).
func TestSrcdocFramesOpenedBefore(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, native)}
		p := r.browser.NewPage(t, r.Page("/before", `<!doctype html><title>before</title><body>`))
		defer p.Close(t)
		for _, f := range []struct{ name, attributes string }{
			{"plain", ""}, {"boxed", `sandbox="allow-scripts" allow="tools *"`},
			{"refused", `sandbox="allow-scripts"`}, {"same", `sandbox="allow-scripts allow-same-origin"`},
		} {
			p.Eval(t, `new Promise((done) => {
			  document.body.insertAdjacentHTML('beforeend', `+strconv.Quote("<iframe "+f.attributes+"></iframe>")+`);
			  const f = document.body.lastChild;
			  f.onload = () => done(1);
			  f.srcdoc = `+strconv.Quote(whenever(f.name))+`;
			})`)
		}
		r.attach(t, nil)
		r.awaitNames(t, "boxed", "plain", "same")
		origin := p.EvalString(t, "origin")
		for name, want := range map[string]string{"plain": origin, "boxed": "null", "same": origin} {
			wantText(t, r.call(t, name, nil), false, want)
		}
	})
}

// Pages from files have tools, in frames too, and run them.
func TestFilePages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("addresses of files are written otherwise")
	}
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		path := filepath.Join(t.TempDir(), "page.html")
		body := "<!doctype html><title>file</title><form toolname=filed tooldescription=d toolautosubmit onsubmit=\"event.preventDefault(); event.respondWith('sent ' + this.a.value)\"><input name=a></form>" +
			script(register("local", "() => self.origin"))
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		p := r.browser.NewPage(t, "file://"+path)
		defer p.Close(t)
		r.awaitNames(t, "filed", "local")
		wantText(t, r.call(t, "local", nil), false, "null")
		wantText(t, r.call(t, "filed", map[string]any{"a": "x"}), false, "sent x")
		got := p.EvalString(t, `document.modelContext.getTools().then((l) => l.map((t) => t.name + ' ' + t.origin).join())`)
		if got != "filed file://,local file://" {
			t.Errorf("the page lists %s", got)
		}
		got = p.EvalString(t, `document.modelContext.getTools().then(async (l) => JSON.stringify([await document.modelContext.executeTool(l[0], {a: 'y'}), await document.modelContext.executeTool(l[1])]))`)
		if got != `["sent y","null"]` {
			t.Errorf("the page's own calls give %s", got)
		}
	})
}
