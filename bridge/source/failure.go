package source

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers test.
var (
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("source closed")
	// ErrNoServer is the error of a call to a server that the set does not have.
	ErrNoServer = errors.New("no such server")
	// ErrCallTimeout is wrapped by the error of a call that got no answer in time.
	ErrCallTimeout = errors.New("no answer in time")
	// ErrNeedsSignIn is what an OAuth handler wraps that would have to ask the user.
	ErrNeedsSignIn = errors.New("needs sign-in")
)

// A FailureKind is the sort of thing that is wrong with a server.
type FailureKind int

// The kinds of failure.
const (
	Crashed       FailureKind = iota + 1 // the process ended, or the connection broke
	NotInstalled                         // there is no such command
	NeedsSignIn                          // the user has to sign in
	NotResponding                        // no answer, no connection
	NotMCP                               // what answers does not speak MCP
	Rejected                             // one side refuses the session
)

// String is the kind in words.
func (k FailureKind) String() string {
	switch k {
	case Crashed:
		return "crashed"
	case NotInstalled:
		return "not installed"
	case NeedsSignIn:
		return "needs sign-in"
	case NotResponding:
		return "not responding"
	case NotMCP:
		return "not MCP"
	case Rejected:
		return "refused"
	}
	return "failed"
}

// A Failure says in one line why a server cannot be used. It is the error of
// Start and of calls. Its text is a stranger's in part: cleaned, bounded,
// without the values of declared variables and headers, and not to be trusted.
type Failure struct {
	Kind   FailureKind
	Detail string // the reason; may be empty
	URL    string // where to sign in, with NeedsSignIn
	err    error
}

// Error is the failure in one line.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.URL != "" {
		b.WriteString(" at " + f.URL)
	}
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}

// Unwrap returns the cause, which may be nil. Its text is not cleaned.
func (f *Failure) Unwrap() error { return f.err }

// Is makes errors.Is(err, ErrNeedsSignIn) hold for that kind.
func (f *Failure) Is(target error) bool {
	return target == ErrNeedsSignIn && f.Kind == NeedsSignIn
}

// failf makes a failure whose detail is cleaned.
func (r redactor) failf(kind FailureKind, cause error, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Detail: oneLine(r.clean(fmt.Sprintf(format, args...)), maxDetail), err: cause}
}
