package webmcp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func TestThirtyTabs(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		url := r.Page("/thirty", script(`for (let i = 0; i < 20; i++) document.modelContext.registerTool({name: 'tool_' + i, description: 'd', execute: () => document.title + i});`))
		var pages []*cdptest.Page
		for range 30 {
			pages = append(pages, r.browser.NewPage(t, url))
		}
		r.awaitTools(t, 600)
		before := r.names(t)
		pages[7].Eval(t, "document.title = 'seven '")
		pages[3].Close(t)
		r.awaitTools(t, 580)
		for _, name := range r.names(t) {
			if !slices.Contains(before, name) {
				t.Errorf("%s is new: a name moved", name)
			}
		}
		n := 0
		for name, tool := range r.pageTools(t) {
			if tool.Meta["aster/tab"] == pages[7].Target && tool.Meta["aster/pageName"] == "tool_11" {
				wantText(t, r.call(t, name, nil), false, "seven11")
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d tools are the one of the tab", n)
		}
	})
}

// TestPrerenderedPage has the browser load a page before its user goes there.
func TestPrerenderedPage(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.Page("/next", script(register("next", "() => 'next'")))
		p := r.browser.NewPage(t, r.Page("/now", `<!doctype html><title>now</title><script type="speculationrules">{"prerender":[{"urls":["/next"],"eagerness":"immediate"}]}</script><script>`+register("now", "() => 'now'")+`</script>`))
		r.awaitNames(t, "now")
		time.Sleep(time.Second) // time for the browser to load it, if it will
		r.awaitNames(t, "now")
		p.Eval(t, "void setTimeout(() => location.href = '/next')")
		r.awaitTools(t, 1)
		r.await(t, "the next page's tool", func() bool {
			names := r.names(t)
			return len(names) == 1 && strings.HasPrefix(names[0], "next")
		})
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "next"}), false, "next")
		p2 := r.browser.NewPage(t, r.Page("/after", script(register("after", "() => 'after'"))))
		r.awaitTools(t, 2)
		p2.Close(t)
		r.awaitTools(t, 1)
	})
}

// TestKilledAster kills the process in the middle of its work: the tabs stay, and the
// next one has all their tools without a reload.
func TestKilledAster(t *testing.T) {
	exe, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	modes(t, func(t *testing.T, native bool) {
		cb, s := cdptest.Shared(t, native), cdptest.Serve(t)
		home := t.TempDir()
		start := func() (*exec.Cmd, *mcp.ClientSession) {
			cmd := exec.Command(exe, "mcp", "serve", "webmcp", "--cdp-url", cb.HTTP)
			cmd.Env = append(os.Environ(), "ASTER_HOME="+home, "ASTER_DAEMON=off")
			cmd.Stderr = os.Stderr
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "0"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() }) // else it would serve the pages of other tests
			return cmd, cs
		}
		r := &rig{Server: s, browser: cb}
		cmd, cs := start()
		r.client = cs
		r.await(t, "the browser", func() bool { return strings.HasPrefix(r.tabs(t).Browser, "connected") })
		p := cb.NewPage(t, s.Page("/killed", script(tool("first", "() => 'first'")+tool("never", "() => new Promise(() => {})"))))
		r.awaitNames(t, "first", "never")
		go cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "never"})
		time.Sleep(50 * time.Millisecond)
		cmd.Process.Kill()
		cs.Close()
		p.Eval(t, tool("between", "() => 'between'")+"0")
		cmd, cs = start()
		r.client = cs
		r.awaitNames(t, "first", "never", "between")
		for _, name := range []string{"first", "between"} {
			wantText(t, r.call(t, name, nil), false, name)
		}
		cs.Close() // ends its input
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "Wait was already called") {
			t.Errorf("at the end of its input: %v", err)
		}
		if got := p.EvalString(t, "document.title"); got != "test" {
			t.Errorf("the tab shows %q", got)
		}
	})
}

// TestFirstRequestHasTheOpenPages lists once, right after the start, as many clients do, or
// calls a tool that it knows from before.
func TestFirstRequestHasTheOpenPages(t *testing.T) {
	exe, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	cb, s := cdptest.Shared(t, true), cdptest.Serve(t)
	cb.NewPage(t, s.At("localhost", "/tools.html"))
	start := func() *rig {
		cmd := exec.Command(exe, "mcp", "serve", "webmcp", "--cdp-url", cb.HTTP)
		cmd.Env = append(os.Environ(), "ASTER_HOME="+t.TempDir(), "ASTER_DAEMON=off")
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "0"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cs.Close() })
		return &rig{Server: s, browser: cb, client: cs}
	}
	if got := fmt.Sprint(start().names(t)); got != "[add_note count_notes set_title]" {
		t.Errorf("the first list has %s", got)
	}
	res, err := start().client.CallTool(t.Context(), &mcp.CallToolParams{Name: "count_notes"})
	if err != nil || res.IsError {
		t.Errorf("the first call: %v, %+v", err, res)
	}
}
