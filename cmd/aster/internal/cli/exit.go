package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aster-mcp/aster/cdp"
)

// Exit codes of the aster command.
const (
	ExitOK          = 0   // done
	ExitFailed      = 1   // something went wrong; the error says what
	ExitUsage       = 2   // the command line or a variable is wrong; nothing was done
	ExitNoBrowser   = 3   // no browser is installed, or none answers
	ExitRefused     = 4   // the browser or its user did not allow the connection
	ExitWaits       = 10  // doctor: a server waits for the user, such as for consent or a sign-in
	ExitBlocked     = 11  // doctor: a server cannot be used; its steps say why
	ExitUnknown     = 12  // doctor: no file declares a server of that name
	ExitInterrupted = 130 // Ctrl-C or a termination signal ended the command
)

// usageError is an error of the command line, exit code ExitUsage.
type usageError struct {
	err  error
	help string // the command whose help shows the right use
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usage error.
func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// codeError is an error with an exit code of its own. A nil err means that the
// command has said all there is to say.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// exitCode is the exit code for the error that a command returned.
func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var coded *codeError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &coded):
		return coded.code
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, cdp.ErrNoBrowser), errors.Is(err, cdp.ErrNoExecutable):
		return ExitNoBrowser
	case errors.Is(err, cdp.ErrRefused):
		return ExitRefused
	}
	return ExitFailed
}
