package webmcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxUnsentProgress bounds the reports of a call that its client has not yet taken;
	// beyond it the oldest is dropped.
	MaxUnsentProgress = 16
	// ProgressFlush is how long a call's result waits for reports on their way. A client
	// that does not read would not read the result either.
	ProgressFlush = 5 * time.Second
)

// Progress makes the way of a call's reports of progress to its client: in order, and
// none after the call's result, which MCP forbids. send does not wait for the client and
// may be called from any goroutine; it is nil where the client wants no reports. flush
// is called before the result is returned: it waits for the reports, for [ProgressFlush]
// at most or until ctx ends, and drops what is left and what comes later.
func Progress(ctx context.Context, req *mcp.CallToolRequest) (send func(progress, total float64, message string), flush func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &progress{ctx: ctx, session: req.Session, unsent: make(chan *mcp.ProgressNotificationParams, MaxUnsentProgress)}
	send = func(progress, total float64, message string) {
		p.add(&mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: total, Message: message})
	}
	return send, func() {
		defer cancel()
		p.flush()
	}
}

type progress struct {
	ctx     context.Context // of the call; what is not sent when it ends is dropped
	session *mcp.ServerSession
	unsent  chan *mcp.ProgressNotificationParams

	mu     sync.Mutex    // held to add to unsent and to close it
	sent   chan struct{} // closed after the last report; nil before the first
	closed bool
}

func (p *progress) add(report *mcp.ProgressNotificationParams) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.sent == nil {
		p.sent = make(chan struct{})
		go p.run()
	}
	select {
	case p.unsent <- report:
		return
	default:
	}
	select {
	case <-p.unsent:
	default:
	}
	p.unsent <- report // there is room: nobody else adds
}

// run ends after flush, or where the client takes nothing, when its connection ends.
func (p *progress) run() {
	defer close(p.sent)
	for report := range p.unsent {
		if p.ctx.Err() == nil {
			p.session.NotifyProgress(p.ctx, report) // a client that is gone ends the call by itself
		}
	}
}

func (p *progress) flush() {
	p.mu.Lock()
	sent, done := p.sent, p.closed
	p.closed = true
	if !done {
		close(p.unsent)
	}
	p.mu.Unlock()
	if sent == nil {
		return
	}
	timer := time.NewTimer(ProgressFlush)
	defer timer.Stop()
	select {
	case <-sent:
	case <-timer.C:
	case <-p.ctx.Done():
	}
}
