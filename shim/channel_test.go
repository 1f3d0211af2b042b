package shim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/shim"
)

// prelude gives a page's scripts short words.
const words = `
globalThis.mc = document.modelContext;
globalThis.reg = (name, more, options) => mc.registerTool({name, description: 'd', execute: () => 'ok', ...more}, options);
`

// startPage opens a page with the shim in it from the start and a peer that listens.
func startPage(t testing.TB, cfg shim.Config) (*page, *peer) {
	t.Helper()
	tab := openPlain(t, "about:blank")
	p := newPeer(t, plainBrowser(), tab.Target)
	p.inject(t, cfg)
	tab.Navigate(t, server().At("localhost", "/blank"))
	return &page{tab, t}, p
}

func texts(p *peer) []string {
	var out []string
	for _, e := range p.heard() {
		if e.Object.ObjectID != "" {
			out = append(out, "api")
		} else {
			out = append(out, e.text())
		}
	}
	return out
}

func TestMessages(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval("document.modelContext.getTools()")
	if got := texts(p); len(got) != 0 {
		t.Fatalf("a page without tools sends %q", got)
	}
	pg.eval(words + `globalThis.c = new AbortController();
	  reg('b', {title: 'B', inputSchema: {type: 'object'}}, {signal: c.signal});
	  reg('a', {annotations: {readOnlyHint: true}}, {exposedTo: ['https://X.example/path']});
	  reg('gone', {}, {signal: AbortSignal.abort()}).catch(() => {});
	  void 0`)
	pg.eval(`c.abort()`)
	pg.eval(`{ const d = new AbortController(); reg('brief', {}, {signal: d.signal}).catch(() => {}); d.abort(); void 0 }`)
	pg.eval(`{ const d = new AbortController(); globalThis.d = d; reg('c', {}, {signal: d.signal}); void 0 }`)
	pg.eval(`d.abort(); reg('c', {title: 'again'}); void 0`)
	want := []string{
		"api",
		`{"t":"tools","add":[{"name":"b","title":"B","description":"d","inputSchema":"{\"type\":\"object\"}"},` +
			`{"name":"a","title":"","description":"d","annotations":{"readOnlyHint":true,"untrustedContentHint":false,"consequentialHint":false,"debugging":false},"exposedTo":["https://x.example"]}]}`,
		`{"t":"tools","remove":["b"]}`,
		`{"t":"tools","add":[{"name":"c","title":"","description":"d"}]}`,
		`{"t":"tools","remove":["c"],"add":[{"name":"c","title":"again","description":"d"}]}`,
	}
	eventually(t, "all messages", func() bool { return len(p.heard()) >= len(want) })
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got := p.tools(t); got != "a,c" {
		t.Errorf("live tools are %s", got)
	}
}

