package daemon

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

const (
	// methodTarget asks what a call would come to; its answer is a targetResult.
	methodTarget = "aster/target"
	// metaDefinition is a key of _meta: in a list, what the definition of a page's tool comes
	// to; in a call, the one that was decided on.
	metaDefinition = "aster/definition"
)

// targetParams are a call that somebody thinks about.
type targetParams struct {
	mcp.ParamsBase
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// targetResult is the tool that a call comes to; a nil Tool is none.
type targetResult struct {
	mcp.ResultBase
	Tool      *mcp.Tool       `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Direct    bool            `json:"direct,omitempty"`
	Problem   string          `json:"problem,omitempty"` // for the client: nothing is called
}

// binder keeps the calls of one client with what was decided on in the client's process:
// lists say what each definition comes to, and a call that names another is refused.
type binder struct {
	srv     *webmcp.Server
	running *atomic.Int64 // the daemon's

	mu      sync.Mutex
	digests map[*webmcp.PageTool]string // guarded by mu; a page's tool never changes
}

// maxDigests bounds those that are kept.
const maxDigests = 4_000

// bind puts a binder in front of a client's server; running counts the calls.
func bind(srv *webmcp.Server, running *atomic.Int64) error {
	b := &binder{srv: srv, running: running, digests: map[*webmcp.PageTool]string{}}
	srv.MCP().AddReceivingMiddleware(b.middleware)
	return mcp.AddReceivingCustomMethod(srv.MCP(), methodTarget, b.target)
}

func (b *binder) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
			b.running.Add(1)
			defer b.running.Add(-1)
			ctx = b.bound(ctx, call)
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil && list != nil {
			res = marked(list)
		}
		return res, err
	}
}

// bound gives the context of a call the page's tool of the definition that was decided on,
// or none, so that the call is refused.
func (b *binder) bound(ctx context.Context, call *mcp.CallToolRequest) context.Context {
	want, ok := call.Params.Meta[metaDefinition]
	if !ok {
		return ctx
	}
	t, err := b.srv.Target(ctx, call)
	if err != nil || t.Tool == nil || want == "" || any(b.digest(&t)) != want {
		t = webmcp.Target{}
	}
	return t.Bind(ctx)
}

// target answers what a call would come to.
func (b *binder) target(ctx context.Context, ss *mcp.ServerSession, p *targetParams) (*targetResult, error) {
	t, err := b.srv.Target(ctx, &mcp.CallToolRequest{Session: ss, Params: &mcp.CallToolParamsRaw{Name: p.Name, Arguments: p.Arguments}})
	if err != nil {
		return &targetResult{Problem: err.Error()}, nil
	}
	res := &targetResult{Tool: t.Definition, Arguments: t.Arguments, Direct: t.Direct}
	if t.Tool != nil {
		res.Tool = mark(t.Definition, b.digest(&t))
	}
	return res, nil
}

// digest is that of a target's definition.
func (b *binder) digest(t *webmcp.Target) string {
	b.mu.Lock()
	sum := b.digests[t.Tool]
	b.mu.Unlock()
	if sum != "" {
		return sum
	}
	sum = digest(t.Definition)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.digests) >= maxDigests {
		clear(b.digests)
	}
	b.digests[t.Tool] = sum
	return sum
}

// digest is a short name for the definition of a page's tool and for where it runs. The
// page's title and address are not part of it: they change all the time.
func digest(t *mcp.Tool) string {
	d := *t
	d.Meta = maps.Clone(t.Meta)
	delete(d.Meta, "aster/url")
	delete(d.Meta, "aster/tabTitle")
	text, err := json.Marshal(&d)
	if err != nil { // then the list cannot be sent either
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// marked is a list that says what each page's tool comes to.
func marked(list *mcp.ListToolsResult) *mcp.ListToolsResult {
	out := *list
	out.Tools = make([]*mcp.Tool, len(list.Tools))
	for i, t := range list.Tools {
		if out.Tools[i] = t; originOf(t) != "" {
			out.Tools[i] = mark(t, digest(t))
		}
	}
	return &out
}

func mark(t *mcp.Tool, sum string) *mcp.Tool {
	out := *t
	out.Meta = maps.Clone(t.Meta)
	out.Meta[metaDefinition] = sum
	return &out
}

// lineTransport carries MCP over a connection of which the first line is read. The SDK's
// own for streams takes a new buffer of 32 KiB and more for each message.
type lineTransport struct {
	conn *clientConn
	r    *bufio.Reader
}

func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) { return t, nil }

// Read implements [mcp.Connection]; Close ends it.
func (t *lineTransport) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(t.r, maxMessage)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return decodeMessage(line)
		}
	}
}

// decodeMessage reads what a [Client] sends, which are requests; the SDK's own way takes
// several buffers of 32 KiB for each.
func decodeMessage(line []byte) (jsonrpc.Message, error) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      *int64          `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" || m.Method == "" {
		return jsonrpc.DecodeMessage(line)
	}
	req := &jsonrpc.Request{Method: m.Method, Params: m.Params}
	if m.ID == nil {
		return req, nil
	}
	var err error
	req.ID, err = jsonrpc.MakeID(float64(*m.ID))
	return req, err
}

// Write implements [mcp.Connection].
func (t *lineTransport) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	_, err = t.conn.Write(append(text, '\n'))
	return err
}

// Close implements [mcp.Connection].
func (t *lineTransport) Close() error { return t.conn.Close() }

// SessionID implements [mcp.Connection]: the connection is the session.
func (t *lineTransport) SessionID() string { return "" }
