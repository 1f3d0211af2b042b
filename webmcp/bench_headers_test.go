package webmcp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// What a page pays for the headers that we are told of: 40 requests of a page, with and
// without the Network domain as we enable it. Each round goes through both.
func BenchmarkHeaders(b *testing.B) {
	s := cdptest.Serve(b)
	s.Page("/small", "x")
	url := s.Page("/requests", script(""))
	browser := cdptest.Shared(b, false)
	plain, watched := browser.NewPage(b, url), browser.NewPage(b, url)
	watched.Call(b, "Network.enable", map[string]any{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0})
	least := map[*cdptest.Page]float64{}
	n := 0
	for b.Loop() {
		for _, p := range []*cdptest.Page{plain, watched} {
			n++
			p.Activate(b)
			var us float64
			if err := json.Unmarshal(p.Eval(b, fmt.Sprintf(`(async () => {
			  const t = performance.now();
			  for (let i = 0; i < 40; i += 10) await Promise.all(Array.from({length: 10}, (_, j) => fetch('/small?%d.' + (i + j)).then((r) => r.text())));
			  return (performance.now() - t) * 1000 / 40;
			})()`, n)), &us); err != nil {
				b.Fatal(err)
			}
			if l, ok := least[p]; !ok || us < l {
				least[p] = us
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least[plain], "µs/request-plain")
	b.ReportMetric(least[watched], "µs/request-watched")
}