func TestEveryKindOfText(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('t', {title: '"\\\u0000\u001f\n\u2028é😀', description: 'x\ud800y'}); void 0`)
	p.api(t)
	eventually(t, "the tool", func() bool { return len(p.messages(t)) == 1 })
	tool := p.messages(t)[0].Tools.Add[0]
	if want := "\"\\\x00\x1f\n\u2028é😀"; tool.Title != want {
		t.Errorf("title is %q, want %q", tool.Title, want)
	}
	if want := "x\ufffdy"; tool.Description != want {
		t.Errorf("description is %q, want %q", tool.Description, want)
	}
}

// What is above a bound of Parse is cut or left out by the shim, so that one large tool
// does not cost the page its others.
func TestBoundsAreKept(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `
	  reg('ascii', {title: 'x'.repeat(1 << 16), description: 'y'.repeat((1 << 16) + 1)});
	  reg('wide', {title: '\u20ac'.repeat(1 << 16), description: '\u{1f600}'.repeat(1 << 16)});
	  reg('schema', {inputSchema: {description: 'z'.repeat(1 << 20)}});
	  reg('fits', {inputSchema: {description: 'z'.repeat((1 << 20) - 30)}});
	  reg('text', {inputSchema: {toJSON: () => 'text'}});
	  reg('origins', {}, {exposedTo: Array.from({length: 300}, (_, i) => 'https://x' + i)});
	  for (let i = 0; i < 2500; i++) reg('many' + i);
	  void 0`)
	eventually(t, "2506 tools", func() bool { return strings.Count(p.tools(t), ",") == 2505 })
	tools := map[string]shim.Tool{}
	for _, m := range p.messages(t) {
		for _, tool := range m.Tools.Add {
			tools[tool.Name] = tool
		}
	}
	for _, name := range []string{"ascii", "wide"} {
		tool := tools[name]
		if !strings.HasSuffix(tool.Description, "…") || len(tool.Description) < shim.MaxTextBytes*2/3 {
			t.Errorf("%s: the description is %d bytes and ends in %q", name, len(tool.Description), tool.Description[len(tool.Description)-8:])
		}
	}
	if n := len(tools["schema"].InputSchema); n != 0 {
		t.Errorf("a schema above the bound arrives with %d bytes", n)
	}
	if n := len(tools["fits"].InputSchema); n < 1<<20-30 {
		t.Errorf("a schema within the bound arrives with %d bytes", n)
	}
	if s := tools["text"].InputSchema; s != nil {
		t.Errorf("a schema that is no object arrives as %s", s)
	}
	if n := len(tools["origins"].ExposedTo); n != shim.MaxExposedTo {
		t.Errorf("exposed to %d origins", n)
	}
	if got := string(pg.eval(`mc.getTools().then((l) => l.length)`)); got != "2505" {
		t.Errorf("the page sees %s tools, want all but the one with a text for a schema", got)
	}
}

func TestAPIObject(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('a'); void 0`)
	api := p.api(t)
	var r struct {
		Result []struct {
			Name                               string
			Value                              remote
			Writable, Configurable, Enumerable bool
			Get                                *remote
		}
		InternalProperties []struct{ Name string }
	}
	p.call(t, "Runtime.getProperties", map[string]any{"objectId": api}, &r)
	var got []string
	for _, prop := range r.Result {
		if prop.Writable || prop.Configurable || prop.Get != nil {
			t.Errorf("%s is not frozen", prop.Name)
		}
		got = append(got, prop.Name+" "+prop.Value.Type)
	}
	want := []string{"protocol number", "build string", "secret string", "connect function", "disconnect function", "rule function", "answer function", "change function", "invoke function", "cancel function"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members, inherited ones included (-want +got):\n%s", diff)
	}
	if got := p.secretOf(t, api); got != testSecret {
		t.Errorf("secret is %q", got)
	}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `
	  reg('echo', {execute: (i) => i});
	  reg('text', {execute: () => 'te"xt\n😀'});
	  reg('empty', {execute: () => ''});
	  reg('nothing', {execute() {}});
	  reg('later', {execute: async () => { await new Promise((d) => setTimeout(d, 5)); return [1]; }});
	  reg('throws', {execute() { throw new RangeError('too far\nsecond line'); }});
	  reg('rejects', {execute: async () => { throw 'just text'; }});
	  reg('nul', {execute() { throw null; }});
	  reg('symbol', {execute: () => Symbol('s')});
	  reg('throwssymbol', {execute() { throw Symbol('s'); }});
	  reg('circular', {execute: () => { const o = {}; o.o = o; return o; }});
	  reg('surrogate', {execute: () => 'x\ud800y'});
	  reg('evil', {execute() { throw Object.defineProperty(new Error('m'), 'message', {get() { throw 1; }}); }});
	  reg('nostack', {execute() { throw Object.defineProperty(new Error('m'), 'stack', {value: 5}); }});
	  reg('longerror', {execute() { throw new Error('e'.repeat(1 << 20)); }});
	  reg('dom', {execute() { throw new DOMException('d', 'NotFoundError'); }});
	  reg('large', {execute: () => 'x'.repeat(5 << 20)});
	  reg('args', {execute: (...a) => [a.length, Object.keys(a[1]).join()]});
	  void 0`)
	api := p.api(t)
	for _, tc := range []struct {
		name, args    string
		status        string
		output, error string
	}{
		{"echo", `{"z":1,"a":{"b":[null,true]}}`, shim.StatusCompleted, `{"z":1,"a":{"b":[null,true]}}`, ""},
		{"echo", `[1]`, shim.StatusCompleted, `[1]`, ""},
		{"echo", `{"__proto__":{"x":1}}`, shim.StatusCompleted, `{"__proto__":{"x":1}}`, ""},
		{"echo", `5`, shim.StatusError, "", "Failed to parse input arguments"},
		{"echo", `{`, shim.StatusError, "", "Failed to parse input arguments"},
		{"echo", `null`, shim.StatusError, "", "Failed to parse input arguments"},
		{"text", `{}`, shim.StatusCompleted, "te\"xt\n😀", ""},
		{"empty", `{}`, shim.StatusCompleted, "Operation succeeded", ""},
		{"nothing", `{}`, shim.StatusCompleted, "undefined", ""},
		{"later", `{}`, shim.StatusCompleted, "[1]", ""},
		{"throws", `{}`, shim.StatusError, "", "RangeError: too far"},
		{"rejects", `{}`, shim.StatusError, "", "just text"},
		{"nul", `{}`, shim.StatusError, "", "null"},
		{"symbol", `{}`, shim.StatusError, "", "TypeError: Cannot convert a Symbol value to a string"},
		{"throwssymbol", `{}`, shim.StatusError, "", "a symbol"},
		{"circular", `{}`, shim.StatusError, "", "TypeError: Converting circular structure to JSON"},
		{"surrogate", `{}`, shim.StatusCompleted, "x\ufffdy", ""},
		{"evil", `{}`, shim.StatusError, "", "an error that cannot be read"},
		{"nostack", `{}`, shim.StatusError, "", "Error: m"},
		{"dom", `{}`, shim.StatusError, "", "NotFoundError: d"},
		{"args", `{}`, shim.StatusCompleted, `[2,"signal"]`, ""},
		{"none", `{}`, shim.StatusError, "", "Tool not found: none"},
	} {
		r := p.run(t, api, tc.name, tc.args)
		if r.Status != tc.status || r.Output != tc.output || r.Error != tc.error || r.NotFound != (tc.name == "none") {
			t.Errorf("%s(%s): %+v", tc.name, tc.args, *r)
		}
		if stack := tc.name == "throws" || tc.name == "circular"; stack != (strings.Contains(r.Stack, "\n    at ")) {
			t.Errorf("%s: stack is %q", tc.name, r.Stack)
		}
	}
	if r := p.run(t, api, "large", `{}`); len(r.Output) != 5<<20 {
		t.Errorf("large: %s with %d bytes", r.Status, len(r.Output))
	}
	if r := p.run(t, api, "longerror", `{}`); !strings.HasPrefix(r.Error, "Error: eee") || !strings.HasSuffix(r.Error, "…") {
		t.Errorf("longerror: %s with an error of %d bytes", r.Status, len(r.Error))
	}
}

