package host

import (
	"context"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
		if err != nil || t.Definition == nil {
			return Target{}, err
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

// ResolveListed is [ResolvePages] for a server of page tools in another process, of which
// only the list is known: lookup finds a tool in it, nil if it is not there. That the call
// stays with the page that was decided on is then for the other process to see to.
func ResolveListed(lookup func(name string) *mcp.Tool) func(context.Context, *mcp.CallToolRequest) (Target, error) {
	return func(_ context.Context, req *mcp.CallToolRequest) (Target, error) {
		t := Target{Tool: lookup(req.Params.Name), Arguments: req.Params.Arguments, Direct: true}
		if t.Tool != nil && req.Params.Name == toolWebMCPCall {
			in, err := webmcp.DecodeCall(req.Params.Arguments)
			if err != nil || in.Handle != "" {
				return Target{}, err
			}
			if t.Tool = lookup(in.Name); t.Tool == nil {
				return Target{}, fmt.Errorf("no open page has a tool %q; webmcp_tools lists what there is", CleanText(in.Name))
			}
			target := webmcp.Target{Definition: t.Tool, Arguments: in.Arguments}
			t.Arguments, t.Direct, t.Wrap = in.Arguments, false, target.Envelope
		}
		if t.Tool == nil {
			return Target{}, nil
		}
		t.Origin, t.Page = originOf(t.Tool)
		if t.Page {
			meta := maps.Clone(req.Params.Meta)
			if meta == nil {
				meta = mcp.Meta{}
			}
			meta[webmcp.MetaExpectOrigin] = t.Origin
			req.Params.Meta = meta
		}
		return t, nil
	}
}

// toolWebMCPCall is the envelope of page tools.
const toolWebMCPCall = "webmcp_call"

// originOf is the origin that a listed tool names; false for those of no page.
func originOf(t *mcp.Tool) (string, bool) {
	origin, ok := t.Meta["aster/origin"].(string)
	return origin, ok
}
