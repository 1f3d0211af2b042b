package cdp

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// minPoll and maxPoll are the first and the longest pause of Await.
	minPoll = 250 * time.Millisecond
	maxPoll = 15 * time.Second
	// maxAsked bounds the browser starts that Await remembers.
	maxAsked = 64
)

// Await looks for a browser until one has started that is not last, and returns it
// and the others that [Finder.Find] gives. With a zero last any browser will do. It
// looks at once, then after pauses that double from 250 ms to 15 s; a value from retry
// (which may be nil) makes it look at once and begin with short pauses again. It ends
// with an error only when ctx does, and opens no websocket.
//
// Only the preferred browser counts: a user who refused us in one browser is not asked
// in the next one. A start that was last in an earlier call and asks for consent is not
// returned again either, until a call with a zero last forgets them all. Where the
// address does not tell starts apart, a browser counts as new once nothing has listened
// in between.
func (f *Finder) Await(ctx context.Context, last Endpoint, retry <-chan struct{}) (found Endpoint, others []Endpoint, err error) {
	f.remember(last)
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause, gone := minPoll, false
	for {
		select {
		case <-ctx.Done():
			return Endpoint{}, nil, fmt.Errorf("waiting for a browser: %w", ctx.Err())
		case _, open := <-retry:
			if !open {
				retry = nil
			}
			pause = minPoll
		case <-timer.C:
		}
		switch found, others, err = f.Find(ctx); {
		case err != nil:
			gone = gone || isDialError(err)
		case f.isNew(found, last, gone):
			return found, others, nil
		}
		timer.Reset(pause)
		pause = min(2*pause, maxPoll)
	}
}

// remember notes a start whose user was asked, so that it is not asked again.
func (f *Finder) remember(last Endpoint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case last.WS == "":
		f.asked = nil
	case last.Consent && !last.nameless() && !slices.Contains(f.asked, last.WS):
		f.asked = append(f.asked, last.WS)
		f.asked = f.asked[max(0, len(f.asked)-maxAsked):]
	}
}

// isNew reports whether e is another browser start than last; gone says that nothing
// has listened for a while.
func (f *Finder) isNew(e, last Endpoint, gone bool) bool {
	if e.WS == last.WS {
		return gone && e.nameless()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !slices.Contains(f.asked, e.WS)
}
