package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
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
	scripts []string
	network []string // commands of the Network domain
	asked   bool     // for origin trials
	withID  bool     // 160: tools have identifiers, invokeTool takes exactly one of toolId and toolName
	early   bool     // answers before the reply that names the run
	noCDP   bool     // no WebMCP domain
	// output holds output schemas (159); each is that of a tool "out0", "out1" and so on.
	output []any
	// product is what Browser.getVersion says.
	product string
	// trial is an origin trial that the page takes part in.
	trial string
	// responds tells of a response, and then of a tool "after", once it was asked for trials.
	responds bool
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
		tools := []any{tool}
		for i, schema := range f.output {
			tools = append(tools, map[string]any{"name": fmt.Sprintf("out%d", i), "toolId": fmt.Sprintf("out-%d", i), "description": "d", "frameId": "F", "outputSchema": schema})
		}
		c.Event(m.SessionID, "WebMCP.toolsAdded", map[string]any{"tools": tools})
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
	case "Page.getOriginTrials":
		trials := []any{}
		if f.trial != "" {
			trials = append(trials, map[string]any{"trialName": f.trial, "status": "Enabled", "tokensWithStatus": []any{}})
		}
		c.Reply(m.ID, m.SessionID, map[string]any{"originTrials": trials})
		f.mu.Lock()
		first := f.responds && !f.asked
		f.asked = true
		f.mu.Unlock()
		if first {
			c.Event(m.SessionID, "Network.responseReceived", map[string]any{"requestId": "1", "loaderId": "L", "timestamp": 1, "type": "Image"})
			c.Event(m.SessionID, "WebMCP.toolsAdded", map[string]any{"tools": []any{map[string]any{"name": "after", "description": "d", "frameId": "F", "toolId": "id-2"}}})
		}
	case "Network.enable", "Network.disable":
		f.mu.Lock()
		f.network = append(f.network, m.Method)
		f.mu.Unlock()
		c.Reply(m.ID, m.SessionID, map[string]any{})
	case "Browser.getVersion":
		c.Reply(m.ID, m.SessionID, map[string]any{"protocolVersion": "1.3", "product": f.product, "revision": "", "userAgent": "", "jsVersion": ""})
	case "Page.addScriptToEvaluateOnNewDocument":
		f.mu.Lock()
		f.scripts = append(f.scripts, string(m.Params))
		f.mu.Unlock()
		c.Reply(m.ID, m.SessionID, map[string]any{"identifier": "1"})
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
			f.mu.Lock()
			got := string(f.invoked[0])
			f.mu.Unlock()
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

// TestMessageTooBig has the browser announce a message that the websocket refuses: the
// connection is lost and made again.
func TestMessageTooBig(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: (&fakePage{}).handle})
	r := &rig{}
	r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, e.HTTP) })
	r.awaitNames(t, "greet")
	header := []byte{0x81, 127, 0, 0, 0, 0, 0x20, 0, 0, 0} // a text frame of 512 MiB
	e.Conn(t).WriteRaw(header)
	r.await(t, "another connection", func() bool { return e.Upgrades() == 2 })
	r.awaitNames(t, "greet")
	wantText(t, r.call(t, "greet", nil), false, "hello")
}

// TestRunLeavesNothing checks that Run ends with its last goroutine.
func TestRunLeavesNothing(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: (&fakePage{}).handle})
	before := runtime.NumGoroutine()
	for range 3 {
		b, err := webmcp.New(&webmcp.Options{Finder: finder(t, e.HTTP), ActiveTab: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		e.Conn(t)
		for deadline := time.Now().Add(patience); len(b.Registry().Tools()) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no tools")
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before+2; time.Sleep(5 * time.Millisecond) { // the fake's own end a little later
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestBadOptions(t *testing.T) {
	f := finder(t, "auto")
	for _, o := range []*webmcp.Options{nil, {}, {Finder: f, Expose: "some"}, {Finder: f, Dialogs: "eat"}, {Finder: f, CallTimeout: -1}, {Finder: f, CallTimeout: 48 * time.Hour},
		{Finder: f, MaxResultTokens: 5}, {Finder: f, Origins: []string{"not an origin"}}, {Finder: f, DenyOrigins: []string{""}}} {
		if _, err := webmcp.New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
