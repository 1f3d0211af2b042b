package cdp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp/remote"
)

const (
	// MaxCommandBytes is the largest command that Chrome reads; a larger one is
	// refused here with ErrTooLarge instead of costing the connection.
	MaxCommandBytes = 100 << 20
	// MaxMessageBytes is the largest message that the websocket reads; a larger one
	// closes the connection with ErrMessageTooBig.
	MaxMessageBytes = 256 << 20
	// MaxQueued is the number of commands that may wait to be sent.
	MaxQueued = 1 << 17
)

// wire is the format of the protocol's messages: text that is not valid UTF-8 is
// repaired, as pages may produce it.
var wire = jsonv2.JoinOptions(jsonv2.DefaultOptionsV2(), jsonv2.AllowInvalidUTF8(true))

// transport is the part of a websocket that the multiplexer needs.
type transport interface {
	Read(context.Context, *cdproto.Message) error
	Write(context.Context, *cdproto.Message) error
	Close() error
}

// Options configures [Dial].
type Options struct {
	Logger  *slog.Logger // nil discards
	Handler Handler      // nil ignores all events
}

// Browser is one connection to a browser. Its exported methods may be called from
// any goroutine; what its Handler is told comes from one.
type Browser struct {
	conn    transport
	log     *slog.Logger
	handler Handler
	root    *Session
	targets targets // owned by the reading goroutine

	mu      sync.Mutex
	nextID  int64             // guarded by mu
	pending map[int64]pending // guarded by mu
	queue   []*cdproto.Message
	wake    *sync.Cond // signals queue and err; its lock is mu
	err     error      // why the connection ended; guarded by mu, nil while it lives

	done chan struct{} // closed after both goroutines have ended
	wg   sync.WaitGroup
}

// pending is a command that waits for its answer.
type pending struct {
	session target.SessionID
	method  string
	done    func(jsonv2.Value, error) // called on the reading goroutine, nil if nobody cares
}

// Dial opens the websocket of an endpoint. It blocks until the browser answers,
// which is as long as its user takes to allow the connection; ctx bounds only the
// dial. A refusal is an error that wraps ErrRefused. Dial attaches to nothing: call
// [Browser.Attach] for that.
func Dial(ctx context.Context, ep Endpoint, opts *Options) (*Browser, error) {
	var dialOpts []remote.DialOption
	if ep.Host != "" {
		dialOpts = append(dialOpts, remote.WithConnHTTPHeader(http.Header{"Host": {ep.Host}}))
	}
	conn, err := remote.DialContext(ctx, ep.WS, dialOpts...)
	if err != nil {
		if ctx.Err() == nil && strings.Contains(err.Error(), "unexpected status") {
			// The client's own sentinel is internal to its module; the status text is all there is.
			return nil, fmt.Errorf("%w: %v", ErrRefused, err)
		}
		return nil, err
	}
	return newBrowser(conn, opts), nil
}

func newBrowser(conn transport, opts *Options) *Browser {
	b := &Browser{conn: conn, log: slog.New(slog.DiscardHandler), handler: nopHandler{}, pending: map[int64]pending{}, done: make(chan struct{})}
	if opts != nil && opts.Logger != nil {
		b.log = opts.Logger
	}
	if opts != nil && opts.Handler != nil {
		b.handler = opts.Handler
	}
	b.root = &Session{b: b}
	b.targets.init()
	b.wake = sync.NewCond(&b.mu)
	b.wg.Add(2)
	go b.read()
	go b.write()
	go func() {
		b.wg.Wait()
		close(b.done)
	}()
	return b
}

// Root is the browser's own session, for the commands of Target and Browser.
func (b *Browser) Root() *Session { return b.root }

// Done is closed when the connection has ended and its last callback has returned.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err says why the connection ended; nil while it lives.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close closes the websocket and returns after the last callback. The browser and
// its tabs stay. It must not be called from a Handler.
func (b *Browser) Close() error {
	b.fail(ErrClosed)
	<-b.done
	return nil
}

