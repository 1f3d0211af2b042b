package guard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// DefaultAskTimeout is how long a question stands.
const DefaultAskTimeout = 5 * time.Minute

// auditWait is how long the last entry of a call may take to be written when the call's
// own context has ended.
const auditWait = 2 * time.Second

// Options are what a Guard is made of.
type Options struct {
	// Policy decides; nil is the defaults.
	Policy *Policy
	// Auditor keeps the record; nil is an error, so that a call without a record takes
	// the word NoAudit.
	Auditor Auditor
	// Approver asks where the request has no approver; nil refuses.
	Approver Approver
	// Pins hold back changed definitions of configured servers; nil holds back nothing.
	Pins *Pins
	// Redactor knows the secrets; nil knows the patterns only.
	Redactor *Redactor
	// Always writes the rule when the user answers "always"; nil offers no such answer.
	// An error is logged, and the answer holds for this process.
	Always func(context.Context, Rule) error
	// HowToAllow says in a sentence or two what the user can do so that a refused call is
	// allowed; nil is DefaultHowToAllow.
	HowToAllow func(*Request, Decision) string
	// AskTimeout is how long a question stands; 0 is DefaultAskTimeout.
	AskTimeout time.Duration
	// ArgumentBytes is what is kept of a call's arguments, in bytes of JSON; 0 is
	// DefaultArgumentBytes, below 0 keeps none.
	ArgumentBytes int
	Logger        *slog.Logger     // nil discards
	Now           func() time.Time // nil is time.Now
}

// A Guard lets calls pass, each once, through Invoke. It is safe for concurrent use.
type Guard struct {
	o      Options
	policy atomic.Pointer[Policy]
	grants *grants
	states *stateSealer

	mu       sync.Mutex
	sessions map[weak.Pointer[mcp.ServerSession]]string // names of those without an ID
}

