package shim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/shim"
)

// tools registers what the tampering tests call, with words that were taken before.
const tamperedTools = `
	var c = new AbortController();
	reg('echo', {title: 'quo"te', inputSchema: {type: 'object', properties: {x: {}}}, annotations: {readOnlyHint: true}, execute: (i) => i});
	reg('later', {execute: async () => 'later'});
	reg('fails', {execute() { throw new RangeError('no'); }});
	reg('hangs', {execute: () => new Promise(() => {})});
	reg('gone', {}, {signal: c.signal});
	void 0`

// tamperedPage is a page whose first script replaces the builtins.
func tamperedPage(t testing.TB, mode, first, last string) string {
	return server().Page("/tampered-"+mode, "<!doctype html><script>"+testdata(t, "tamper.js")+first+"\ntamper('"+mode+"');"+last+"</script><body>")
}

// exercise drives every part of the line and looks at what came of it.
func exercise(t *testing.T, p *peer, api string) {
	t.Helper()
	if r := p.run(t, api, "echo", `{"x":"secret argument"}`); r.Output != `{"x":"secret argument"}` {
		t.Errorf("echo: %+v", *r)
	}
	if r := p.run(t, api, "later", `{}`); r.Output != "later" {
		t.Errorf("later: %+v", *r)
	}
	if r := p.run(t, api, "fails", `{}`); r.Status != shim.StatusError || r.Error != "RangeError: no" {
		t.Errorf("fails: %+v", *r)
	}
	if r := p.run(t, api, "none", `{}`); !r.NotFound {
		t.Errorf("none: %+v", *r)
	}
	p.method(t, api, "invoke", "hang-id", "hangs", "{}")
	p.method(t, api, "cancel", "hang-id")
	if r := p.result(t, "hang-id"); r.Status != shim.StatusCanceled {
		t.Errorf("hangs: %+v", *r)
	}
}

// checkLeaks fails if the page got hold of something that is not its own.
func checkLeaks(t *testing.T, pg *page) {
	t.Helper()
	secrets := fmt.Sprintf(`[%q, '"t":', 'call-', 'hang-id', 'Completed']`, testSecret)
	if got := string(pg.eval("leaks(" + secrets + ")")); got != `""` {
		t.Errorf("the page got hold of %s", got)
	}
}

// What the page does after the shim came is of no consequence: everything works, nothing leaks.
func TestTamperingAfterStart(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wrap", "proxy", "throw"} {
		t.Run(mode, func(t *testing.T) {
			tab := openPlain(t, "about:blank")
			pg := &page{tab, t}
			p := newPeer(t, plainBrowser(), tab.Target)
			p.inject(t, shim.Config{Deny: []string{"https://*.bank.example"}})
			words := "const {registerTool, getTools, executeTool} = ModelContext.prototype;\n" +
				"const {apply: call} = Reflect, mc = document.modelContext, {abort} = AbortController.prototype, controller = new AbortController();\n" +
				"globalThis.reg = (name, more, options) => call(registerTool, mc, [{name, description: 'd', execute: () => 'ok', ...more}, options]);\n" +
				"globalThis.list = () => call(getTools, mc, []); globalThis.exec = (t, i) => call(executeTool, mc, [t, i]);\n" +
				"globalThis.stop = () => call(abort, controller, []);\n"
			tools := strings.Replace(strings.Replace(tamperedTools, "var c = new AbortController();", "", 1), "c.signal", "controllerSignal", 1)
			tools = strings.ReplaceAll(tools, "new Promise(() => {})", "never")
			words += "const controllerSignal = controller.signal, never = new Promise(() => {});\n"
			tab.Navigate(t, tamperedPage(t, mode, words, tools))
			api := p.api(t)
			eventually(t, "the tools", func() bool { return p.tools(t) == "echo,later,fails,hangs,gone" })
			pg.eval("stop()")
			eventually(t, "one tool less", func() bool { return p.tools(t) == "echo,later,fails,hangs" })
			exercise(t, p, api)
			got := string(pg.eval(`(async () => { const l = await list(); return l.length + ' ' + l[0].name + ' ' + await exec(l[0], {x: 1}); })()`))
			if got != `"4 echo {\"x\":1}"` {
				t.Errorf("the page gets %s", got)
			}
			if mode != "throw" {
				checkLeaks(t, pg)
			}
		})
	}
}

