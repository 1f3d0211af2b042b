package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Bounds on a request.
const (
	MaxRequestBytes = 16 << 20 // of the arguments of one aster_mcp call
	MaxDescribe     = 10       // tools described at once
	maxShownCall    = 1024     // bytes of arguments repeated in the call to make
)

// An Action is what a model asked for, checked and resolved: a [Search], a
// [Describe], an [Execute] or a [Read].
type Action interface{ action() }

// A Search asks for tools. Only its hits may be shown.
type Search struct {
	Query Query
}

// A Describe asks for whole definitions.
type Describe struct {
	Tools   []Tool         // as they are in the catalogue
	Missing []*LookupError // names that led to no tool; there is at least one that did
}

// An Execute asks for a call. It holds the tool that was resolved and offers no
// way to put another in its place.
type Execute struct {
	tool      Tool
	hash      string
	arguments json.RawMessage
}

// Tool returns the tool to call.
func (e Execute) Tool() Tool {
	t := e.tool
	t.InputSchema = bytes.Clone(t.InputSchema)
	t.OutputSchema = bytes.Clone(t.OutputSchema)
	t.Annotations = t.Annotations.clone()
	return t
}

// Arguments returns the call's arguments, a JSON object without doubled keys,
// compact, keys sorted, numbers as they were written.
func (e Execute) Arguments() json.RawMessage { return bytes.Clone(e.arguments) }

// A Read asks for the next page of a result that was cut.
type Read struct {
	Handle string
}

func (Search) action()   {}
func (Describe) action() {}
func (Execute) action()  {}
func (Read) action()     {}

// A RequestError says why a request was refused. Its text is for the model and
// ends in the call to make instead.
type RequestError struct {
	Reason string          // what is wrong
	Call   json.RawMessage // arguments of aster_mcp to send instead
	Err    error           // a *LookupError or nil
}

// Error is the reason with the call to make.
func (e *RequestError) Error() string {
	if len(e.Call) == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s. Call %s with %s", e.Reason, toolName, e.Call)
}

// Unwrap returns the cause, if there is one.
func (e *RequestError) Unwrap() error { return e.Err }

// A call is the arguments of an aster_mcp call, written in this order.
type call struct {
	Action    string          `json:"action"`
	Query     string          `json:"query,omitempty"`
	Queries   []string        `json:"queries,omitempty"`
	Server    string          `json:"server,omitempty"`
	Limit     int             `json:"limit,omitempty"`
	Name      string          `json:"name,omitempty"`
	Names     []string        `json:"names,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Handle    string          `json:"handle,omitempty"`
}

// json is the call on one line that is fit to be shown: it repeats names and
// words of a server's schema and of the request.
func (c call) json() json.RawMessage {
	if len(c.Arguments) > maxShownCall {
		c.Arguments = json.RawMessage(`{"…":"the same arguments"}`)
	}
	return json.RawMessage(shownJSON(plainJSON(c)))
}

// plainJSON encodes v without escaping <, > and &.
func plainJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
