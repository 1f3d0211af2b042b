package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// httpDiscoverTimeout is the DiscoverTimeout of remote servers, which may
	// have to be woken.
	httpDiscoverTimeout = 5 * time.Second
	// lastRung is the part of the start's limit kept for a second connection, where
	// the first is stuck: stuckAfter its first sign of life it has not answered.
	// One that has shown none is still being started: it keeps its time.
	lastRung   = 3 * time.Second
	stuckAfter = 2 * time.Second
	// failGrace bounds CloseGrace where a start failed: there is no session to end well.
	failGrace = 200 * time.Millisecond
	// exitGrace is how long a closed output waits for the exit that explains it.
	exitGrace = 300 * time.Millisecond
)

// A rung is one way to begin a session.
type rung struct {
	version string // asked for; "" is the newest
	patient bool   // let server/discover take as long as it likes
	keep    bool   // leave time for another rung
}

// start climbs the ladder: the newest revision, then, on a connection of its
// own, what the first try showed to be right.
func (s *Source) start(a *attempt) (*conn, *listing, *Failure) {
	t := &tail{redact: s.redact}
	t.each = func(line string) {
		s.log.Debug("stderr", "line", line)
		if _, signIn := t.snapshot(); signIn != "" {
			s.waitForUser(a, signIn)
		}
	}
	s.mu.Lock()
	s.tail = t
	legacy := s.knownEra() == EraLegacy || s.spec.SSE || s.silent
	s.mu.Unlock()
	waiting := func() bool { _, signIn := t.snapshot(); return signIn != "" }
	total := limit(s.spec.StartTimeout, DefaultStartTimeout)
	ctx, cancel := patient(context.Background(), s.done, total, waiting)
	defer cancel()
	begun := time.Now()

	r := rung{keep: true}
	if legacy {
		r = rung{version: string(EraLegacy), keep: !s.spec.SSE}
	}
	for {
		c, list, failure := s.climb(ctx, t, r, total)
		if c != nil {
			return c, list, nil
		}
		if !r.keep || ctx.Err() != nil || s.final(failure) {
			if failure.Kind == NotResponding && errors.Is(failure.err, context.DeadlineExceeded) {
				failure.Detail = fmt.Sprintf("no answer within %s", time.Since(begun).Round(100*time.Millisecond)) + tailNote(t)
				s.mu.Lock()
				s.silent = !s.silent && !legacy // the next start asks the other way
				s.mu.Unlock()
			}
			return nil, nil, failure
		}
		switch {
		case r.version != "": // it was remembered as legacy, and is not
			r = rung{}
		case s.modern.Load():
			r = rung{patient: true}
		default:
			r = rung{version: string(EraLegacy)}
		}
	}
}

// final reports whether another revision cannot help. A child that asked to
// sign in when its time was up may be given more of it.
func (s *Source) final(f *Failure) bool {
	return f.Kind == NotInstalled || f.Kind == NeedsSignIn && s.spec.Command == "" || errors.Is(f.err, ErrClosed) ||
		errors.Is(f.err, errOtherOrigin) || isConnectError(f.err)
}