// A result above the bound of a message is an error; the bound is lowered here.
func TestResultTooLarge(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, "about:blank")
	p := newPeer(t, plainBrowser(), tab.Target)
	bound := fmt.Sprintf(`"message":%d`, shim.MaxMessageBytes)
	source := shim.Script(shim.Config{Secret: testSecret})
	if !strings.Contains(source, bound) {
		t.Fatal("the script does not hold the bound")
	}
	p.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": strings.Replace(source, bound, `"message":1000`, 1), "includeCommandLineAPI": true}, nil)
	tab.Navigate(t, server().At("localhost", "/blank"))
	tab.Eval(t, words+`reg('a', {execute: ({n}) => 'é'.repeat(n)}); void 0`)
	api := p.api(t)
	if r := p.run(t, api, "a", `{"n":400}`); r.Status != shim.StatusCompleted {
		t.Errorf("800 bytes: %+v", *r)
	}
	if r := p.run(t, api, "a", `{"n":500}`); r.Status != shim.StatusError || r.Error != "the result is larger than 1000 bytes" {
		t.Errorf("1000 bytes and an envelope: %+v", *r)
	}
}

func TestInvokeDoesNotWait(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('slow', {execute: () => { const end = performance.now() + 200; while (performance.now() < end); return 'done'; }});
	  reg('never', {execute: () => new Promise(() => {})}); void 0`)
	api := p.api(t)
	if r := p.method(t, api, "invoke", "1", "slow", "{}"); r.Type != "undefined" {
		t.Errorf("invoke returns %s", r.Type)
	}
	p.method(t, api, "invoke", "2", "never", "{}")
	if r := p.result(t, "1"); r.Output != "done" {
		t.Errorf("slow: %+v", *r)
	}
	p.method(t, api, "cancel", "2")
	if r := p.result(t, "2"); r.Status != shim.StatusCanceled {
		t.Errorf("never: %+v", *r)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `globalThis.seen = [];
	  mc.ontoolactivated = (e) => seen.push('activated ' + e.toolName);
	  mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
	  reg('hang', {execute: (i, {signal}) => new Promise((done, fail) => {
	    seen.push('run');
	    signal.onabort = () => { seen.push('signal ' + signal.reason.name + ' ' + signal.reason.message); fail(signal.reason); };
	  })});
	  reg('quick'); void 0`)
	api := p.api(t)
	p.method(t, api, "invoke", "1", "hang", "{}")
	eventually(t, "the tool runs", func() bool { return string(pg.eval(`seen.length > 1`)) == "true" })
	p.method(t, api, "cancel", "1")
	if r := p.result(t, "1"); r.Status != shim.StatusCanceled {
		t.Errorf("canceled while it runs: %+v", *r)
	}
	want := `["activated hang","cancel hang","run","signal AbortError signal is aborted without reason"]`
	if got := string(pg.eval(`seen.sort()`)); got != want {
		t.Errorf("the page saw %s, want %s", got, want)
	}
	// Nothing comes of ids that are unknown, ended or canceled already.
	p.method(t, api, "cancel", "1")
	p.method(t, api, "cancel", "nobody")
	if r := p.run(t, api, "quick", "{}"); r.Status != shim.StatusCompleted {
		t.Errorf("after it: %+v", *r)
	}
	p.method(t, api, "cancel", "call-1")
	p.run(t, api, "quick", "{}")
	var results []string
	for _, m := range p.messages(t) {
		if m.Result != nil {
			results = append(results, m.Result.ID+" "+m.Result.Status)
		}
	}
	if diff := cmp.Diff([]string{"1 Canceled", "call-1 Completed", "call-2 Completed"}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A page that registers and unregisters without end costs one small message a turn.
func TestFlood(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('keep'); (async () => {
	  for (let turn = 0; turn < 50; turn++) {
	    for (let i = 0; i < 100; i++) {
	      const c = new AbortController();
	      reg('t', {title: String(turn * 100 + i)}, {signal: c.signal}).catch(() => {});
	      if (i < 99 || turn < 49) c.abort();
	    }
	    await new Promise((d) => setTimeout(d));
	  }
	})()`)
	eventually(t, "the last registration", func() bool { return p.tools(t) == "keep,t" })
	if n := len(p.messages(t)); n > 55 {
		t.Errorf("%d messages for 5,000 registrations in 50 turns", n)
	}
}

