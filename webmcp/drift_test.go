package webmcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// fakePage plays a browser of some generation with one page.
type fakePage struct {
	mu      sync.Mutex
	invoked []json.RawMessage
	withID  bool // 160: tools have identifiers, invokeTool takes exactly one of toolId and toolName
	early   bool // answers before the reply that names the run
	noCDP   bool // no WebMCP domain
}

func (f *fakePage) handle(c *cdptest.FakeConn, m cdptest.Message) {
	switch m.Method {
	case "Target.setAutoAttach":
		c.Reply(m.ID, m.SessionID, map[string]any{})
		if m.SessionID == "" {
			c.Event("", "Target.attachedToTarget", map[string]any{"sessionId": "S", "waitingForDebugger": false,
				"targetInfo": map[string]any{"targetId": "T", "type": "page", "title": "Fake", "url": "https://fake.example/p", "attached": true, "canAccessOpener": false}})
		}
	case "Page.getFrameTree":
		c.Reply(m.ID, m.SessionID, map[string]any{"frameTree": map[string]any{"frame": map[string]any{
			"id": "F", "loaderId": "L", "url": "https://fake.example/p", "securityOrigin": "https://fake.example", "mimeType": "text/html", "domainAndRegistry": "fake.example",
			"secureContextType": "Secure", "crossOriginIsolatedContextType": "NotIsolated", "gatedAPIFeatures": []string{}}}})
	case "WebMCP.enable":
		if f.noCDP {
			c.Error(m.ID, -32601, "'WebMCP.enable' wasn't found")
			return
		}
		tool := map[string]any{"name": "greet", "description": "Greets", "frameId": "F", "inputSchema": map[string]any{"type": "object"}}
		if f.withID {
			tool["toolId"] = "id-1"
			tool["outputSchema"] = map[string]any{"type": "object"}
		}
		c.Event(m.SessionID, "WebMCP.toolsAdded", map[string]any{"tools": []any{tool}})
		c.Reply(m.ID, m.SessionID, map[string]any{})
	case "WebMCP.invokeTool":
		f.mu.Lock()
		f.invoked = append(f.invoked, m.Params)
		f.mu.Unlock()
		var p struct{ ToolID, ToolName *string }
		json.Unmarshal(m.Params, &p)
		switch {
		case f.withID && (p.ToolID == nil) == (p.ToolName == nil):
			c.Error(m.ID, -32602, "Exactly one of toolId and toolName must be specified")
			return
		case !f.withID && p.ToolName == nil:
			c.Error(m.ID, -32602, "Failed to deserialize params.toolName - BINDINGS: mandatory field missing at position 40")
			return
		}
		answer := map[string]any{"invocationId": "run-1", "status": "Completed", "output": map[string]any{"hello": "you"}}
		if f.early {
			c.Event(m.SessionID, "WebMCP.toolResponded", answer)
			c.Reply(m.ID, m.SessionID, map[string]any{"invocationId": "run-1"})
			return
		}
		c.Reply(m.ID, m.SessionID, map[string]any{"invocationId": "run-1"})
		c.Event(m.SessionID, "WebMCP.toolResponded", answer)
	default:
		c.Reply(m.ID, m.SessionID, map[string]any{})
	}
}

func TestGenerationsOfTheProtocol(t *testing.T) {
	for _, f := range []*fakePage{{}, {withID: true}, {early: true}, {withID: true, early: true}} {
		t.Run(fmt.Sprintf("id=%v early=%v", f.withID, f.early), func(t *testing.T) {
			e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: f.handle})
			r := &rig{}
			r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, e.HTTP) })
			r.awaitNames(t, "greet")
			wantText(t, r.call(t, "greet", map[string]any{"a": 1}), false, `{"hello":"you"}`)
			got := string(f.invoked[0])
			if strings.Contains(got, "toolId") != f.withID || strings.Contains(got, "toolName") == f.withID {
				t.Errorf("invoked with %s", got)
			}
		})
	}
}

// TestRefusedConsentIsNotAskedAgain counts the websockets that are opened.
func TestRefusedConsentIsNotAskedAgain(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: (&fakePage{}).handle, Consent: true, Hold: true})
	dir, stamp := t.TempDir(), t.TempDir()+"/stamp"
	e.WritePortFile(t, dir)
	r := &rig{}
	r.attachQuiet(t, func(o *webmcp.Options) { o.Finder, o.RetryStamp = finder(t, "profile:"+dir), stamp })
	r.await(t, "the wait for consent", func() bool {
		return strings.HasPrefix(r.tabs(t).Browser, "waiting for you to allow the connection in Chrome")
	})
	e.Refuse()
	r.await(t, "the refusal", func() bool { return strings.HasPrefix(r.tabs(t).Browser, "the connection was refused") })
	time.Sleep(1500 * time.Millisecond)
	if n := e.Upgrades(); n != 1 {
		t.Fatalf("%d websockets were opened, want 1", n)
	}
	e.Hold()
	if err := os.WriteFile(stamp, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.await(t, "another question", func() bool { return e.Waiting() == 1 })
	e.Allow()
	r.awaitNames(t, "greet")
	if n := e.Upgrades(); n != 2 {
		t.Errorf("%d websockets were opened, want 2", n)
	}
}

// TestBrowserComesBack drops the browser and starts it again, counting websockets.
func TestBrowserComesBack(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: (&fakePage{}).handle, Consent: true})
	dir := t.TempDir()
	e.WritePortFile(t, dir)
	r := &rig{}
	r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, "profile:"+dir) })
	r.awaitNames(t, "greet")
	e.DropAll()
	r.awaitNames(t)
	time.Sleep(time.Second)
	if n := e.Upgrades(); n != 1 {
		t.Fatalf("%d websockets were opened, want 1: the same start asks its user", n)
	}
	e.Restart()
	e.WritePortFile(t, dir)
	r.awaitNames(t, "greet")
	if n := e.Upgrades(); n != 2 {
		t.Errorf("%d websockets were opened, want 2", n)
	}
	wantText(t, r.call(t, "greet", nil), false, "hello")
}
