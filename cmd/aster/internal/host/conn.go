package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// replyQueue bounds the error replies that wait for a client which does not read.
	replyQueue = 256
	// replyPatience is how long reading waits for a place in that queue before replies are
	// dropped: a client that floods and does not read must not hide its end of input.
	replyPatience = 250 * time.Millisecond
)

// codeCrowded is the code of a request that is not begun because too many wait; of those
// that JSON-RPC leaves to servers.
const codeCrowded = -32000

// maxWarnings bounds the warnings about refused lines in one session: a flood of them
// must not fill a log, nor block on one that nobody reads.
const maxWarnings = 20

// maxLoggedLineBytes is how much of a refused line its warning quotes.
const maxLoggedLineBytes = 200

// errNotEncoded answers a call whose result has no JSON form.
var errNotEncoded = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the result of this call cannot be encoded as JSON"}

// conn is the [mcp.Connection] of ServeStdio. One goroutine cuts the input into lines, one
// writes the replies to bad ones; the SDK calls Read from a goroutine of its own and Write from
// many.
type conn struct {
	in     *lineReader
	out    io.Writer
	log    *slog.Logger
	limit  int
	tracks tracker

	lines   chan line
	inDone  chan struct{}     // closed at the end of input, before lines is
	inErr   error             // why input ended, nil for a plain end; set before inDone is closed
	replies chan []byte       // to be written at once
	queue   []jsonrpc.Message // judged and not yet returned, used by Read only
	full    bool              // the last reply found no place, used by Read only
	warned  int               // warnings given, used by Read only
	ended   chan struct{}     // closed by end: input is over, output broke, or stop was called
	endOnce sync.Once
	closed  chan struct{} // closed by Close: the SDK is done, or we have given up on it
	once    sync.Once
	left    chan struct{} // closed when ServeStdio returns

	writeMu sync.Mutex            // serialises lines on out; held while a write blocks
	outErr  atomic.Pointer[error] // the first failed write
}

func newConn(in io.Reader, out io.Writer, logger *slog.Logger, limit int) *conn {
	return &conn{
		in: newLineReader(in, limit), out: out, log: logger, limit: limit,
		lines: make(chan line), inDone: make(chan struct{}), replies: make(chan []byte, replyQueue),
		ended: make(chan struct{}), closed: make(chan struct{}), left: make(chan struct{}),
	}
}

// Connect starts the connection; conn is its own [mcp.Transport], good for one session.
func (c *conn) Connect(context.Context) (mcp.Connection, error) {
	go c.readLines()
	go c.writeReplies()
	return c, nil
}

// SessionID is empty: stdio has one session.
func (c *conn) SessionID() string { return "" }

// Close ends Read and the replies. It leaves the streams open, which are not ours.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.end()
	return nil
}

// end lets Read report the end of input, whatever the input does.
func (c *conn) end() { c.endOnce.Do(func() { close(c.ended) }) }

// readLines feeds c.lines until the input ends. Lines that come after c.ended are dropped,
// so that the end of input is still noticed; a blocked read of stdin cannot be woken, so after
// c.left it ends with the next line.
func (c *conn) readLines() {
	defer close(c.lines)
	for {
		ln, err := c.in.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, os.ErrClosed) {
				c.inErr = err
			}
			close(c.inDone)
			return
		}
		select {
		case c.lines <- ln:
		case <-c.left:
			return
		case <-c.ended:
		}
	}
}

// Read returns the next message that the server should see.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			return next, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case <-c.ended:
			return nil, io.EOF
		case ln, ok := <-c.lines:
			if !ok {
				c.drain()
				c.end()
				return nil, io.EOF
			}
			c.take(ln)
		}
	}
}

// warn logs a refused line, up to maxWarnings times.
func (c *conn) warn(msg string, args ...any) {
	if c.warned++; c.warned <= maxWarnings {
		c.log.Warn(msg, args...)
	}
	if c.warned == maxWarnings {
		c.log.Warn("further refused lines are not logged")
	}
}

