package guard

import (
	"fmt"
	"strings"

	"github.com/aster-mcp/aster/bridge"
)

// An Action is what is to happen with a call, from the strictest to the loosest.
type Action int

// The actions. The zero value is Deny.
const (
	Deny Action = iota
	Ask
	Allow
)

// String is the action as it is written in a configuration.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// A Mode says whose question counts as the user's approval where no rule decides.
type Mode string

// The modes.
const (
	// ModeAuto is the default: Aster asks for what comes through an envelope (aster_mcp,
	// webmcp_call), and the client's own approval, which sees the real tool, is enough for
	// what is called under its own name.
	ModeAuto Mode = ""
	// ModeClient leaves all asking to the client.
	ModeClient Mode = "client"
	// ModeAster asks for both.
	ModeAster Mode = "aster"
	// ModeNever asks nobody: what a rule wants asked is refused, the rest runs.
	ModeNever Mode = "never"
)

// A Rule of the policy holds for a call when one of Tools matches it, one of Origins does
// where there are any, and all of Args do.
//
// Patterns are globs in which "*" also crosses "/"; the server's part of a tool pattern is
// one glob, the tool's another, and a pattern without "/" is a whole server. A condition
// on an argument holds for all scalars at and below its path (keys joined by dots, items of
// lists taken together): as text, numbers and words of JSON as they are written. Where the
// case is unclear it is read so that the call becomes stricter: for Deny and Ask one
// scalar that matches is enough, keys count whatever their case, and a number also matches
// in its plain form; for Allow every scalar must match, in every form, and a key that
// differs in case only spoils the condition. An argument that is missing matches nothing.
type Rule struct {
	Action Action
	Tools  []string
	// Origins are globs on the origin of a page's tool; a rule with origins holds for no
	// other calls.
	Origins []string
	Args    map[string]string
	// Definition, if not "", is the [Digest] that the tool must have.
	Definition string
	Reason     string // shown with the decision
	Place      string // where the rule is written, as "FILE:LINE"
}

// A Policy decides about calls. It never changes; make a new one for other rules.
type Policy struct {
	readOnly bool
	mode     Mode
	rules    []compiledRule
	readers  []idGlob
}

// PolicyOptions are what a policy is made of. The zero value is the defaults.
type PolicyOptions struct {
	// ReadOnly refuses every call of a tool that is not known to only read. It wins over
	// every rule. A hint counts only where the server is trusted.
	ReadOnly bool
	// ReadOnlyTools are patterns of tools of which the user says that they only read.
	ReadOnlyTools []string
	// Mode says who asks.
	Mode Mode
	// Rules in any order: the strictest that holds decides.
	Rules []Rule
}

