package webmcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

func TestToolsOfAPage(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		p := r.browser.NewPage(t, r.At("localhost", "/tools.html"))
		r.awaitNames(t, "add_note", "count_notes", "set_title")
		wantText(t, r.call(t, "add_note", map[string]any{"text": "milk"}), false, "added milk")
		res := r.call(t, "count_notes", nil)
		wantText(t, res, false, `{"count":1}`)
		if got, _ := json.Marshal(res.StructuredContent); string(got) != `{"count":1}` {
			t.Errorf("structured content %s", got)
		}
		if got := p.EvalString(t, "document.querySelector('li').textContent"); got != "milk" {
			t.Errorf("the page shows %q", got)
		}
		wantText(t, r.call(t, "set_title", map[string]any{"title": "Shopping"}), false, "title set")
		if got := p.EvalString(t, "document.querySelector('h1').textContent"); got != "Shopping" {
			t.Errorf("the page shows %q", got)
		}
		tools := r.pageTools(t)
		origin := strings.TrimSuffix(r.At("localhost", ""), "/")
		if d := tools["add_note"].Description; d != "["+origin+"] Adds a note to the list on this page" {
			t.Errorf("description %q", d)
		}
		if a := tools["count_notes"].Annotations; a == nil || !a.ReadOnlyHint {
			t.Errorf("annotations %+v, want the read-only hint", a)
		}
		m := tools["add_note"].Meta
		if m["aster/origin"] != origin || m["aster/tabTitle"] != "Two tools and a form" || m["aster/tab"] != p.Target {
			t.Errorf("meta %v", m)
		}
	})
}

func TestHiddenCharacters(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.browser.NewPage(t, r.Page("/hidden", script(`document.modelContext.registerTool({name: 'a', title: 't\u202ex', description: 'one\u001b[2J\u202e two\u{e0041} \u{1f469}\u200d\u{1f4bb}\n\tthree', execute: () => 1})`)))
		r.awaitNames(t, "a")
		r.await(t, "the title", func() bool { return r.pageTools(t)["a"].Title == "tx" })
		if d := r.pageTools(t)["a"].Description; !strings.HasSuffix(d, "] one[2J two 👩\u200d💻\n\tthree") {
			t.Errorf("description %q", d)
		}
	})
}

func TestToolsBeforeAttach(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, native)}
		url := r.Page("/early", script(`window.go = () => {`+register("early", "() => 'early'")+`}; if (document.modelContext) go();`))
		p := r.browser.NewPage(t, url)
		r.attach(t, nil)
		if !native { // the page gave up; it tries again, or is reloaded
			r.await(t, "a note to reload", func() bool { return strings.Contains(fmt.Sprint(r.tabs(t)), "reload the page") })
			p.Eval(t, "go()")
		}
		r.awaitNames(t, "early")
		wantText(t, r.call(t, "early", nil), false, "early")
		p.Reload(t)
		r.awaitNames(t, "early")
		wantText(t, r.call(t, "early", nil), false, "early")
		r.await(t, "no note", func() bool { return !strings.Contains(fmt.Sprint(r.tabs(t)), "reload the page") })
	})
}

func TestToolsComeAndGo(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		p := r.browser.NewPage(t, r.Page("/empty", script("")))
		p.Eval(t, `window.c = new AbortController(); document.modelContext.registerTool({name: 'brief', description: 'd', execute: () => 'here'}, {signal: c.signal}); 0`)
		r.awaitNames(t, "brief")
		p.Eval(t, register("other", "() => 1")+"0")
		r.awaitNames(t, "brief", "other")
		p.Eval(t, "c.abort()")
		r.awaitNames(t, "other")
		p.Navigate(t, r.Page("/empty2", script("")))
		r.awaitNames(t)
		p.Back(t) // out of the back/forward cache, if the browser kept it
		r.await(t, "the page before", func() bool { return strings.HasSuffix(p.EvalString(t, "location.pathname"), "/empty") })
		if string(p.Eval(t, "typeof c")) == `"object"` {
			r.awaitNames(t, "other")
			wantText(t, r.call(t, "other", nil), false, "1")
		}
		p.Close(t)
		r.awaitNames(t)
	})
}