// New returns a guard. opts must name an Auditor.
func New(opts *Options) (*Guard, error) {
	if opts == nil || opts.Auditor == nil {
		return nil, errors.New("guard: an auditor is needed, if only NoAudit")
	}
	o := *opts
	if o.HowToAllow == nil {
		o.HowToAllow = DefaultHowToAllow
	}
	if o.AskTimeout <= 0 {
		o.AskTimeout = DefaultAskTimeout
	}
	if o.ArgumentBytes == 0 {
		o.ArgumentBytes = DefaultArgumentBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Guard{o: o, grants: newGrants(), states: newStateSealer(o.Now), sessions: map[weak.Pointer[mcp.ServerSession]]string{}}
	if o.Policy == nil {
		var err error
		if o.Policy, err = NewPolicy(nil); err != nil {
			return nil, err
		}
	}
	g.policy.Store(o.Policy)
	return g, nil
}

// SetPolicy makes p decide from now on, as after a change of the configuration.
func (g *Guard) SetPolicy(p *Policy) {
	if p != nil {
		g.policy.Store(p)
	}
}

// EndSession forgets what was answered for a session.
func (g *Guard) EndSession(session string) { g.grants.forget(session) }

// A Report is what a call came to, for the record.
type Report struct {
	IsError bool   // the tool answered with an error
	Bytes   int    // of the result
	Error   string // the beginning of the error's text
	Input   bool   // the server wants input before it answers
}

// A Call makes the real call, with exactly these arguments, and reports. An error means
// that there is no result.
type Call func(ctx context.Context, arguments json.RawMessage) (Report, error)

// A Refusal is the error of a call that was not made. It wraps [bridge.ErrDenied], and
// the reason where callers test for one: [ErrBadArguments], [ErrNoWayToAsk],
// [bridge.ErrToolChanged].
type Refusal struct {
	ID       bridge.ToolID
	Decision Decision
	// Hint says how to allow it, "" where nothing would help.
	Hint string

	cause error
}

// Error is fit for the model: what was refused, why, and what the user can do.
func (r *Refusal) Error() string {
	s := fmt.Sprintf("%s was not called: %s", Clean(string(r.ID), maxShownName), r.Decision.Reason)
	if r.Hint != "" {
		s += ". " + r.Hint
	}
	return s
}

// Unwrap gives bridge.ErrDenied and the cause.
func (r *Refusal) Unwrap() []error {
	if r.cause == nil {
		return []error{bridge.ErrDenied}
	}
	return []error{bridge.ErrDenied, r.cause}
}

// DefaultHowToAllow names the rule to write in the configuration and the flags that say
// otherwise in a word.
func DefaultHowToAllow(req *Request, d Decision) string {
	id := Clean(string(req.ID()), maxShownName)
	switch d.By {
	case "read-only":
		return "Read-only mode can be turned off only where it was turned on (--read-only, mcp.policy.read_only)"
	case "definition":
		return fmt.Sprintf("The user can look at it with 'aster mcp list --changes' and accept it with 'aster mcp approve %s'", id)
	case "audit":
		return "Calls without a record are possible only with mcp.audit.enabled: false in aster.yaml"
	case "rule":
		if d.Rule != nil && d.Rule.Action == Deny {
			return "Only the user can change that rule"
		}
	case "arguments", "user":
		return ""
	}
	return fmt.Sprintf("To allow it, the user can open the page of 'aster ui' and be asked there the next time, add a rule that allows %s to mcp.policy.rules in aster.yaml, or start aster with --approve=client", id)
}

// Invoke lets one call pass: it decodes the arguments, decides, asks if need be, records,
// and calls. call is called once or not at all. A call that was not made returns a
// *[Refusal], or an *[InputRequired] where the answer comes with the client's next
// request; the error of call is returned as it is.
//
// What happens is recorded: two entries for each Invoke whose arguments can be decoded or
// not, whatever the outcome. If the first cannot be written the call is refused; if the
// second cannot, that is logged, for the call has happened.
func (g *Guard) Invoke(ctx context.Context, req Request, call Call) error {
	_, err := g.pass(ctx, &req, false, call)
	return err
}

// pass is Invoke. agreed says that the user has agreed to this very call in an earlier
// round; asked, that the user had to be asked at some time.
func (g *Guard) pass(ctx context.Context, req *Request, agreed bool, call Call) (asked bool, err error) {
	args, raw, err := DecodeArguments(req.Arguments)
	e := g.entry(req, args)
	if err != nil {
		return false, g.refuse(ctx, req, e, Decision{By: "arguments", Reason: Clean(err.Error(), maxShownText)}, err)
	}
	d, err := g.decide(ctx, req, args, raw, agreed, e)
	var input *InputRequired
	switch {
	case errors.As(err, &input):
		e.Decision, e.By, e.Reason, e.Asked = Ask.String(), d.By, d.Reason, true
		return true, g.asking(ctx, req, e, input)
	case d.Action != Allow:
		return e.Asked, g.refuse(ctx, req, e, d, err)
	}
	e.Decision, e.By, e.Reason = Allow.String(), d.By, d.Reason
	if err := g.begin(ctx, e); err != nil {
		return e.Asked, g.unrecorded(req, err)
	}
	return e.Asked, g.call(ctx, e, raw, call)
}

// decide comes to Allow or Deny, asking if need be. The error is the cause of a denial,
// or an *InputRequired.
func (g *Guard) decide(ctx context.Context, req *Request, args map[string]any, raw json.RawMessage, agreed bool, e *Entry) (Decision, error) {
	if d, err := g.pinned(req); err != nil {
		return d, err
	}
	d := g.policy.Load().Decide(req, args)
	if d.Action != Ask {
		return d, nil
	}
	if agreed {
		e.Asked = true
		return Decision{Action: Allow, By: "user", Reason: "the user agreed to this call"}, nil
	}
	key := newGrantKey(req, req.Session)
	if by := g.grants.has(key); by != "" {
		return granted(by), nil
	}
	unlock, ok := g.grants.lock(key, ctx.Done())
	if !ok {
		return Decision{By: "user", Reason: "the call was cancelled while it waited for the user"}, ctx.Err()
	}
	defer unlock()
	if by := g.grants.has(key); by != "" { // answered while this one waited
		return granted(by), nil
	}
	return g.ask(ctx, req, d, g.question(req, args, raw, d, key), key, e)
}

func granted(by string) Decision {
	return Decision{Action: Allow, By: by, Reason: map[string]string{
		"session": "the user allowed this tool for the session", "always": "the user allowed this tool always"}[by]}
}

// pinned refuses a tool whose definition is not the approved one.
func (g *Guard) pinned(req *Request) (Decision, error) {
	if g.o.Pins == nil || req.Class != ClassServer {
		return Decision{}, nil
	}
	switch g.o.Pins.check(req) {
	case PinApproved:
		return Decision{}, nil
	case PinNew:
		return Decision{By: "definition", Reason: "the tool is new and the user has not approved it"}, bridge.ErrUnknownTool
	case PinChanged:
		return Decision{By: "definition", Reason: "its definition changed since the user approved it"}, bridge.ErrToolChanged
	}
	return Decision{By: "definition", Reason: "its server did not offer it when its tools were last looked at"}, bridge.ErrUnknownTool
}

// entry is the record of a call as far as it is known before the decision.
func (g *Guard) entry(req *Request, args map[string]any) *Entry {
	r := g.o.Redactor
	e := &Entry{
		ID: rand.Text(), Session: r.String(Clean(req.Session, maxShownName)),
		Tool: bridge.ToolID(cutBytes(string(req.ID()), 2*bridge.MaxNameBytes)), Class: req.Class.String(), Origin: r.String(cutBytes(req.Origin, maxShownText)),
		Definition: req.definition(), Arguments: auditArguments(r, args, g.o.ArgumentBytes), ArgBytes: len(req.Arguments),
	}
	if req.Client != (Client{}) {
		e.Client = &Client{r.String(Clean(req.Client.Name, maxShownName)), r.String(Clean(req.Client.Version, maxShownName))}
	}
	return e
}

func (g *Guard) begin(ctx context.Context, e *Entry) error {
	e.Event, e.Time = eventBegin, g.o.Now()
	e.Reason = g.o.Redactor.String(e.Reason)
	return g.o.Auditor.Begin(ctx, e)
}

// end writes the second entry, even when the call's context has ended, but briefly.
func (g *Guard) end(ctx context.Context, e *Entry, o Outcome, rep Report, text string) {
	last := Entry{
		ID: e.ID, Event: eventEnd, Time: g.o.Now(), Tool: e.Tool, Outcome: o, ResultBytes: rep.Bytes,
		Error: Clean(g.o.Redactor.String(cutBytes(text, MaxEntryBytes/4)), maxAuditError),
	}
	last.DurationMS = float64(last.Time.Sub(e.Time).Microseconds()) / 1000
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditWait)
	defer cancel()
	if err := g.o.Auditor.End(ctx, &last); err != nil {
		g.o.Logger.ErrorContext(ctx, "the end of a call could not be recorded", "tool", Clean(string(e.Tool), maxShownName), "outcome", string(o), "err", err)
	}
}

