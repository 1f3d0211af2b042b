package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

const (
	// DefaultIdle is how long a daemon without clients lives.
	DefaultIdle = 10 * time.Minute
	// MaxClients is the number of connections at a time.
	MaxClients = 256
	// handoverDrain bounds the wait for the calls that run when a newer aster takes over; it
	// is shorter than helloWait, for whoever takes over waits that long.
	handoverDrain = 3 * time.Second
	// helloWait bounds the wait for a client's first line.
	helloWait = 5 * time.Second
	// maxMessage bounds one message of either side.
	maxMessage = 64 << 20
)

// Options configures [Run]. Paths, Version and Open are needed.
type Options struct {
	Paths   *Paths
	Version string
	Logger  *slog.Logger // nil discards
	// Idle is how long the daemon, and an attachment, lives without clients; 0 means
	// DefaultIdle.
	Idle time.Duration
	// Open turns what a client wants into a browser to attach to. An error is the client's.
	Open func(*Attach) (*webmcp.BrowserOptions, error)
	// Hide turns a client's rules into the tools that are not there for it; nil hides none.
	Hide func(*Rules) (func(name string) bool, error)
	// Middleware is put in front of every client's server; nil is none.
	Middleware mcp.Middleware
}

// daemon is a running one.
type daemon struct {
	opts    Options
	log     *slog.Logger
	started time.Time
	began   string // what ended the daemon before this one, in words; "" is nothing unusual
	stop    context.CancelFunc
	wg      sync.WaitGroup
	running atomic.Int64 // calls

	mu       sync.Mutex
	over     bool                   // a newer aster takes over; guarded by mu
	browsers map[string]*attachment // by endpoint; guarded by mu
	conns    map[*clientConn]bool   // guarded by mu
	idle     *time.Timer            // runs while there are no clients; guarded by mu
}

// clientConn serialises what is written to a client.
type clientConn struct {
	net.Conn
	mu sync.Mutex
}

func (c *clientConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.Write(p)
}

// Run is a daemon, until it has nothing to do, is told to stop, or ctx ends. It returns
// nil at once where another one runs already.
func Run(ctx context.Context, o *Options) error {
	d := &daemon{opts: *o, log: o.Logger, started: time.Now(), browsers: map[string]*attachment{}, conns: map[*clientConn]bool{}}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.opts.Idle <= 0 {
		d.opts.Idle = DefaultIdle
	}
	held, err := lockUnlessServed(ctx, o.Paths)
	if held == nil {
		return err
	}
	defer held.Close()
	d.began = began(readWord(held))
	writeWord(held, lastWord{o.Version, os.Getpid(), stateRunning})
	defer func() { writeWord(held, d.lastWord()) }()
	ln, err := listen(o.Paths)
	if err != nil {
		return err
	}
	ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	d.idle = time.AfterFunc(d.opts.Idle, d.stop)
	d.log.Info("started", "version", o.Version, "pid", os.Getpid(), "socket", o.Paths.Socket, "after", d.began)
	context.AfterFunc(ctx, func() { ln.Close() })
	for {
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() == nil {
				d.log.Error("accept", "err", err)
			}
			break
		}
		d.wg.Go(func() { d.serve(ctx, conn) })
	}
	d.stop()
	d.idle.Stop()
	d.closeConns()
	d.wg.Wait()
	d.log.Info("ended")
	return nil
}

// lockUnlessServed waits for the lock as long as nobody answers at the socket: one that is
// about to end, and may close a browser first, holds it until then. Nil without an error
// means that another daemon serves.
func lockUnlessServed(ctx context.Context, p *Paths) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		held, err := lock(p.Lock)
		if !errors.Is(err, errRunning) {
			return held, err
		}
		conn, err := dial(ctx, p)
		if err == nil {
			return nil, conn.Close()
		}
		if !sleep(ctx, pollEvery) {
			return nil, fmt.Errorf("%s is held, and nobody answers at %s", p.Lock, p.Socket)
		}
	}
}

func (d *daemon) closeConns() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.Close()
	}
}

