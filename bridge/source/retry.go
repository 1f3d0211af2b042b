package source

import "time"

// Tries in the background; see [Source.KeepTrying].
const (
	// FirstRetry is the wait before the first, and the least; each further one is twice as
	// long, up to MaxRetry.
	FirstRetry = 2 * time.Second
	MaxRetry   = 5 * time.Minute
	// MaxRetries is how many there are in a row, over some twenty minutes. A server that is
	// not there after that is started by calls only.
	MaxRetries = 10
)

// KeepTrying has a source that could not be started try again by itself, where time may put
// it right: there was no answer or no connection, or the process ended. Its tools would
// never be seen, and so never called, otherwise. A server that was there before is started
// again by the next call, as ever. It ends with Close.
func (s *Source) KeepTrying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepTrying = true
	s.tryLater()
}

// tryLater starts the server after a while, if it is one that is to be tried again. mu is
// held.
func (s *Source) tryLater() {
	if !s.keepTrying || s.retrying || s.closed || s.state != Failed || s.listed || s.retries >= MaxRetries || !s.mayMend(s.failure) {
		return
	}
	wait := min(s.firstRetry<<s.retries, MaxRetry)
	s.retries, s.retrying = s.retries+1, true
	s.wg.Go(func() {
		if within(s.done, wait) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.retrying = false
		if !s.closed && s.attempt == nil && s.state == Failed { // else somebody was quicker
			s.begin()
		}
	})
}

// mayMend reports whether a failure may be over the next time. What answers in place of a
// remote server may be a proxy that does not reach it.
func (s *Source) mayMend(f *Failure) bool {
	return f != nil && (f.Kind == NotResponding || f.Kind == Crashed || f.Kind == NotMCP && s.spec.URL != "")
}
