package webmcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// tool is a script that registers a tool whose body is the given function.
func tool(name, fn string) string {
	return fmt.Sprintf("document.modelContext.registerTool({name: %q, description: 'd', execute: %s});", name, fn)
}

func TestResults(t *testing.T) {
	cases := []struct {
		name, fn string
		isError  bool
		want     string
	}{
		{"undef", "() => undefined", false, "undefined"},
		{"null", "() => null", false, "null"},
		{"empty", "() => ''", false, "Operation succeeded"},
		{"text", "() => 'héllo ☃'", false, "héllo ☃"},
		{"number", "async () => 12.5", false, "12.5"},
		{"bigint", "() => 12n", false, "12"},
		{"array", "() => [1, {a: 2}]", false, `[1,{"a":2}]`},
		{"throws", "() => { throw new TypeError('bad thing') }", true, "TypeError: bad thing"},
		{"throws_text", "() => { throw 'just text' }", true, "just text"},
		{"rejects", "() => Promise.reject(new Error('later'))", true, "Error: later"},
		{"rejects_null", "() => Promise.reject(null)", true, "null"},
		{"rejects_undefined", "() => Promise.reject()", true, "undefined"},
		{"circular", "() => { const a = {}; a.a = a; return a }", true, "circular"},
		{"bigints", "() => ({n: 1n})", true, "BigInt"},
		{"mcp", "() => ({content: [{type: 'text', text: 'as it is'}], isError: true})", true, "as it is"},
		{"image", "() => ({content: [{type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png'}]})", false, "<*mcp.ImageContent>"},
		{"malformed", "() => ({content: [{type: 'image', data: 5}, {type: 'nonsense'}, null, {type: 'text', text: 'good'}]})", false, "good"},
		{"fakecontent", "() => ({content: 'not a list'})", false, `{"content":"not a list"}`},
	}
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		var js strings.Builder
		var names []string
		for _, c := range cases {
			js.WriteString(tool(c.name, c.fn))
			names = append(names, c.name)
		}
		r.browser.NewPage(t, r.Page("/results", script(js.String())))
		r.awaitNames(t, names...)
		for _, c := range cases {
			res := r.call(t, c.name, nil)
			if got := text(res); res.IsError != c.isError || !strings.Contains(got, c.want) {
				t.Errorf("%s: isError %v, %q; want %v, %q", c.name, res.IsError, got, c.isError, c.want)
			}
		}
	})
}

func TestLargeResults(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.CallTimeout = 5 * time.Minute })
		r.browser.NewPage(t, r.Page("/big", script(tool("big", "({mb}) => 'abcdefgh'.repeat(mb << 17)"))))
		r.awaitNames(t, "big")
		for _, mb := range []int{5, 32} {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			res, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "big", Arguments: map[string]any{"mb": mb}})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			got := text(res)
			if res.IsError || !strings.HasPrefix(got, "abcdefgh") || !strings.Contains(got, "handle") || len(got) > 300_000 {
				t.Fatalf("%d MiB: isError %v, %d bytes, ends %q", mb, res.IsError, len(got), got[max(0, len(got)-300):])
			}
		}
		wantText(t, r.call(t, "big", map[string]any{"mb": 0}), false, "")
	})
}

func TestManyCallsWithOneHung(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.browser.NewPage(t, r.Page("/slow", script(tool("never", "() => new Promise(() => {})")+tool("echo", "async ({n}) => { await new Promise((r) => setTimeout(r, 20)); return 'n' + n; }"))))
		r.awaitNames(t, "never", "echo")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		hung := make(chan error, 1)
		go func() {
			_, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "never"})
			hung <- err
		}()
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() { wantText(t, r.call(t, "echo", map[string]any{"n": i}), false, fmt.Sprintf("n%d", i)) })
		}
		wg.Wait()
		cancel()
		select {
		case <-hung:
		case <-time.After(patience):
			t.Fatal("the cancelled call did not return")
		}
	})
}

func TestCancelReachesThePage(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		p := r.browser.NewPage(t, r.Page("/cancel", script(`window.state = '';`+tool("wait", `(a, {signal}) => new Promise((ok, no) => { state = 'running'; signal.addEventListener('abort', () => { state = 'aborted'; no(signal.reason); }); })`))))
		r.awaitNames(t, "wait")
		var took []time.Duration
		for len(took) == 0 || took[len(took)-1] > 500*time.Millisecond { // five times the figure
			if took = append(took, cancelled(t, r, p)); len(took) == 5 { // a machine may stop for a moment
				t.Fatalf("the client heard of its cancellations after %v", took)
			}
			r.await(t, "the abort in the page", func() bool { return p.EvalString(t, "state") == "aborted" })
		}
	})
}

