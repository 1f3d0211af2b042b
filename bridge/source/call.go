package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// CallOptions go with one call. Nil means the zero CallOptions.
type CallOptions struct {
	// Meta is sent as the request's _meta, without its progressToken.
	Meta map[string]any
	// Progress hears of the call's progress, one report at a time; total is 0
	// where it is not known. It must not block.
	Progress func(progress, total float64, message string)
}

// deathGrace is how long a failed call waits for what is known of the end of
// its connection, if it has ended.
const deathGrace = 2 * exitGrace

type optionsKey struct{}

// WithCallOptions gives a context options for the calls made under it through
// [Source.Invoke] and [Set.Invoke], whose signature has no place for them.
func WithCallOptions(ctx context.Context, o *CallOptions) context.Context {
	return context.WithValue(ctx, optionsKey{}, o)
}

// Invoke calls a tool of this server, whatever server tool names. See [Source.Call].
func (s *Source) Invoke(ctx context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	o, _ := ctx.Value(optionsKey{}).(*CallOptions)
	return s.Call(ctx, tool.Name, arguments, o)
}

// Call calls a tool with arguments, an object, and returns the server's result:
// an MCP CallToolResult with all its members as they were sent, save content
// blocks that no client could decode, in whose place a text says so. A server
// that is not connected is started first. Calls run concurrently, at most
// MaxCalls of them.
//
// A call that may have reached the server is not repeated. Errors: a *Failure,
// one that wraps ErrCallTimeout or ctx's, or the server's *jsonrpc.Error, wrapped. Ending ctx
// tells the server to stop. opts may be nil.
func (s *Source) Call(ctx context.Context, name string, arguments json.RawMessage, opts *CallOptions) (json.RawMessage, error) {
	if opts == nil {
		opts = &CallOptions{}
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	for try := 0; ; try++ {
		c, err := s.connected(ctx, false)
		if err != nil {
			return nil, s.explain(ctx, nil, err)
		}
		raw, err := s.callOn(ctx, c, name, arguments, opts)
		if err == nil {
			return raw, nil
		}
		if try == 0 && ctx.Err() == nil && notSent(err) {
			s.drop(c)
			continue
		}
		return nil, s.explain(ctx, c, err)
	}
}

// notSent reports whether the server cannot have acted on the request: the
// connection was closed before, or the server knows its session no more.
func notSent(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, mcp.ErrSessionMissing)
}

// drop makes the next call use another connection.
func (s *Source) drop(c *conn) {
	within(c.dead, deathGrace)
	s.mu.Lock()
	ours := s.conn == c
	if ours {
		s.conn = nil
	}
	closed := s.closed
	s.mu.Unlock()
	if ours && !closed {
		c.close(s.opts.CloseGrace)
	}
}

func (s *Source) callOn(ctx context.Context, c *conn, name string, arguments json.RawMessage, opts *CallOptions) (json.RawMessage, error) {
	patience := limit(s.spec.CallTimeout, DefaultCallTimeout)
	ctx, clock := newClock(ctx, patience, &c.asking)
	defer clock.stop()
	ctx, cancel := until(ctx, c.closing)
	defer cancel()
	leave, err := c.enter(ctx)
	if err == nil {
		defer leave()
		slot := c.tap.open(func(progress, total float64, message string) {
			clock.progress()
			if opts.Progress != nil {
				opts.Progress(progress, total, message)
			}
		})
		params := &mcp.CallToolParams{Meta: maps.Clone(opts.Meta), Name: name, Arguments: arguments}
		delete(params.Meta, "progressToken")
		params.SetProgressToken(slot.token)
		var res *mcp.CallToolResult
		res, err = c.session.CallTool(ctx, params)
		raw := c.tap.release(slot)
		if err == nil {
			return result(raw, res)
		}
	}
	if timedOut(ctx) {
		return nil, fmt.Errorf("%w: %s", ErrCallTimeout, patience.Round(time.Millisecond))
	}
	return nil, err
}

// result is the server's result, or what the SDK made of it where the tap did not see it.
func result(raw json.RawMessage, res *mcp.CallToolResult) (json.RawMessage, error) {
	if raw == nil {
		b, err := json.Marshal(res)
		if err != nil {
			return nil, fmt.Errorf("the result cannot be encoded: %w", err)
		}
		raw = b
	}
	return cleanResult(raw), nil
}

// A callError has a text that is fit to be shown, and its cause.
type callError struct {
	text string
	err  error
}

// Error is the cleaned text.
func (e *callError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.err }

// explain makes an error of a call one for a reader. c may be nil.
func (s *Source) explain(ctx context.Context, c *conn, err error) error {
	var f *Failure
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", s.spec.Name, ctx.Err())
	case errors.As(err, &f), errors.Is(err, ErrCallTimeout), errors.Is(err, ErrClosed), c == nil:
		return fmt.Errorf("%s: %w", s.spec.Name, err)
	case isAnswer(err):
		return &callError{s.spec.Name + ": " + oneLine(s.redact.clean(rpcText(err)), maxDetail), err}
	}
	if ended(c.closing) || within(c.dead, deathGrace) {
		if within(c.dead, deathGrace) && c.failure != nil {
			return fmt.Errorf("%s: %w", s.spec.Name, c.failure)
		}
		return fmt.Errorf("%s: the call was cut off: %w", s.spec.Name, ErrClosed)
	}
	if c.web != nil {
		if f = s.diagnoseWeb(c, err); f != nil {
			return fmt.Errorf("%s: %w", s.spec.Name, f)
		}
	}
	return &callError{s.spec.Name + ": " + oneLine(s.redact.clean(rpcText(err)), maxDetail), err}
}
