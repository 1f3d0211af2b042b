package source

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A stream carries messages between one server and the SDK, past the tap. It is the SDK's
// transport and its connection at once. Messages pass as they are decoded, since the SDK's
// own transports would decode each three times more.
type stream struct {
	tap     *tap
	in      chan jsonrpc.Message // to the SDK
	stopped chan struct{}        // closed when the SDK reads no more
	ended   chan struct{}        // closed when the server sends no more
	done    chan struct{}        // closed when no goroutine is left

	write  func(context.Context, jsonrpc.Message) error // to the server; not used concurrently
	hangUp func()                                       // ends the server's input

	writing        sync.Mutex
	once, onceOver sync.Once
}

// newStream makes a stream without its way to the server.
func newStream(t *tap) *stream {
	s := &stream{tap: t, in: make(chan jsonrpc.Message), stopped: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{})}
	t.inject = func(message []byte) { s.send(message) }
	return s
}

// Connect returns the stream.
func (s *stream) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// SessionID is empty: streams have no sessions.
func (s *stream) SessionID() string { return "" }

// Read returns what the tap let pass, io.EOF after the last of it.
func (s *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case m := <-s.in:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.stopped:
	case <-s.ended:
	}
	return nil, io.EOF
}

// Write sends one message to the server.
func (s *stream) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.tap.sending(m)
	return s.write(ctx, m)
}

// Close ends the server's input and a Read under way.
func (s *stream) Close() error {
	s.stop()
	s.hangUp()
	return nil
}

// stop makes Read return, and whoever wants to send give up.
func (s *stream) stop() { s.once.Do(func() { close(s.stopped) }) }

// end says that the server sends no more.
func (s *stream) end() { s.onceOver.Do(func() { close(s.ended) }) }

// send hands the SDK a message of our own making. It blocks until the SDK took it or stopped.
func (s *stream) send(message []byte) error {
	m, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return err
	}
	return s.deliver(context.Background(), m)
}

// deliver is send for a message that is decoded.
func (s *stream) deliver(ctx context.Context, m jsonrpc.Message) error {
	select {
	case s.in <- m:
		return nil
	case <-s.stopped:
		return io.ErrClosedPipe
	case <-s.ended:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}