func TestDisconnectAndConnect(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('a'); reg('b'); void 0`)
	api := p.api(t)
	notify := p.genuine(t)
	p.method(t, api, "disconnect")
	pg.eval(`reg('c').then(() => mc.getTools()).then((l) => l.length)`)
	if got := p.tools(t); got != "a,b" {
		t.Errorf("after disconnect aster hears of %s", got)
	}
	if got := string(pg.eval(`mc.getTools().then(async (l) => [l.length, await mc.executeTool(l[2])])`)); got != `[3,"ok"]` {
		t.Errorf("the page gets %s", got)
	}
	p.method(t, api, "connect", notify)
	eventually(t, "all tools", func() bool { return p.tools(t) == "a,b,c" })
	pg.eval(`reg('d'); void 0`)
	eventually(t, "the next tool", func() bool { return p.tools(t) == "a,b,c,d" })
	last := p.messages(t)
	if n := len(last[len(last)-1].Tools.Add); n != 1 {
		t.Errorf("the last message adds %d tools", n)
	}
}

// Each document has an api of its own, stamped by the browser with its context.
func TestFramesAndNavigation(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('top'); void 0`)
	pg.eval(`new Promise((done) => { const f = document.createElement('iframe'); f.src = '/blank?child'; f.onload = done; document.body.append(f); })`)
	pg.eval(`frames[0].document.modelContext.registerTool({name: 'child', description: 'd', execute: () => 'from the child'}); void 0`)
	eventually(t, "both documents", func() bool { return len(p.heard()) == 4 })
	h := p.heard()
	if h[0].ExecutionContextID != h[1].ExecutionContextID || h[2].ExecutionContextID != h[3].ExecutionContextID || h[1].ExecutionContextID == h[2].ExecutionContextID {
		t.Errorf("contexts are %d %d %d %d", h[0].ExecutionContextID, h[1].ExecutionContextID, h[2].ExecutionContextID, h[3].ExecutionContextID)
	}
	if r := p.run(t, h[2].Object.ObjectID, "child", "{}"); r.Output != "from the child" {
		t.Errorf("child: %+v", *r)
	}
	if r := p.run(t, h[0].Object.ObjectID, "child", "{}"); !r.NotFound {
		t.Errorf("the child's tool through its parent: %+v", *r)
	}
	pg.Navigate(t, server().At("localhost", "/blank?2"))
	pg.eval(words + `reg('next'); void 0`)
	eventually(t, "the next document", func() bool {
		h := p.heard()
		last := h[len(h)-1]
		return strings.Contains(last.text(), `"next"`) && h[len(h)-2].Object.ObjectID != ""
	})
}

