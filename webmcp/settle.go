package webmcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// ListWait bounds how long the first tools/list waits for the pages that are open
	// already. Many clients list once, right after they have started us.
	ListWait = 500 * time.Millisecond
	// settleRounds bounds the questions after which a page that was open before us has
	// told its tools: as many as the steps of taking over a shim, and two.
	settleRounds = 7
	settleWait   = 300 * time.Millisecond
)

// readiness is closed once, when the tools of the open pages are served, or when there
// is no browser to wait for.
type readiness struct {
	once sync.Once
	done chan struct{}
}

func (r *readiness) set() { r.once.Do(func() { close(r.done) }) }

// awaitReady holds the first tools/list back until the open pages have told their tools.
func (b *Bridge) awaitReady(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" {
			select {
			case <-b.ready.done:
			case <-ctx.Done():
			case <-time.After(ListWait):
				b.ready.set() // whoever asks next is not held up
			}
		}
		return next(ctx, method, req)
	}
}

// settle waits until the pages that were open when we attached have told their tools
// and these are served; a tab that does not answer is not waited for.
func (b *Bridge) settle(ctx context.Context, a *attachment) {
	defer b.ready.set()
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	for range settleRounds {
		a.round(ctx)
		if a.asked.Load() == 0 {
			break
		}
	}
	served := make(chan struct{})
	select {
	case b.serveNow <- served:
		select {
		case <-served:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
}