// serve is one connection.
func (d *daemon) serve(ctx context.Context, raw net.Conn) {
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Now()) })
	defer stop()
	if err := checkPeer(raw); err != nil {
		d.log.Warn("connection refused", "err", err)
		return
	}
	raw.SetDeadline(time.Now().Add(helloWait))
	r := bufio.NewReaderSize(raw, 64<<10)
	var h Hello
	if err := readJSON(r, &h); errors.Is(err, io.EOF) { // one that only looks whether a daemon is there
		return
	} else if err != nil {
		d.log.Warn("connection refused", "err", err)
		return
	}
	w := &Welcome{Aster: d.opts.Version, Protocol: Protocol, PID: os.Getpid(), Began: d.began}
	switch {
	case h.Ask == askStatus:
		w.Status = d.status()
		writeJSON(raw, w)
	case h.Ask == askStop:
		d.log.Info("told to stop", "why", h.Reason)
		if h.Reason == reasonHandover {
			d.handOver(ctx)
		}
		writeJSON(raw, w) // whoever asked waits for the lock
		d.stop()
	case h.Ask != askServe:
		w.Error = fmt.Sprintf("unknown request %q", h.Ask)
		writeJSON(raw, w)
	case h.Protocol > Protocol && d.clients() > 0: // they could not follow
		w.Error = "the running aster daemon (" + d.opts.Version + ") is too old for this aster, and in use"
		writeJSON(raw, w)
	case h.Protocol > Protocol || newer(h.Aster, d.opts.Version) && d.running.Load() == 0:
		w.Old = true
		w.Error = "the daemon is older than the client"
		writeJSON(raw, w)
	case h.Protocol < Protocol:
		w.Error = "the running aster daemon (" + d.opts.Version + ") is too new for this aster"
		writeJSON(raw, w)
	default:
		d.serveClient(ctx, &clientConn{Conn: raw}, r, &h, w)
	}
}

// serveClient gives a client its server until it leaves.
func (d *daemon) serveClient(ctx context.Context, conn *clientConn, r *bufio.Reader, h *Hello, w *Welcome) {
	at, note, err := d.join(ctx, conn, &h.Attach)
	if err == nil {
		defer d.leave(conn, at)
		w.Note = note
		err = d.session(ctx, conn, r, at, h, w)
	} else {
		w.Error, w.Usage = err.Error(), !errors.Is(err, errFull) && !errors.Is(err, context.Canceled)
		writeJSON(conn, w)
	}
	if err != nil {
		d.log.Info("client refused", "err", err)
	}
}

func (d *daemon) session(ctx context.Context, conn *clientConn, r *bufio.Reader, at *attachment, h *Hello, w *Welcome) error {
	srv, err := d.newServer(at, h)
	if err != nil {
		w.Error, w.Usage = err.Error(), true
		writeJSON(conn, w)
		return err
	}
	defer srv.Close()
	if err := bind(srv, &d.running); err != nil {
		return err
	}
	if d.opts.Middleware != nil {
		srv.MCP().AddReceivingMiddleware(d.opts.Middleware)
	}
	if err := writeJSON(conn, w); err != nil {
		return err
	}
	conn.SetDeadline(time.Time{})
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { srv.Run(ctx) })
	ss, err := srv.MCP().Connect(ctx, &lineTransport{conn, r}, nil)
	if err != nil {
		return err
	}
	ss.Wait()
	return nil
}

// newServer makes the server of one client.
func (d *daemon) newServer(at *attachment, h *Hello) (*webmcp.Server, error) {
	opts := h.Client
	opts.Logger = d.log
	if h.Rules != nil && d.opts.Hide != nil {
		var err error
		if opts.Hide, err = d.opts.Hide(h.Rules); err != nil {
			return nil, err
		}
	}
	return at.browser.NewServer(&opts)
}

// handOver tells all clients that a newer daemon takes over, and that they should wait for
// that one, and leaves the calls that run a while to end.
func (d *daemon) handOver(ctx context.Context) {
	d.mu.Lock()
	d.over = true
	conns := slices.Collect(maps.Keys(d.conns))
	d.mu.Unlock()
	for _, c := range conns {
		c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // one that does not read holds up nobody
		writeJSON(c, map[string]string{"jsonrpc": "2.0", "method": methodHandover})
		c.SetWriteDeadline(time.Time{})
	}
	ctx, cancel := context.WithTimeout(ctx, handoverDrain)
	defer cancel()
	for d.running.Load() > 0 && sleep(ctx, pollEvery) {
	}
}

// lastWord is what the next daemon is told about the end of this one.
func (d *daemon) lastWord() lastWord {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := lastWord{Aster: d.opts.Version, PID: os.Getpid(), State: stateEnded}
	if d.over {
		w.State = stateHandedOver
	}
	return w
}

func (d *daemon) clients() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

func (d *daemon) status() *Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &Status{Aster: d.opts.Version, PID: os.Getpid(), Uptime: time.Since(d.started).Round(time.Second).String(), Began: d.began, Clients: len(d.conns), Browsers: []BrowserStatus{}}
	for _, at := range d.browsers {
		s.Browsers = append(s.Browsers, BrowserStatus{at.attach.Browser, at.browser.Status(), at.clients, len(at.browser.Registry().Tools())})
	}
	sortBrowsers(s.Browsers)
	return s
}
