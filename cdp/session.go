package cdp

import (
	"context"
	"fmt"
	"sync"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
)

// MaxSubscription is the number of events that a [Session.Subscribe] channel holds;
// a reader that falls further behind has its channel closed.
const MaxSubscription = 4096

var _ cdpproto.Session = (*Session)(nil)

// Session is one attached target. Call, Post and Subscribe may be called from any
// goroutine. The other methods read state that the reading goroutine owns: call them
// from a [Handler] or a Post callback only.
type Session struct {
	b      *Browser
	id     target.SessionID // "" for the browser's own session
	parent *Session         // the page or frame session that holds this frame; nil for a page
	info   target.Info
	frames frames
	// answered is set once the target has told its frames: until then it may hang.
	answered bool
	held     bool
	children []func() // frames in other processes that wait for that

	mu   sync.Mutex
	subs map[*subscription]struct{} // guarded by mu
}

type subscription struct {
	method string
	ch     chan jsonv2.Value
}

// ID is the protocol's session ID; "" for the browser's own session.
func (s *Session) ID() string { return string(s.id) }

// Info describes the target as the browser last did.
func (s *Session) Info() target.Info { return s.info }

// Answered reports whether the target has answered since it was attached. A stopped
// or discarded tab may never do so.
func (s *Session) Answered() bool { return s.answered }

// Held reports whether the browser holds the new target until what [Handler.Attached]
// posts is done; a target that was there before is not held.
func (s *Session) Held() bool { return s.held }

// Parent is the session of the page or frame that holds this out-of-process frame;
// nil for a page.
func (s *Session) Parent() *Session { return s.parent }

// Page is the session of the tab that s belongs to; s itself for a page.
func (s *Session) Page() *Session {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// Post sends a command without waiting. done, which may be nil, is called once on
// the reading goroutine, in the order of the wire, or before Post returns where the
// command cannot be sent. done must not block.
func (s *Session) Post(method string, params any, done func(result jsonv2.Value, err error)) {
	if _, err := s.b.send(s.id, method, params, done); err != nil && done != nil {
		done(nil, err)
	}
}

// Post is the typed form of [Session.Post].
func Post[P, R any](s *Session, c cdpproto.Command[P, R], params P, done func(R, error)) {
	if done == nil {
		s.Post(c.Method, params, nil)
		return
	}
	s.Post(c.Method, params, func(raw jsonv2.Value, err error) {
		var r R
		if err == nil {
			err = decode(raw, &r)
		}
		done(r, err)
	})
}

func decode(raw jsonv2.Value, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return jsonv2.Unmarshal(raw, into, wire)
}

// Call sends a command, waits for its answer and decodes it into result, which may
// be nil. It must not be called on the reading goroutine. When ctx ends first, the
// answer is dropped.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	type answer struct {
		raw jsonv2.Value
		err error
	}
	ch := make(chan answer, 1)
	id, err := s.b.send(s.id, method, params, func(raw jsonv2.Value, err error) { ch <- answer{raw, err} })
	if err != nil {
		return err
	}
	select {
	case a := <-ch:
		if a.err != nil {
			return fmt.Errorf("%s: %w", method, a.err)
		}
		if result == nil {
			return nil
		}
		return decode(a.raw, result)
	case <-ctx.Done():
		s.b.forget(id)
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// Subscribe buffers the events of one method until cancel. The channel is closed
// when the session ends, or when MaxSubscription events wait unread.
func (s *Session) Subscribe(method string) (events <-chan jsonv2.Value, cancel func()) {
	sub := &subscription{method, make(chan jsonv2.Value, MaxSubscription)}
	s.mu.Lock()
	if s.subs == nil {
		s.subs = map[*subscription]struct{}{}
	}
	s.subs[sub] = struct{}{}
	s.mu.Unlock()
	return sub.ch, func() { s.unsubscribe(sub) }
}

func (s *Session) unsubscribe(sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.subs[sub]; ok {
		delete(s.subs, sub)
		close(sub.ch)
	}
}

func (s *Session) publish(method string, params jsonv2.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		if sub.method != method {
			continue
		}
		select {
		case sub.ch <- params:
		default:
			delete(s.subs, sub)
			close(sub.ch)
		}
	}
}

// end closes the subscriptions of a session that is gone.
func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		delete(s.subs, sub)
		close(sub.ch)
	}
}