// An initial about:blank that was touched shares its window with the page that follows;
// that page's document announces itself all the same.
func TestWindowReuse(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(`globalThis.add = (name) => frames[0].document.modelContext.registerTool({name, description: 'd', execute: () => name}); new Promise((done) => {
	  const f = document.createElement('iframe');
	  f.src = '/blank?reuse';
	  document.body.append(f);
	  frames[0].marker = 'kept';
	  globalThis.early = frames[0].document;
	  add('early');
	  f.onload = () => done();
	})`)
	if got := string(pg.eval(`[frames[0].marker, frames[0].document !== early]`)); got != `["kept",true]` {
		t.Fatalf("the window is not reused: %s", got)
	}
	pg.eval(`add('late'); void 0`)
	eventually(t, "the late tool", func() bool { return strings.HasSuffix(p.tools(t), "late") })
	h := p.heard()
	if diff := cmp.Diff([]string{"api", "tool", "api", "tool"}, kinds(h)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if r := p.run(t, h[2].Object.ObjectID, "late", "{}"); r.Output != "late" {
		t.Errorf("late: %+v", *r)
	}
	if r := p.run(t, h[2].Object.ObjectID, "early", "{}"); !r.NotFound {
		t.Errorf("early: %+v", *r)
	}
}

func kinds(h []inspected) []string {
	var out []string
	for _, e := range h {
		if e.Object.ObjectID != "" {
			out = append(out, "api")
		} else {
			out = append(out, "tool")
		}
	}
	return out
}

func TestLateAttach(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, server().At("localhost", "/blank"))
	p := newPeer(t, plainBrowser(), tab.Target)
	api := p.attachLate(t, shim.Config{})
	want := []string{`{"t":"tools","reset":true}`}
	eventually(t, "the reset", func() bool { return len(p.heard()) == 1 })
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tab.Eval(t, words+`reg('a', {title: '"\\\u0000\n\u2028é😀', execute: (i) => ({got: i})}); void 0`)
	eventually(t, "the tool", func() bool { return p.tools(t) == "a" })
	if title := p.messages(t)[1].Tools.Add[0].Title; title != "\"\\\x00\n\u2028é😀" {
		t.Errorf("title is %q", title)
	}
	if r := p.run(t, api, "a", `{"x":[1]}`); r.Output != `{"got":{"x":[1]}}` {
		t.Errorf("a: %+v", *r)
	}
	got := string(tab.Eval(t, `mc.getTools().then(async (l) => [l.length, await mc.executeTool(l[0], {y: 1})])`))
	if got != `[1,"{\"got\":{\"y\":1}}"]` {
		t.Errorf("the page gets %s", got)
	}
}

