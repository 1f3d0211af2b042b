package shim_test

import (
	"encoding/json"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// The browser's own modelContext is there in an isolated world too, such as that of an
// extension's content script, and is the page's registry. No script can be brought into
// the worlds of others, so under the shim there is none, and the page's own is as it was.
func TestIsolatedWorld(t *testing.T) {
	cdptest.Require(t)
	for name, want := range map[string]string{"native": "object", "shim": "undefined"} {
		var p *cdptest.Page
		if name == "native" {
			p = nativeBrowser().NewPage(t, server().At("localhost", "/blank"))
			defer p.Close(t)
		} else {
			p = openShim(t, server().At("localhost", "/blank"), shim.Config{})
		}
		p.Eval(t, "document.modelContext.registerTool({name: 'a', description: 'd', execute() {}}).then(() => 1)")
		world := isolatedWorld(t, p)
		if got := world("typeof document.modelContext"); got != want {
			t.Errorf("%s: in an isolated world modelContext is %s, want %s", name, got, want)
		}
		if want == "object" {
			if got := world("document.modelContext.getTools().then((l) => l[0].name)"); got != "a" {
				t.Errorf("%s: in an isolated world the tools are %s", name, got)
			}
		}
		if got := p.EvalString(t, "document.modelContext.getTools().then((l) => l.map((t) => t.name).join())"); got != "a" {
			t.Errorf("%s: the page has the tools %s", name, got)
		}
	}
}

// isolatedWorld makes a world of its own in the page and evaluates there.
func isolatedWorld(t *testing.T, p *cdptest.Page) (eval func(js string) string) {
	t.Helper()
	var tree struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	var world struct{ ExecutionContextID int }
	decode(t, p.Call(t, "Page.getFrameTree", nil), &tree)
	decode(t, p.Call(t, "Page.createIsolatedWorld", map[string]any{"frameId": tree.FrameTree.Frame.ID, "worldName": "other"}), &world)
	return func(js string) string {
		t.Helper()
		var r struct{ Result struct{ Value string } }
		decode(t, p.Call(t, "Runtime.evaluate", map[string]any{"expression": js, "contextId": world.ExecutionContextID, "awaitPromise": true, "returnByValue": true}), &r)
		return r.Result.Value
	}
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