// NewPolicy makes a policy. It returns an error for a pattern that cannot be read, an
// unknown mode, or a rule without tools, since a rule that is left out might be a denial.
// opts may be nil.
func NewPolicy(opts *PolicyOptions) (*Policy, error) {
	if opts == nil {
		opts = &PolicyOptions{}
	}
	switch opts.Mode {
	case ModeAuto, ModeClient, ModeAster, ModeNever:
	default:
		return nil, fmt.Errorf("policy: unknown way to approve %q: want client, aster or never", Clean(string(opts.Mode), maxShownName))
	}
	p := &Policy{readOnly: opts.ReadOnly, mode: opts.Mode}
	for i := range opts.Rules {
		c, err := compileRule(&opts.Rules[i])
		if err != nil {
			return nil, fmt.Errorf("policy: rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, c)
	}
	for _, pattern := range opts.ReadOnlyTools {
		g, err := compileIDGlob(pattern)
		if err != nil {
			return nil, fmt.Errorf("policy: read-only tools: %w", err)
		}
		p.readers = append(p.readers, g)
	}
	return p, nil
}

// A Decision is what is to happen with a call, and why.
type Decision struct {
	Action Action
	// By says what decided: "rule", "default", "read-only", "definition", "arguments",
	// "session", "always", "user", "mode" or "audit".
	By string
	// Reason is one line for a person.
	Reason string
	// Rule is the rule, for By "rule"; nil otherwise.
	Rule *Rule
}

// Decide says what is to happen with a call, given its decoded arguments. Of all rules
// that hold the strictest decides, wherever it stands. Read-only comes before the rules.
// Where no rule holds:
//
//	a built-in tool that only reads                           allow
//	another built-in tool                                     ask
//	a page's tool                                             ask
//	a trusted server's tool, unless it says it destroys       allow
//	any other server's tool                                   ask
//
// and a default ask is allowed where the Mode leaves it to the client.
func (p *Policy) Decide(req *Request, args map[string]any) Decision {
	if p.readOnly && !p.onlyReads(req) {
		return Decision{Action: Deny, By: "read-only", Reason: "read-only mode is on and this tool is not known to only read"}
	}
	call := &callFacts{req, strings.ToLower(req.Origin), args}
	var by *compiledRule
	for i := range p.rules {
		r := &p.rules[i]
		if (by == nil || r.Action < by.Action) && r.holds(call) {
			by = r
		}
	}
	if by != nil {
		return p.ruled(req, by)
	}
	return p.byDefault(req)
}

func (p *Policy) ruled(req *Request, r *compiledRule) Decision {
	d := Decision{Action: r.Action, By: "rule", Rule: &r.Rule, Reason: r.say()}
	if d.Action != Ask {
		return d
	}
	switch {
	case p.mode == ModeNever:
		d.Action = Deny
		d.Reason += ", and asking is off (approve: never)"
	case p.mode == ModeClient && req.Direct:
		d.Action = Allow
		d.Reason += "; the client's own approval counts (approve: client)"
	}
	return d
}

func (p *Policy) byDefault(req *Request) Decision {
	d := Decision{By: "default"}
	d.Action, d.Reason = defaultFor(req)
	if d.Action != Ask {
		return d
	}
	switch {
	case p.mode == ModeNever:
		d = Decision{Action: Allow, By: "mode", Reason: "asking is off (approve: never)"}
	case p.mode == ModeClient:
		d = Decision{Action: Allow, By: "mode", Reason: "the client's own approval counts (approve: client)"}
	case p.mode == ModeAuto && req.Direct:
		d = Decision{Action: Allow, By: "default", Reason: "called under its own name, so the client's own approval has seen it"}
	}
	return d
}

func defaultFor(req *Request) (Action, string) {
	switch req.Class {
	case ClassBuiltin:
		switch req.Effect {
		case EffectRead:
			return Allow, "a built-in tool that only reads"
		case EffectWrite:
			return Ask, "this built-in tool changes something"
		}
		return Ask, "this built-in tool can do what the user can"
	case ClassPage:
		return Ask, "the tool comes from a page and runs with the user's session there"
	}
	switch {
	case req.Trusted && claimsDestructive(req.Tool.Annotations):
		return Ask, "the tool says of itself that it may destroy"
	case req.Trusted:
		return Allow, "the server is trusted (trust: true)"
	}
	return Ask, "the server is not trusted (trust: true)"
}

// onlyReads is the judgement behind read-only mode.
func (p *Policy) onlyReads(req *Request) bool {
	for _, g := range p.readers {
		if g.match(req.Tool.Server, req.Tool.Name) {
			return true
		}
	}
	switch req.Class {
	case ClassBuiltin:
		return req.Effect == EffectRead
	case ClassServer:
		a := req.Tool.Annotations
		return req.Trusted && a != nil && a.ReadOnlyHint && !claimsDestructive(a)
	}
	return false
}

// claimsDestructive reports whether a tool says outright that it destroys. A trusted
// server that says nothing of it is taken at the user's word.
func claimsDestructive(a *bridge.Annotations) bool {
	return a != nil && a.DestructiveHint != nil && *a.DestructiveHint
}

func (r *compiledRule) say() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the rule %s %s", r.Action, strings.Join(r.Tools, ", "))
	if r.Place != "" {
		fmt.Fprintf(&b, " (%s)", r.Place)
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	return Clean(b.String(), maxShownText)
}
