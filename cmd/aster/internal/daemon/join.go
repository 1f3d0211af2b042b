package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

const (
	// rejoinEvery and rejoinMax bound the pauses between attempts to join again.
	rejoinEvery = 50 * time.Millisecond
	rejoinMax   = 5 * time.Second
	// handoverWait is how long clients leave a newer aster to start the daemon that
	// takes over.
	handoverWait = 3 * time.Second
	// joinTries bounds the daemons that one attempt meets: ending ones, and older ones
	// that it takes over from.
	joinTries = 4
)

// UsageError is a client option that the daemon refuses.
type UsageError struct{ Text string }

// Error is the daemon's own words.
func (e *UsageError) Error() string { return e.Text }

// JoinOptions configures [Join]. Paths and Version are needed.
type JoinOptions struct {
	Paths   *Paths
	Version string
	Attach  Attach
	Client  webmcp.ClientOptions
	Rules   *Rules       // nil is none
	Logger  *slog.Logger // nil discards
	// Command starts a daemon, with the environment Environ; nil Command starts none, nil
	// Environ is this process's.
	Command, Environ []string
	// Note is told one line for the user, now and then; nil drops it.
	Note func(string)
}

// Client stands for its server in the daemon. Its methods may be called from any goroutine.
type Client struct {
	opts   JoinOptions
	log    *slog.Logger
	server *mcp.Server
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when keep has ended

	mu       sync.Mutex
	link     *wire         // nil while there is none; guarded by mu
	linked   chan struct{} // closed when link is set; guarded by mu
	handover bool          // the daemon said that it ends for a newer one; guarded by mu
	noted    string        // the last note told; guarded by mu
	list     *list         // nil when it has to be asked for; guarded by mu
	lists    int64         // counts what made the list old; guarded by mu
	listing  chan struct{} // closed when a question for the list is answered; guarded by mu
	targeted bool          // Target was asked: a page's tool is called with its answer only; guarded by mu
	progress map[string]func(progress, total float64, message string)
	tokens   int64
	dummy    bool // see changed; guarded by dummyMu
	dummyMu  sync.Mutex
}

// Join joins the user's daemon, or starts one, and returns when its server can be used.
// An error means that this process has to do without: a *UsageError is the options'.
func Join(ctx context.Context, o *JoinOptions) (*Client, error) {
	c := &Client{opts: *o, log: o.Logger, done: make(chan struct{}), linked: make(chan struct{}), progress: map[string]func(progress, total float64, message string){}}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	w, first, err := c.connect(ctx, true)
	if err != nil {
		return nil, err
	}
	if first.tookOver {
		c.tell(lost(first.began))
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.serve(first)
	c.setLink(w)
	go c.keep(w)
	return c, nil
}

// Server is the MCP server that stands for the daemon's, to be connected to any transport.
func (c *Client) Server() *mcp.Server { return c.server }

// Close leaves the daemon.
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	return nil
}

// keep joins again whenever the daemon went away, until Close.
func (c *Client) keep(w *wire) {
	defer close(c.done)
	for {
		select {
		case <-w.done:
		case <-c.ctx.Done():
			w.conn.Close()
			<-w.done
			return
		}
		c.setLink(nil)
		c.log.Info("the daemon went away: joining again")
		var began string
		if w, began = c.rejoin(); w == nil {
			return
		}
		c.tell(lost(began))
		c.setLink(w)
		c.changed()
	}
}

// lost says what became of the connection that was shared.
func lost(began string) string {
	if began == "" {
		began = "the aster daemon was stopped"
	}
	return began + ". The connection to the browser is made anew, and Chrome may ask you again to allow it"
}

// rejoin tries until it has a daemon or Close is called.
func (c *Client) rejoin() (w *wire, began string) {
	c.mu.Lock()
	patient := c.handover
	c.handover = false
	c.mu.Unlock()
	until := time.Now().Add(time.Duration(rand.Int64N(int64(rejoinEvery)))) // clients should not all start one
	if patient {
		until = time.Now().Add(handoverWait)
	}
	for delay := rejoinEvery; ; delay = min(2*delay, rejoinMax) {
		waiting := time.Now().Before(until)
		w, first, err := c.connect(c.ctx, !waiting)
		if err == nil {
			return w, first.began
		}
		if !waiting {
			c.log.Warn("no daemon", "err", err)
		} else {
			delay = rejoinEvery / 5
		}
		if !sleep(c.ctx, delay) {
			return nil, ""
		}
	}
}