// cancelled calls the tool "wait" and cancels it once it runs; it returns the time until the
// client heard of that.
func cancelled(t *testing.T, r *rig, p *cdptest.Page) time.Duration {
	t.Helper()
	p.Eval(t, "state = ''")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan time.Time, 1)
	go func() {
		r.client.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
		ended <- time.Now()
	}()
	r.await(t, "the run", func() bool { return p.EvalString(t, "state") == "running" })
	began := time.Now()
	cancel()
	select {
	case at := <-ended:
		return at.Sub(began)
	case <-time.After(patience):
		t.Fatal("the cancelled call did not return")
		return 0
	}
}

func TestTimeouts(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.CallTimeout = 200 * time.Millisecond })
		p := r.browser.NewPage(t, r.Page("/timeouts", script(`window.aborted = 0;`+tool("never", "(a, {signal}) => new Promise(() => signal.addEventListener('abort', () => aborted++))")+tool("slow", "() => new Promise((r) => setTimeout(r, 600, 'slow'))"))))
		r.awaitNames(t, "never", "slow")
		wantText(t, r.call(t, "never", nil), true, "no answer within 200ms")
		r.await(t, "the abort in the page", func() bool { return string(p.Eval(t, "aborted")) == "1" })
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		res, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "slow", Meta: mcp.Meta{"aster/timeoutMs": 5000}})
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, res, false, "slow")
		res, err = r.client.CallTool(ctx, &mcp.CallToolParams{Name: "slow", Meta: mcp.Meta{"aster/timeoutMs": "soon"}})
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, res, true, "aster/timeoutMs")
	})
}

// TestCallsEndHonestly takes the document away in the middle of a call.
func TestCallsEndHonestly(t *testing.T) {
	cases := []struct {
		name string
		act  func(t *testing.T, r *rig, p *cdptest.Page)
		want string
	}{
		{"navigate", func(t *testing.T, r *rig, p *cdptest.Page) { p.Navigate(t, r.Page("/elsewhere", script(""))) }, "the page navigated to"},
		{"reload", func(t *testing.T, r *rig, p *cdptest.Page) { p.Reload(t) }, "the page was reloaded"},
		{"close", func(t *testing.T, r *rig, p *cdptest.Page) { p.Close(t) }, "the tab was closed"},
		{"crash", func(t *testing.T, r *rig, p *cdptest.Page) {
			p.Send("Page.navigate", map[string]any{"url": "chrome://crash"})
		}, "crashed"},
		{"kill", func(t *testing.T, r *rig, p *cdptest.Page) { r.browser.Kill() }, "the connection to the browser was lost"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			modes(t, func(t *testing.T, native bool) {
				rigFor := newRig
				if c.name == "kill" {
					rigFor = newOwnRig
				}
				r := rigFor(t, native, nil)
				p := r.browser.NewPage(t, r.Page("/honest", script(`window.running = false;`+tool("never", "() => new Promise(() => { running = true })"))))
				r.awaitNames(t, "never")
				res := make(chan *mcp.CallToolResult, 1)
				go func() { res <- r.call(t, "never", nil) }()
				r.await(t, "the run", func() bool { return string(p.Eval(t, "running")) == "true" })
				began := time.Now()
				c.act(t, r, p)
				select {
				case got := <-res:
					wantText(t, got, true, "outcome unknown, not retried")
					wantText(t, got, true, c.want)
					if d := time.Since(began); d > 5*time.Second {
						t.Errorf("it took %v", d)
					}
				case <-time.After(patience):
					t.Fatal("the call did not end")
				}
				if c.name != "reload" {
					r.awaitNames(t)
				}
			})
		})
	}
}

func TestFrameRemovedDuringCall(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		for _, host := range []string{"localhost", "b.localhost"} {
			r := newRig(t, native, nil)
			r.Page("/child", script(`parent.postMessage('up', '*');`+tool("never", "() => { parent.postMessage('running', '*'); return new Promise(() => {}) }")))
			p := r.browser.NewPage(t, r.Page("/f", `<script>window.heard=''; onmessage = (e) => heard = e.data</script><iframe src="`+r.At(host, "/child")+`" allow="tools"></iframe>`))
			r.awaitNames(t, "never")
			res := make(chan *mcp.CallToolResult, 1)
			go func() { res <- r.call(t, "never", nil) }()
			r.await(t, "the run", func() bool { return p.EvalString(t, "heard") == "running" })
			p.Eval(t, "document.querySelector('iframe').remove()")
			select {
			case got := <-res:
				wantText(t, got, true, "outcome unknown, not retried")
			case <-time.After(patience):
				t.Fatal("the call did not end")
			}
			r.awaitNames(t)
			r.stop()
			p.Close(t)
		}
	})
}