func TestFrames(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.Page("/child", script(register("child", "() => location.host")))
		r.Page("/inner", script(register("inner", "() => 'inner'")))
		cross := r.At("b.localhost", "/child")
		p := r.browser.NewPage(t, r.Page("/frames", `<!doctype html><title>f</title>
			<iframe src="/inner"></iframe><iframe src="`+cross+`" allow="tools"></iframe>
			<iframe sandbox="allow-scripts" allow="tools *" src="/sandboxed"></iframe><script>`+register("top", "() => 'top'")+`</script>`))
		r.Page("/sandboxed", script(register("boxed", "() => 'boxed'")))
		p.Reload(t)
		r.awaitNames(t, "top", "inner", "child", "boxed")
		for _, name := range []string{"top", "inner", "boxed"} {
			wantText(t, r.call(t, name, nil), false, name)
		}
		wantText(t, r.call(t, "child", nil), false, "b.localhost")
		p.Eval(t, "document.querySelectorAll('iframe').forEach((f) => f.remove())")
		r.awaitNames(t, "top")
	})
}

func TestFramesBeforeAttach(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, native)}
		// Under the shim such a page has no tools yet. Its frames get the shim with it, and
		// what they register then is told: here at the parent's sign.
		r.Page("/child", script(`const go = () => document.modelContext.registerTool({name: 'child', title: 'The child', description: 'c', annotations: {readOnlyHint: true}, execute: () => 'child'});
			if (document.modelContext) go(); else addEventListener('message', () => { if (document.modelContext) go(); })`))
		p := r.browser.NewPage(t, r.Page("/frames", `<iframe src="/child"></iframe><iframe src="`+r.At("b.localhost", "/child")+`" allow="tools"></iframe>`))
		if native {
			r.await2(t, p)
		}
		r.attach(t, nil)
		if !native {
			r.await(t, "a note to reload", func() bool { return strings.Contains(fmt.Sprint(r.tabs(t)), "reload the page") })
			r.await(t, "the tools of the frames", func() bool {
				if len(r.names(t)) < 2 {
					p.Eval(t, "for (let i = 0; i < frames.length; i++) frames[i].postMessage('now', '*'); 0")
				}
				return len(r.names(t)) == 2
			})
		}
		r.await(t, "two tools", func() bool { return len(r.names(t)) == 2 })
		for name, tool := range r.pageTools(t) {
			if !strings.HasPrefix(name, "child") || !tool.Annotations.ReadOnlyHint {
				t.Errorf("%s: %+v", name, tool.Annotations)
			}
			wantText(t, r.call(t, name, nil), false, "child")
		}
	})
}

// TestOriginsOfFrames checks whose words a tool is said to be, and that the frames of a
// page that was there before are found.
func TestOriginsOfFrames(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.Secret = "one secret" })
		origin := strings.TrimSuffix(r.At("localhost", ""), "/")
		r.Page("/boxed", script(register("boxed", "() => self.origin")))
		r.browser.NewPage(t, r.Page("/f", `<!doctype html><title>f</title><iframe sandbox="allow-scripts" allow="tools *" src="/boxed"></iframe>
			<iframe srcdoc="<script>document.modelContext.registerTool({name: 'inherits', description: 'd', execute: () => self.origin})</script>"></iframe>`))
		for range 2 {
			r.awaitNames(t, "boxed", "inherits")
			for name, want := range map[string]string{"boxed": "null", "inherits": origin} {
				if got := r.pageTools(t)[name].Meta["aster/origin"]; got != want {
					t.Errorf("%s is said to be of %v, want %s", name, got, want)
				}
				wantText(t, r.call(t, name, nil), false, want)
			}
			r.stop()
			r.attach(t, func(o *webmcp.Options) { o.Secret = "one secret" })
		}
	})
}

// await2 waits until the page's frames have registered their tools.
func (r *rig) await2(t *testing.T, p *cdptest.Page) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for string(p.Eval(t, "document.modelContext.getTools().then((l) => l.length)")) == "0" {
		if time.Now().After(deadline) {
			t.Fatal("the frame registered nothing")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestPopups(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.Page("/popup", script(register("popup", "() => 'pop'")))
		p := r.browser.NewPage(t, r.Page("/opener", script("")))
		p.Eval(t, "window.w = window.open('/popup'); 0")
		r.awaitNames(t, "popup")
		wantText(t, r.call(t, "popup", nil), false, "pop")
		p.Eval(t, "w.close()")
		r.awaitNames(t)
		// The Window of an initial about:blank is used again for a document of the same origin.
		p.Eval(t, "window.w = window.open(''); w.document.title; w.location = '/popup'; 0")
		r.await(t, "the popup's tool", func() bool { return len(r.names(t)) == 1 })
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "popup"}), false, "pop")
		p.Eval(t, "w.close()")
		r.awaitTools(t, 0)
	})
}

