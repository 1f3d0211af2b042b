package webmcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// ListWait bounds how long the first tools/list or tools/call waits for the pages that
	// are open already. Many clients list once, right after they have started us, and some
	// call a tool that they know from before without a list.
	ListWait = 500 * time.Millisecond
	// settleWait bounds how long the pages that were open before us may take for that.
	settleWait = 300 * time.Millisecond
)

// readiness is closed once, when the tools of the open pages are known, or served, or when there
// is no browser to wait for.
type readiness struct {
	once *sync.Once
	done chan struct{}
}

func newReadiness() readiness { return readiness{new(sync.Once), make(chan struct{})} }

func (r *readiness) set() { r.once.Do(func() { close(r.done) }) }

// awaitReady holds the first tools/list or tools/call back until the open pages have told
// their tools and these are served.
func (s *Server) awaitReady(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" || method == "tools/call" {
			s.becomeReady(ctx)
		}
		return next(ctx, method, req)
	}
}

// becomeReady waits until what the open pages offer is served, for ListWait at most;
// whoever asks after that is not held up.
func (s *Server) becomeReady(ctx context.Context) {
	select {
	case <-s.ready.done:
		return
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, ListWait)
	defer cancel()
	defer s.ready.set()
	select {
	case <-s.browser.ready.done:
	case <-ctx.Done():
		return
	}
	served := make(chan struct{})
	select {
	case s.serveNow <- served:
		select {
		case <-served:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
}

// settle waits until the pages that were open when we attached have told their tools;
// a tab that does not answer is not waited for.
func (b *Browser) settle(ctx context.Context, a *attachment) {
	defer a.prepareLater()
	defer b.ready.set()
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	a.round(ctx) // each has told its documents then, and has been asked for their tools
	for a.asked.Load() > 0 {
		select {
		case <-a.idle:
		case <-ctx.Done():
			return
		}
	}
}
