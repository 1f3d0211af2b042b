package source

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// closeLimit bounds what Close waits for handlers that ignore their context and for
// servers that do not answer the DELETE of their session.
const closeLimit = 6 * time.Second

// A conn is one connection to a server, from its start to its end.
type conn struct {
	tap     *tap
	tail    *tail              // of a child
	session *mcp.ClientSession // set once connected
	stream  *stream            // all but HTTP
	child   *child             // with a command
	closer  io.Closer          // the stream's other end, with Dial
	local   *mcp.ServerSession // with a server in this process
	web     *web               // with a URL
	slots   chan struct{}      // holds one for each call under way
	changed chan struct{}      // the list of tools changed; holds one
	closing chan struct{}      // closed when close began
	dead    chan struct{}      // closed when the session ended
	failure *Failure           // why, set before dead is closed; nil if it was closed by us
	since   time.Time          // when it was connected
	asking  atomic.Int64       // questions to the user under way

	begin sync.Once
	once  sync.Once

	mu    sync.Mutex
	calls map[int64]underway // guarded by mu
	next  int64
}

func newConn(modern *atomic.Bool) *conn {
	return &conn{tap: newTap(modern), slots: make(chan struct{}, MaxCalls), changed: make(chan struct{}, 1),
		closing: make(chan struct{}), dead: make(chan struct{}), calls: map[int64]underway{}}
}

// open reaches the server of the spec and returns the transport to it.
func (c *conn) open(ctx context.Context, s *Source, discover time.Duration) (mcp.Transport, error) {
	spec := &s.spec
	c.tap.discoverLimit = discover
	switch {
	case spec.URL != "":
		c.web = newWeb(spec, s.opts.HTTP, c.tap, discover)
		return c.web.transport(), nil
	case spec.Command != "":
		child, err := startChild(spec, s.opts.Environ, c.tail)
		if err != nil {
			return nil, err
		}
		c.child = child
		c.stream = newLines(c.tap, child.stdout, child.stdin)
	case spec.Server != nil:
		local, stream, err := connectLocal(ctx, c.tap, spec.Server)
		if err != nil {
			return nil, err
		}
		c.local, c.stream = local, stream
	default:
		rwc, err := spec.Dial(ctx)
		if err != nil {
			return nil, err
		}
		c.closer = rwc
		c.stream = newLines(c.tap, rwc, rwc)
	}
	return c.stream, nil
}

// signalChanged notes that the list changed.
func (c *conn) signalChanged() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// alive reports whether calls can be made.
func (c *conn) alive() bool {
	select {
	case <-c.dead:
		return false
	case <-c.closing:
		return false
	default:
		return true
	}
}

// beginClose ends what waits on the connection.
func (c *conn) beginClose() {
	c.begin.Do(func() {
		close(c.closing)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, call := range c.calls {
			call.clock.cancel(context.Canceled)
		}
	})
}

// An underway is a call under way: its context, for withCall, and what ends it.
type underway struct {
	ctx   context.Context
	clock *clock
}

// close ends the session, politely as the transport has it, and all that
// belongs to it. It may be called often and waits for the end each time.
func (c *conn) close(grace time.Duration) {
	c.beginClose()
	c.once.Do(func() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if c.session != nil {
				c.session.Close() // a child's exit status is no news here
			}
		}()
		if c.child != nil {
			c.child.end(grace, c.stream.done)
		}
		if !within(ended, closeLimit) && c.web != nil {
			c.web.kill()
		}
		if c.closer != nil {
			c.closer.Close()
		}
		if c.stream != nil {
			c.stream.stop()
			if c.local != nil {
				c.stream.hangUp()
				c.stream.end()
			}
			<-c.stream.done
		}
		if c.web != nil {
			c.web.kill()
		}
		if c.local != nil {
			gone := make(chan struct{})
			go func() { c.local.Wait(); close(gone) }()
			within(gone, closeLimit)
		}
		c.tap.close()
	})
}

// within waits for done, at most d.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// until is ctx that also ends with done. The cancel function must be called.
func until(ctx context.Context, done <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// patient is ctx that also ends after d, and with done; d of 0 is no limit.
// While waiting holds it gets up to SignInTimeout longer.
func patient(ctx context.Context, done <-chan struct{}, d time.Duration, waiting func() bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		var timeout <-chan time.Time
		if d > 0 {
			timer := time.NewTimer(d)
			defer timer.Stop()
			timeout = timer.C
		}
		last := time.Now().Add(d + SignInTimeout)
		for {
			select {
			case <-done:
				cancel(ErrClosed)
				return
			case <-ctx.Done():
				return
			case <-timeout:
				if !waiting() || time.Now().After(last) {
					cancel(context.DeadlineExceeded)
					return
				}
				timeout = time.After(clockPoll)
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// withCall gives ctx the values of the one call under way.
func (c *conn) withCall(ctx context.Context) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != 1 {
		return ctx
	}
	for _, call := range c.calls {
		return callValues{ctx, call.ctx}
	}
	return ctx
}

// callValues is a context with the values of another one.
type callValues struct {
	context.Context
	call context.Context
}

// Value looks at the call, then at the request.
func (v callValues) Value(key any) any {
	if x := v.call.Value(key); x != nil {
		return x
	}
	return v.Context.Value(key)
}

// enter registers a call, when one of the MaxCalls slots is free. The call's clock ends it
// with the connection.
func (c *conn) enter(ctx context.Context, k *clock) (leave func(), err error) {
	select {
	case c.slots <- struct{}{}:
	case <-c.closing:
		return nil, context.Canceled
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended(c.closing) { // whoever closes has not seen this call
		k.cancel(context.Canceled)
	}
	c.next++
	id := c.next
	c.calls[id] = underway{ctx, k}
	return func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
		<-c.slots
	}, nil
}

// clockPoll is how often a clock that stands is looked at.
const clockPoll = 200 * time.Millisecond

// A clock ends a call that gets no answer. It stands while the user is asked,
// and starts afresh after that and with progress.
type clock struct {
	asking *atomic.Int64
	limit  time.Duration
	last   time.Time // it does not run beyond, questions aside
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	stood bool // the user was being asked when it fired
	done  bool
}

// newClock bounds a call; a limit of 0 does not.
func newClock(ctx context.Context, limit time.Duration, asking *atomic.Int64) (context.Context, *clock) {
	ctx, cancel := context.WithCancelCause(ctx)
	k := &clock{asking: asking, limit: limit, last: time.Now().Add(CallFactor * limit), cancel: cancel}
	if limit > 0 {
		k.timer = time.AfterFunc(limit, k.fire)
	}
	return ctx, k
}

func (k *clock) fire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.done:
	case k.asking.Load() > 0:
		k.stood = true
		k.last = k.last.Add(clockPoll)
		k.timer.Reset(clockPoll)
	case k.stood:
		k.stood = false
		k.timer.Reset(k.limit)
	default:
		k.cancel(ErrCallTimeout)
	}
}

// progress starts the clock afresh.
func (k *clock) progress() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer != nil && !k.done && time.Now().Before(k.last) {
		k.timer.Reset(min(k.limit, time.Until(k.last)))
	}
}

func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done = true
	if k.timer != nil {
		k.timer.Stop()
	}
	k.cancel(context.Canceled)
}

// timedOut reports whether the clock ended ctx.
func timedOut(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrCallTimeout) }