// take judges a line and queues what is in it.
func (c *conn) take(ln line) {
	if ln.long {
		c.warn("line skipped: too long", "limit_bytes", c.limit)
		c.reply(errorReply(nil, jsonrpc.CodeInvalidRequest, "invalid request: the line is longer than "+strconv.Itoa(c.limit)+" bytes"))
		return
	}
	elems, isBatch, bad := split(ln.text)
	switch {
	case bad != nil:
		c.warn("line skipped: not JSON", "line", cut(string(ln.text), maxLoggedLineBytes))
		c.reply(bad)
	case isBatch:
		c.takeBatch(elems)
	default:
		if bad := c.admit(parse(ln.text), nil); bad != nil {
			c.reply(bad)
		}
	}
}

// takeBatch does so for the elements of a batch; their answers go out as one array.
func (c *conn) takeBatch(elems [][]byte) {
	if bad := c.tracks.refuseBatch(len(elems)); bad != "" {
		c.reply(errorReply(nil, jsonrpc.CodeInvalidRequest, "invalid request: "+bad))
		return
	}
	b := &batch{}
	for _, elem := range elems {
		if bad := c.admit(parse(elem), b); bad != nil {
			b.parts = append(b.parts, bad)
		}
	}
	if b.open == 0 && len(b.parts) > 0 {
		c.reply(b.text())
	}
}

// admit queues a message, or returns the error reply that it deserves. A call is tracked
// from here on; b is its batch or nil.
func (c *conn) admit(in inbound, b *batch) []byte {
	if in.reply != nil {
		c.warn("message refused", "reply", string(in.reply))
		return in.reply
	}
	if req, ok := in.msg.(*jsonrpc.Request); ok && req.IsCall() {
		if c.tracks.crowded() {
			id, _ := json.Marshal(req.ID.Raw()) // a number or a text
			return errorReply(id, codeCrowded, "too many requests wait for an answer, at most "+strconv.Itoa(MaxStdioRequests)+": send it again after some of them")
		}
		if bad := c.tracks.begin(req, b); bad != "" {
			return errorReply(nil, jsonrpc.CodeInvalidRequest, "invalid request: "+bad)
		}
	}
	if in.msg != nil {
		c.queue = append(c.queue, in.msg)
	}
	return nil
}

// Write sends a message. An error of the stream is final: every later Write repeats it.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := encode(msg)
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		if err != nil {
			return err
		}
		return c.writeLine(text)
	}
	if err != nil { // the client must not wait for ever
		c.log.Error("result cannot be encoded", "err", err)
		if text, err = encode(&jsonrpc.Response{ID: resp.ID, Error: errNotEncoded}); err != nil {
			return err
		}
	}
	text, counted := c.tracks.answer(resp, text)
	if counted {
		defer c.tracks.done()
	}
	if text == nil {
		return nil // part of a batch that is not complete
	}
	return c.writeLine(text)
}

// writeLine writes one line in one call.
func (c *conn) writeLine(text []byte) error {
	text = append(text, '\n')
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if err := c.outErr.Load(); err != nil {
		return *err
	}
	_, err := c.out.Write(text)
	if err != nil {
		c.outErr.Store(&err)
		c.end()
	}
	return err
}

// reply queues an error reply, unless the client has stopped reading.
func (c *conn) reply(text []byte) {
	c.tracks.add()
	select {
	case c.replies <- text:
		c.full = false
		return
	default:
	}
	if !c.full {
		timer := time.NewTimer(replyPatience)
		defer timer.Stop()
		select {
		case c.replies <- text:
			return
		case <-c.ended:
		case <-timer.C:
			c.full = true
			c.log.Warn("replies dropped: the client does not read")
		}
	}
	c.tracks.done()
}

// writeReplies writes queued replies until the connection is closed and the queue empty.
func (c *conn) writeReplies() {
	for {
		select {
		case text := <-c.replies:
			c.writeLine(text)
			c.tracks.done()
		case <-c.closed:
			return
		}
	}
}

// drain waits until what the client sent before the end of input is answered, for at
// most DrainTimeout.
func (c *conn) drain() {
	timer := time.NewTimer(DrainTimeout)
	defer timer.Stop()
	select {
	case <-c.tracks.idle():
	case <-c.ended:
	case <-timer.C:
		c.log.Info("input ended with calls in flight: cancelling them")
	}
}
