package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

// serve makes the server that stands for the daemon's.
func (c *Client) serve(first *initialized) {
	info := first.ServerInfo
	if info == nil {
		info = &mcp.Implementation{Name: "aster-webmcp", Version: c.opts.Version}
	}
	c.server = mcp.NewServer(info, &mcp.ServerOptions{
		Logger: c.log, Instructions: first.Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	c.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch r := req.(type) {
			case *mcp.ListToolsRequest:
				return c.listTools(ctx, r)
			case *mcp.CallToolRequest:
				return c.callTool(ctx, r)
			}
			return next(ctx, method, req)
		}
	})
}

// dummyTool is never listed: adding and removing it makes the SDK tell clients that the
// list changed, at its own pace.
var dummyTool = &mcp.Tool{Name: "aster_dummy", InputSchema: json.RawMessage(`{"type":"object"}`)}

// changed tells this server's clients that the list changed.
func (c *Client) changed() {
	c.dummyMu.Lock()
	defer c.dummyMu.Unlock()
	if c.dummy = !c.dummy; !c.dummy {
		c.server.RemoveTools(dummyTool.Name)
		return
	}
	c.server.AddTool(dummyTool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("no such tool")
	})
}

// notified hears the daemon, on the connection's reading goroutine.
func (c *Client) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		c.mu.Lock()
		c.list = nil
		c.lists++
		up := c.link != nil // else keep tells of the change
		c.mu.Unlock()
		if up {
			c.changed()
		}
	case methodHandover:
		c.mu.Lock()
		c.handover = true
		c.park() // calls that run may end; new ones are for the next daemon
		c.mu.Unlock()
	case "notifications/progress":
		var p mcp.ProgressNotificationParams
		if json.Unmarshal(params, &p) != nil {
			return
		}
		token, _ := p.ProgressToken.(string)
		c.mu.Lock()
		send := c.progress[token]
		c.mu.Unlock()
		if send != nil {
			send(p.Progress, p.Total, p.Message)
		}
	}
}

// callTool makes a call in the daemon. A call whose outcome cannot be known says so, and
// is not made again, unless it only reads what the server itself knows.
func (c *Client) callTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name := req.Params.Name
	meta := maps.Clone(req.Params.Meta)
	if meta == nil {
		meta = mcp.Meta{}
	}
	maps.DeleteFunc(meta, func(key string, _ any) bool { return ownKey(key) })
	sum, err := c.decided(ctx, req)
	switch {
	case errors.Is(err, errUnknownTool):
		return nil, unknownTool(name)
	case err != nil:
		return failed(req, err.Error())
	case sum != "":
		meta[metaDefinition] = sum
	}
	send, flush := webmcp.Progress(ctx, req)
	defer flush()
	if send != nil {
		own, stop := c.onProgress(send)
		defer stop()
		meta["progressToken"] = own
	}
	params := &callParams{name, meta, req.Params.Arguments}
	reads := name == toolTabs || name == toolTools
	for try := 1; ; try++ {
		w, err := c.current(ctx)
		if err != nil {
			return failed(req, name+" was not called: "+err.Error())
		}
		raw, err := w.call(ctx, "tools/call", params)
		if errors.Is(err, errLinkLost) {
			if <-w.done; reads && try < joinTries && sleep(ctx, pollEvery) {
				continue
			}
			return failed(req, "outcome unknown, not retried: "+err.Error()+" before the tool answered")
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return failed(req, "cancelled")
		default:
			return nil, err
		}
		return decodeResult(req, raw)
	}
}

// ownKey reports whether a key of a call's _meta is between the client and this process: the
// session with the daemon is one of its own, which the SDK would take for another.
func ownKey(key string) bool {
	return key == "progressToken" || key == metaDefinition || strings.HasPrefix(key, "io.modelcontextprotocol/")
}

type callParams struct {
	Name      string          `json:"name"`
	Meta      mcp.Meta        `json:"_meta,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// decodeResult keeps structured content as it was sent.
func decodeResult(req *mcp.CallToolRequest, raw json.RawMessage) (*mcp.CallToolResult, error) {
	res := &mcp.CallToolResult{}
	if err := json.Unmarshal(completed(req, raw), res); err != nil {
		return nil, fmt.Errorf("the daemon's answer: %w", err)
	}
	if res.StructuredContent != nil {
		var whole struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(raw, &whole); err != nil {
			return nil, fmt.Errorf("the daemon's answer: %w", err)
		}
		res.StructuredContent = whole.StructuredContent
	}
	return res, nil
}

// versionRounds is the first revision whose results say that they are complete.
const versionRounds = "2026-07-28"

// completed says in a result that it is complete, where the client's revision has that: the
// SDK does it for tools of its own server, and leaves no other way to the field.
func completed(req *mcp.CallToolRequest, raw json.RawMessage) json.RawMessage {
	if req.Session == nil {
		return raw
	}
	p := req.Session.InitializeParams()
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(raw), []byte("{"))
	if p == nil || p.ProtocolVersion < versionRounds || !ok {
		return raw
	}
	begin := []byte(`{"resultType":"complete",`)
	if len(bytes.TrimSpace(rest)) == 1 { // the closing brace
		begin = begin[:len(begin)-1]
	}
	return slices.Concat(begin, rest)
}

// failed is the answer where the daemon gave none.
func failed(req *mcp.CallToolRequest, text string) (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}})
	if err != nil {
		return nil, err
	}
	return decodeResult(req, raw)
}

// onProgress has send hear of the progress of a call with the token own, until stop.
func (c *Client) onProgress(send func(progress, total float64, message string)) (own string, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	own = "aster-" + strconv.FormatInt(c.tokens, 36)
	c.progress[own] = send
	return own, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.progress, own)
	}
}
