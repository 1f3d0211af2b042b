package source

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Waits before a server is started again.
const (
	firstBackoff = time.Second
	maxBackoff   = time.Minute
	// patientBackoff is how long a call waits for the next start; for a longer
	// one it fails at once.
	patientBackoff = 2 * time.Second
	// stableAfter is how long a connection must have held to count as good.
	stableAfter = 30 * time.Second
	// refreshPause is the least time between two lists that a server asks for.
	refreshPause = 250 * time.Millisecond
)

// A Source keeps one server connected. The zero Source is not usable.
type Source struct {
	spec   Spec
	opts   Options
	redact redactor
	log    *slog.Logger
	done   chan struct{}  // closed by Close
	wg     sync.WaitGroup // all goroutines; Add only under mu while not closed
	modern atomic.Bool    // the server was seen to speak EraModern, if too late for a session

	mu      sync.Mutex // guards what follows
	closed  bool
	state   State
	conn    *conn    // nil unless connected
	attempt *attempt // nil unless starting
	failure *Failure
	fails   int // in a row
	retryAt time.Time

	keepTrying bool // after a start that failed
	retrying   bool // such a try is to come
	retries    int  // in a row
	firstRetry time.Duration

	era     Era  // of the last session, or from the spec
	silent  bool // the last start got no answer to server/discover, nor to anything
	list    *listing
	listed  bool
	init    *mcp.InitializeResult // of the last connection
	tail    *tail                 // of the last child
	dropped int                   // of connections past
}

// An attempt is one start that many may wait for.
type attempt struct {
	done    chan struct{} // closed with conn or failure set
	waiting chan struct{} // closed with asks set, when the server waits for the user
	asks    *Failure
	conn    *conn
	failure *Failure
}

// New makes a source and starts nothing. opts may be nil.
func New(spec Spec, opts *Options) (*Source, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	s := &Source{spec: spec, redact: newRedactor(&spec), done: make(chan struct{}), era: spec.Era, firstRetry: FirstRetry,
		list: &listing{tools: slices.Clone(spec.Known)}}
	if opts != nil {
		s.opts = *opts
	}
	if s.log = s.opts.Logger; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = s.log.With("server", spec.Name)
	if s.opts.CloseGrace <= 0 {
		s.opts.CloseGrace = defaultCloseGrace
	}
	return s, nil
}

// Name is the server's name.
func (s *Source) Name() string { return s.spec.Name }

// Spec is the spec that the source was made of.
func (s *Source) Spec() Spec { return s.spec }

// Start connects the server and lists its tools, if that is not done, and waits
// for it. The error is a *Failure, or ctx's; the start itself goes on when ctx
// ends. A server that waits for the user to sign in is a Failure too, and goes
// on as well. Start does not wait for a backoff.
func (s *Source) Start(ctx context.Context) error {
	_, err := s.connected(ctx, true)
	return err
}

// Restart ends the connection, if there is one, and starts anew.
func (s *Source) Restart(ctx context.Context) error {
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		c.close(s.opts.CloseGrace)
	}
	return s.Start(ctx)
}

// Tools are the server's tools in its order, or those known from before.
func (s *Source) Tools() []bridge.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list.tools)
}

// Definitions are the tools as the server sent them, in the order of Tools and
// only once they are listed.
func (s *Source) Definitions() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list.raws)
}

// Close ends the connection, a start under way and the processes, and returns
// when no goroutine is left. The source cannot be used again.
func (s *Source) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	c := s.conn
	s.conn, s.state, s.failure = nil, Closed, nil
	s.mu.Unlock()
	if c != nil {
		c.close(s.opts.CloseGrace)
	}
	s.wg.Wait()
	return nil
}

// changed tells the host.
func (s *Source) changed() {
	if s.opts.OnChange != nil {
		s.opts.OnChange(s)
	}
}

// connected returns the live connection and makes one if there is none. now
// says not to heed the backoff.
func (s *Source) connected(ctx context.Context, now bool) (*conn, error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, ErrClosed
		}
		if s.conn != nil && s.conn.alive() {
			c := s.conn
			s.mu.Unlock()
			return c, nil
		}
		if s.attempt == nil {
			if wait := time.Until(s.retryAt); !now && wait > 0 {
				failure := s.failure
				s.mu.Unlock()
				if err := s.pause(ctx, wait, failure); err != nil {
					return nil, err
				}
				continue
			}
			s.begin()
		}
		a := s.attempt
		s.mu.Unlock()
		return a.wait(ctx)
	}
}