// connect makes a connection and initializes the server at its other end. start says that
// a daemon may be started.
func (c *Client) connect(ctx context.Context, start bool) (*wire, *initialized, error) {
	var last error
	tookOver := false
	for range joinTries {
		conn, err := dial(ctx, c.opts.Paths)
		if errors.Is(err, errNone) && start {
			conn, err = startDaemon(ctx, c.opts.Paths, c.opts.Command, c.opts.Environ)
		}
		if err != nil {
			return nil, nil, err
		}
		welcome, r, err := greet(conn, &Hello{Aster: c.opts.Version, Protocol: Protocol, Attach: c.opts.Attach, Client: c.opts.Client, Rules: c.opts.Rules})
		switch {
		case err != nil: // one that is ending, perhaps
			last = fmt.Errorf("the daemon does not answer: %w", err)
			conn.Close()
			if !sleep(ctx, 10*pollEvery) {
				return nil, nil, ctx.Err()
			}
		case welcome.Old:
			last = errors.New(welcome.Error)
			conn.Close()
			if err := stop(ctx, c.opts.Paths, reasonHandover); err != nil && !errors.Is(err, errNone) {
				return nil, nil, fmt.Errorf("an older daemon does not end: %w", err)
			}
			tookOver = true
		case welcome.Error != "":
			conn.Close()
			if welcome.Usage {
				return nil, nil, &UsageError{welcome.Error}
			}
			return nil, nil, errors.New(welcome.Error)
		default:
			w, first, err := c.initialize(ctx, conn, r, welcome)
			if err == nil {
				first.began, first.tookOver = welcome.Began, tookOver
			}
			return w, first, err
		}
	}
	return nil, nil, last
}

// initialized is what a server says of itself.
type initialized struct {
	Instructions string              `json:"instructions"`
	ServerInfo   *mcp.Implementation `json:"serverInfo"`

	began    string // of the daemon's welcome
	tookOver bool   // another daemon ended for this one
}

// initializeParams begin a session of the last revision that has them: its list changes
// come unasked.
const initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"aster","version":%q}}`

func (c *Client) initialize(ctx context.Context, conn net.Conn, r *bufio.Reader, welcome *Welcome) (*wire, *initialized, error) {
	w := newWire(conn, r, c.notified)
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	raw, err := w.call(ctx, "initialize", json.RawMessage(fmt.Sprintf(initializeParams, c.opts.Version)))
	if err == nil {
		err = w.tell("notifications/initialized", struct{}{})
	}
	first := &initialized{}
	if err == nil {
		err = json.Unmarshal(raw, first)
	}
	if err != nil {
		conn.Close()
		<-w.done
		return nil, nil, fmt.Errorf("the daemon's server does not begin: %w", err)
	}
	c.note(welcome.Note)
	return w, first, nil
}

// note tells the user something once.
func (c *Client) note(text string) {
	c.mu.Lock()
	told := c.noted == text
	c.noted = text
	c.mu.Unlock()
	if !told && text != "" {
		c.tell(text)
	}
}

func (c *Client) tell(text string) {
	if c.opts.Note != nil {
		c.opts.Note(text)
	}
}

func (c *Client) setLink(w *wire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
	c.lists++
	c.park()
	if w != nil {
		c.link = w
		close(c.linked)
	}
}

// park lets requests wait for another connection, with c.mu held.
func (c *Client) park() {
	c.link = nil
	select {
	case <-c.linked:
		c.linked = make(chan struct{})
	default:
	}
}

// linkWait bounds the wait of a request for a daemon to join.
const linkWait = 30 * time.Second

// current is the connection; while there is none it is waited for.
func (c *Client) current(ctx context.Context) (*wire, error) {
	timer := time.NewTimer(linkWait)
	defer timer.Stop()
	for {
		c.mu.Lock()
		w, linked := c.link, c.linked
		c.mu.Unlock()
		if w != nil {
			return w, nil
		}
		select {
		case <-linked:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, errors.New("aster is about to end")
		case <-timer.C:
			return nil, errors.New("no aster daemon can be reached; aster daemon logs may say why")
		}
	}
}