func TestTwoTabsOneName(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		url := r.Page("/same", script(register("same", "() => document.title")))
		p1 := r.browser.NewPage(t, url)
		r.awaitNames(t, "same")
		p2 := r.browser.NewPage(t, url)
		r.await(t, "two tools", func() bool { return len(r.names(t)) == 2 })
		before := r.names(t)
		other := before[1]
		if before[0] != "same" || !strings.HasPrefix(other, "same_localhost") {
			t.Fatalf("names %q", before)
		}
		p1.Eval(t, "document.title = 'one'")
		p2.Eval(t, "document.title = 'two'")
		wantText(t, r.call(t, "same", nil), false, "one")
		wantText(t, r.call(t, other, nil), false, "two")
		p2.Reload(t)
		r.awaitNames(t, before...)
		p1.Reload(t)
		r.awaitNames(t, before...)
		p1.Eval(t, "document.title = 'one again'")
		wantText(t, r.call(t, "same", nil), false, "one again")
		res := r.call(t, "webmcp_call", map[string]any{"name": other})
		wantText(t, res, false, "test")
		p1.Close(t)
		r.awaitNames(t, other)
		res = r.call(t, "webmcp_call", map[string]any{"name": "same"}) // its page's own name, now unique
		wantText(t, res, false, "test")
	})
}

func TestNamesAndManyTools(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		long := strings.Repeat("x", 128)
		p := r.browser.NewPage(t, r.Page("/many", script(`for (let i = 0; i < 500; i++) document.modelContext.registerTool({name: 'tool_' + i, description: 'number ' + i, execute: () => i});`+
			register(long, "() => 'long'")+register("dot.ted-name", "() => 'dotted'"))))
		r.await(t, "502 tools", func() bool { return len(r.names(t)) == 502 })
		names := r.names(t)
		for _, n := range names {
			if len(n) > 51 || strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("illegal name %q", n)
			}
		}
		wantText(t, r.call(t, "tool_499", nil), false, "499")
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "dot.ted-name"}), false, "dotted")
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": long}), false, "long")
		time.Sleep(100 * time.Millisecond) // the notifications of the first listing
		before := r.changeCount()
		p.Reload(t)
		r.await(t, "502 tools", func() bool { return len(r.names(t)) == 502 })
		time.Sleep(300 * time.Millisecond)
		if n := r.changeCount() - before; n > 2 {
			t.Errorf("%d notifications for one reload", n)
		}
		wantText(t, r.call(t, "tool_3", nil), false, "3")
	})
}

