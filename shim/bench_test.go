package shim_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// iframes makes empty documents one after the other and gives the time for each, in
// microseconds: every one runs the injected scripts of its tab.
const iframes = `(() => {
  const times = [];
  for (let round = 0; round < 20; round++) {
    const t = performance.now();
    for (let i = 0; i < 20; i++) {
      const f = document.createElement('iframe');
      document.body.append(f);
      f.contentDocument.title;
      f.remove();
    }
    times.push((performance.now() - t) * 1000 / 20);
  }
  return times;
})()`

func median(b *testing.B, p *cdptest.Page, js string) float64 {
	var times []float64
	if err := json.Unmarshal(p.Eval(b, js), &times); err != nil {
		b.Fatal(err)
	}
	sort.Float64s(times)
	return times[len(times)/2]
}

// What a new document pays for the script, above the same document in a tab without it
// and in a tab with an empty script.
func BenchmarkDocumentStart(b *testing.B) {
	url := server().Page("/start", blank)
	bare := openPlain(b, url)
	empty := openPlain(b, "about:blank")
	empty.Call(b, "Runtime.enable", nil)
	empty.Call(b, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "void 0", "includeCommandLineAPI": true})
	empty.Navigate(b, url)
	shimmed := openShim(b, url, shim.Config{Deny: []string{"https://*.bank.example"}})
	denied := openShim(b, url, shim.Config{Deny: []string{"http://localhost:*"}})
	for b.Loop() {
		without, nothing := median(b, bare, iframes), median(b, empty, iframes)
		with, out := median(b, shimmed, iframes), median(b, denied, iframes)
		b.ReportMetric(without, "µs/bare")
		b.ReportMetric(nothing-without, "µs/empty-script")
		b.ReportMetric(with-without, "µs/shim")
		b.ReportMetric(out-without, "µs/denied")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(shim.Script(shim.Config{}))), "B/source")
}

// Registering and listing tools in the page.
func BenchmarkPage(b *testing.B) {
	p := openShim(b, server().Page("/bench", blank), shim.Config{})
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("register%d", n), func(b *testing.B) {
			for b.Loop() {
				p.Reload(b)
				p.Eval(b, fmt.Sprintf(`(async () => {
				  const t = performance.now();
				  for (let i = 0; i < %d; i++) document.modelContext.registerTool({name: 't' + i, description: 'd', inputSchema: {type: 'object'}, execute() {}});
				  await document.modelContext.getTools();
				  return performance.now() - t;
				})()`, n))
			}
		})
	}
}