// isConnectError reports whether nothing was reached.
func isConnectError(err error) bool {
	var u *url.Error
	return errors.As(err, &u) && u.Op != "" && !errors.Is(err, errSilent) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// climb makes one connection and lists the tools over it.
func (s *Source) climb(ctx context.Context, t *tail, r rung, total time.Duration) (*conn, *listing, *Failure) {
	c := newConn(&s.modern)
	c.tail = t
	c.tap.report = func(problem string) { s.log.Warn("left out of a list", "problem", s.redact.clean(problem)) }
	if r.keep && total > 0 {
		rctx, stop := patient(ctx, nil, total-min(lastRung, total/2), func() bool { return !c.stuck() })
		defer stop()
		ctx = rctx
	}
	discover := s.opts.DiscoverTimeout
	switch {
	case r.patient:
		discover = 0
	case discover > 0:
	case s.spec.URL != "":
		discover = httpDiscoverTimeout
	default:
		discover = DiscoverTimeout
	}
	fail := func(err error) (*conn, *listing, *Failure) {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		failure := s.diagnose(c, err, false)
		c.close(min(s.opts.CloseGrace, failGrace))
		return nil, nil, failure
	}
	transport, err := c.open(ctx, s, discover)
	if err != nil {
		return fail(err)
	}
	// A start that is given up must not wait for handlers or requests.
	stop := context.AfterFunc(ctx, func() {
		c.beginClose()
		if c.web != nil {
			c.web.kill()
		}
	})
	defer stop()
	c.session, err = s.client(c).Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: r.version})
	if err != nil {
		return fail(err)
	}
	list, err := c.listTools(ctx, s.spec.Name)
	switch {
	case err != nil && (ctx.Err() != nil || !isAnswer(err)):
		return fail(err)
	case err != nil:
		list = &listing{}
		list.problem(bridge.ToolID(s.spec.Name), false, "tools/list: %s", s.redact.clean(rpcText(err)))
	}
	if !stop() {
		return fail(context.Canceled)
	}
	c.since = time.Now()
	return c, list, nil
}

// stuck reports whether the server has come up and does not answer, and is not
// waiting for the user either.
func (c *conn) stuck() bool {
	c.tap.mu.Lock()
	life := c.tap.first
	c.tap.mu.Unlock()
	c.tail.mu.Lock()
	defer c.tail.mu.Unlock()
	if life.IsZero() || !c.tail.first.IsZero() && c.tail.first.Before(life) {
		life = c.tail.first
	}
	return !life.IsZero() && time.Since(life) > stuckAfter && c.tail.signIn == ""
}

// waitForUser notes that the server asks the user to sign in.
func (s *Source) waitForUser(a *attempt, address string) {
	s.mu.Lock()
	f := &Failure{Kind: NeedsSignIn, URL: oneLine(address, maxDetail)}
	news := s.attempt == a && (s.state == Starting || s.state == Waiting && s.failure.URL != f.URL)
	if news {
		if s.state == Starting {
			a.asks = f
			close(a.waiting)
		}
		s.state, s.failure = Waiting, f
	}
	s.mu.Unlock()
	if news {
		s.changed()
	}
}

// answerOf finds the server's own answer in an error, nil if it is none. The
// SDK marks requests that it could not send with an error of the same type.
func answerOf(err error) *jsonrpc.Error {
	const notSent = "rejected by transport"
	switch e := err.(type) {
	case nil:
		return nil
	case *jsonrpc.Error:
		if e == nil || e.Message == notSent {
			return nil
		}
		return e
	case interface{ Unwrap() error }:
		return answerOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if rpc := answerOf(inner); rpc != nil {
				return rpc
			}
		}
	}
	return nil
}

// isAnswer reports whether an error is the server's answer.
func isAnswer(err error) bool { return answerOf(err) != nil }

// rpcText is an error without the SDK's wrapping.
func rpcText(err error) string {
	if rpc := answerOf(err); rpc != nil {
		return fmt.Sprintf("%s (%d)", rpc.Message, rpc.Code)
	}
	var u *url.Error
	if errors.As(err, &u) { // its URL may hold a secret
		return u.Err.Error()
	}
	return err.Error()
}

func tailNote(t *tail) string {
	lines, _ := t.snapshot()
	if why := reason(lines); why != "" {
		return ": " + oneLine(why, maxDetail)
	}
	return ""
}

