package websrv

import (
	"context"
	"math/rand/v2"
	"time"
)

// What a failure costs a provider; see the sentinels.
const (
	restRateLimited = time.Minute
	restNoCredit    = 10 * time.Minute
	restRefused     = 10 * time.Minute
	restUnavailable = 30 * time.Second
	maxRest         = 24 * time.Hour // whatever a provider asks for

	unavailableInRow = 2               // failures that bring restUnavailable
	maxRetryAfter    = 2 * time.Second // the longest Retry-After that is waited for
	minRetryPause    = 500 * time.Millisecond
	maxRetryPause    = time.Second
)

// rest is what is known of a provider that failed.
type rest struct {
	until   time.Time // left alone until then
	forever bool
	failure *Failure // why
	inRow   int      // unavailable that many times in a row
}

// resting reports whether a provider is to be left alone, and why.
func (d *Dispatcher) resting(p Provider) (rest, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rests[p.Name()]
	if r == nil || !r.forever && !d.now().Before(r.until) {
		return rest{}, false
	}
	return *r, true
}

// book notes the outcome of a call; f is nil for a success.
func (d *Dispatcher) book(p Provider, f *Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := p.Name()
	r := d.rests[name]
	if r == nil {
		r = &rest{}
		d.rests[name] = r
	}
	if f == nil || f.Class != ErrUnavailable {
		r.inRow = 0
	}
	if f == nil {
		return // a call that began before another failed does not end that one's rest
	}
	pause, forever := restAfter(f, r)
	if forever && !r.forever {
		d.log.Warn("provider's key is not accepted: it is left alone from now on", "provider", name, "reason", f.Reason)
	}
	if until := d.now().Add(pause); forever || pause > 0 && until.After(r.until) {
		r.until, r.failure = until, f
	}
	r.forever = r.forever || forever
}

// restAfter is how long a failure lets its provider rest.
func restAfter(f *Failure, r *rest) (pause time.Duration, forever bool) {
	switch {
	case f.SiteOnly:
		return 0, false
	case f.Class == ErrUnauthorized:
		return 0, true
	case f.Class == ErrRateLimited:
		pause = restRateLimited
		if f.RetryAfter > 0 {
			pause = f.RetryAfter
		}
	case f.Class == ErrNoCredit:
		pause = max(restNoCredit, f.RetryAfter)
	case f.Class == ErrRefused:
		pause = max(restRefused, f.RetryAfter)
	case f.Class == ErrUnavailable:
		if r.inRow++; r.inRow >= unavailableInRow {
			pause, r.inRow = restUnavailable, 0
		}
		pause = max(pause, f.RetryAfter)
	}
	return min(pause, maxRest), false
}

// passOver says why a provider is not asked.
func (d *Dispatcher) passOver(p Provider, request any) (Attempt, bool) {
	if pk, ok := p.(picky); ok {
		if reason := pk.unable(request); reason != "" {
			return Attempt{Provider: p.Name(), Class: "not able", Reason: reason, Skipped: true}, true
		}
	}
	r, resting := d.resting(p)
	if !resting {
		return Attempt{}, false
	}
	a := Attempt{Provider: p.Name(), Class: r.failure.Class.Error(), Reason: r.failure.Reason, Next: r.failure.Next, Skipped: true, class: r.failure.Class}
	if !r.forever {
		a.RetryAfterSeconds = seconds(r.until.Sub(d.now()))
	}
	return a, true
}

// retry says whether and when the same provider may be asked again.
func (d *Dispatcher) retry(ctx context.Context, op Op, f *Failure) (pause time.Duration, again bool) {
	switch f.Class {
	case ErrRateLimited:
		pause, again = f.RetryAfter, f.RetryAfter > 0 && f.RetryAfter <= maxRetryAfter
	case ErrTimeout:
		again = true
	case ErrUnavailable:
		pause, again = minRetryPause+rand.N(maxRetryPause-minRetryPause), f.RetryAfter <= maxRetryAfter
		pause = max(pause, f.RetryAfter)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
		return 0, false
	}
	return pause, again && ctx.Err() == nil
}

// attempt is the line about a failure.
func (d *Dispatcher) attempt(p Provider, f *Failure) Attempt {
	a := Attempt{Provider: p.Name(), Class: f.Class.Error(), Reason: f.Reason, Next: f.Next, class: f.Class}
	if r, resting := d.resting(p); resting && !r.forever {
		a.RetryAfterSeconds = seconds(r.until.Sub(d.now()))
	}
	return a
}

// seconds is d in whole seconds, at least 1.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
