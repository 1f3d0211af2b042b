package shim_test

import (
	"testing"

	"github.com/aster-mcp/aster/shim"
)

// What native WebMCP answers with the end of the renderer, the shim answers with an error.
func TestNativeDefectsAreNotCopied(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `globalThis.attempt = (f) => f().then((v) => 'resolved ' + v, (e) => e.name + ': ' + e.message); void 0`)
	for _, tc := range []struct{ name, js, want string }{
		{"a symbol as the result", `reg('symbol', {execute: () => Symbol('s')}).then(() => attempt(async () => mc.executeTool((await mc.getTools())[0])))`,
			`"UnknownError: Tool was executed but the invocation failed. For example, the script function threw an error"`},
		{"the same name from toJSON", `attempt(() => reg('again', {title: 'outer', inputSchema: {toJSON() { reg('again', {title: 'inner'}); return {}; }}}))`,
			`"InvalidStateError: Duplicate tool name"`},
		{"the tool that stays", `mc.getTools().then((l) => l.map((t) => t.name + t.title).join())`, `"againinner,symbol"`},
		{"a frame that goes in toJSON", `(() => { const f = document.createElement('iframe'); document.body.append(f); const inner = f.contentDocument.modelContext;
		  return attempt(() => inner.registerTool({name: 'x', description: 'd', execute() {}, inputSchema: {toJSON() { f.remove(); return {}; }}})); })()`,
			`"InvalidStateError: The document is not active."`},
		{"a document without a frame", `(() => { const d = document.implementation.createHTMLDocument(); globalThis.other = d.modelContext; return [other !== mc, other === d.modelContext, String(other)].join(); })()`,
			`"true,true,[object ModelContext]"`},
		{"its methods", `Promise.all([attempt(() => other.getTools()), attempt(() => other.registerTool({name: 'x', description: 'd', execute() {}}))]).then((l) => l.join())`,
			`"InvalidStateError: The document is not active.,InvalidStateError: The document is not active."`},
		{"a parsed document", `attempt(() => new DOMParser().parseFromString('<p>', 'text/html').modelContext.getTools())`, `"InvalidStateError: The document is not active."`},
		{"an XML document", `attempt(() => new DOMParser().parseFromString('<p/>', 'application/xml').modelContext.getTools())`, `"InvalidStateError: The document is not active."`},
	} {
		if got := string(pg.eval(tc.js)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if r := p.run(t, p.api(t), "symbol", "{}"); r.Status != shim.StatusError {
		t.Errorf("a call that ends in a symbol: %+v", *r)
	}
}

// Two asters at one browser: the shim of the first stays, and is not told to the second.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, "about:blank")
	first, second := newPeer(t, plainBrowser(), tab.Target), newPeer(t, plainBrowser(), tab.Target)
	first.inject(t, shim.Config{Secret: testSecret})
	second.inject(t, shim.Config{Secret: "another user's"})
	tab.Navigate(t, server().At("localhost", "/blank"))
	tab.Eval(t, words+"reg('a'); void 0")
	eventually(t, "the first hears", func() bool { return first.tools(t) == "a" })
	if r := first.run(t, first.api(t), "a", "{}"); r.Output != "ok" {
		t.Errorf("a: %+v", *r)
	}
	if h := second.heard(); len(h) != 0 {
		t.Errorf("the second hears %d messages", len(h))
	}
	if got := string(second.eval(t, shim.LateScript(shim.Config{Secret: "another user's"}), false).Value); got != `"page"` {
		t.Errorf("the second's late script gives %s", got)
	}
}

// A browser that lacks what Chromium got since version 116 runs tools all the same.
func TestOlderBrowser(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, "about:blank")
	tab.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "delete Array.fromAsync; delete AbortSignal.any; delete Error.isError;"})
	p := newPeer(t, plainBrowser(), tab.Target)
	p.inject(t, shim.Config{})
	tab.Navigate(t, server().At("localhost", "/blank"))
	pg := &page{tab, t}
	pg.eval(words + `reg('value', {execute: () => 1}); reg('later', {execute: async () => { await null; return {x: 2}; }});
	reg('throws', {execute() { throw new RangeError('no'); }}); reg('rejects', {execute: async () => { throw new RangeError('later no'); }});
	{ const c = new AbortController(); reg('gone', {}, {signal: c.signal}); c.abort(); }
	void 0`)
	eventually(t, "the tools are told", func() bool { return p.tools(t) == "value,later,throws,rejects" })
	for _, tc := range []struct{ name, output, error string }{
		{"value", "1", ""}, {"later", `{"x":2}`, ""}, {"throws", "", "RangeError: no"}, {"rejects", "", "RangeError: later no"},
	} {
		if r := p.run(t, p.api(t), tc.name, "{}"); r.Output != tc.output || r.Error != tc.error {
			t.Errorf("%s: %+v", tc.name, *r)
		}
	}
}

// Why betweenListeners is allowed: however a page has an event dispatched, also by native
// functions alone, no microtask runs between two of its listeners.
func TestNoMicrotaskBetweenListeners(t *testing.T) {
	t.Parallel()
	p := openPlain(t, server().At("localhost", "/blank"))
	got := p.EvalString(t, `(async () => {
	  const ways = {
	    timer: (f) => setTimeout(f),
	    microtask: (f) => queueMicrotask(f),
	    promise: (f) => Promise.resolve().then(f),
	    task: (f) => scheduler.postTask(f),
	    message: (f) => { const c = new MessageChannel(); c.port1.onmessage = f; c.port2.postMessage(0); },
	    abort: (f) => { const c = new AbortController(); c.signal.onabort = f; setTimeout(AbortController.prototype.abort.bind(c)); },
	  };
	  const found = [];
	  for (const name in ways) {
	    const target = new EventTarget();
	    const order = await new Promise((done) => {
	      let order = '';
	      const add = (x) => { if ((order += x).length === 3) done(order); };
	      target.addEventListener('x', () => { add('1'); Promise.resolve().then(() => add('m')); });
	      target.addEventListener('x', () => add('2'));
	      ways[name](target.dispatchEvent.bind(target, new Event('x')));
	    });
	    if (order !== '12m') found.push(name);
	  }
	  return found.join();
	})()`)
	if got != "" {
		t.Errorf("microtasks run between the listeners by %s: the shim can do so too", got)
	}
}