// fail ends the connection with a reason; the first one counts.
func (b *Browser) fail(err error) {
	b.mu.Lock()
	first := b.err == nil
	if first {
		b.err = err
	}
	b.wake.Broadcast()
	b.mu.Unlock()
	if first {
		b.conn.Close()
	}
}

// read is the reading goroutine: all callbacks come from here.
func (b *Browser) read() {
	defer b.wg.Done()
	for {
		msg := new(cdproto.Message)
		if err := b.conn.Read(context.Background(), msg); err != nil {
			b.fail(readError(err))
			break
		}
		if msg.ID != 0 {
			b.answer(msg)
		} else if msg.Method != "" {
			b.event(msg.SessionID, string(msg.Method), msg.Params)
		}
	}
	b.failPending(func(pending) bool { return true }, ErrClosed)
	b.detachAll()
}

func readError(err error) error {
	var syntax *jsonv2.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("the browser sent what is not JSON: %w", err)
	case strings.Contains(err.Error(), "message too big"): // the client's sentinel is internal to its module
		return fmt.Errorf("%w (%d bytes)", ErrMessageTooBig, MaxMessageBytes)
	}
	return fmt.Errorf("%w: %v", ErrClosed, err)
}

func (b *Browser) answer(msg *cdproto.Message) {
	b.mu.Lock()
	p, ok := b.pending[msg.ID]
	delete(b.pending, msg.ID)
	b.mu.Unlock()
	if !ok || p.done == nil {
		if msg.Error != nil {
			b.log.Debug("command refused", "method", p.method, "err", msg.Error.Message)
		}
		return
	}
	if msg.Error != nil {
		p.done(nil, msg.Error)
		return
	}
	p.done(msg.Result, nil)
}

// failPending answers the waiting commands that match.
func (b *Browser) failPending(match func(pending) bool, err error) {
	b.mu.Lock()
	var failed []pending
	for id, p := range b.pending {
		if match(p) {
			delete(b.pending, id)
			failed = append(failed, p)
		}
	}
	b.mu.Unlock()
	for _, p := range failed {
		if p.done != nil {
			p.done(nil, fmt.Errorf("%s: %w", p.method, err))
		}
	}
}

// write is the sending goroutine, so that no callback ever waits for the socket.
func (b *Browser) write() {
	defer b.wg.Done()
	for {
		b.mu.Lock()
		for len(b.queue) == 0 && b.err == nil {
			b.wake.Wait()
		}
		if b.err != nil {
			b.queue = nil
			b.mu.Unlock()
			return
		}
		batch := b.queue
		b.queue = nil
		b.mu.Unlock()
		for _, msg := range batch {
			if err := b.conn.Write(context.Background(), msg); err != nil {
				b.fail(fmt.Errorf("%w: %v", ErrClosed, err))
				break
			}
		}
	}
}

// send queues a command. done is called once, on the reading goroutine, unless send
// itself returns an error.
func (b *Browser) send(session target.SessionID, method string, params any, done func(jsonv2.Value, error)) (id int64, err error) {
	msg := &cdproto.Message{SessionID: session, Method: cdproto.MethodType(method)}
	switch p := params.(type) {
	case nil:
	case jsonv2.Value:
		msg.Params = p
	default:
		if msg.Params, err = jsonv2.Marshal(params, wire); err != nil {
			return 0, fmt.Errorf("%s: %w", method, err)
		}
	}
	if len(msg.Params) > MaxCommandBytes {
		return 0, fmt.Errorf("%s: %w: %d bytes, the limit is %d", method, ErrTooLarge, len(msg.Params), MaxCommandBytes)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, fmt.Errorf("%s: %w", method, ErrClosed)
	}
	if len(b.queue) >= MaxQueued {
		return 0, fmt.Errorf("%s: %w", method, ErrBusy)
	}
	b.nextID++
	msg.ID = b.nextID
	b.pending[msg.ID] = pending{session, method, done}
	b.queue = append(b.queue, msg)
	b.wake.Signal()
	return msg.ID, nil
}

// forget drops interest in a command's answer.
func (b *Browser) forget(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.pending[id]; ok {
		p.done = nil
		b.pending[id] = p
	}
}
