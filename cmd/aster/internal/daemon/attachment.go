package daemon

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aster-mcp/aster/webmcp"
)

// attachment is one browser and those who share it.
type attachment struct {
	attach   Attach
	browser  *webmcp.Browser
	launched bool
	cancel   context.CancelFunc
	done     chan struct{} // closed when the browser's Run has ended
	clients  int           // guarded by daemon.mu
	idle     *time.Timer   // runs while it has no clients; guarded by daemon.mu
}

var errFull = fmt.Errorf("the daemon has %d clients already", MaxClients)

// join finds the attachment that a client wants, or makes it.
func (d *daemon) join(ctx context.Context, conn *clientConn, want *Attach) (at *attachment, note string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if len(d.conns) >= MaxClients {
		return nil, "", errFull
	}
	opts, err := d.opts.Open(want)
	if err != nil {
		return nil, "", err
	}
	b, err := webmcp.NewBrowser(opts) // also where there is one: the client's options may be wrong
	if err != nil {
		return nil, "", err
	}
	if at = d.browsers[want.endpoint()]; at == nil {
		at = d.open(ctx, want, b, opts.Launch != nil)
	}
	if flags := at.attach.differs(want); len(flags) > 0 {
		note = strings.Join(flags, ", ") + " differ from those of the aster that attached to this browser first, and what pages can see is as that one said; --no-daemon attaches once more"
	}
	at.clients++
	d.conns[conn] = true
	d.idle.Stop()
	if at.idle != nil {
		at.idle.Stop()
		at.idle = nil
	}
	return at, note, nil
}

// open attaches to a browser, with d.mu held.
func (d *daemon) open(ctx context.Context, want *Attach, b *webmcp.Browser, launched bool) *attachment {
	ctx, cancel := context.WithCancel(ctx)
	at := &attachment{attach: *want, browser: b, launched: launched, cancel: cancel, done: make(chan struct{})}
	d.browsers[want.endpoint()] = at
	d.wg.Go(func() {
		defer close(at.done)
		defer cancel()
		if err := b.Run(ctx); err != nil {
			d.log.Error("no browser", "browser", want.Browser, "err", err)
			d.forget(at) // clients that are here are told; the next one tries again
		}
	})
	return at
}

// forget lets the next client make the attachment anew.
func (d *daemon) forget(at *attachment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.browsers[at.attach.endpoint()] == at {
		delete(d.browsers, at.attach.endpoint())
	}
}

// leave lets a client go, and what is left without clients: a browser of our own at once,
// others after a while.
func (d *daemon) leave(conn *clientConn, at *attachment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, conn)
	if at.clients--; at.clients == 0 {
		if at.launched {
			d.end(at)
		} else {
			at.idle = time.AfterFunc(d.opts.Idle, func() { d.endIdle(at) })
		}
	}
	switch {
	case len(d.conns) > 0:
	case at.launched && len(d.browsers) == 0:
		d.stop()
	default:
		d.idle.Reset(d.opts.Idle)
	}
}

func (d *daemon) endIdle(at *attachment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at.clients == 0 {
		d.end(at)
	}
}

// end leaves a browser, with d.mu held.
func (d *daemon) end(at *attachment) {
	at.cancel()
	if d.browsers[at.attach.endpoint()] == at {
		delete(d.browsers, at.attach.endpoint())
	}
}
