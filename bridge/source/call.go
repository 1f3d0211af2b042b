//lint:file-ignore SA1019 sampling and roots are deprecated, and servers of older revisions ask for them; a gateway passes them on.

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
	// Progress hears of the call's progress, one report at a time and none after
	// the call has returned; total is 0 where it is not known. It must not block.
	Progress func(progress, total float64, message string)

	// PassInput returns an [InputRequired] where a server of 2026-07-28 wants input
	// before it answers, in place of asking the Handlers.
	PassInput bool
	// Capabilities, if not nil, are told to a server of 2026-07-28 as those of the
	// client of this call, in place of what the Handlers can do.
	Capabilities *mcp.ClientCapabilities
	// InputResponses and RequestState answer an InputRequired of an earlier round.
	InputResponses mcp.InputResponseMap
	RequestState   string
}

// deathGrace is how long a failed call waits for what is known of the end of
// its connection, if it has ended.
const deathGrace = 2 * exitGrace

type optionsKey struct{}

// WithCallOptions gives a context options for the calls made under it through
// [Source.Invoke], [Set.Invoke], [Source.Prompt] and [Source.ReadResource], whose
// signatures have no place for them. The last two take input responses and state from
// their parameters.
func WithCallOptions(ctx context.Context, o *CallOptions) context.Context {
	return context.WithValue(ctx, optionsKey{}, o)
}

// Invoke calls a tool of this server, whatever server tool names. See [Source.Call].
func (s *Source) Invoke(ctx context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	return s.Call(ctx, tool.Name, arguments, optionsOf(ctx))
}

func optionsOf(ctx context.Context) *CallOptions {
	if o, _ := ctx.Value(optionsKey{}).(*CallOptions); o != nil {
		return o
	}
	return &CallOptions{}
}

// Call calls a tool with arguments, an object, and returns the server's result:
// an MCP CallToolResult with all its members as they were sent, save content
// blocks that no client could decode, in whose place a text says so. A server
// that is not connected is started first. Calls run concurrently, at most
// MaxCalls of them.
//
// A call that may have reached the server is not repeated. Errors: a *Failure,
// one that wraps ErrCallTimeout, ErrBadAnswer or ctx's, an *InputRequired, or the server's *jsonrpc.Error, wrapped. Ending ctx
// tells the server to stop. opts may be nil.
func (s *Source) Call(ctx context.Context, name string, arguments json.RawMessage, opts *CallOptions) (json.RawMessage, error) {
	if opts == nil {
		opts = &CallOptions{}
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return request(ctx, s, func(ctx context.Context, c *conn, k *clock) (json.RawMessage, error) {
		slot := c.slot(k, opts)
		params := &mcp.CallToolParams{Meta: c.meta(slot, opts), Name: name, Arguments: arguments,
			InputResponses: opts.InputResponses, RequestState: opts.RequestState}
		res, err := c.session.CallTool(ctx, params)
		raw := c.tap.release(slot)
		switch {
		case slot.refused != "":
			return nil, badAnswer(slot)
		case err != nil:
			return nil, err
		case slot.input:
			return nil, inputOf(raw)
		}
		return result(raw, res)
	})
}

// request makes a request on a live connection, within the call's limit. One that cannot
// have reached the server is made once more, on another connection.
func request[R any](ctx context.Context, s *Source, f func(context.Context, *conn, *clock) (R, error)) (R, error) {
	var none R
	for try := 0; ; try++ {
		c, err := s.connected(ctx, false)
		if err != nil {
			return none, s.explain(ctx, nil, err)
		}
		res, err := enter(ctx, s, c, f)
		var input *InputRequired
		switch {
		case err == nil:
			return res, nil
		case errors.As(err, &input):
			return none, err
		case try == 0 && ctx.Err() == nil && notSent(err):
			s.drop(c)
			continue
		}
		return none, s.explain(ctx, c, err)
	}
}

// enter makes a request on this connection: with the clock running, and when one of its
// slots is free.
func enter[R any](ctx context.Context, s *Source, c *conn, f func(context.Context, *conn, *clock) (R, error)) (res R, err error) {
	patience, dropped := limit(s.spec.CallTimeout, DefaultCallTimeout), c.tap.dropped()
	ctx, clock := newClock(ctx, patience, &c.asking)
	defer clock.stop()
	leave, err := c.enter(ctx, clock)
	if err == nil {
		defer leave()
		res, err = f(ctx, c, clock)
	}
	if err != nil && timedOut(ctx) {
		err = fmt.Errorf("%w: %s", ErrCallTimeout, patience.Round(time.Millisecond))
		if n := c.tap.dropped() - dropped; n > 0 {
			err = fmt.Errorf("%w (%s that came meanwhile could not be read)", err, count(n, "message"))
		}
	}
	return res, err
}

func badAnswer(s *slot) error { return fmt.Errorf("%w: %s", ErrBadAnswer, s.refused) }

// slot makes the slot of a request whose progress keeps the clock going.
func (c *conn) slot(k *clock, opts *CallOptions) *slot {
	s := c.tap.open(func(progress, total float64, message string) {
		k.progress()
		if opts.Progress != nil {
			opts.Progress(progress, total, message)
		}
	})
	s.pass = opts.PassInput
	return s
}

// meta is the _meta of a request.
func (c *conn) meta(s *slot, opts *CallOptions) mcp.Meta {
	m := maps.Clone(opts.Meta)
	if m == nil {
		m = map[string]any{}
	}
	m["progressToken"] = s.token
	if opts.Capabilities != nil && c.session.InitializeResult().ProtocolVersion >= string(EraModern) {
		// The SDK's own type keeps roots aside, which are a pointer on the wire.
		m[mcp.MetaKeyClientCapabilities] = struct {
			mcp.ClientCapabilities
			Roots *mcp.RootCapabilities `json:"roots,omitempty"`
		}{*opts.Capabilities, opts.Capabilities.RootsV2}
	}
	return m
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
	case errors.As(err, &f), errors.Is(err, ErrCallTimeout), errors.Is(err, ErrBadAnswer), errors.Is(err, ErrClosed), c == nil:
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
