//go:build unix

package webmcp_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func TestHungTabs(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.New(t, &cdptest.Options{Native: native, Args: []string{"--site-per-process", "--disable-features=SpareRendererForSitePerProcess"}})}
		loop := r.browser.NewPage(t, r.Page("/loop", "<title>looping</title>"))
		loop.Send("Runtime.evaluate", map[string]any{"expression": "for (;;);"})
		paused := r.browser.NewPage(t, r.At("p.localhost", "/paused"))
		paused.Call(t, "Debugger.enable", nil)
		paused.Send("Runtime.evaluate", map[string]any{"expression": "debugger"})
		before := map[int]bool{}
		for _, pid := range r.browser.Renderers(t) {
			before[pid] = true
		}
		r.browser.NewPage(t, r.At("s.localhost", "/stopped"))
		for _, pid := range r.browser.Renderers(t) {
			if !before[pid] {
				cdptest.Signal(t, pid, syscall.SIGSTOP)
				defer cdptest.Signal(t, pid, syscall.SIGCONT)
			}
		}
		// A tab without a renderer, which is what a discarded one is to DevTools.
		gone := r.browser.NewPage(t, r.At("g.localhost", "/gone"))
		crashed := make(chan struct{}, 1)
		defer r.browser.User(t).Subscribe(func(e cdptest.Event) {
			if e.Session == gone.Session && e.Method == "Inspector.targetCrashed" {
				crashed <- struct{}{}
			}
		})()
		gone.Send("Page.navigate", map[string]any{"url": "chrome://crash"})
		select {
		case <-crashed:
		case <-time.After(patience):
			t.Fatal("the tab does not crash")
		}
		r.browser.NewPage(t, r.At("ok.localhost", "/tools.html"))
		r.attach(t, nil)
		r.Page("/alive", script(register("alive", "() => 'alive'")))
		r.browser.NewPage(t, r.At("new.localhost", "/alive"))
		r.await(t, "the tool", func() bool { return strings.Contains(strings.Join(r.names(t), " "), "alive") })
		wantText(t, r.call(t, "alive", nil), false, "alive")
		want := map[string]string{"/loop": "not responding", "/stopped": "not responding", "/paused": "its scripts do not run", "/alive": "ready"}
		r.await(t, "the states of the tabs", func() bool {
			ok := 0
			for _, tab := range r.tabs(t).Tabs {
				for path, state := range want {
					if strings.HasSuffix(tab.URL, path) && strings.HasPrefix(tab.State, state) {
						ok++
					}
				}
				if tab.ID == gone.Target && (strings.HasPrefix(tab.State, "not responding") || strings.HasPrefix(tab.State, "crashed")) {
					ok++
				}
			}
			return ok == len(want)+1
		})
	})
}
