package websrv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// chaos is a provider that fails at random and keeps the dispatcher to its rules.
type chaos struct {
	t      *testing.T
	name   string
	local  bool
	rng    *rand.Rand
	clock  *testClock
	until  time.Time // it must not be called before; the zero time means any
	barred bool      // its key was refused
	inRow  int
	// of the running dispatch
	calls, charged int
	last           error
}

func (c *chaos) Name() string { return c.name }
func (c *chaos) Local() bool  { return c.local }

// Search fails in every way that a provider can, and books what the rules then are.
func (c *chaos) Search(ctx context.Context, q *Query) (*Hits, error) {
	now := c.clock.time()
	if c.barred || now.Before(c.until) {
		c.t.Fatalf("%s was called %v before its rest was over (barred %v)", c.name, c.until.Sub(now), c.barred)
	}
	if c.calls++; c.calls > 2 {
		c.t.Fatalf("%s was called %d times in one dispatch", c.name, c.calls)
	}
	if c.charged > 0 {
		c.t.Fatalf("%s was called again after a call that is charged", c.name)
	}
	if c.calls == 2 && !errors.Is(c.last, ErrTimeout) && !errors.Is(c.last, ErrUnavailable) && !errors.Is(c.last, ErrRateLimited) {
		c.t.Fatalf("%s was called again after %v", c.name, c.last)
	}
	c.clock.sleep(ctx, time.Duration(c.rng.IntN(3000))*time.Millisecond)
	now = c.clock.time()
	f := &Failure{Reason: "chaos"}
	if c.rng.IntN(3) == 0 {
		f.RetryAfter = time.Duration(1+c.rng.IntN(240)) * time.Second
	}
	switch roll := c.rng.IntN(100); {
	case roll < 30:
		c.inRow = 0
		c.charged++
		return &Hits{List: []Hit{{Title: c.name, URL: "https://a.net/"}}}, nil
	case roll < 42:
		f.Class = ErrRateLimited
		if c.rng.IntN(2) == 0 {
			f.RetryAfter = time.Second
		}
		c.rest(now, orDefault(f.RetryAfter, restRateLimited))
	case roll < 47:
		f.Class = ErrNoCredit
		c.rest(now, max(f.RetryAfter, restNoCredit))
	case roll < 48:
		f.Class, c.barred = ErrUnauthorized, c.rng.IntN(20) == 0
		if !c.barred {
			f.SiteOnly = true
		}
	case roll < 53:
		f.Class, f.SiteOnly = ErrRefused, c.rng.IntN(2) == 0
		if !f.SiteOnly {
			c.rest(now, max(f.RetryAfter, restRefused))
		}
	case roll < 65:
		f.Class = ErrTargetFailed
		c.charged++ // a page that failed is charged all the same
	case roll < 75:
		f.Class = ErrTimeout
	case roll < 97:
		return nil, c.unavailable(now, f)
	case roll < 98:
		f.Class = ErrInvalid
	default:
		c.last = ErrUnavailable
		c.book(now, 0)
		panic("a provider's answer that nobody thought of")
	}
	c.inRow, c.last = 0, f.Class
	return nil, f
}

// unavailable is a failure on the provider's side, with or without a class.
func (c *chaos) unavailable(now time.Time, f *Failure) error {
	c.last, f.Class = ErrUnavailable, ErrUnavailable
	if c.rng.IntN(2) == 0 {
		c.book(now, 0)
		return errors.New("a plain error")
	}
	c.book(now, f.RetryAfter)
	return f
}

// book counts a failure on the provider's side.
func (c *chaos) book(now time.Time, asked time.Duration) {
	if c.inRow++; c.inRow >= unavailableInRow {
		c.inRow = 0
		asked = max(asked, restUnavailable)
	}
	c.rest(now, asked)
}

func (c *chaos) rest(now time.Time, d time.Duration) {
	if until := now.Add(d); until.After(c.until) {
		c.until = until
	}
}

// TestChaos makes 10,000 dispatches over providers that fail at random: each ends with an
// answer or a true list of failures, nobody is called while at rest, and nothing is charged
// twice.
func TestChaos(t *testing.T) {
	const dispatches, seed = 10_000, 20261202
	rng := rand.New(rand.NewPCG(seed, 1))
	clock := &testClock{now: time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)}
	var list []*chaos
	var d *Dispatcher
	renew := func() {
		list = nil
		var providers []Provider
		for i := range 7 {
			c := &chaos{t: t, name: fmt.Sprintf("p%d", i), local: i == 6, rng: rng, clock: clock}
			list, providers = append(list, c), append(providers, c)
		}
		d = NewDispatcher(providers, &DispatchOptions{Now: clock.time, Sleep: clock.sleep})
	}
	answers, failures := 0, 0
	for i := range dispatches {
		if i%500 == 0 {
			renew() // a new session: keys that were refused may be right now
		}
		for _, c := range list {
			c.calls, c.charged, c.last = 0, 0, nil
		}
		a, err := d.Search(context.Background(), &Query{Text: "q", Limit: 1})
		switch {
		case err == nil:
			answers++
			checkAttempts(t, list, a.Attempts, a.Provider)
		default:
			var e *DispatchError
			if !errors.As(err, &e) {
				t.Fatalf("dispatch %d gave %v", i, err)
			}
			failures++
			checkAttempts(t, list, e.Attempts, "")
		}
		clock.sleep(context.Background(), time.Duration(rng.IntN(60))*time.Second)
	}
	if answers < dispatches/2 || failures == 0 {
		t.Errorf("%d answers and %d failures: the chaos is not what it should be", answers, failures)
	}
	t.Logf("%d answers, %d lists of failures", answers, failures)
}

// checkAttempts checks that a list of attempts is true: every provider before the answer, once,
// in order, asked or not as it says.
func checkAttempts(t *testing.T, list []*chaos, attempts []Attempt, answered string) {
	t.Helper()
	for i, c := range list {
		if c.name == answered {
			if len(attempts) != i || c.charged != 1 {
				t.Fatalf("%s answered after %d attempts and charged %d times", answered, len(attempts), c.charged)
			}
			continue
		}
		if i >= len(attempts) { // behind the answer, or behind a request that is wrong
			if c.calls > 0 {
				t.Fatalf("%s was called, and is not in %v", c.name, attempts)
			}
			continue
		}
		a := attempts[i]
		switch {
		case a.Provider != c.name, a.Skipped != (c.calls == 0), a.Class == "":
			t.Fatalf("attempt %d is %+v, but %s was called %d times", i, a, c.name, c.calls)
		case !a.Skipped && a.Class != c.last.Error():
			t.Fatalf("attempt %+v, but the failure was %v", a, c.last)
		case a.Skipped && a.RetryAfterSeconds == 0 && !c.barred:
			t.Fatalf("attempt %+v does not say until when", a)
		}
		if i == len(attempts)-1 && answered == "" && i < len(list)-1 && !errors.Is(c.last, ErrInvalid) {
			t.Fatalf("the dispatch ended after %s, with %v", c.name, c.last)
		}
	}
	if answered == "" && len(attempts) == 0 {
		t.Fatal("no answer and no reason")
	}
	for _, a := range attempts {
		if strings.Contains(a.String(), "\n") {
			t.Fatalf("attempt %q is not a line", a)
		}
	}
}
