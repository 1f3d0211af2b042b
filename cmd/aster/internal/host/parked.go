package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/webmcp"
)

// A server of an older revision asks while its call runs; a client of 2026-07-28 hears
// questions in results only. Such a call is parked: its client gets the question as a
// result, and the call goes on when the client's next round brings the answer.

const (
	// ParkedWait is how long a parked call waits for its client. Then it is cancelled, and
	// its entry in the record ends so.
	ParkedWait = 5 * time.Minute
	// maxParked bounds the calls that wait at a time; the questions of further ones are
	// refused to their servers.
	maxParked = 64
	// parkedInput names the question of a parked call.
	parkedInput = "question"
)

var (
	errTooManyParked = errors.New("too many calls wait for their clients")
	errWrongAnswer   = errors.New("the client answered something else than it was asked")
)

// A parked is a call that may be parked, from its first round to its last.
type parked struct {
	r       *rounds
	id      string
	binding string
	caps    *mcp.ClientCapabilities
	cancel  context.CancelFunc
	asks    chan *question // handed to the round that waits
	done    chan struct{}  // closed with result and err set
	result  json.RawMessage
	err     error

	mu       sync.Mutex
	progress func(progress, total float64, message string) // of the present round; nil where its client wants none
	asked    *question                                     // what the client was asked; nil while a round waits
	timer    *time.Timer                                   // runs while asked is set
}

// A question is one of a server's, and its answer.
type question struct {
	ask    mcp.InputRequest
	answer chan mcp.InputResponse // holds one
}

type parkedKey struct{}

func parkedOf(ctx context.Context) *parked {
	p, _ := ctx.Value(parkedKey{}).(*parked)
	return p
}

// park makes a call that outlives the request that began it, as long as it waits for its
// client.
func (s *Session) park(ctx context.Context, c *mcp.CallToolRequest, caps *mcp.ClientCapabilities, binding string, opts *source.CallOptions, call func(context.Context, *source.CallOptions) (json.RawMessage, error)) (json.RawMessage, error) {
	p := &parked{r: s.rounds, id: rand.Text(), binding: binding, caps: caps, asks: make(chan *question), done: make(chan struct{})}
	own, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(withRequest(ctx, c)), parkedKey{}, p))
	p.cancel = cancel
	opts.Progress = func(progress, total float64, message string) {
		p.mu.Lock()
		send := p.progress
		p.mu.Unlock()
		if send != nil {
			send(progress, total, message)
		}
	}
	flush := p.report(ctx, c)
	defer flush()
	go func() {
		defer cancel()
		p.result, p.err = call(own, opts)
		p.forget()
		close(p.done)
	}()
	return p.wait(ctx, s.parkedWait())
}

func (s *Session) parkedWait() time.Duration {
	return orDefault(s.opts.ParkedWait, ParkedWait)
}

// report has the call's progress go to the client of a round, until flush.
func (p *parked) report(ctx context.Context, c *mcp.CallToolRequest) (flush func()) {
	send, flush := webmcp.Progress(ctx, c)
	p.mu.Lock()
	p.progress = send
	p.mu.Unlock()
	return flush
}

// wait waits for the end of the call or for its next question. The call ends with a
// request that is cancelled.
func (p *parked) wait(ctx context.Context, patience time.Duration) (json.RawMessage, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		p.cancel()
		<-p.done
		return nil, ctx.Err()
	case q := <-p.asks:
		p.mu.Lock()
		p.asked, p.timer = q, time.AfterFunc(patience, p.cancel)
		p.mu.Unlock()
		return nil, &guard.InputRequired{Requests: mcp.InputRequestMap{parkedInput: q.ask},
			State: p.r.seal(round{Binding: p.binding, Parked: p.id})}
	}
}

// resume gives a parked call the answer and waits on.
func (s *Session) resume(ctx context.Context, st round, c *mcp.CallToolRequest) (json.RawMessage, error) {
	s.rounds.mu.Lock()
	p := s.rounds.parked[st.Parked]
	s.rounds.mu.Unlock()
	if p == nil {
		return nil, errRoundState
	}
	p.mu.Lock()
	q := p.asked
	if q != nil {
		p.timer.Stop()
	}
	p.asked = nil
	p.mu.Unlock()
	if q == nil {
		return nil, errRoundState
	}
	flush := p.report(ctx, c)
	defer flush()
	q.answer <- c.Params.InputResponses[parkedInput]
	return p.wait(ctx, s.parkedWait())
}

// ask puts a server's question to the client, through the round that waits.
func (p *parked) ask(ctx context.Context, ask mcp.InputRequest) (mcp.InputResponse, error) {
	if err := offered(p.caps, mcp.InputRequestMap{parkedInput: ask}); err != nil {
		return nil, err
	}
	if !p.keep() {
		return nil, errTooManyParked
	}
	q := &question{ask, make(chan mcp.InputResponse, 1)}
	select {
	case p.asks <- q:
	case <-p.done:
		return nil, errNobodyToAsk
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-p.done:
		return nil, errNobodyToAsk
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keep lists the call among those that wait, if there is room.
func (p *parked) keep() bool {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	if p.r.parked[p.id] == nil && len(p.r.parked) >= maxParked {
		return false
	}
	p.r.parked[p.id] = p
	return true
}

func (p *parked) forget() {
	p.r.mu.Lock()
	delete(p.r.parked, p.id)
	p.r.mu.Unlock()
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
}