// diagnose says what an error of a connection means. was says that it had been
// connected.
func (s *Source) diagnose(c *conn, err error, was bool) *Failure {
	if c.tap.long.Load() {
		return s.redact.failf(Rejected, err, "%v", errLong)
	}
	if c.web != nil {
		if f := s.diagnoseWeb(c, err); f != nil {
			return f
		}
	}
	if errors.Is(err, ErrNeedsSignIn) {
		return &Failure{Kind: NeedsSignIn, err: err}
	}
	if s.spec.Command != "" {
		if f := s.diagnoseChild(c, err, was); f != nil {
			return f
		}
	}
	junk, messages := c.tap.seen()
	switch {
	case isAnswer(err):
		return s.redact.failf(Rejected, err, "%s", rpcText(err))
	case junk != "" && messages == 0:
		return s.redact.failf(NotMCP, err, "%s", junk)
	case errors.Is(err, context.DeadlineExceeded):
		return s.redact.failf(NotResponding, err, "no answer in time")
	case was:
		return s.redact.failf(Crashed, err, "the connection ended")
	case errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed):
		return s.redact.failf(Crashed, err, "the connection ended at the start")
	}
	return s.redact.failf(NotResponding, err, "%s", rpcText(err))
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// diagnoseChild explains what a process can explain.
func (s *Source) diagnoseChild(c *conn, err error, was bool) *Failure {
	if c.child == nil { // it was not started
		if notInstalled(err) {
			return s.redact.failf(NotInstalled, err, "%q %s", s.spec.Command, notFoundText(s.spec.Command, s.spec.Dir))
		}
		return s.redact.failf(NotInstalled, err, "%q cannot be run: %v", s.spec.Command, errors.Unwrap(err))
	}
	if _, signIn := c.tail.snapshot(); signIn != "" && !was {
		return &Failure{Kind: NeedsSignIn, URL: oneLine(signIn, maxDetail), err: err}
	}
	if isAnswer(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrClosed) || !within(c.child.exited, exitGrace) {
		return nil
	}
	within(c.child.drained, exitGrace)
	lines, _ := c.tail.snapshot()
	why := reason(lines)
	junk, messages := c.tap.seen()
	if messages == 0 && junk != "" && (why == "" || c.child.cmd.ProcessState.Success()) {
		return s.redact.failf(NotMCP, err, "%s", junk)
	}
	if why != "" {
		why = ": " + why
	}
	return s.redact.failf(Crashed, err, "%s%s", c.child.cmd.ProcessState, why)
}

func notFoundText(command, dir string) string {
	if dir != "" {
		return "is not found, or its folder is not"
	}
	if len(command) > 0 && (command[0] == '/' || command[0] == '.') {
		return "is not there"
	}
	return "is not on PATH"
}

// diagnoseWeb explains what HTTP can explain.
func (s *Source) diagnoseWeb(c *conn, err error) *Failure {
	w := c.web
	w.mu.Lock()
	status, refused, first := w.status, w.refused, w.first
	w.mu.Unlock()
	junk, messages := c.tap.seen()
	switch {
	case status == http.StatusUnauthorized || errors.Is(err, ErrNeedsSignIn):
		return &Failure{Kind: NeedsSignIn, URL: w.origin, err: err}
	case refused != "":
		return s.redact.failf(Rejected, errors.Join(errOtherOrigin, err), "%v, %s", errOtherOrigin, refused)
	case unreached(status) && messages == 0:
		return s.redact.failf(NotResponding, err, "answers %s", statusText(status))
	case first != "" && messages == 0:
		return s.redact.failf(NotMCP, err, "%s", first)
	case junk != "" && messages == 0:
		return s.redact.failf(NotMCP, err, "%s", junk)
	case isAnswer(err):
		return nil
	case status >= http.StatusInternalServerError:
		return s.redact.failf(NotResponding, err, "answers %s", statusText(status))
	case status != 0:
		return s.redact.failf(Rejected, err, "answers %s", statusText(status))
	}
	return nil
}

// unreached reports whether a status says that a proxy did not reach the server. What is
// in the body is the proxy's, whatever it looks like.
func unreached(status int) bool {
	const firstOwn, lastOwn = 520, 530 // a large network's own, in place of 502 to 504
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout ||
		status >= firstOwn && status <= lastOwn
}

// statusText is a status and what it means, where that is known.
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
