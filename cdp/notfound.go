package cdp

import (
	"fmt"
	"strings"
)

// Attempt is one place that was looked at in vain.
type Attempt struct {
	Source string // as Endpoint.Source
	Err    error  // why it is not an endpoint
}

// NotFoundError is [ErrNoBrowser] with what was tried and what to do about it. It
// unwraps to ErrNoBrowser and to the error of each attempt.
type NotFoundError struct {
	// Tried lists the places, in the order of preference.
	Tried []Attempt
	// Command starts a browser with a debugging port, in the words of the user's system.
	Command string

	windows bool
}

// Error says what was tried and the ways that work today, over several lines.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString(ErrNoBrowser.Error())
	for i, a := range e.Tried {
		if i == 0 {
			b.WriteString(". Tried:")
		}
		fmt.Fprintf(&b, "\n  - %s: %v", a.Source, a.Err)
	}
	shell := ""
	if e.windows {
		shell = " (in PowerShell put & before it)"
	}
	fmt.Fprintf(&b, `
Ways to connect:
  1. In the browser you use (Chrome 144 or later): open chrome://inspect/#remote-debugging
     (in Edge edge://inspect/#remote-debugging) and turn remote debugging on. The browser
     then asks for your consent when aster connects.
  2. Start a browser with a profile of its own%s:
       %s
     On the default profile Chrome has ignored --remote-debugging-port since version 136.
  3. Let aster start one: --cdp-url launch`, shell, e.Command)
	return b.String()
}

// Unwrap makes errors.Is find ErrNoBrowser and the attempts' errors.
func (e *NotFoundError) Unwrap() []error {
	errs := []error{ErrNoBrowser}
	for _, a := range e.Tried {
		errs = append(errs, a.Err)
	}
	return errs
}
