package bridge

// Metrics receives what a host should watch: how large the section is, which
// tools are chosen, searches that find nothing, how often a description leads
// to a call, refused approvals, failures upstream. Record is called after the
// fact, from the goroutine that did it, and must return soon.
type Metrics interface {
	Record(Event)
}

// An EventKind says what happened.
type EventKind int

// The kinds of events, with the fields of Event that they fill in.
const (
	EventInjected  EventKind = iota + 1 // Level and the three numbers of tokens
	EventSearched                       // Hits; none is an empty search
	EventDescribed                      // ID, once for each tool
	EventExecuted                       // ID, Described
	EventDenied                         // ID, Described, Err; the invoker's error is ErrDenied
	EventFailed                         // ID, Described, Err; any other error of the invoker, or ErrToolFailed
	EventRefused                        // Err, and ID where it is known: not routed or not fit to run
)

var eventNames = [...]string{"", "injected", "searched", "described", "executed", "denied", "failed", "refused"}

// String is the kind in a word.
func (k EventKind) String() string {
	if k < 0 || int(k) >= len(eventNames) {
		return "unknown"
	}
	return eventNames[k]
}

// An Event is one thing that happened; see EventKind.
type Event struct {
	Kind           EventKind
	ID             ToolID
	Level          Level
	ManifestTokens int // as in Injection
	PromptTokens   int
	BudgetTokens   int
	Hits           int
	Described      bool // this tool had been described before in this session
	Err            error
}

func (in *Injector) record(e Event) {
	if in.config.Metrics != nil {
		in.config.Metrics.Record(e)
	}
}