// pause waits for the end of a short backoff and fails at a long one.
func (s *Source) pause(ctx context.Context, wait time.Duration, failure *Failure) error {
	if wait > patientBackoff {
		return fmt.Errorf("%w (next try in %s)", failure, wait.Round(time.Second))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return ErrClosed
	}
}

func (a *attempt) wait(ctx context.Context) (*conn, error) {
	select {
	case <-a.done:
	case <-a.waiting:
		select {
		case <-a.done: // it came meanwhile
		default:
			return nil, a.asks
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.conn == nil {
		return nil, a.failure
	}
	return a.conn, nil
}

// begin starts an attempt. mu is held.
func (s *Source) begin() {
	a := &attempt{done: make(chan struct{}), waiting: make(chan struct{})}
	s.attempt, s.state, s.failure = a, Starting, nil
	s.wg.Go(func() {
		s.changed()
		c, list, failure := s.start(a)
		s.finish(a, c, list, failure)
	})
}

// finish records the outcome of an attempt.
func (s *Source) finish(a *attempt, c *conn, list *listing, failure *Failure) {
	s.mu.Lock()
	s.attempt = nil
	if c != nil && s.closed {
		s.mu.Unlock()
		c.close(s.opts.CloseGrace)
		a.failure = &Failure{Kind: NotResponding, err: ErrClosed}
		close(a.done)
		return
	}
	if c == nil {
		a.failure = failure
		if !s.closed {
			s.fails++
			s.state, s.failure, s.retryAt = Failed, failure, time.Now().Add(backoff(s.fails))
			s.tryLater()
		}
	} else {
		a.conn, s.retries = c, 0
		s.conn, s.state, s.failure, s.retryAt = c, Connected, nil, time.Time{}
		s.init, s.list, s.listed = c.session.InitializeResult(), list, true
		if s.era = EraLegacy; s.init.ProtocolVersion >= string(EraModern) {
			s.era = EraModern
		}
		s.wg.Go(func() { s.watch(c) })
		s.wg.Go(func() { s.follow(c) })
	}
	s.mu.Unlock()
	close(a.done)
	s.changed()
}

// knownEra is what the next start begins with. mu is held.
func (s *Source) knownEra() Era {
	if s.modern.Load() {
		return EraModern
	}
	return s.era
}

// backoff is the wait after so many failures in a row.
func backoff(fails int) time.Duration {
	if fails <= 0 {
		return 0
	}
	return min(firstBackoff<<min(fails-1, 10), maxBackoff)
}

// watch waits for the end of a connection and records why it ended.
func (s *Source) watch(c *conn) {
	err := c.session.Wait()
	if ended(c.closing) { // by us
		close(c.dead)
		return
	}
	failure := s.diagnose(c, err, true)
	c.failure = failure
	close(c.dead)
	c.close(s.opts.CloseGrace)
	s.mu.Lock()
	if s.conn == c {
		s.conn = nil
		// A connection that held for long may be made again at once.
		if s.fails++; time.Since(c.since) > stableAfter {
			s.fails = 1
		}
		s.state, s.failure, s.retryAt = Failed, failure, time.Now().Add(backoff(s.fails-1))
	}
	c.tap.mu.Lock()
	s.dropped += c.tap.junkLines
	c.tap.mu.Unlock()
	s.mu.Unlock()
	s.changed()
}

// follow lists the tools again when the server says that they changed.
func (s *Source) follow(c *conn) {
	for {
		select {
		case <-c.dead:
			return
		case <-c.closing:
			return
		case <-c.changed:
		}
		ctx, cancel := patient(context.Background(), c.closing, limit(s.spec.StartTimeout, DefaultStartTimeout), func() bool { return false })
		list, err := c.listTools(ctx, s.spec.Name)
		cancel()
		if err != nil {
			s.log.Debug("tools/list after a change", "error", s.redact.clean(err.Error()))
		} else {
			s.mu.Lock()
			different := s.conn == c && !s.list.same(list)
			if different {
				s.list = list
			}
			s.mu.Unlock()
			if different {
				s.changed()
			}
		}
		if within(c.closing, refreshPause) {
			return
		}
	}
}
