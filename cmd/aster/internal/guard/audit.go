package guard

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aster-mcp/aster/bridge"
)

// An Outcome is how a call ended.
type Outcome string

// The outcomes.
const (
	OutcomeSuccess   Outcome = "success"
	OutcomeFailure   Outcome = "failure"   // the tool answered with an error
	OutcomeError     Outcome = "error"     // there is no answer: transport or protocol
	OutcomeCancelled Outcome = "cancelled" // the caller gave up
	OutcomeDenied    Outcome = "denied"    // the call was not made
	OutcomeAsking    Outcome = "asking"    // the call was not made yet: the client asks the user
	OutcomeInput     Outcome = "input"     // the server wants input before it answers
	OutcomePanic     Outcome = "panic"     // the code that calls broke
)

// An Entry is the record of one call: a line when it begins, and a second with the
// same ID, and with the fields from Outcome on, when it ends.
type Entry struct {
	ID         string          `json:"id,omitempty"`
	Event      string          `json:"event"` // "begin", "end", or that of a Note
	Time       time.Time       `json:"time"`
	Client     *Client         `json:"client,omitempty"`
	Session    string          `json:"session,omitempty"`
	Tool       bridge.ToolID   `json:"tool,omitempty"`
	Class      string          `json:"class,omitempty"`
	Origin     string          `json:"origin,omitempty"`
	Definition string          `json:"definition,omitempty"` // Digest
	Decision   string          `json:"decision,omitempty"`   // allow or deny; ask while the client asks
	By         string          `json:"by,omitempty"`         // see Decision
	Reason     string          `json:"reason,omitempty"`
	Asked      bool            `json:"asked,omitempty"`  // the user was asked
	Answer     string          `json:"answer,omitempty"` // what the user said
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	ArgBytes   int             `json:"arg_bytes,omitempty"` // before they were redacted and cut

	Outcome     Outcome `json:"outcome,omitempty"`
	DurationMS  float64 `json:"duration_ms,omitempty"`
	ResultBytes int     `json:"result_bytes,omitempty"`
	Error       string  `json:"error,omitempty"` // redacted and cut

	// The rest is for notes on the bridge; see Log.Record.
	Hits           int  `json:"hits,omitempty"`
	Described      bool `json:"described,omitempty"`
	ManifestTokens int  `json:"manifest_tokens,omitempty"`
	PromptTokens   int  `json:"prompt_tokens,omitempty"`
	BudgetTokens   int  `json:"budget_tokens,omitempty"`
}

// An Auditor keeps the record. Begin is called before a call, and the call is refused if
// it returns an error; End is called once for every Begin that did not. Neither may keep
// the entry. Both must be safe for concurrent use.
type Auditor interface {
	Begin(ctx context.Context, e *Entry) error
	End(ctx context.Context, e *Entry) error
}

// NoAudit keeps no record: what mcp.audit.enabled: false means.
var NoAudit Auditor = noAudit{}

type noAudit struct{}

func (noAudit) Begin(context.Context, *Entry) error { return nil }
func (noAudit) End(context.Context, *Entry) error   { return nil }

// Bounds on an entry.
const (
	// DefaultArgumentBytes is what is kept of a call's arguments.
	DefaultArgumentBytes = 4 << 10
	maxAuditError        = 500 // characters
	maxAuditString       = 1000
	minAuditString       = 16
)

// auditArguments are the arguments as they are kept: redacted first, then with long
// strings cut, ever shorter, until they fit into limit bytes. limit below 0 keeps none.
// The result is valid JSON.
func auditArguments(r *Redactor, args map[string]any, limit int) json.RawMessage {
	if limit < 0 || len(args) == 0 {
		return nil
	}
	clean := r.Value(args)
	for n := maxAuditString; n >= minAuditString; n /= 4 {
		raw, err := encode(shorten(clean, n))
		if err == nil && len(raw) <= limit {
			return raw
		}
	}
	return json.RawMessage(`"(too large to keep)"`)
}

// shorten cuts every string of a decoded value to n bytes with a mark.
func shorten(v any, n int) any {
	switch v := v.(type) {
	case string:
		return cutBytes(v, n)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = shorten(item, n)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[cutBytes(k, n)] = shorten(item, n)
		}
		return out
	}
	return v
}
