package websrv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
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

// attemptTime is how long one provider may take.
func attemptTime(op Op) time.Duration {
	switch op {
	case OpSearch:
		return 20 * time.Second
	case OpCrawl:
		return (maxCrawlTime + 60) * time.Second // the crawl's own time limit ends it before
	}
	return 45 * time.Second
}

// Dispatcher asks providers in a fixed order until one answers, and remembers which are
// to be left alone. Its methods may be called from several goroutines at once.
type Dispatcher struct {
	chains map[Op][]Provider // fixed at construction
	log    *slog.Logger
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	mu    sync.Mutex
	rests map[string]*rest // by a provider's name; guarded by mu
}

// rest is what is known of a provider that failed.
type rest struct {
	until   time.Time // left alone until then
	forever bool
	failure *Failure // why
	inRow   int      // unavailable that many times in a row
}

// DispatchOptions configures [NewDispatcher]. The zero value of a field is its default.
type DispatchOptions struct {
	Logger *slog.Logger // nil discards
	// Now and Sleep stand in for the clock; nil means the real one. Sleep returns the
	// context's error when that ends first.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// NewDispatcher makes a Dispatcher whose chains hold, for each kind of work, those of
// the providers that do it, in the order given.
func NewDispatcher(providers []Provider, opts *DispatchOptions) *Dispatcher {
	chains := map[Op][]Provider{}
	for _, p := range providers {
		for _, op := range []Op{OpSearch, OpExtract, OpCrawl, OpSitemap, OpScreenshot} {
			if does(p, op) {
				chains[op] = append(chains[op], p)
			}
		}
	}
	return newDispatcher(chains, opts)
}

func newDispatcher(chains map[Op][]Provider, opts *DispatchOptions) *Dispatcher {
	if opts == nil {
		opts = &DispatchOptions{}
	}
	d := &Dispatcher{chains: chains, log: opts.Logger, now: opts.Now, sleep: opts.Sleep, rests: map[string]*rest{}}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.sleep == nil {
		d.sleep = sleep
	}
	return d
}

// does reports whether p does this kind of work.
func does(p Provider, op Op) (ok bool) {
	switch op {
	case OpSearch:
		_, ok = p.(Searcher)
	case OpExtract:
		_, ok = p.(Extractor)
	case OpCrawl:
		_, ok = p.(Crawler)
	case OpSitemap:
		_, ok = p.(Mapper)
	case OpScreenshot:
		_, ok = p.(Shooter)
	}
	return ok
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// First is the name of the provider that answers first by configuration, "" if none does this
// kind of work. Failures and cool-downs do not change it.
func (d *Dispatcher) First(op Op) string {
	if chain := d.chains[op]; len(chain) > 0 {
		return chain[0].Name()
	}
	return ""
}

// Names are the names of the providers for this kind of work, in order.
func (d *Dispatcher) Names(op Op) (names []string) {
	for _, p := range d.chains[op] {
		names = append(names, p.Name())
	}
	return names
}

// Answer is what a provider answered, and what was tried before.
type Answer[T any] struct {
	Value    T
	Provider string
	Attempts []Attempt // before the answer; empty if the first provider gave it
	Partial  bool      // the best of what failed: too little to be sure of
}

// Search asks for hits. The error is a [*DispatchError], or the context's.
func (d *Dispatcher) Search(ctx context.Context, q *Query) (*Answer[*Hits], error) {
	return dispatch(ctx, d, &task[*Hits]{op: OpSearch, target: q.Text, request: q, call: func(ctx context.Context, p Provider) (*Hits, error) {
		return p.(Searcher).Search(ctx, q)
	}})
}

// Extract asks for a page. With localOnly no provider but those of this process is asked; why
// says the reason. The error is a [*DispatchError], or the context's.
func (d *Dispatcher) Extract(ctx context.Context, r *PageRequest, localOnly bool, why string) (*Answer[*Page], error) {
	return dispatch(ctx, d, &task[*Page]{op: OpExtract, target: r.URL, request: r, localOnly: localOnly, why: why, call: func(ctx context.Context, p Provider) (*Page, error) {
		page, err := p.(Extractor).Extract(ctx, r)
		if err != nil {
			return nil, err
		}
		if reason, ok := challengeText(page); ok {
			return nil, failf(ErrTargetFailed, "%s", reason)
		}
		if !page.usable() {
			f := failf(ErrTargetFailed, "the page has next to no text")
			if page.Markdown != "" {
				f.partial = page
			}
			return nil, f
		}
		return page, nil
	}})
}

// task is one dispatch.
type task[T any] struct {
	op        Op
	target    string
	request   any
	localOnly bool
	why       string
	once      bool // no provider is asked twice
	call      func(context.Context, Provider) (T, error)
}

// dispatch asks the chain's providers in order.
func dispatch[T any](ctx context.Context, d *Dispatcher, t *task[T]) (*Answer[T], error) {
	var attempts []Attempt
	var best *Answer[T]
	settled := false
	if t.localOnly && t.why != "" {
		for _, p := range d.chains[t.op] {
			if !p.Local() {
				attempts = append(attempts, Attempt{Provider: "hosted providers", Class: "not allowed", Reason: t.why, Skipped: true})
				break
			}
		}
	}
	for _, p := range d.chains[t.op] {
		if t.localOnly && (!p.Local() || t.why != "" && forPublic(p)) {
			continue
		}
		if settled && runsScripts(p) {
			continue
		}
		if a, skip := d.passOver(p, t.request); skip {
			attempts = append(attempts, a)
			continue
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			attempts = append(attempts, Attempt{Provider: p.Name(), Class: ErrTimeout.Error(), Reason: "no time was left", Skipped: true, class: ErrTimeout})
			continue
		}
		value, f, err := ask(ctx, d, t, p)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return &Answer[T]{Value: value, Provider: p.Name(), Attempts: attempts}, nil
		}
		attempts, settled = append(attempts, d.attempt(p, f)), settled || f.settled
		d.log.DebugContext(ctx, "provider failed", "op", t.op, "provider", p.Name(), "err", f)
		if part, ok := f.partial.(T); ok && best == nil {
			best = &Answer[T]{Value: part, Provider: p.Name(), Partial: true}
		}
		if errors.Is(f, ErrInvalid) {
			break
		}
	}
	if best != nil {
		best.Attempts = attempts
		return best, nil
	}
	return nil, &DispatchError{Op: t.op, Target: t.target, Attempts: attempts}
}

// forPublic reports whether a provider of this process reads public hosts only.
func forPublic(p Provider) bool {
	f, ok := p.(*fetcher)
	return ok && f.publicly
}

// runsScripts reports whether a provider is the browser of this process.
func runsScripts(p Provider) bool {
	_, ok := p.(*chromium)
	return ok
}

// ask asks one provider, twice where its failure allows. Exactly one of the results is set.
func ask[T any](ctx context.Context, d *Dispatcher, t *task[T], p Provider) (value T, f *Failure, err error) {
	for try := 0; ; try++ {
		value, f, err = askOnce(ctx, d, t, p)
		if f == nil {
			return value, nil, err
		}
		pause, again := d.retry(ctx, t.op, f)
		if try > 0 || !again || t.once || f.Once {
			return value, f, nil
		}
		if err := d.sleep(ctx, pause); err != nil {
			if errors.Is(err, context.Canceled) {
				return value, nil, err
			}
			return value, f, nil
		}
		if _, resting := d.resting(p); resting { // another call has found out more
			return value, f, nil
		}
	}
}

// askOnce makes the call, bounded in time and safe from a panic, and books its outcome.
func askOnce[T any](ctx context.Context, d *Dispatcher, t *task[T], p Provider) (value T, f *Failure, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return value, nil, ctx.Err()
	}
	callCtx, cancel := context.WithTimeout(ctx, attemptTime(t.op))
	defer cancel()
	value, err = safely(callCtx, p, t.call)
	if err == nil {
		d.book(p, nil)
		return value, nil, nil
	}
	if f = asFailure(ctx, err); f == nil {
		return value, nil, ctx.Err()
	}
	d.book(p, f)
	return value, f, nil
}

// safely turns a panic over a stranger's answer into a failure of the provider.
func safely[T any](ctx context.Context, p Provider, call func(context.Context, Provider) (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = failf(ErrUnavailable, "the answer could not be handled (%s)", plain(fmt.Sprint(v), 100))
		}
	}()
	return call(ctx, p)
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
