package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

const (
	// lookupWait bounds [Client.Origin] where the list has to be asked for.
	lookupWait = 2 * time.Second

	// The server's own tools.
	toolTabs  = "webmcp_tabs"
	toolTools = "webmcp_tools"
	toolCall  = "webmcp_call"
)

// A Target is what a tools/call really calls: what [webmcp.Server.Target] says in the
// daemon.
type Target struct {
	// Tool is the definition, as clients see it. Nil means that nothing is called: the
	// server answers by itself.
	Tool *mcp.Tool
	// Origin is the origin of the page that registered the tool; "" for the server's own.
	Origin string
	// Arguments are those for the tool.
	Arguments json.RawMessage
	// Direct says that the client called the tool under its own name, not by webmcp_call.
	Direct bool

	definition string // what Tool comes to in the daemon; "" for the server's own
}

type boundKey struct{}

// Bind gives the context of a call the target that was decided on. The daemon refuses the
// call if its name has come to mean another: of another page, origin or definition.
func (t *Target) Bind(ctx context.Context) context.Context {
	return context.WithValue(ctx, boundKey{}, t.definition)
}

// Target says what a request calls, for a guard in front of the client's server. Its error
// is for the client; nothing is called then. Once it was asked, a page's tool is called
// only in a context that [Target.Bind] gave.
func (c *Client) Target(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
	l, err := c.tools(ctx)
	if err != nil {
		return Target{}, fmt.Errorf("%s was not called: %w", req.Params.Name, err)
	}
	c.mu.Lock()
	c.targeted = true
	c.mu.Unlock()
	name := req.Params.Name
	known, listed := l.tools[name]
	switch {
	case listed && known.definition != "":
		return known.target(req.Params.Arguments, true), nil
	case listed && name == toolCall:
		in, err := webmcp.DecodeCall(req.Params.Arguments)
		if err != nil || in.Handle != "" {
			return Target{}, err
		}
		if known := l.tools[in.Name]; known.definition != "" {
			return known.target(in.Arguments, false), nil
		}
	case listed:
		return Target{Tool: &mcp.Tool{Name: name, InputSchema: known.tool.InputSchema}, Arguments: req.Params.Arguments, Direct: true}, nil
	}
	return c.ask(ctx, req)
}

func (t *listedTool) target(arguments json.RawMessage, direct bool) Target {
	return Target{Tool: t.tool, Origin: originOf(t.tool), Arguments: arguments, Direct: direct, definition: t.definition}
}

// ask asks the daemon for the target of a tool that is not listed: one by its page's own
// name, or of a client that lists the fixed tools only.
func (c *Client) ask(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
	var raw json.RawMessage
	for try := 1; ; try++ {
		w, err := c.current(ctx)
		if err == nil {
			raw, err = w.call(ctx, methodTarget, &targetParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		}
		if errors.Is(err, errLinkLost) && try < joinTries {
			if <-w.done; sleep(ctx, pollEvery) {
				continue
			}
		}
		if err != nil {
			return Target{}, fmt.Errorf("%s was not called: %w", req.Params.Name, err)
		}
		break
	}
	var res targetResult
	var schemas struct {
		Tool rawSchemas `json:"tool"`
	}
	if err := errors.Join(json.Unmarshal(raw, &res), json.Unmarshal(raw, &schemas)); err != nil {
		return Target{}, fmt.Errorf("%s was not called: the daemon's answer: %w", req.Params.Name, err)
	}
	switch {
	case res.Problem != "":
		return Target{}, errors.New(res.Problem)
	case res.Tool == nil:
		return Target{}, nil
	}
	known := schemas.Tool.listed(res.Tool)
	return known.target(res.Arguments, res.Direct), nil
}

// decided is what the definition of the page's tool comes to that a call is about; "" for
// the server's own tools. Of a tool that is not listed the daemon is asked: its pages may
// not have told their tools yet.
func (c *Client) decided(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
	name := req.Params.Name
	if sum, ok := ctx.Value(boundKey{}).(string); ok {
		return sum, nil
	}
	l, err := c.tools(ctx)
	if err != nil {
		return "", fmt.Errorf("%s was not called: %w", name, err)
	}
	c.mu.Lock()
	targeted := c.targeted
	c.mu.Unlock()
	t, listed := l.tools[name]
	switch {
	case targeted && (!listed || t.definition != ""): // what was not listed was not decided on
		return "", errUnknownTool
	case listed:
		return t.definition, nil
	}
	late, err := c.ask(ctx, req)
	if err != nil {
		return "", err
	}
	if late.definition == "" {
		return "", errUnknownTool
	}
	return late.definition, nil
}

var errUnknownTool = errors.New("no such tool")

// unknownTool is the SDK's own error for a tool that is not there.
func unknownTool(name string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", name)}
}

// Origin is the origin of the page that registered a tool of the list; "" for the
// server's own and for tools that are not there.
func (c *Client) Origin(name string) string {
	ctx, cancel := context.WithTimeout(c.ctx, lookupWait)
	defer cancel()
	l, err := c.tools(ctx)
	if err != nil || l.tools[name].tool == nil {
		return ""
	}
	return originOf(l.tools[name].tool)
}
