package webmcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

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

// strangeEvents are what a test of events begins with, by kind.
var strangeEvents = [][]string{
	{`{"tools":[{"name":"a","description":"\ud800","frameId":"F","inputSchema":{"type":["x"]},"annotations":{"readOnly":true},"backendNodeId":7},{"name":"","frameId":"F"},null,{"name":"a","frameId":"F","toolId":"2","outputSchema":[]}]}`,
		`{"tools":[{"name":"` + strings.Repeat("n", 300) + `","description":"d","frameId":"F","inputSchema":7}]}`},
	{`{"tools":[{"name":"beacon","frameId":"F"},null,{"name":"x","frameId":"G","toolId":"1"}]}`},
	{`{"toolName":"a","frameId":"F","invocationId":"1","input":"{}"}`},
	{`{"invocationId":"1","status":"Error","errorText":"","exception":{"type":"symbol","value":1,"objectId":"o"}}`},
	{`{"object":{"type":"object","objectId":"api"},"hints":{},"executionContextId":1}`},
	{`{"t":"tools","reset":true,"add":[{"name":"beacon","inputSchema":"[]","form":{"autosubmit":true}}]}`,
		`{"t":"run","id":"1","path":".0","origin":"https://x.example","name":"a","input":"{}"}`,
		`{"t":"list","id":"1","origins":["https://x.example"]}`, `{"t":"result","id":"1","status":"Submitted"}`},
	{`{"requestId":"1","loaderId":"L","timestamp":1,"type":"Document","frameId":"F","response":{"url":"https://fake.example/p","headers":{"Permissions-Policy":"tools=()"}}}`},
	{`{"url":"https://fake.example/p","frameId":"F","message":"x","type":"alert","hasBrowserHandler":false,"defaultPrompt":""}`},
	{`{"result":true,"userInput":"","frameId":"F"}`},
}

// strangeValues stand in for parts of an event.
var strangeValues = []any{nil, true, -1.0, 1e300, "", "F", "beacon", "\x00\u2028", strings.Repeat("long", 5000), []any{}, []any{nil, "F"}, map[string]any{}, map[string]any{"type": "object"}}

// strange puts something else in place of some parts of a value.
func strange(r *rand.Rand, v any) any {
	if r.IntN(6) == 0 {
		return strangeValues[r.IntN(len(strangeValues))]
	}
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			for range r.IntN(3) {
				out = append(out, strange(r, x))
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if r.IntN(8) > 0 {
				out[k] = strange(r, v[k])
			}
		}
		return out
	}
	return v
}

// strangeRounds is how many events of each kind are made at random.
const strangeRounds = 15

// Whatever comes up from a page, also in events and answers that the browser makes of it,
// the tools that are told afterwards are served, and none outlives its document. A failure
// names the seed; ASTER_TEST_SEED=n repeats it.
func TestStrangeEvents(t *testing.T) {
	p := &strangePage{}
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: p.handle})
	r := &rig{}
	r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, e.HTTP) })
	r.await(t, "the page", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.conn != nil && p.context > 0
	})
	seed := uint64(1)
	if s, err := strconv.ParseUint(os.Getenv("ASTER_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for kind, list := range strangeEvents {
		for i := range len(list) + strangeRounds {
			params := list[i%len(list)]
			if i >= len(list) {
				var v any
				if err := json.Unmarshal([]byte(params), &v); err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(strange(random, v))
				if err != nil {
					t.Fatal(err)
				}
				params = string(b)
			}
			if t.Failed() {
				return
			}
			t.Run(fmt.Sprintf("seed %d %s %d", seed, eventKinds[kind], i), func(t *testing.T) {
				defer func() {
					if t.Failed() {
						t.Logf("after %.2000s", params)
					}
				}()
				p.tell(eventKinds[kind], params)
				r.await(t, "the tool that is told afterwards", func() bool { return slices.Contains(r.names(t), "beacon") })
				p.leave()
				r.awaitNames(t)
			})
		}
	}
}
