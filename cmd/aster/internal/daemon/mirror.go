package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

// list is what the daemon's server lists, by page.
type list struct {
	pages []*mcp.ListToolsResult
	tools map[string]*mcp.Tool
}

// maxListPages bounds one listing.
const maxListPages = 64

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
		up := c.link != nil
		c.mu.Unlock()
		if up {
			c.changed()
		}
	case methodHandover:
		c.mu.Lock()
		c.handover = true
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

// listTools answers from the list that was last told, which is asked for where it changed.
func (c *Client) listTools(ctx context.Context, req *mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	n := 0
	if req.Params != nil && req.Params.Cursor != "" {
		var err error
		if n, err = strconv.Atoi(req.Params.Cursor); err != nil {
			n = -1
		}
	}
	l, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(l.pages) {
		return nil, fmt.Errorf("unknown cursor %q", req.Params.Cursor)
	}
	page := *l.pages[n] // the SDK may fill in more
	return &page, nil
}

// tools is the list of this moment.
func (c *Client) tools(ctx context.Context) (*list, error) {
	for {
		c.mu.Lock()
		if l := c.list; l != nil {
			c.mu.Unlock()
			return l, nil
		}
		if wait := c.listing; wait != nil { // somebody asks already
			c.mu.Unlock()
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c.listing = make(chan struct{})
		c.mu.Unlock()
		l, err := c.fetch(ctx)
		c.mu.Lock()
		close(c.listing)
		c.listing = nil
		c.mu.Unlock()
		return l, err
	}
}

// fetch asks for the list and keeps it, unless it changed meanwhile.
func (c *Client) fetch(ctx context.Context) (*list, error) {
	var last error
	for range joinTries {
		w, err := c.current(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		at := c.lists
		c.mu.Unlock()
		l, err := fetchPages(ctx, w)
		if errors.Is(err, errLinkLost) {
			last = err
			<-w.done
			if !sleep(ctx, pollEvery) {
				return nil, ctx.Err()
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		if c.lists == at {
			c.list = l
		}
		c.mu.Unlock()
		return l, nil
	}
	return nil, last
}

func fetchPages(ctx context.Context, w *wire) (*list, error) {
	l := &list{tools: map[string]*mcp.Tool{}}
	for cursor := ""; len(l.pages) < maxListPages; {
		raw, err := w.call(ctx, "tools/list", &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		page := &mcp.ListToolsResult{}
		if err := json.Unmarshal(raw, page); err != nil {
			return nil, fmt.Errorf("the daemon's list: %w", err)
		}
		for _, t := range page.Tools {
			l.tools[t.Name] = t
		}
		cursor = page.NextCursor
		page.NextCursor = ""
		l.pages = append(l.pages, page)
		if cursor == "" {
			break
		}
		page.NextCursor = strconv.Itoa(len(l.pages))
	}
	return l, nil
}

// lookupWait bounds [Client.Lookup] where the list has to be asked for.
const lookupWait = 2 * time.Second

// Lookup finds a tool of the list by name; nil when there is none.
func (c *Client) Lookup(name string) *mcp.Tool {
	ctx, cancel := context.WithTimeout(c.ctx, lookupWait)
	defer cancel()
	t, _ := c.listed(ctx, name)
	return t
}

// Origin is the origin of the page that registered a tool of the list; "" for the
// server's own and for tools that are not there.
func (c *Client) Origin(name string) string {
	if t := c.Lookup(name); t != nil {
		return originOf(t)
	}
	return ""
}

// originOf is the origin that a tool's definition names, "" for the server's own.
func originOf(t *mcp.Tool) string {
	origin, _ := t.Meta["aster/origin"].(string)
	return origin
}

// listed finds a tool of the list of this moment; nil when there is none.
func (c *Client) listed(ctx context.Context, name string) (*mcp.Tool, error) {
	l, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	return l.tools[name], nil
}

// callTool makes a call in the daemon. A call whose outcome cannot be known says so, and
// is not made again, unless it only reads what the server itself knows.
func (c *Client) callTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	meta := maps.Clone(req.Params.Meta)
	if meta == nil {
		meta = mcp.Meta{}
	}
	delete(meta, "progressToken")
	t, err := c.listed(ctx, req.Params.Name)
	if err != nil {
		return failed(req.Params.Name + " was not called: " + err.Error()), nil
	}
	if t == nil { // what was not listed was not decided on
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", req.Params.Name)}
	}
	if origin := originOf(t); origin != "" && meta[webmcp.MetaExpectOrigin] == nil {
		meta[webmcp.MetaExpectOrigin] = origin
	}
	if send, flush := webmcp.Progress(ctx, req); send != nil {
		own, stop := c.onProgress(send)
		defer flush()
		defer stop()
		meta["progressToken"] = own
	}
	params := map[string]any{"name": req.Params.Name, "_meta": meta}
	if len(req.Params.Arguments) > 0 {
		params["arguments"] = req.Params.Arguments
	}
	reads := req.Params.Name == "webmcp_tabs" || req.Params.Name == "webmcp_tools"
	for try := 1; ; try++ {
		w, err := c.current(ctx)
		if err != nil {
			return failed(req.Params.Name + " was not called: " + err.Error()), nil
		}
		raw, err := w.call(ctx, "tools/call", params)
		if errors.Is(err, errLinkLost) {
			if <-w.done; reads && try < joinTries && sleep(ctx, pollEvery) {
				continue
			}
			return failed("outcome unknown, not retried: " + err.Error() + " before the tool answered"), nil
		}
		if err != nil {
			return nil, err
		}
		return decodeResult(raw)
	}
}

// decodeResult keeps structured content as it was sent.
func decodeResult(raw json.RawMessage) (*mcp.CallToolResult, error) {
	res := &mcp.CallToolResult{}
	if err := json.Unmarshal(raw, res); err != nil {
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

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
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
