package webmcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// Documents whose policy forbids tools offer none to clients, forms included, and the
// others of the tab do.
func TestPoliciesHoldForClients(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		body := func(name string) string {
			return "<!doctype html><form toolname=form-" + name + " tooldescription=d><input name=a></form><script>" + register(name, "() => 1") + "</script>"
		}
		for _, name := range []string{"inside", "foreign", "granted", "refused"} {
			r.Page("/"+name, body(name))
		}
		r.Page("/headed", body("headed"), "Permissions-Policy: tools=()")
		at := func(name string) string { return r.At("b.localhost", "/"+name) }
		frames := fmt.Sprintf(`<iframe src="%s"></iframe><iframe src="%s" allow="tools"></iframe><iframe src="%s" allow="tools"></iframe>
		  <iframe src="/inside"></iframe><iframe src="/refused" allow="tools 'none'"></iframe>
		  <iframe src="/inside" sandbox="allow-same-origin"></iframe>`, at("foreign"), at("granted"), at("headed"))
		top := r.Page("/top", body("top")+frames)
		forbidden := r.Page("/forbidden", body("forbidden")+frames, "Permissions-Policy: camera=(), tools=()")
		p := r.browser.NewPage(t, top)
		want := []string{"top", "form-top", "inside", "form-inside", "granted", "form-granted"}
		r.awaitNames(t, want...)
		q := r.browser.NewPage(t, forbidden)
		q.Eval(t, "document.modelContext.getTools().catch(() => 0)") // decided by now
		r.awaitTools(t, len(want))
		wantText(t, r.call(t, "granted", nil), false, "1")
		p.Navigate(t, forbidden)
		r.awaitNames(t)
		q.Navigate(t, top)
		r.awaitTools(t, len(want))
	})
}

// Of a document that was open before us nobody knows the headers; webmcp_tabs says so.
func TestLatePolicyIsTold(t *testing.T) {
	r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, false)}
	p := r.browser.NewPage(t, r.Page("/late", script(""), "Permissions-Policy: tools=()"))
	r.attach(t, nil)
	told := func() bool { return strings.Contains(fmt.Sprint(r.tabs(t)), "Permissions-Policy") }
	r.await(t, "the shim", func() bool { return string(p.Eval(t, "'modelContext' in document")) == "true" })
	if told() {
		t.Error("a page without tools has a note on its policy")
	}
	p.Eval(t, register("late", "() => 1")+"0")
	r.awaitNames(t, "late")
	r.await(t, "the note", told)
	p.Reload(t)
	r.await(t, "no note", func() bool { return !told() })
	if got := string(p.Eval(t, "document.modelContext.getTools().catch((e) => e.name)")); got != `"NotAllowedError"` {
		t.Errorf("after a reload getTools gives %s", got)
	}
}

// A page finds no way to what goes between origins: what it may replace is not used, and
// what it sends by itself goes nowhere.
func TestBrokerIsNotForPages(t *testing.T) {
	r := newRig(t, false, nil)
	b, evil := r.At("b.localhost", "/victim"), strings.TrimSuffix(r.At("a.localhost", ""), "/")
	r.Page("/victim", script(`document.modelContext.registerTool({name: 'secret', description: 'd', execute: () => 'treasure'}, {exposedTo: ['https://friend.example']})
	  .then(() => parent.postMessage('ready', '*'));`))
	r.Page("/evil", fmt.Sprintf(`<!doctype html><script>
	  const log = globalThis.seen = [];
	  for (const [o, names] of [[JSON, ['stringify', 'parse']], [Reflect, ['apply', 'defineProperty']], [Promise.prototype, ['then']], [EventTarget.prototype, ['dispatchEvent', 'addEventListener']], [Function.prototype, ['call', 'apply']]]) {
	    for (const n of names) { const old = o[n]; o[n] = function (...a) { for (const x of a) if (typeof x === 'string' && x.includes('treasure')) log.push(n); return old.apply ? Reflect.construct(Object, []) && old.bind(this)(...a) : undefined; }; }
	  }
	  globalThis.inspect = globalThis.notify = (x) => log.push('inspect');
	  globalThis.ready = new Promise((done) => { onmessage = () => done(); });
	</script><iframe src=%q allow="tools"></iframe>`, b))
	p := r.browser.NewPage(t, evil+"/evil")
	got := string(p.Eval(t, fmt.Sprintf(`(async () => {
	  await ready;
	  const mc = document.modelContext, b = new URL(%q).origin, out = [];
	  out.push((await mc.getTools({fromOrigins: [b, 'https://friend.example']})).length);
	  for (const origin of [b, 'https://friend.example', location.origin]) {
	    out.push(await mc.executeTool({name: 'secret', description: '', origin, window: frames[0]}).catch((e) => e.name));
	  }
	  inspect('{"t":"run","id":"1","path":".0","origin":"' + b + '","name":"secret","input":"{}"}');
	  return out.join() + seen.filter((x) => x !== 'inspect').join();
	})()`, b)))
	if want := `"0,UnknownError,UnknownError,UnknownError"`; got != want {
		t.Errorf("the page gets %s, want %s", got, want)
	}
}
