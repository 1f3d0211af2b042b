package host

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
	"github.com/aster-mcp/aster/webmcp"
)

// PageTools is the server of page tools for one client: a *webmcp.Server or a
// *webmcp.Bridge.
type PageTools interface {
	Target(context.Context, *mcp.CallToolRequest) (webmcp.Target, error)
}

// ResolvePages is what [Builtin.Resolve] is for page tools: webmcp_call stands for the
// page's tool that it names, and a call stays with the tool that was decided on.
func ResolvePages(pages PageTools) func(context.Context, *mcp.CallToolRequest) (Target, error) {
	return func(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
		t, err := pages.Target(ctx, req)
		if err != nil {
			return Target{}, err
		}
		if t.Definition == nil { // nothing is called, and nothing that appears meanwhile
			return Target{Bind: t.Bind}, nil
		}
		out := Target{Tool: t.Definition, Arguments: t.Arguments, Direct: t.Direct}
		if t.Tool != nil {
			out.Page, out.Origin, out.Bind = true, t.Tool.Origin, t.Bind
		}
		if !t.Direct {
			out.Wrap = t.Envelope
		}
		return out, nil
	}
}

// ResolveDaemon is [ResolvePages] for the page tools of the daemon.
func ResolveDaemon(c *daemon.Client) func(context.Context, *mcp.CallToolRequest) (Target, error) {
	return func(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
		t, err := c.Target(ctx, req)
		if err != nil || t.Tool == nil {
			return Target{}, err
		}
		out := Target{Tool: t.Tool, Page: t.Origin != "", Origin: t.Origin, Arguments: t.Arguments, Direct: t.Direct, Bind: t.Bind}
		if !t.Direct {
			out.Wrap = (&webmcp.Target{Definition: t.Tool}).Envelope
		}
		return out, nil
	}
}
