package websrv

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Limits of the pace.
const (
	defaultPaceInterval = time.Second
	defaultPacePerHost  = 2
	maxInterval         = 10 * time.Second // of a robots.txt's Crawl-delay
	maxPacedHosts       = 1024             // remembered
	bareCooling         = 5 * time.Second  // after 429 or 503 without Retry-After
	maxCooling          = 10 * time.Minute
	maxCoolingWait      = 2 * time.Second // waited for; a longer one is told to the caller
)

// pacer lets requests to a host pass one after the other, and none while the host has
// asked to be left alone. It is safe for concurrent use.
type pacer struct {
	interval time.Duration
	perHost  int

	mu    sync.Mutex
	hosts map[string]*hostPace // by origin; guarded by mu
}

// hostPace is what is known of a host; guarded by pacer.mu but for slots.
type hostPace struct {
	slots chan struct{} // paced requests under way
	next  time.Time     // when the next one may begin
	until time.Time     // Retry-After
	users int           // requests that wait or are under way
}

func newPacer(o *networkOptions) *pacer {
	return &pacer{interval: orDefault(o.PaceInterval, defaultPaceInterval), perHost: max(1, orDefault(o.PacePerHost, defaultPacePerHost)), hosts: map[string]*hostPace{}}
}

// host is the state of an origin, in use until done is called.
func (p *pacer) host(origin string) *hostPace {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[origin]
	if h == nil {
		p.prune()
		h = &hostPace{slots: make(chan struct{}, p.perHost)}
		p.hosts[origin] = h
	}
	h.users++
	return h
}

// prune forgets hosts about which there is nothing left to know; mu is held.
func (p *pacer) prune() {
	if len(p.hosts) < maxPacedHosts {
		return
	}
	now := time.Now()
	for k, h := range p.hosts {
		if h.users == 0 && now.After(h.next) && now.After(h.until) {
			delete(p.hosts, k)
		}
	}
}

// enter returns when a request to origin may begin; leave must be called when it has
// ended. A host that wants to be left alone for more than two seconds gives errCooling.
func (p *pacer) enter(ctx context.Context, origin string, paced bool, interval time.Duration) (leave func(), err error) {
	if p.interval < 0 {
		return func() {}, nil
	}
	h := p.host(origin)
	leave = func() {
		p.mu.Lock()
		h.users--
		p.mu.Unlock()
	}
	if paced {
		select {
		case h.slots <- struct{}{}:
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
		release := leave
		leave = func() { <-h.slots; release() }
	}
	if err := p.turn(ctx, h, origin, paced, interval); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// turn waits for the host's turn.
func (p *pacer) turn(ctx context.Context, h *hostPace, origin string, paced bool, interval time.Duration) error {
	p.mu.Lock()
	now := time.Now()
	start := now
	if h.until.After(now) {
		if wait := h.until.Sub(now); wait > maxCoolingWait {
			p.mu.Unlock()
			return &netError{errCooling, fmt.Sprintf("%s has asked to be left alone; try again in %d s", origin, int(wait.Seconds())+1)}
		}
		start = h.until
	}
	if paced {
		if h.next.After(start) {
			start = h.next
		}
		h.next = start.Add(max(p.interval, min(interval, maxInterval)))
	}
	p.mu.Unlock()
	return sleepUntil(ctx, start)
}

func sleepUntil(ctx context.Context, t time.Time) error {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// note takes to heart what a host answered: 429 and 503 with their Retry-After.
func (p *pacer) note(origin string, a *answer, now time.Time) {
	if p.interval < 0 || a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return
	}
	wait := retryAfter(a.header.Get("Retry-After"), now)
	if wait <= 0 {
		if a.header.Get("Retry-After") != "" { // zero, or a time that has passed
			return
		}
		wait = bareCooling
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.hosts[origin]; h != nil {
		if until := time.Now().Add(min(wait, maxCooling)); until.After(h.until) {
			h.until = until
		}
	}
}