func TestDialogs(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		for _, policy := range []string{webmcp.DialogsLeave, webmcp.DialogsAccept, webmcp.DialogsDismiss} {
			r := newRig(t, native, func(o *webmcp.Options) { o.Dialogs, o.CallTimeout = policy, 1500*time.Millisecond })
			p := r.browser.NewPage(t, r.Page("/dialog", script(tool("ask", "() => 'answer ' + confirm('really?')"))))
			r.awaitNames(t, "ask")
			params := &mcp.CallToolParams{Name: "ask"}
			params.SetProgressToken("p")
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			res, err := r.client.CallTool(ctx, params)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			switch policy {
			case webmcp.DialogsLeave:
				wantText(t, res, true, `dialog (confirm, "really?")`)
				r.mu.Lock()
				if len(r.progress) == 0 || !strings.Contains(r.progress[0], "really?") {
					t.Errorf("progress %q", r.progress)
				}
				r.mu.Unlock()
				p.Call(t, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
			case webmcp.DialogsAccept:
				wantText(t, res, false, "answer true")
			default:
				wantText(t, res, false, "answer false")
			}
			r.stop()
			p.Close(t)
		}
	})
}

func TestFloodingPage(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		flood := r.browser.NewPage(t, r.Page("/flood", script(`
			let n = 0; const t0 = performance.now();
			const step = () => { for (let i = 0; i < 10; i++) { const c = new AbortController(); document.modelContext.registerTool({name: 'f' + (n++ % 50), description: 'd', execute: () => 1}, {signal: c.signal}).catch(() => {}); c.abort(); }
				if (performance.now() - t0 < 5000) setTimeout(step, 10); else `+register("calm", "() => 'calm'")+` }; step();`)))
		r.browser.NewPage(t, r.At("ok.localhost", "/tools.html"))
		r.await(t, "the other page's tools", func() bool { return strings.Contains(strings.Join(r.names(t), " "), "add_note") })
		for range 20 {
			wantText(t, r.call(t, "count_notes", nil), false, `{"count":0}`)
		}
		r.await(t, "the end of the flood", func() bool { return strings.Contains(strings.Join(r.names(t), " "), "calm") })
		flood.Close(t)
		r.await(t, "no trace of it", func() bool { return !strings.Contains(strings.Join(r.names(t), " "), "calm") })
	})
}

func TestBrowserKilledAndStartedAgain(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.New(t, &cdptest.Options{Native: native})}
		r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, "profile:"+r.browser.ProfileDir) })
		r.browser.NewPage(t, r.At("localhost", "/tools.html"))
		r.await(t, "the tools", func() bool { return len(r.names(t)) >= 2 })
		r.browser.Kill()
		r.awaitNames(t)
		if got := r.tabs(t).Browser; !strings.HasPrefix(got, "the browser is gone") {
			t.Errorf("status %q", got)
		}
		r.browser.Restart(t)
		r.await(t, "the browser", func() bool { return strings.HasPrefix(r.tabs(t).Browser, "connected") }) // a page from before it has no shim
		r.browser.NewPage(t, r.At("localhost", "/tools.html"))
		r.await(t, "the tools", func() bool { return len(r.names(t)) >= 2 })
		wantText(t, r.call(t, "add_note", map[string]any{"text": "again"}), false, "added again")
	})
}

func TestTabsSurviveUs(t *testing.T) {
	r := newOwnRig(t, false, nil)
	p := r.browser.NewPage(t, r.At("localhost", "/tools.html"))
	r.awaitNames(t, "add_note", "count_notes", "set_title")
	r.stop()
	if got := p.EvalString(t, "document.modelContext.getTools().then((l) => l.map((x) => x.name).join())"); got != "add_note,count_notes,set_title" {
		t.Errorf("after we left the page has %q", got)
	}
	if n := len(r.browser.Targets(t, "page")); n != 2 {
		t.Errorf("%d tabs are left, want 2", n)
	}
}

func TestNextAsterAdopts(t *testing.T) {
	r := newRig(t, false, func(o *webmcp.Options) { o.Secret = "one secret" })
	p := r.browser.NewPage(t, r.At("localhost", "/tools.html"))
	r.awaitNames(t, "add_note", "count_notes", "set_title")
	r.stop()
	p.Eval(t, register("between", "() => 'between'")+"0")
	r.attach(t, func(o *webmcp.Options) { o.Secret = "one secret" })
	r.awaitNames(t, "add_note", "count_notes", "set_title", "between")
	wantText(t, r.call(t, "between", nil), false, "between")
	p.Eval(t, register("after", "() => 'after'")+"0")
	r.awaitNames(t, "add_note", "count_notes", "set_title", "between", "after")
	r.stop()
	// Without the secret there is the page's public API still.
	r.attach(t, func(o *webmcp.Options) { o.Secret = "another secret" })
	r.awaitNames(t, "add_note", "count_notes", "set_title", "between", "after")
	wantText(t, r.call(t, "add_note", map[string]any{"text": "x"}), false, "added x")
	p.Eval(t, register("much_later", "() => 'later'")+"0")
	r.awaitNames(t, "add_note", "count_notes", "set_title", "between", "after", "much_later")
}