// A page that tampered before a late attach is served, but sees nothing of the line.
func TestTamperingBeforeLateAttach(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wrap", "proxy"} {
		t.Run(mode, func(t *testing.T) {
			tab := openPlain(t, tamperedPage(t, mode, "", ""))
			pg := &page{tab, t}
			p := newPeer(t, plainBrowser(), tab.Target)
			if n := string(pg.eval("Object.keys({}); new EventTarget().addEventListener('x', () => {}); noted()")); n == "0" {
				t.Fatal("the page's replacements note nothing")
			}
			api := p.attachLate(t, shim.Config{Deny: []string{"https://*.bank.example"}})
			pg.eval(words + tamperedTools)
			eventually(t, "the tools", func() bool { return p.tools(t) == "echo,later,fails,hangs,gone" })
			pg.eval("c.abort()")
			eventually(t, "one tool less", func() bool { return p.tools(t) == "echo,later,fails,hangs" })
			exercise(t, p, api)
			checkLeaks(t, pg)
			if door := p.doorField(t); door == "" {
				t.Error("no door for the next aster")
			}
			checkLeaks(t, pg)
		})
	}
}

// With builtins that throw there may be no late shim, but then it says so.
func TestThrowingBuiltinsBeforeLateAttach(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, tamperedPage(t, "throw", "", ""))
	p := newPeer(t, plainBrowser(), tab.Target)
	r := p.eval(t, shim.LateScript(shim.Config{Secret: testSecret}), false)
	if r.ObjectID == "" && string(r.Value) != `"`+shim.ReasonPage+`"` {
		t.Errorf("the late script gives %s %s", r.Type, r.Value)
	}
}

// A page may shadow the command-line functions; those that it left serve as well.
func TestShadowedInspect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, shadow string }{
		{"inspect", "globalThis.inspect = () => { throw 1; }"},
		{"inspect, with a text of its own", "globalThis.inspect = Object.assign(() => {}, {toString: () => 'function inspect() { [native code] }'})"},
		{"inspect, as a proxy", "globalThis.inspect = new Proxy(Array.prototype.push, {apply() { throw 1; }})"},
		{"inspect and copy", "globalThis.inspect = globalThis.copy = function inspect() {}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url := server().Page("/shadow", "<!doctype html><script>"+tc.shadow+"</script><body>")
			tab := openPlain(t, url)
			p := newPeer(t, plainBrowser(), tab.Target)
			api := p.attachLate(t, shim.Config{})
			tab.Eval(t, words+"reg('a'); void 0")
			eventually(t, "the tool", func() bool { return p.tools(t) == "a" })
			if r := p.run(t, api, "a", "{}"); r.Output != "ok" {
				t.Errorf("a: %+v", *r)
			}

			started, q := startPage(t, shim.Config{})
			started.Navigate(t, url)
			started.eval(words + "reg('b'); void 0")
			eventually(t, "the tool of a shim from the start", func() bool { return q.tools(t) == "b" })
		})
	}
}

// The page cannot speak in the shim's place: what it sends itself is not a message of the
// context's api.
func TestPageCannotNotify(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('a'); void 0`)
	p.api(t)
	got := string(pg.eval(`(() => {
	  const found = [];
	  for (const k of ['inspect', 'copy', 'queryObjects', 'getEventListeners', 'aster', 'notify']) if (k in window) found.push(k);
	  return found.join();
	})()`))
	if got != `""` {
		t.Errorf("the page has %s", got)
	}
	p.eval(t, "1", true)
	if got := string(pg.eval("typeof inspect")); got != `"undefined"` {
		t.Errorf("after an evaluation with the command line inspect is %s", got)
	}
}
