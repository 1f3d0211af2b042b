package cdp

import "errors"

var (
	// ErrClosed is the error of a command on a connection that is closed, by us or
	// by the browser. [Browser.Err] says why.
	ErrClosed = errors.New("the connection to the browser is closed")
	// ErrDetached is the error of a command whose target went away before it answered.
	ErrDetached = errors.New("the target is gone")
	// ErrTooLarge is the error of a command over MaxCommandBytes.
	ErrTooLarge = errors.New("command too large for the browser")
	// ErrBusy is the error of a command that found MaxQueued others waiting to be sent.
	ErrBusy = errors.New("too many commands waiting for the browser")
	// ErrMessageTooBig is the reason of a closed connection whose browser sent one
	// message over MaxMessageBytes. The browser itself is well: dial it again.
	ErrMessageTooBig = errors.New("the browser sent a message over the limit of the connection")
	// ErrRefused is the error of a dial that the browser, or its user, refused.
	ErrRefused = errors.New("the browser refused the connection")
)
