package host

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxLineBytes is the default bound of one line of input.
	MaxLineBytes = 64 << 20
	// DrainTimeout is how long calls that came before the end of input may still be
	// answered. Then they are cancelled.
	DrainTimeout = 400 * time.Millisecond
	// CancelGrace is how long cancelled calls get to return. [ServeStdio] does not wait
	// longer, so that a hung handler cannot keep the process.
	CancelGrace = 250 * time.Millisecond
)

// StdioOptions configures [ServeStdio].
type StdioOptions struct {
	// Logger is told about refused lines and the end of the session; nil discards.
	Logger *slog.Logger
	// MaxLineBytes bounds one line of input; 0 means the constant of that name. A longer line
	// is answered with error -32600 and read to its end without being held.
	MaxLineBytes int
}

// ServeStdio serves srv to one client that writes lines to in and reads lines from out,
// until the input ends, the output fails or ctx ends. Calls in flight are then cancelled;
// after the end of input they first get [DrainTimeout] to be answered, so that a client
// which writes its requests and closes is served. It returns at most [CancelGrace] later.
//
// The error is nil at the end of input and of ctx. A failed write is an error, unless
// input had ended: then the client has simply gone. in and out are not closed; where a read of in
// cannot be interrupted, as with stdin, its goroutine lives until in yields or the process ends.
func ServeStdio(ctx context.Context, srv *mcp.Server, in io.Reader, out io.Writer, opts *StdioOptions) error {
	if opts == nil {
		opts = &StdioOptions{}
	}
	logger, limit := opts.Logger, opts.MaxLineBytes
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if limit <= 0 {
		limit = MaxLineBytes
	}
	c := newConn(in, out, logger, limit)
	defer close(c.left)
	ss, err := srv.Connect(ctx, c, nil)
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	done := make(chan struct{})
	go func() {
		ss.Wait() // its error is one of ours, see result
		close(done)
	}()
	select {
	case <-done:
	case <-c.ended:
	case <-ctx.Done():
		c.end()
	}
	timer := time.NewTimer(CancelGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		logger.Warn("calls did not end when cancelled: leaving them")
		c.Close()
	}
	return c.result()
}

// leaveGrace is how long a failed write waits for the end of input that explains it: a
// client that goes away closes both streams, but not at the same moment.
const leaveGrace = 50 * time.Millisecond

// result says how the session ended.
func (c *conn) result() error {
	if err := c.outErr.Load(); err != nil {
		timer := time.NewTimer(leaveGrace)
		defer timer.Stop()
		select {
		case <-c.inDone:
		case <-timer.C:
			return fmt.Errorf("stdio: write: %w", *err)
		}
	}
	select {
	case <-c.inDone:
		if c.inErr != nil {
			return fmt.Errorf("stdio: read: %w", c.inErr)
		}
	default:
	}
	return nil
}
