package webmcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/aster-mcp/aster/cdp"
)

const (
	// ConsentNotice is how long a connection may take before the user is told that
	// the browser waits for consent.
	ConsentNotice = 400 * time.Millisecond
	// StampEvery is how often RetryStamp is looked at while a refusal stands.
	StampEvery = time.Second
	// RedialMin and RedialMax bound the wait before the same browser start is dialled
	// again, which is done only where that asks nobody.
	RedialMin = 250 * time.Millisecond
	RedialMax = 15 * time.Second
)

// Run attaches to the browser and keeps attached until ctx ends: a browser that is
// lost is watched for without a connection, and taken up again when it comes back.
// The servers of clients work all the while. Run returns nil when ctx ended, or an
// error that no waiting mends, always after its last goroutine.
func (b *Browser) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { b.registry.runSweeps(ctx) })
	if b.opts.Launch != nil {
		return b.runLaunched(ctx)
	}
	return b.runFound(ctx)
}

// runLaunched starts a browser of our own and stays with it; when its user closes it,
// it is not started again.
func (b *Browser) runLaunched(ctx context.Context) error {
	b.setStatus(status{state: stateLaunching})
	l, err := cdp.Launch(ctx, b.opts.Launch)
	if err != nil {
		b.setStatus(status{state: stateNone, err: err})
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer l.Close()
	err = b.stay(ctx, l.Endpoint, nil)
	if ctx.Err() != nil {
		return nil
	}
	b.setStatus(status{state: stateLost, endpoint: l.Endpoint, err: err})
	<-ctx.Done()
	return nil
}

// runFound serves one browser start after the other.
func (b *Browser) runFound(ctx context.Context) error {
	var last cdp.Endpoint
	delay := RedialMin
	for ctx.Err() == nil {
		ep, others, err := b.find(ctx, last)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		began := time.Now()
		err = b.stay(ctx, ep, others)
		if ctx.Err() != nil {
			return nil
		}
		b.opts.Logger.Info("browser connection ended", "endpoint", ep.Source, "err", err)
		if errors.Is(err, cdp.ErrRefused) && ep.Consent {
			b.setStatus(status{state: stateRefused, endpoint: ep, others: others, err: err})
			last = b.awaitRetry(ctx, ep)
			continue
		}
		b.setStatus(status{state: stateLost, endpoint: ep, others: others, err: err})
		last = ep
		if !ep.Consent || errors.Is(err, cdp.ErrMessageTooBig) {
			// The same browser may be there still, and dialling it asks nobody.
			last = cdp.Endpoint{}
			if time.Since(began) > RedialMax {
				delay = RedialMin
			}
			pause(ctx, delay)
			delay = min(2*delay, RedialMax)
		}
	}
	return nil
}

// find waits for a browser start other than last, telling what it waits for.
func (b *Browser) find(ctx context.Context, last cdp.Endpoint) (cdp.Endpoint, []cdp.Endpoint, error) {
	if last.WS == "" {
		ep, others, err := b.opts.Finder.Find(ctx)
		if err == nil {
			return ep, others, nil
		}
		if !errors.Is(err, cdp.ErrNoBrowser) {
			return ep, nil, err
		}
		if b.currentStatus().state != stateLost {
			b.setStatus(status{state: stateNone, err: err})
		}
	}
	return b.opts.Finder.Await(ctx, last, nil)
}

// stay connects to one browser start and returns when that connection has ended.
func (b *Browser) stay(ctx context.Context, ep cdp.Endpoint, others []cdp.Endpoint) error {
	if ep.WS != b.lastWS {
		b.registry.renew()
		b.lastWS = ep.WS
	}
	att := newAttachment(&b.opts, b.registry)
	b.setStatus(status{state: stateConnecting, endpoint: ep, others: others})
	notice := time.AfterFunc(ConsentNotice, func() {
		if ep.Consent && b.currentStatus().state == stateConnecting {
			b.setStatus(status{state: stateWaiting, endpoint: ep, others: others})
		}
	})
	err := att.connect(ctx, ep)
	notice.Stop()
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.att = att
	b.mu.Unlock()
	b.setStatus(status{state: stateConnected, endpoint: ep, others: others})
	b.settle(ctx, att)
	b.prepareRest(ctx, att)
	select {
	case <-att.browser.Done():
		err = att.browser.Err()
	case <-ctx.Done():
		err = ctx.Err()
	}
	att.close()
	b.mu.Lock()
	b.att = nil
	b.mu.Unlock()
	return err
}

// close lets the shims go quietly and ends the connection; the tabs stay.
func (a *attachment) close() { a.browser.Close() }

// awaitRetry waits until a refused connection may be tried again: after aster doctor
// ran, or when another browser start answers. It returns the start to pass over.
func (b *Browser) awaitRetry(ctx context.Context, refused cdp.Endpoint) cdp.Endpoint {
	before := stamp(b.opts.RetryStamp)
	retry, cancel := context.WithCancel(ctx)
	defer cancel()
	found := make(chan struct{})
	go func() {
		defer close(found)
		b.opts.Finder.Await(retry, refused, nil)
	}()
	defer func() { cancel(); <-found }()
	for {
		select {
		case <-found:
			return refused
		case <-ctx.Done():
			return refused
		case <-time.After(StampEvery):
		}
		if b.opts.RetryStamp != "" && !stamp(b.opts.RetryStamp).Equal(before) {
			return cdp.Endpoint{}
		}
	}
}

func stamp(path string) time.Time {
	fi, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// String is the state in words, with the reason where there is one.
func (s status) String() string {
	text := string(s.state)
	if s.endpoint.Source != "" {
		text += fmt.Sprintf(" (%s)", s.endpoint.Source)
	}
	if s.err != nil && s.state != stateConnected {
		text += ": " + s.err.Error()
	}
	return text
}
