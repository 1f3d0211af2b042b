package host

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// listMethods are the requests that awaitStart may hold up.
var listMethods = []string{methodListTools, "prompts/list", "resources/list", "resources/templates/list"}

// awaitStart has the first list of a server that is served by itself wait for the server's
// start, which has its own limit, where nothing is known of it from before. Many clients
// list once and heed no change after it: an empty list would leave them without tools.
func (g *Gateway) awaitStart(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if g.own && slices.Contains(listMethods, method) {
			g.settle(ctx)
		}
		return next(ctx, method, req)
	}
}

// settle waits for the starts under way and serves what came of them, once.
func (g *Gateway) settle(ctx context.Context) {
	if g.settled.Load() {
		return
	}
	for _, src := range g.s.set.Sources() {
		if src.Status().State == source.Starting && len(src.Tools()) == 0 {
			src.Start(ctx) // a failure is shown where servers are
		}
	}
	if ctx.Err() != nil {
		return
	}
	g.s.mark()
	g.follow(nil)
	g.addFeatures(ctx)
	g.settled.Store(true)
}
