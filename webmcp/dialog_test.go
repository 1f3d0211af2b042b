package webmcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// openDialog has a page show an alert, and returns once it is there.
func openDialog(t *testing.T, b *cdptest.Browser, p *cdptest.Page) {
	t.Helper()
	opened := make(chan struct{}, 1)
	defer b.User(t).Subscribe(func(e cdptest.Event) {
		if e.Session == p.Session && e.Method == "Page.javascriptDialogOpening" {
			select {
			case opened <- struct{}{}:
			default:
			}
		}
	})()
	p.Send("Runtime.evaluate", map[string]any{"expression": "alert('read me')"})
	select {
	case <-opened:
	case <-time.After(patience):
		t.Fatal("no dialog opened")
	}
}

// A dialog that is open before we attach holds up no other tab; its own is listed, and
// its tools come when it is answered. A call to a tab with an open dialog is told of it.
func TestDialogBeforeAttach(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, native)}
		r.Page("/behind", script("if (document.modelContext) {"+register("behind", "() => 'seen'")+"}"))
		r.Page("/other", script("if (document.modelContext) {"+register("other", "() => 'other'")+"}"))
		p := r.browser.NewPage(t, r.At("d.localhost", "/behind"))
		openDialog(t, r.browser, p)
		r.attach(t, nil)
		r.browser.NewPage(t, r.At("ok.localhost", "/other"))
		r.awaitNames(t, "other")
		wantText(t, r.call(t, "other", nil), false, "other")
		state := func() string {
			for _, tab := range r.tabs(t).Tabs {
				if strings.HasSuffix(tab.URL, "/behind") {
					return tab.State + fmt.Sprint(tab.Notes)
				}
			}
			return "not listed"
		}
		r.await(t, "the tab with the dialog", func() bool { return strings.Contains(state(), "dialog") })
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "behind"}), true, "behind")

		p.Call(t, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
		if !native { // the page gave up, and is told to be reloaded
			r.await(t, "a note to reload", func() bool { return strings.Contains(state(), "reload the page") })
			p.Reload(t)
		}
		r.awaitNames(t, "behind", "other")
		wantText(t, r.call(t, "behind", nil), false, "seen")

		openDialog(t, r.browser, p)
		params := &mcp.CallToolParams{Name: "behind", Meta: mcp.Meta{"aster/timeoutMs": 300}}
		params.SetProgressToken("p")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		res, err := r.client.CallTool(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, res, true, `dialog (alert, "read me")`)
		r.await(t, "progress that tells of the dialog", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return slices.ContainsFunc(r.progress, func(m string) bool { return strings.Contains(m, "read me") })
		})
		p.Call(t, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
	})
}
