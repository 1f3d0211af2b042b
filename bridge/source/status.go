package source

import (
	"fmt"
	"slices"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A State is where a Source stands.
type State int

// The states.
const (
	Idle      State = iota // not started
	Starting               // being connected
	Waiting                // being connected, and the server waits for the user
	Connected              // calls can be made
	Failed                 // see Status.Failure
	Closed                 // by Close
)

// String is the state in a word.
func (s State) String() string {
	return [...]string{"idle", "starting", "waiting", "connected", "failed", "closed"}[s]
}

// A Status says what is known of a server.
type Status struct {
	State        State
	Failure      *Failure            // why, with Failed and Waiting
	RetryAt      time.Time           // with Failed: calls do not start it before
	Era          Era                 // as far as it is known; keep it for Spec.Era
	Version      string              // the revision negotiated, with Connected
	Server       *mcp.Implementation // as the server names itself; may be nil
	Instructions string              // the server's own, uncut
	Capabilities *mcp.ServerCapabilities
	Tools        int // listed, or known
	Listed       bool
	Problems     []bridge.Problem // with single tools, and with the list (then the ID is the server's name)
	Stderr       []string         // the last 40 lines of a child, of 400 characters
	Dropped      int              // messages that were none
	PID          int              // of a child; 0 if there is none
}

// String is the status in one line.
func (s Status) String() string {
	switch {
	case s.State == Connected && len(s.Problems) > 0:
		return "connected, " + count(s.Tools, "tool") + ", " + count(len(s.Problems), "problem")
	case s.State == Connected:
		return "connected, " + count(s.Tools, "tool")
	case s.Failure != nil:
		return s.Failure.Error()
	}
	return s.State.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Listed is Status().Listed, at less cost.
func (s *Source) Listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// Era is Status().Era, at less cost.
func (s *Source) Era() Era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.knownEra()
}

// Status says how the server stands.
func (s *Source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{State: s.state, Failure: s.failure, RetryAt: s.retryAt, Era: s.knownEra(),
		Tools: len(s.list.tools), Listed: s.listed, Problems: slices.Clone(s.list.problems), Dropped: s.dropped}
	st.Stderr, _ = s.tail.snapshot()
	if s.init != nil {
		st.Server, st.Instructions, st.Capabilities = s.init.ServerInfo, s.init.Instructions, s.init.Capabilities
		if s.state == Connected {
			st.Version = s.init.ProtocolVersion
		}
	}
	if s.conn != nil {
		if s.conn.child != nil {
			st.PID = s.conn.child.cmd.Process.Pid
		}
		s.conn.tap.mu.Lock()
		st.Dropped += s.conn.tap.junkLines
		s.conn.tap.mu.Unlock()
	}
	return st
}
