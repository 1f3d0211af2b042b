package cdptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp/remote"
)

// Event is one DevTools event as it came over the wire.
type Event struct {
	Session string // "" for the browser's own session
	Method  string
	Params  json.RawMessage
}

// Conn is a plain DevTools connection: commands by name, events as they come. It is
// the floor that speed is measured against, and the hand of the test's user. Its
// methods may be called from any goroutine.
type Conn struct {
	c    *remote.Conn
	done chan struct{}

	mu      sync.Mutex
	nextID  int64                           // guarded by mu
	pending map[int64]chan *cdproto.Message // guarded by mu
	subs    map[int]func(Event)             // guarded by mu
	nextSub int                             // guarded by mu
	closed  bool                            // guarded by mu
}

// Dial connects to a browser's websocket URL.
func Dial(ctx context.Context, ws string) (*Conn, error) {
	rc, err := remote.DialContext(ctx, ws)
	if err != nil {
		return nil, err
	}
	c := &Conn{c: rc, done: make(chan struct{}), pending: map[int64]chan *cdproto.Message{}, subs: map[int]func(Event){}}
	go c.read()
	return c, nil
}

func (c *Conn) read() {
	defer close(c.done)
	for {
		m := new(cdproto.Message)
		if err := c.c.Read(context.Background(), m); err != nil {
			c.mu.Lock()
			c.closed = true
			for id, ch := range c.pending {
				delete(c.pending, id)
				close(ch)
			}
			c.mu.Unlock()
			return
		}
		c.mu.Lock()
		if m.ID != 0 {
			ch := c.pending[m.ID]
			delete(c.pending, m.ID)
			c.mu.Unlock()
			if ch != nil {
				ch <- m
			}
			continue
		}
		subs := make([]func(Event), 0, len(c.subs))
		for i := 0; i < c.nextSub; i++ {
			if f := c.subs[i]; f != nil {
				subs = append(subs, f)
			}
		}
		c.mu.Unlock()
		for _, f := range subs {
			f(Event{string(m.SessionID), string(m.Method), json.RawMessage(m.Params)})
		}
	}
}

// Call sends a command on a session ("" is the browser's) and returns its raw result.
func (c *Conn) Call(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	msg := &cdproto.Message{SessionID: target.SessionID(session), Method: cdproto.MethodType(method)}
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		msg.Params = b
	}
	ch := make(chan *cdproto.Message, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, errors.New("connection closed")
	}
	c.nextID++
	msg.ID = c.nextID
	c.pending[msg.ID] = ch
	c.mu.Unlock()
	if err := c.c.Write(ctx, msg); err != nil {
		return nil, err
	}
	select {
	case m, ok := <-ch:
		if !ok {
			return nil, errors.New("connection closed")
		}
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %w", method, m.Error)
		}
		return json.RawMessage(m.Result), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// Subscribe calls f with every event, in order, on the connection's reading
// goroutine: f must not block. The returned func ends it.
func (c *Conn) Subscribe(f func(Event)) (cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.nextSub
	c.nextSub++
	c.subs[id] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subs, id)
	}
}

// Close closes the websocket and waits for the reader to end. The browser stays.
func (c *Conn) Close() {
	c.c.Close()
	<-c.done
}
