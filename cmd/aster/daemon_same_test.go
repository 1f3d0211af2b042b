package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// actor is a client that plays a script and writes down what it is answered.
type actor struct {
	*server
	pages   *cdptest.Server
	browser *cdptest.Browser
	page    *cdptest.Page
	meta    string // of each request
	changes int    // tools/list_changed
	told    func() // is called once, when the progress of a call is told
	said    []string
}

// modern is what each request says in revision 2026-07-28, which has no initialize.
const modern = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// varying is what no two runs share: ids of tabs, and handles of kept results.
var varying = regexp.MustCompile(`[0-9A-F]{32}|\b[a-z0-9-]*[A-Z2-7]{26}\b`)

// early is the title of a tab whose page has not told its own yet.
var early = regexp.MustCompile(`"aster/tabTitle":"[^"]*/shop"`)

// write adds a message to the transcript, in canonical form.
func (a *actor) write(step, text string) {
	a.t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		a.t.Fatalf("%s: not JSON: %s", step, text)
	}
	delete(m, "jsonrpc")
	delete(m, "id")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		a.t.Fatal(err)
	}
	said := varying.ReplaceAllString(strings.TrimSpace(b.String()), "~")
	a.said = append(a.said, step+": "+early.ReplaceAllString(said, `"aster/tabTitle":"Shop"`))
}

// read reads until the answer to request id and writes down what comes; the user agrees
// to all that is asked.
func (a *actor) read(step string, id int) (answer string) {
	a.t.Helper()
	for {
		text, err := a.stdout.ReadString('\n')
		if err != nil {
			a.t.Fatalf("%s: %v; stderr:\n%s", step, err, a.stderr.String())
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			a.t.Fatalf("stdout is not JSON: %q", text)
		}
		switch {
		case m.Method == "notifications/tools/list_changed":
			a.changes++
		case m.Method == "elicitation/create":
			a.write(step+" asks", text)
			a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once"}}}`, m.ID))
		case m.Method != "":
			a.write(step+" tells", text)
			if a.told != nil {
				told := a.told
				a.told = nil
				told()
			}
		case string(m.ID) == fmt.Sprint(id):
			return text
		}
	}
}

func (a *actor) begin(method, params string) (id int) {
	a.id++
	if a.meta != "" {
		params = strings.Replace(`{"_meta":{`+a.meta+`},`+params[1:], ",}", "}", 1)
	}
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.id, method, params))
	return a.id
}

// ask makes a request, and writes its answer down.
func (a *actor) ask(step, method, params string) {
	a.t.Helper()
	a.write(step, a.read(step, a.begin(method, params)))
}

func (a *actor) call(step, name, arguments string) {
	a.t.Helper()
	a.ask(step, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

// list waits until the server lists so many tools, and writes them down.
func (a *actor) list(step string, tools int) {
	a.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text := a.read(step, a.begin("tools/list", `{}`))
		if strings.Count(text, `"inputSchema":`) == tools {
			a.write(step, text)
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s: waited in vain for %d tools: %s; stderr:\n%s", step, tools, text, a.stderr.String())
		}
	}
}

// await waits until a word of the page's is true.
func (a *actor) await(js string) {
	a.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); string(a.page.Eval(a.t, js)) != "true"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.t.Fatalf("waited in vain for %s", js)
		}
	}
}

// shop is a page with a tool of each kind.
const shop = `<title>Shop</title><script>
if (!document.modelContext) setTimeout(() => location.reload(), 50); // it came before aster
const add = (name, execute, more) => document.modelContext.registerTool({name, description: 'does ' + name, inputSchema: {type: 'object', properties: {z: {type: 'number'}, a: {type: 'string', description: '<&>'}}}, execute, ...more});
add('echo', (x) => ({got: x, big: '9007199254740993'}), {annotations: {readOnlyHint: true}});
add('shop.tool', (x) => 'slashed ' + x.a);
add('throws', () => { throw new Error('it broke') });
add('long', () => 'long words '.repeat(40000));
add('secret', () => 'told');
add('asks', () => 'said ' + confirm('really?'));
add('never', (x, c) => new Promise((_, no) => { window.running = true; c?.signal?.addEventListener('abort', () => { window.aborted = true; no(new Error('stopped')) }) }));
</script>`