func TestSchemas(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		deep := `{}`
		for range 26 {
			deep = `{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"x":` + deep + `}`
		}
		var defs []string
		for i := range 26 {
			defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
		}
		defs = append(defs, `"d26":{"type":"string"}`)
		bomb := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`
		schemas := map[string]string{
			"s_array": `[]`, "s_cycle": `{"type":"object","$ref":"#"}`, "s_notype": `{"properties":{"a":{"type":"string"}}}`,
			"s_list": `{"type":["object","null"]}`, "s_deep": deep, "s_bomb": bomb, "s_wrong": `{"type":"objekt","required":"x"}`, "s_text": `{"type":"string"}`,
		}
		var js strings.Builder
		for name, s := range schemas {
			fmt.Fprintf(&js, "document.modelContext.registerTool({name: %q, description: 'd', inputSchema: %s, execute: () => 'ran'});", name, s)
		}
		js.WriteString("document.modelContext.registerTool({name: 's_true', description: 'd', inputSchema: {toJSON: () => true}, execute: () => 'ran'});")
		r.browser.NewPage(t, r.Page("/schemas", script(js.String())))
		r.await(t, "9 tools", func() bool { return len(r.names(t)) == 9 })
		for name, tool := range r.pageTools(t) {
			var s struct{ Type string }
			remarshal(t, tool.InputSchema, &s)
			if s.Type != "object" {
				t.Errorf("%s: schema %v", name, tool.InputSchema)
			}
			wantText(t, r.call(t, name, map[string]any{}), false, "ran")
		}
		shown := text(r.call(t, "webmcp_tools", map[string]any{"names": []string{"s_bomb"}}))
		if !strings.Contains(shown, "arguments not checked") {
			t.Errorf("the tool with the exploding schema is shown as %s", shown)
		}
	})
}

func TestArgumentsAreChecked(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		p := r.browser.NewPage(t, r.Page("/args", script(`window.runs = 0; document.modelContext.registerTool({name: 'strict', description: 'd',
			inputSchema: {type: 'object', properties: {count: {type: 'integer'}}, required: ['count'], additionalProperties: false}, execute: (a) => { runs++; return a; }})`)))
		r.awaitNames(t, "strict")
		for _, args := range []map[string]any{{}, {"count": "x"}, {"count": 1, "more": true}} {
			res := r.call(t, "strict", args)
			if !res.IsError || !strings.Contains(text(res), "arguments do not fit") {
				t.Errorf("%v: %s", args, text(res))
			}
		}
		if n := string(p.Eval(t, "runs")); n != "0" {
			t.Errorf("the page ran %s times", n)
		}
		wantText(t, r.call(t, "strict", map[string]any{"count": 3}), false, `{"count":3}`)
	})
}

func TestOriginsLeftAlone(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.DenyOrigins = []string{"http://bank.localhost:*"} })
		r.Page("/t", script(`if (document.modelContext) {`+register("t", "() => location.host")+`}`))
		r.browser.NewPage(t, r.At("bank.localhost", "/t"))
		inBank := r.browser.NewPage(t, r.At("bank.localhost", "/frame"))
		r.Page("/frame", `<iframe src="`+r.At("ok.localhost", "/t")+`" allow="tools"></iframe><iframe srcdoc="<script>window.seen=typeof document.modelContext</script>"></iframe>`)
		inBank.Reload(t)
		r.browser.NewPage(t, r.At("ok.localhost", "/t"))
		r.awaitNames(t, "t")
		wantText(t, r.call(t, "t", nil), false, "ok.localhost")
		if !native {
			if got := inBank.EvalString(t, "typeof document.modelContext + frames[1].seen"); got != "undefinedundefined" {
				t.Errorf("the denied page sees %s", got)
			}
		}
	})
}

func TestOnlyListedOrigins(t *testing.T) {
	r := newRig(t, false, func(o *webmcp.Options) { o.Origins = []string{"http://a.localhost:*"} })
	r.Page("/t", script(`if (document.modelContext) {`+register("t", "() => location.host")+`}`))
	r.browser.NewPage(t, r.At("b.localhost", "/t"))
	r.browser.NewPage(t, r.At("a.localhost", "/t"))
	r.awaitNames(t, "t")
	wantText(t, r.call(t, "t", nil), false, "a.localhost")
}

func TestExpose(t *testing.T) {
	for _, expose := range []string{webmcp.ExposeFixed, webmcp.ExposeTools} {
		t.Run(expose, func(t *testing.T) {
			r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, false)}
			if expose == webmcp.ExposeTools {
				r.attachQuiet(t, func(o *webmcp.Options) { o.Expose = expose })
				// Nothing tells when the browser is attached, so the page waits for its API.
				r.browser.NewPage(t, r.Page("/e2", script(`(function look() { if (document.modelContext) {`+register("e2", "() => 'e2'")+`} else setTimeout(look, 10); })()`)))
				deadline := time.Now().Add(patience)
				for !strings.Contains(strings.Join(r.names(t), " "), "e2") {
					if time.Now().After(deadline) {
						t.Fatalf("tools %q", r.names(t))
					}
				}
				return
			}
			r.attach(t, func(o *webmcp.Options) { o.Expose = expose })
			r.browser.NewPage(t, r.Page("/e2", script(register("e2", "() => 'e2'"))))
			r.await(t, "the tool", func() bool {
				return strings.Contains(text(r.call(t, "webmcp_tools", map[string]any{"query": "e2"})), "- e2 ")
			})
			if n := r.names(t); len(n) != 0 {
				t.Errorf("page tools are served: %q", n)
			}
			wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "e2", "arguments": map[string]any{}}), false, "e2")
		})
	}
}

func TestDebuggingToolsAreHidden(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		page := script(`document.modelContext.registerTool({name: 'dbg', description: 'd', annotations: {debugging: true}, execute: () => 1});` + register("plain", "() => 1"))
		r := newRig(t, native, nil)
		r.browser.NewPage(t, r.Page("/d", page))
		r.awaitNames(t, "plain")
		r.stop()
		r.attach(t, func(o *webmcp.Options) { o.Debugging = true })
		r.browser.NewPage(t, r.Page("/d2", page))
		r.await(t, "dbg", func() bool { return strings.Contains(strings.Join(r.names(t), " "), "dbg") })
	})
}
