package config

// A Decision is what a rule of the policy says about a call.
type Decision string

// Decisions, from the loosest to the strictest. The strictest of all rules that match
// counts, wherever it is written; "asks first" and "denied" are the guard's words for them.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Policy is what the files say about calls. What they leave open, the guard's defaults
// decide.
type Policy struct {
	ReadOnly bool   // only calls that read; it wins over every allow
	Approve  string // who asks: "client", "aster", "never" or "" for the guard's default
	Rules    []Rule // the user's first, then the project's; each in the order of its file
}

// A Rule of the policy holds for a call when its tools match and all its conditions do.
type Rule struct {
	Decision Decision
	Tools    []Pattern // at least one; any of them
	// Origins are globs on the web origin of a page's tool; any of them. Nil means that
	// the origin does not matter. A rule with origins never matches a call without one.
	Origins []string
	// Args are globs on arguments, by dotted path ("path", "options.force"); all of them.
	// A string is compared as it is, other values as compact JSON; "/" is no border for
	// "*". An argument that is missing matches nothing.
	Args map[string]string
	// Definition is the hash of the tool's definition that an approval was given for; ""
	// means that it does not matter. The guard writes it.
	Definition string
	Reason     string // shown to the user and the model with the decision
	Place      Place
}

// MatchArgs reports whether all conditions on arguments hold. value returns an argument
// by its dotted path, and false when there is none.
func (r *Rule) MatchArgs(value func(path string) (string, bool)) bool {
	for path, glob := range r.Args {
		if v, ok := value(path); !ok || !MatchText(glob, v) {
			return false
		}
	}
	return true
}

// MatchOrigin reports whether the rule holds for a tool of that origin; "" is a tool that
// has none.
func (r *Rule) MatchOrigin(origin string) bool {
	if len(r.Origins) == 0 {
		return true
	}
	for _, glob := range r.Origins {
		if origin != "" && MatchText(glob, origin) {
			return true
		}
	}
	return false
}

// MatchTool reports whether one of the rule's patterns matches a tool's id.
func (r *Rule) MatchTool(id string) bool {
	for _, p := range r.Tools {
		if p.Match(id) {
			return true
		}
	}
	return false
}
