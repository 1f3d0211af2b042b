package webmcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// ListWait bounds how long the first tools/list or tools/call waits for the pages that
	// are open already. Many clients list once, right after they have started us, and some
	// call a tool that they know from before without a list.
	ListWait = 3 * time.Second
	// CallWait bounds how long a call of a tool that is not known waits for the browser and
	// the pages that are open in it.
	CallWait = 5 * time.Second
	// settleWait is how long a first list waits for another answer of these pages. A page
	// that hangs costs no more than that.
	settleWait = 300 * time.Millisecond
	// prepareWait is how long the tabs that are not prepared for their next document yet leave
	// the way to the first list of tools, once the pages have told theirs.
	prepareWait = 200 * time.Millisecond
	// toolEvery is how often a call that waits looks for its tool.
	toolEvery = 10 * time.Millisecond
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
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && method == "tools/call" && !isFixed(call.Name) {
			s.awaitTool(ctx, call.Name)
		}
		if method == "tools/list" {
			defer s.browser.listed.set()
		}
		return next(ctx, method, req)
	}
}

// awaitTool waits for a tool that is called before the open pages have told theirs, until it
// is there or all have told. Where it had to wait, what is known is served then.
func (s *Server) awaitTool(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, CallWait)
	defer cancel()
	for waited := false; ; waited = true {
		if s.foundOrSettled(name) {
			if waited {
				s.serveKnown(ctx)
			}
			return
		}
		select {
		case <-s.browser.settled.done:
		case <-time.After(toolEvery):
		case <-ctx.Done():
			return
		}
	}
}

// foundOrSettled reports whether there is such a tool, or none can be expected any more.
func (s *Server) foundOrSettled(name string) bool {
	select {
	case <-s.browser.settled.done:
		return true
	default:
	}
	return slices.ContainsFunc(s.visible(), func(t NamedTool) bool { return t.Name == name || t.PageName == name })
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
	s.serveKnown(ctx)
}

// serveKnown serves what is known of the pages, at once.
func (s *Server) serveKnown(ctx context.Context) {
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

// settle waits until the pages that were open when we attached have told their tools, or
// none has answered for settleWait, and lets those who wait longer know when all have.
func (b *Browser) settle(ctx context.Context, a *attachment) {
	all := make(chan struct{})
	go func() {
		defer close(all)
		defer b.settled.set()
		ctx, cancel := context.WithTimeout(ctx, CallWait)
		defer cancel()
		a.allTold(ctx)
	}()
	defer b.ready.set()
	for told := int64(-1); told != a.told.Load(); {
		told = a.told.Load()
		select {
		case <-all:
			return
		case <-time.After(settleWait):
		}
	}
}

// prepareRest prepares the tabs that had to wait, when the first list is out.
func (b *Browser) prepareRest(ctx context.Context, a *attachment) {
	select {
	case <-b.listed.done:
	case <-time.After(prepareWait):
	case <-a.browser.Done():
	case <-ctx.Done():
	}
	a.prepareLater()
}

// allTold waits until every open page has told its documents and these their tools.
func (a *attachment) allTold(ctx context.Context) {
	a.round(ctx)
	for a.asked.Load() > 0 {
		select {
		case <-a.idle:
		case <-ctx.Done():
			return
		}
	}
}
