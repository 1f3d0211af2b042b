package websrv

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// task is one dispatch.
type task[T any] struct {
	op        Op
	target    string
	request   any
	localOnly bool
	why       string
	once      bool   // no provider is asked twice
	only      string // the one provider to ask, for work that goes on where it began; "" asks all
	call      func(context.Context, Provider) (T, error)
}

// dispatch asks the chain's providers in order.
func dispatch[T any](ctx context.Context, d *Dispatcher, t *task[T]) (*Answer[T], error) {
	var attempts []Attempt
	var best *Answer[T]
	settled, final := false, false
	if t.localOnly && t.why != "" {
		for _, p := range d.chains[t.op] {
			if !p.Local() && (t.only == "" || p.Name() == t.only) {
				attempts = append(attempts, Attempt{Provider: "hosted providers", Class: "not allowed", Reason: t.why, Skipped: true})
				break
			}
		}
	}
	for _, p := range d.chains[t.op] {
		if t.only != "" && p.Name() != t.only {
			continue
		}
		if t.localOnly && (!p.Local() || t.why != "" && forPublic(p)) {
			continue
		}
		if settled && runsScripts(p) || final && p.Local() {
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
		attempts, settled, final = append(attempts, d.attempt(p, f)), settled || f.settled, final || f.final
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
