package websrv

import (
	"context"
	"log/slog"
	"sync"
	"time"
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
		if r.HTML && page.HTML == "" && !p.Local() { // a local one has it, if the page is HTML
			return nil, failf(ErrTargetFailed, "it gave no HTML of the page")
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
