package shim_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// What a new document pays for the script once the renderer process has compiled it: the
// script's own time at the start, and that at the document's first change, in empty
// documents made one after the other. The page is cross-origin isolated, which makes its
// clock exact to 5 µs.
func BenchmarkDocumentStart(b *testing.B) {
	url := server().Page("/start", blank, "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp")
	for _, tc := range []struct{ name, source string }{
		{"shim", shim.Script(shim.Config{Secret: testSecret})},
		{"scoped", shim.Script(shim.Config{Secret: testSecret, Deny: []string{"https://*.bank.example"}})},
		{"denied", shim.Script(shim.Config{Secret: testSecret, Deny: []string{"http://localhost:*"}})},
	} {
		b.Run(tc.name, func(b *testing.B) {
			tab := openPlain(b, "about:blank")
			timed := "if (self !== top) { const t = performance.now(); " + tc.source + " top.started = performance.now() - t; }"
			tab.Call(b, "Runtime.enable", nil)
			tab.Call(b, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": timed, "includeCommandLineAPI": true})
			tab.Navigate(b, url)
			var starts, changes, both []float64
			for b.Loop() {
				var more [][2]float64
				if err := json.Unmarshal(tab.Eval(b, `(async () => {
				  const times = [];
				  for (let i = 0; i < 50; i++) {
				    const f = document.createElement('iframe');
				    document.body.append(f);  // the browser puts a body into it, which is a change
				    const start = started, changed = performance.now();
				    await null;
				    times.push([start * 1000, (performance.now() - changed) * 1000]);
				    f.remove();
				  }
				  return times;
				})()`), &more); err != nil {
					b.Fatal(err)
				}
				for _, m := range more {
					starts, changes, both = append(starts, m[0]), append(changes, m[1]), append(both, m[0]+m[1])
				}
			}
			for _, l := range [][]float64{starts, changes, both} {
				sort.Float64s(l)
			}
			middle := len(both) / 2
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(starts[0], "µs/start-least")
			b.ReportMetric(starts[middle], "µs/start-median")
			b.ReportMetric(changes[0], "µs/change-least")
			b.ReportMetric(both[0], "µs/both-least")
			b.ReportMetric(both[middle], "µs/both-median")
			b.ReportMetric(float64(len(tc.source)), "B/source")
		})
	}
}

// What the first document of a renderer process pays in addition: parsing the script,
// made new each time by a comment.
func BenchmarkCompile(b *testing.B) {
	p := openPlain(b, server().Page("/compile", blank))
	p.Eval(b, "globalThis.source = "+quoteJS("(() => { return; "+shim.LateScript(shim.Config{})+" })()")+"; globalThis.n = 0; void 0")
	least := 0.0
	for b.Loop() {
		var us float64
		if err := json.Unmarshal(p.Eval(b, `(() => {
		  const t = performance.now();
		  for (let i = 0; i < 5; i++) (0, eval)(source + '//' + n++);
		  return (performance.now() - t) * 1000 / 5;
		})()`), &us); err != nil {
			b.Fatal(err)
		}
		if least == 0 || us < least {
			least = us
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least, "µs/compile")
}

// Registering n tools, all told to the browser, and listing them, in the page's own time.
func BenchmarkRegister(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := openShim(b, server().Page("/register", blank), shim.Config{})
			least := 0.0
			for b.Loop() {
				p.Reload(b)
				var us float64
				if err := json.Unmarshal(p.Eval(b, fmt.Sprintf(`(async () => {
				  const t = performance.now();
				  for (let i = 0; i < %d; i++) document.modelContext.registerTool({name: 't' + i, description: 'd', inputSchema: {type: 'object'}, execute() {}});
				  await document.modelContext.getTools();
				  return (performance.now() - t) * 1000;
				})()`, n)), &us); err != nil {
					b.Fatal(err)
				}
				if least == 0 || us < least {
					least = us
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(least/float64(n), "µs/tool")
		})
	}
}

// A call through the api and back, with the bare round trip of the same session beside it.
func BenchmarkInvoke(b *testing.B) {
	tab := openPlain(b, "about:blank")
	p := newPeer(b, plainBrowser(), tab.Target)
	p.inject(b, shim.Config{})
	tab.Navigate(b, server().At("localhost", "/blank"))
	tab.Eval(b, words+"reg('echo', {execute: (i) => i}); void 0")
	api := p.api(b)
	done := make(chan string, 1)
	p.conn.Subscribe(func(e cdptest.Event) {
		if e.Session == p.session && e.Method == "Runtime.inspectRequested" {
			var i inspected
			json.Unmarshal(e.Params, &i)
			if m, err := shim.Parse(i.text()); err == nil && m.Result != nil {
				done <- m.Result.ID
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			p.call(b, "Runtime.callFunctionOn", map[string]any{"objectId": api, "functionDeclaration": "function () { return 1; }"}, nil)
		}
	})
	b.Run("call", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			p.method(b, api, "invoke", fmt.Sprint(n), "echo", `{"x":1}`)
			if id := <-done; id != fmt.Sprint(n) {
				b.Fatalf("result of %s, want %d", id, n)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	tool := `{"name":"tool_%d","title":"A tool","description":"It does what its name says","inputSchema":"{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}}"}`
	for _, n := range []int{1, 100} {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(tool, i)
		}
		payload := `{"t":"tools","add":[` + strings.Join(list, ",") + `]}`
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				if _, err := shim.Parse(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A storm of 100,000 nodes that a page adds, with nobody watching, under an empty
// MutationObserver, under the shim, and under the shim with a form that is a tool. Each
// round goes once through all pages, so that they meet the same noise.
func BenchmarkMutations(b *testing.B) {
	url := server().Page("/storm", blank, "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp")
	storms := []struct{ name, js string }{
		{"loop", `for (let i = 0; i < 100000; i++) root.append(document.createElement('div'));`},
		{"batches", `for (let i = 0; i < 1000; i++) {
		  for (let j = 0; j < 100; j++) root.append(document.createElement('div'));
		  await null;
		}`},
		{"trees", `for (let i = 0; i < 1000; i++) {
		  const t = document.createElement('p');
		  t.innerHTML = '<b></b>'.repeat(99);
		  root.append(t);
		  await null;
		}`},
	}
	const observe = `new MutationObserver(() => {}).observe(document, {childList: true, subtree: true}); void 0`
	const addForm = `document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d><input name=a></form>'); document.modelContext.getTools().then((l) => l.length)`
	type watcher struct {
		name string
		page *cdptest.Page
	}
	watchers := []watcher{{"nobody", openPlain(b, url)}, {"empty", openPlain(b, url)}, {"shim", openShim(b, url, shim.Config{})}, {"form", openShim(b, url, shim.Config{})}}
	watchers[1].page.Eval(b, observe)
	watchers[3].page.Eval(b, addForm)
	for _, storm := range storms {
		b.Run(storm.name, func(b *testing.B) {
			least := map[string]float64{}
			for b.Loop() {
				for _, w := range watchers {
					w.page.Activate(b)
					var us float64
					if err := json.Unmarshal(w.page.Eval(b, `(async () => {
					  const root = document.createElement('main');
					  document.body.append(root);
					  await null;
					  const t = performance.now();
					  `+storm.js+`
					  await null;
					  const d = performance.now() - t;
					  root.remove();
					  return d * 1000;
					})()`), &us); err != nil {
						b.Fatal(err)
					}
					if l, ok := least[w.name]; !ok || us < l {
						least[w.name] = us
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, w := range watchers {
				b.ReportMetric(least[w.name]/100000, "µs/node-"+w.name)
			}
		})
	}
}