// refuse records a denial and returns it. The call is refused whether or not that works.
func (g *Guard) refuse(ctx context.Context, req *Request, e *Entry, d Decision, cause error) error {
	e.Decision, e.By, e.Reason = Deny.String(), d.By, d.Reason
	wctx := context.WithoutCancel(ctx)
	if err := g.begin(wctx, e); err != nil {
		g.o.Logger.ErrorContext(ctx, "a refused call could not be recorded", "tool", Clean(string(e.Tool), maxShownName), "err", err)
	} else {
		g.end(wctx, e, OutcomeDenied, Report{}, "")
	}
	hint := g.o.HowToAllow(req, d)
	if ctx.Err() != nil {
		hint = ""
	}
	return &Refusal{ID: req.ID(), Decision: d, Hint: hint, cause: cause}
}

func (g *Guard) asking(ctx context.Context, req *Request, e *Entry, input *InputRequired) error {
	if err := g.begin(ctx, e); err != nil {
		return g.unrecorded(req, err)
	}
	g.end(ctx, e, OutcomeAsking, Report{}, "")
	return input
}

func (g *Guard) unrecorded(req *Request, err error) error {
	d := Decision{By: "audit", Reason: "the call cannot be recorded: " + Clean(g.o.Redactor.String(err.Error()), maxShownText)}
	return &Refusal{ID: req.ID(), Decision: d, Hint: g.o.HowToAllow(req, d), cause: err}
}

// call makes the call and records how it ended, also when it panics.
func (g *Guard) call(ctx context.Context, e *Entry, raw json.RawMessage, call Call) error {
	done := false
	defer func() {
		if !done {
			g.end(ctx, e, OutcomePanic, Report{}, "")
		}
	}()
	rep, err := call(ctx, raw)
	done = true
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)):
		g.end(ctx, e, OutcomeCancelled, rep, err.Error())
	case err != nil:
		g.end(ctx, e, OutcomeError, rep, err.Error())
	case rep.Input:
		g.end(ctx, e, OutcomeInput, rep, "")
	case rep.IsError:
		g.end(ctx, e, OutcomeFailure, rep, rep.Error)
	default:
		g.end(ctx, e, OutcomeSuccess, rep, "")
	}
	return err
}

// Close closes the auditor, if it can be closed.
func (g *Guard) Close() error {
	if c, ok := g.o.Auditor.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
