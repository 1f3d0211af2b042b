package shim_test

import (
	"testing"

	"github.com/aster-mcp/aster/shim"
)

// A document that comes back out of the back/forward cache still has its tools, and the
// shim in it is found as one that was left behind.
func TestBackForwardCache(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(words + `globalThis.marker = 'kept'; globalThis.seen = []; mc.ontoolchange = () => seen.push('change');
	  addEventListener('pageshow', (e) => seen.push('shown ' + e.persisted));
	  reg('a', {execute: () => 'a'}).then(() => reg('b')).then(() => {})`)
	eventually(t, "the tools", func() bool { return p.tools(t) == "a,b" })
	pg.Navigate(t, server().At("a.localhost", "/blank"))
	pg.Back(t)
	eventually(t, "the page comes back", func() bool {
		v, err := pg.TryEval(`globalThis.marker`)
		return err == nil && string(v) == `"kept"`
	})
	if got := string(pg.eval(`mc.getTools().then(async (l) => [seen.join(), l.length, await mc.executeTool(l[0]), document.modelContext === mc].join())`)); got != `"change,change,shown true,2,a,true"` {
		t.Errorf("after the restore the page gets %s", got)
	}
	api := p.doorField(t)
	if api == "" {
		t.Fatal("no door")
	}
	p.method(t, api, "connect", p.genuine(t))
	eventually(t, "the tools again", func() bool {
		m := p.messages(t)
		last := m[len(m)-1]
		return last.Tools != nil && last.Tools.Reset && len(last.Tools.Add) == 2
	})
	if r := p.run(t, api, "a", "{}"); r.Output != "a" {
		t.Errorf("a: %+v", *r)
	}
}
