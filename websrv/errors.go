package websrv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Classes of failures, to be tested with [errors.Is]. They decide what a [Dispatcher]
// does next.
var (
	// ErrRateLimited means too many calls: the provider is left alone until it says, or
	// for a minute.
	ErrRateLimited = errors.New("rate limited")
	// ErrNoCredit means that the account's credits are gone: left alone for ten minutes.
	ErrNoCredit = errors.New("out of credit")
	// ErrUnauthorized means that the key was not accepted: left alone until the process ends.
	ErrUnauthorized = errors.New("key not accepted")
	// ErrRefused means that the provider will not serve this client, which leaves it alone for
	// ten minutes, or this site, which does not.
	ErrRefused = errors.New("refused")
	// ErrTargetFailed means that the page itself could not be read.
	ErrTargetFailed = errors.New("page failed")
	// ErrTimeout means that the provider took too long; it is asked once more if time is left.
	ErrTimeout = errors.New("timed out")
	// ErrUnavailable means an error on the provider's side or an answer of unknown shape. It is
	// asked once more, and left alone for half a minute after two in a row.
	ErrUnavailable = errors.New("unavailable")
	// ErrInvalid means that our request is wrong. No other provider is asked.
	ErrInvalid = errors.New("invalid request")
)

// Failure is a provider's failure. Its text never holds a key.
type Failure struct {
	// Class is one of the sentinels of this package.
	Class error
	// Reason is what happened, in plain words, with no full stop.
	Reason string
	// Next is what the user can do, "" if nothing comes to mind.
	Next string
	// RetryAfter is how long the provider asks to be left alone, 0 if it does not say.
	RetryAfter time.Duration
	// SiteOnly says that the failure is about the page asked for, not about this client:
	// the provider is not left alone.
	SiteOnly bool
	// Once forbids to ask the same provider again, where a second call may be charged.
	Once bool
	// settled says that a browser would come to the same end: it need not be started.
	settled bool
	// final says that every provider of this process would come to the same end.
	final bool
	// partial is what was read all the same, such as a page of a few words.
	partial any
}

// Error is the class and the reason.
func (f *Failure) Error() string {
	if f.Reason == "" {
		return f.Class.Error()
	}
	return f.Class.Error() + ": " + f.Reason
}

// Unwrap is the class.
func (f *Failure) Unwrap() error { return f.Class }

// failf makes a Failure.
func failf(class error, format string, args ...any) *Failure {
	return &Failure{Class: class, Reason: fmt.Sprintf(format, args...)}
}

// withNext adds what the user can do.
func (f *Failure) withNext(next string) *Failure {
	f.Next = next
	return f
}

// asFailure is err as a Failure; an error without a class is one of the provider's. It is nil
// when ctx ended by cancellation: then there is nobody to tell.
func asFailure(ctx context.Context, err error) *Failure {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failf(ErrTimeout, "no answer in time")
	}
	return failf(ErrUnavailable, "%s", plain(err.Error(), maxReason))
}

// Attempt is a provider that was asked, or passed over, before an answer.
type Attempt struct {
	// Provider is its name, as [Provider] gives it.
	Provider string `json:"provider"`
	// Class is the text of the failure's class, such as "rate limited".
	Class string `json:"class"`
	// Reason is what happened, in plain words.
	Reason string `json:"reason"`
	// Next is what the user can do, "" if nothing.
	Next string `json:"next,omitempty"`
	// Skipped says that the provider was not asked at all.
	Skipped bool `json:"skipped,omitempty"`
	// RetryAfterSeconds is how long the provider will be left alone, 0 if it will not.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
	class             error
}

// DispatchError says that no provider could do what was asked.
type DispatchError struct {
	// Op is what was asked for.
	Op Op
	// Target is the page, site or query.
	Target string
	// Attempts are the providers in the order they were asked in.
	Attempts []Attempt
}

// Error lists every attempt with its reason and the next step.
func (e *DispatchError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s: ", e.Op, plain(e.Target, maxTarget))
	if len(e.Attempts) == 0 {
		b.WriteString("no provider is configured for it")
		return b.String()
	}
	b.WriteString("no provider could do it")
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "\n- %s", a)
	}
	return b.String()
}

// Unwrap gives the classes of the attempts.
func (e *DispatchError) Unwrap() []error {
	var list []error
	for _, a := range e.Attempts {
		if a.class != nil {
			list = append(list, a.class)
		}
	}
	return list
}

// String is the attempt as a line of text.
func (a Attempt) String() string {
	var b strings.Builder
	b.WriteString(a.Provider)
	if a.Skipped {
		b.WriteString(" (not asked)")
	}
	b.WriteString(": ")
	b.WriteString(a.Class)
	if a.Reason != "" {
		b.WriteString(": " + a.Reason)
	}
	if a.RetryAfterSeconds > 0 {
		b.WriteString("; left alone for " + humanSeconds(a.RetryAfterSeconds))
	}
	if a.Next != "" {
		b.WriteString("; " + a.Next)
	}
	return b.String()
}

// humanSeconds is a length of time in words.
func humanSeconds(s int) string {
	switch {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 2*3600:
		return fmt.Sprintf("%d min", (s+59)/60)
	}
	return fmt.Sprintf("about %d h", (s+1800)/3600)
}

// Bounds of text of strangers in errors.
const (
	maxReason = 300
	maxTarget = 300
)
