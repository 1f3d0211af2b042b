package source

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// localQueue is how many messages may wait for a server in this process to read them.
const localQueue = 16

// A local is the end of a stream at a server in this process: its transport and its
// connection at once. Nothing is encoded for the way; bounds are those of text.
type local struct {
	stream *stream
	in     chan jsonrpc.Message // to the server
	hung   chan struct{}        // closed when nothing more comes to the server
	once   sync.Once
}

// connectLocal connects a server in this process.
func connectLocal(ctx context.Context, t *tap, server *mcp.Server) (*mcp.ServerSession, *stream, error) {
	s := newStream(t)
	close(s.done) // it has no goroutine
	l := &local{stream: s, in: make(chan jsonrpc.Message, localQueue), hung: make(chan struct{})}
	s.hangUp = func() { l.once.Do(func() { close(l.hung) }) }
	s.write = l.take
	session, err := server.Connect(ctx, l, nil)
	return session, s, err
}

// Connect returns the end.
func (l *local) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is empty: the server has this one client.
func (l *local) SessionID() string { return "" }

// take gives the server a message.
func (l *local) take(ctx context.Context, m jsonrpc.Message) error {
	m, err := copied(m)
	if err != nil {
		return err
	}
	select {
	case l.in <- m:
		return nil
	case <-l.hung:
	case <-l.stream.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	return io.ErrClosedPipe
}

// Read returns the client's messages, io.EOF after the last of them.
func (l *local) Read(ctx context.Context) (jsonrpc.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case m := <-l.in:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.stream.ended:
		return nil, io.EOF
	case <-l.hung:
	}
	select { // what came before the end
	case m := <-l.in:
		return m, nil
	default:
		return nil, io.EOF
	}
}

// Write gives the client what the tap lets pass of a message.
func (l *local) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := copied(m)
	if err != nil {
		return err
	}
	t := l.stream.tap
	t.live()
	if why := tooMuch(m); why != "" {
		m = t.refuseMessage(m, why)
	} else {
		m = t.pass(m)
	}
	if m == nil {
		return nil
	}
	return l.stream.deliver(ctx, m)
}

// Close ends what the client reads.
func (l *local) Close() error {
	l.stream.end()
	return nil
}

// copied is a message for the other side, which may change its members. An error becomes
// what it would be as text.
func copied(m jsonrpc.Message) (jsonrpc.Message, error) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: m.Params}, nil
	case *jsonrpc.Response:
		if m.Error == nil {
			return &jsonrpc.Response{ID: m.ID, Result: m.Result}, nil
		}
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(text)
}

// tooMuch says why a message is not taken, "" if it is.
func tooMuch(m jsonrpc.Message) string {
	var body []byte
	switch m := m.(type) {
	case *jsonrpc.Request:
		body = m.Params
	case *jsonrpc.Response:
		body = m.Result
	}
	switch {
	case len(body) > MaxMessageBytes:
		return whyLong
	case len(body) > maxDepth && glance(body).depth >= maxDepth: // the message is one level more
		return whyDeep
	}
	return ""
}

// refuseMessage ends the request that a message which is not taken would answer.
func (t *tap) refuseMessage(m jsonrpc.Message, why string) jsonrpc.Message {
	t.junk(nil)
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil
	}
	t.mu.Lock()
	if why == whyLong && t.messages == 0 { // a start that fails failed for this
		t.long.Store(true)
	}
	t.mu.Unlock()
	return decoded(t.refusal(idText(r.ID), why))
}