func TestLateReasons(t *testing.T) {
	t.Parallel()
	plain := openPlain(t, server().At("localhost", "/blank"))
	insecure := openPlain(t, server().At("plain.example", "/blank"))
	native := nativeBrowser().NewPage(t, server().At("localhost", "/blank"))
	defer native.Close(t)
	own := openPlain(t, server().At("localhost", "/blank"))
	own.Eval(t, `Object.defineProperty(document, 'modelContext', {value: {}}); void 0`)
	accessor := openPlain(t, server().At("localhost", "/blank"))
	accessor.Eval(t, `Object.defineProperty(Document.prototype, 'modelContext', {configurable: true, get() { return {}; }}); void 0`)
	named := openPlain(t, server().At("localhost", "/blank"))
	named.Eval(t, `const get = Object.defineProperty(function () { return {}; }, 'name', {value: 'get modelContext'});
	  get.toString = () => 'function get modelContext() { [native code] }';
	  Object.defineProperty(Document.prototype, 'modelContext', {configurable: true, get}); void 0`)
	frozen := openPlain(t, server().At("localhost", "/blank"))
	frozen.Eval(t, `Object.freeze(Document.prototype); void 0`)
	gone := openPlain(t, server().At("localhost", "/blank"))
	gone.Eval(t, `delete window.MessagePort; void 0`)
	twice := openPlain(t, server().At("localhost", "/blank"))
	twice.Eval(t, shim.LateScript(shim.Config{Secret: "another"})+"; void 0")
	for _, tc := range []struct {
		name string
		tab  interface {
			Eval(testing.TB, string) json.RawMessage
		}
		cfg  shim.Config
		want string
	}{
		{"denied", plain, shim.Config{Deny: []string{"http://localhost:*"}}, shim.ReasonDenied},
		{"not allowed", plain, shim.Config{Allow: []string{"https://*"}}, shim.ReasonDenied},
		{"insecure", insecure, shim.Config{}, shim.ReasonInsecure},
		{"denied and insecure", insecure, shim.Config{Deny: []string{"http://plain.example:*"}}, shim.ReasonDenied},
		{"native", native, shim.Config{}, shim.ReasonNative},
		{"a property of the document", own, shim.Config{}, shim.ReasonPage},
		{"an accessor of the page", accessor, shim.Config{}, shim.ReasonPage},
		{"an accessor with a native name", named, shim.Config{}, shim.ReasonPage},
		{"a frozen prototype", frozen, shim.Config{}, shim.ReasonPage},
		{"a missing builtin", gone, shim.Config{}, shim.ReasonPage},
		{"another shim", twice, shim.Config{}, shim.ReasonPage},
	} {
		if got := string(tc.tab.Eval(t, shim.LateScript(tc.cfg))); got != `"`+tc.want+`"` {
			t.Errorf("%s: the late script gives %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := string(plain.Eval(t, `typeof document.modelContext`)); got != `"undefined"` {
		t.Errorf("after the refusals modelContext is %s", got)
	}
}

// An aster that was killed leaves its shim behind; the next one finds it with all tools.
func TestAdoption(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		late     bool
		door     func(*peer, testing.TB) string
		old, new string // turns the script into one of another version
	}{
		{"from the start, by the field", false, (*peer).doorField, "", ""},
		{"from the start, by the event", false, (*peer).doorEvent, "", ""},
		{"late, by the field", true, (*peer).doorField, "", ""},
		{"another version", false, (*peer).doorField, `"build":"`, `"build":"older-`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tab := openPlain(t, "about:blank")
			first := newPeer(t, plainBrowser(), tab.Target)
			if !tc.late {
				source := strings.Replace(shim.Script(shim.Config{Secret: testSecret}), tc.old, tc.new, 1)
				first.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": source, "includeCommandLineAPI": true}, nil)
			}
			tab.Navigate(t, server().At("localhost", "/blank"))
			if tc.late {
				first.attachLate(t, shim.Config{})
			}
			tab.Eval(t, words+`globalThis.c = new AbortController(); reg('before'); reg('left', {}, {signal: c.signal}); void 0`)
			eventually(t, "the first aster hears", func() bool { return first.tools(t) == "before,left" })
			first.conn.Close()
			tab.Eval(t, `c.abort(); reg('between', {execute: () => 'b'}); void 0`)
			second := newPeer(t, plainBrowser(), tab.Target)
			api := tc.door(second, t)
			if api == "" {
				t.Fatal("no door")
			}
			second.method(t, api, "connect", second.genuine(t))
			eventually(t, "the second aster hears", func() bool { return second.tools(t) == "before,between" })
			tab.Eval(t, `reg('after'); void 0`)
			eventually(t, "the second aster hears of the next", func() bool { return second.tools(t) == "before,between,after" })
			if r := second.run(t, api, "between", "{}"); r.Output != "b" {
				t.Errorf("between: %+v", *r)
			}
		})
	}
}

// The door opens to nobody in the page.
func TestDoorIsShut(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `reg('a'); void 0`)
	p.api(t)
	got := string(pg.eval(`(() => {
	  const results = [];
	  for (const e of [new Event('aster'), new CustomEvent('aster', {detail: {}}), new MessageEvent('aster')]) results.push(mc.dispatchEvent(e), Object.keys(e).join());
	  mc.addEventListener('aster', function (...a) { results.push(a.length, this === mc); });
	  mc.dispatchEvent(new Event('aster'));
	  results.push(Reflect.ownKeys(mc).length, JSON.stringify(mc), mc.aster === undefined, mc['#aster'] === undefined);
	  return results.join();
	})()`))
	if want := `"true,isTrusted,true,isTrusted,true,isTrusted,1,true,0,{},true,true"`; got != want {
		t.Errorf("the page gets %s, want %s", got, want)
	}
}
