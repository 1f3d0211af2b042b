package webmcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// eventKinds are the events whose contents a page has a hand in. "says" is the text that
// a shim sends, of whatever form.
var eventKinds = []string{
	"WebMCP.toolsAdded", "WebMCP.toolsRemoved", "WebMCP.toolInvoked", "WebMCP.toolResponded",
	"Runtime.inspectRequested", "says", "Network.responseReceived", "Page.javascriptDialogOpening", "Page.javascriptDialogClosed",
}

// strangePage plays a browser with one page, all of whose scripts give the same answer.
type strangePage struct {
	mu      sync.Mutex
	answer  string            // guarded by mu
	conn    *cdptest.FakeConn // guarded by mu; of the page's session
	context int               // guarded by mu; that of the page's document
}

func (p *strangePage) handle(c *cdptest.FakeConn, m cdptest.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "WebMCP.enable":
		p.conn = c
		c.Reply(m.ID, m.SessionID, map[string]any{})
	case "Runtime.enable":
		p.arrive(c)
		c.Reply(m.ID, m.SessionID, map[string]any{})
	case "Page.createIsolatedWorld":
		c.Reply(m.ID, m.SessionID, map[string]any{"executionContextId": 1})
	case "Runtime.evaluate", "Runtime.callFunctionOn":
		c.Reply(m.ID, m.SessionID, map[string]any{"result": map[string]any{"type": "string", "value": p.answer}})
	default:
		(&fakePage{product: "Chrome/160.0.8173.2"}).handle(c, m)
	}
}

// arrive tells of a new document, with p.mu held.
func (p *strangePage) arrive(c *cdptest.FakeConn) {
	p.context++
	c.Event("S", "Runtime.executionContextCreated", map[string]any{"context": map[string]any{
		"id": p.context, "origin": "https://fake.example", "name": "", "uniqueId": fmt.Sprint(p.context),
		"auxData": map[string]any{"isDefault": true, "type": "default", "frameId": "F"}}})
}

// tell sends an event, and then a tool that must be there afterwards.
func (p *strangePage) tell(kind, params string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = params
	if kind == "says" {
		p.conn.Event("S", "Runtime.inspectRequested", map[string]any{
			"object": map[string]any{"type": "string", "value": params}, "hints": map[string]any{}, "executionContextId": p.context})
	} else {
		p.conn.Event("S", kind, rawJSON(params))
	}
	p.conn.Event("S", "WebMCP.toolsAdded", map[string]any{"tools": []any{map[string]any{"name": "beacon", "description": "d", "frameId": "F", "toolId": "b"}}})
}

// leave ends the document and begins another.
func (p *strangePage) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.Event("S", "Page.javascriptDialogClosed", map[string]any{"result": true, "userInput": "", "frameId": "F"})
	p.conn.Event("S", "Runtime.executionContextsCleared", map[string]any{})
	p.arrive(p.conn)
}

// Whatever comes up from a page, also in events and answers that the browser makes of it,
// the tools that are told afterwards are served, and none outlives its document.
func FuzzEvents(f *testing.F) {
	for kind, params := range []string{
		`{"tools":[{"name":"a","description":"\ud800","frameId":"F","inputSchema":{"type":["x"]},"annotations":{"readOnly":true},"backendNodeId":7},{"name":"","frameId":"F"},null,{"name":"a","frameId":"F","toolId":"2","outputSchema":[]}]}`,
		`{"tools":[{"name":"beacon","frameId":"F"},null,{"name":"x","frameId":"G","toolId":"1"}]}`,
		`{"toolName":"a","frameId":"F","invocationId":"1","input":"{}"}`,
		`{"invocationId":"1","status":"Error","errorText":"","exception":{"type":"symbol","value":1,"objectId":"o"}}`,
		`{"object":{"type":"object","objectId":"api"},"hints":{},"executionContextId":1}`,
		`{"t":"tools","reset":true,"add":[{"name":"beacon","inputSchema":"[]","form":{"autosubmit":true}}]}`,
		`{"requestId":"1","loaderId":"L","timestamp":1,"type":"Document","frameId":"F","response":{"url":"https://fake.example/p","headers":{"Permissions-Policy":"tools=()"}}}`,
		`{"url":"https://fake.example/p","frameId":"F","message":"x","type":"alert","hasBrowserHandler":false,"defaultPrompt":""}`,
	} {
		f.Add(byte(kind), params)
	}
	f.Add(byte(5), `{"t":"run","id":"1","path":".0","origin":"https://x.example","name":"a","input":"{}"}`)
	f.Add(byte(5), `{"t":"list","id":"1","origins":["https://x.example"]}`)
	f.Add(byte(0), `{"tools":[{"name":"`+strings.Repeat("n", 300)+`","description":"d","frameId":"F","inputSchema":7}]}`)
	p := &strangePage{}
	e := cdptest.NewEndpoint(f, &cdptest.EndpointOptions{Handler: p.handle})
	r := &rig{}
	r.attach(f, func(o *webmcp.Options) { o.Finder = finder(f, e.HTTP) })
	r.await(f, "the page", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.conn != nil && p.context > 0
	})
	f.Fuzz(func(t *testing.T, kind byte, params string) {
		name := eventKinds[int(kind)%len(eventKinds)]
		if name != "says" && !(json.Valid([]byte(params)) && utf8.ValidString(params)) {
			t.Skip("the browser sends JSON in UTF-8")
		}
		p.tell(name, params)
		r.await(t, "the tool that is told afterwards", func() bool { return slices.Contains(r.names(t), "beacon") })
		p.leave()
		r.awaitNames(t)
	})
}