// shopTools is how many they are.
const shopTools = 7

// scripts are what clients do. Each needs the tools of the shop.
var scripts = map[string]struct {
	flags  []string
	client string // its capabilities; "" is one of revision 2026-07-28
	config string
	native bool // played there too
	play   func(*actor)
}{
	"everything": {[]string{"--approve", "never", "--max-result", "5000"}, `{}`, "mcp:\n  tools:\n    deny: [webmcp/secret]\n", true, func(a *actor) {
		a.list("list", 3+shopTools-1) // one is denied
		for deadline := time.Now().Add(30 * time.Second); a.changes == 0 && !a.t.Failed(); a.read("change", a.begin("ping", `{}`)) {
			if time.Now().After(deadline) {
				a.t.Error("the page's tools came without a list change")
			}
		}
		a.call("own name", "echo", `{"a":"x","z":1.50}`)
		a.call("envelope", "webmcp_call", `{"name":"echo","arguments":{"a":"y"}}`)
		a.call("page's name", "webmcp_call", `{"name":"shop.tool","arguments":{"a":"y"}}`)
		a.call("arguments in a string", "webmcp_call", `{"name":"echo","arguments":"{\"z\":2}"}`)
		a.call("wrong argument", "echo", `{"z":"one"}`)
		a.call("throws", "throws", `{}`)
		a.call("denied", "secret", `{}`)
		a.call("denied by envelope", "webmcp_call", `{"name":"secret"}`)
		a.call("unknown", "nothing", `{}`)
		a.call("unknown by envelope", "webmcp_call", `{"name":"ecko"}`)
		a.call("no name", "webmcp_call", `{}`)
		a.call("no such argument", "webmcp_tabs", `{"x":1}`)
		a.call("long", "long", `{}`)
		a.call("bad handle", "webmcp_call", `{"handle":"nothing"}`)
		a.call("tabs", "webmcp_tabs", `{}`)
		a.call("search", "webmcp_tools", `{"query":"secret echo"}`)
		a.call("schemas", "webmcp_tools", `{"names":["echo","secret","shop.tool"]}`)
		a.ask("bad cursor", "tools/list", `{"cursor":"nonsense"}`)
		a.ask("bad method", "tools/nothing", `{}`)
		a.ask("ping", "ping", `{}`)
		a.ask("other origin", "tools/call", `{"name":"echo","arguments":{},"_meta":{"aster/expectOrigin":"https://other.example"}}`)
		a.ask("bad timeout", "tools/call", `{"name":"echo","arguments":{},"_meta":{"aster/timeoutMs":"x"}}`)
		a.told = func() { a.page.Call(a.t, "Page.handleJavaScriptDialog", map[string]any{"accept": true}) }
		a.ask("dialog", "tools/call", `{"name":"asks","arguments":{},"_meta":{"progressToken":"p"}}`)
		id := a.begin("tools/call", `{"name":"never","arguments":{}}`)
		a.await("window.running === true")
		a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"no more"}}`, id))
		a.write("cancelled", a.read("cancelled", id))
		a.page.Eval(a.t, `add('later', () => 'late'), 0`)
		a.list("more tools", 3+shopTools)
		a.call("the new one", "later", `{}`)
		a.page.Eval(a.t, "window.running = false")
		id = a.begin("tools/call", `{"name":"never","arguments":{}}`)
		a.await("window.running === true")
		a.page.Navigate(a.t, a.pages.URL+"/elsewhere")
		a.write("navigated", a.read("navigated", id))
		a.list("no tools", 3)
		a.call("gone", "echo", `{}`)
		a.call("gone by envelope", "webmcp_call", `{"name":"echo"}`)
	}},
	"fixed": {[]string{"--expose", "fixed"}, `{"elicitation":{}}`, "mcp:\n  policy:\n    rules: [{deny: webmcp/throws}]\n", false, func(a *actor) {
		a.list("list", 3)
		for deadline := time.Now().Add(30 * time.Second); !strings.Contains(a.read("tools", a.begin("tools/call", `{"name":"webmcp_tools","arguments":{}}`)), fmt.Sprintf("%d of %[1]d tools", shopTools)); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				a.t.Fatal("waited in vain for the page's tools")
			}
		}
		a.call("search", "webmcp_tools", `{"query":"echo"}`)
		a.call("asked", "webmcp_call", `{"name":"echo","arguments":{"a":"y"}}`)
		a.call("asked by page's name", "webmcp_call", `{"name":"shop.tool","arguments":{"a":"y"}}`)
		a.call("refused", "webmcp_call", `{"name":"throws"}`)
		a.call("not listed", "echo", `{}`)
		a.call("unknown", "webmcp_call", `{"name":"nothing"}`)
	}},
	"modern": {[]string{"--approve", "never"}, "", "", false, func(a *actor) {
		a.meta = modern
		a.ask("discover", "server/discover", `{}`)
		a.list("list", 3+shopTools)
		a.call("own name", "echo", `{"a":"x"}`)
		a.call("page's name", "webmcp_call", `{"name":"shop.tool","arguments":{"a":"y"}}`)
		a.call("throws", "throws", `{}`)
		a.call("unknown", "nothing", `{}`)
		a.call("schemas", "webmcp_tools", `{"names":["echo"]}`)
	}},
	"tools": {[]string{"--expose", "tools", "--read-only"}, `{}`, "", false, func(a *actor) {
		a.list("list", shopTools)
		a.call("envelope", "webmcp_call", `{"name":"echo"}`)
		a.call("read only", "echo", `{}`)
	}},
}

// Through the daemon a client is answered what it is answered without one.
func TestDaemonAnswersTheSame(t *testing.T) {
	for _, native := range []bool{false, true} {
		b := cdptest.New(t, &cdptest.Options{Native: native})
		pages := cdptest.Serve(t)
		pages.Page("/shop", shop)
		pages.Page("/elsewhere", "<title>Elsewhere</title>")
		for _, name := range slices.Sorted(maps.Keys(scripts)) {
			if native && !scripts[name].native {
				continue // what it lists in another way is the same there
			}
			t.Run(fmt.Sprintf("%s, native %v", name, native), func(t *testing.T) {
				config := filepath.Join(t.TempDir(), "aster.yaml")
				if err := os.WriteFile(config, []byte(scripts[name].config), 0o600); err != nil {
					t.Fatal(err)
				}
				alone := play(t, name, config, native, b, pages, "--no-daemon")
				shared := play(t, name, config, native, b, pages)
				if diff := cmp.Diff(alone, shared); diff != "" {
					t.Errorf("without the daemon (-) and with it (+):\n%s", diff)
				}
			})
		}
	}
}

// play plays a script in a tab of its own and returns what the client was answered.
func play(t *testing.T, name, config string, native bool, b *cdptest.Browser, pages *cdptest.Server, daemon ...string) []string {
	t.Helper()
	script := scripts[name]
	env, status := shareDaemon(t)
	if !native {
		awaitUntouched(t, b, pages)
	}
	a := &actor{server: serveIn(t, env, "aster", slices.Concat(daemon, []string{"--cdp-url", b.WS, "--config", config}, script.flags)...), pages: pages, browser: b}
	if script.client != "" {
		a.ask("initialize", "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+script.client+`,"clientInfo":{"name":"t","version":"1"}}`)
		a.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	if script.client != "" && script.flags[1] != "tools" {
		a.connected()
	}
	a.page = b.NewPage(t, pages.URL+"/shop")
	script.play(a)
	if running := status().Running; running != (len(daemon) == 0) {
		t.Errorf("%q: a daemon runs: %v", daemon, running)
	}
	a.leave()
	if got := a.page.EvalString(t, "location.pathname"); !strings.HasPrefix(got, "/") {
		t.Errorf("the user's tab shows %q", got)
	}
	a.page.Close(t)
	return a.said
}

// awaitUntouched waits until the browser has noticed that the client before left: tabs that
// are opened now are that one's no more.
func awaitUntouched(t *testing.T, b *cdptest.Browser, pages *cdptest.Server) {
	t.Helper()
	p := b.NewPage(t, pages.URL+"/elsewhere")
	defer p.Close(t)
	for deadline := time.Now().Add(30 * time.Second); string(p.Eval(t, "'modelContext' in document")) == "true"; p.Reload(t) {
		if time.Now().After(deadline) {
			t.Fatal("pages are still given a shim")
		}
	}
}
