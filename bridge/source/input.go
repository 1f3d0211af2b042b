package source

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on what a server may ask for in one round.
const (
	MaxInputRequests = 32
	MaxStateBytes    = 32 << 10 // of its request state
)

// An InputRequired is the error of a call, with CallOptions.PassInput, whose server wants
// input of the client first: multi round-trip requests of MCP 2026-07-28. The call is
// made again with the answers and the state. Forms and pages are checked as those of
// Handlers.Elicit.
type InputRequired struct {
	// Requests by the server's own names. None means that the server wants to be asked
	// again later.
	Requests mcp.InputRequestMap
	State    string

	requests json.RawMessage
}

// Error says that the server wants input.
func (e *InputRequired) Error() string { return "the server wants input before it answers" }

// wantsInput reports whether a result asks the client for input.
func wantsInput(result json.RawMessage) bool {
	var r struct {
		Type     json.RawMessage `json:"resultType"`
		Requests json.RawMessage `json:"inputRequests"`
	}
	return json.Unmarshal(result, &r) == nil &&
		(string(r.Type) == `"input_required"` || len(r.Requests) > 0 && string(r.Requests) != "null")
}

// inputOf is readInput as the error of a call.
func inputOf(result json.RawMessage) error {
	in, err := readInput(result)
	if err != nil {
		return err
	}
	return in
}

// readInput reads what a server asks for. What the SDK could not decode without a panic,
// such as null in place of a request, is an error.
func readInput(result json.RawMessage) (*InputRequired, error) {
	type request struct {
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
	}
	var r struct {
		Requests map[string]*request `json:"inputRequests"`
		State    string              `json:"requestState"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, errors.New("what the server asks for cannot be read")
	}
	if len(r.Requests) > MaxInputRequests || len(r.State) > MaxStateBytes {
		return nil, fmt.Errorf("the server asks for over %d things, or its state is over %d bytes", MaxInputRequests, MaxStateBytes)
	}
	for name, q := range r.Requests {
		if q == nil {
			return nil, fmt.Errorf("what the server asks for as %.60q is nothing", name)
		}
		if q.Params == nil {
			q.Params = map[string]any{}
		}
		if page, ok := q.Params["url"].(string); ok {
			if err := checkPage(page); err != nil {
				return nil, err
			}
		}
		schema := q.Params["requestedSchema"]
		if err := checkForm(schema); err != nil {
			return nil, err
		}
		normalForm(schema)
	}
	if r.Requests == nil {
		r.Requests = map[string]*request{}
	}
	in := &InputRequired{State: r.State, requests: plain(r.Requests)}
	if err := json.Unmarshal(in.requests, &in.Requests); err != nil {
		return nil, errors.New("what the server asks for cannot be read")
	}
	return in, nil
}

// emptyResults stand for results that the SDK is not to see.
var emptyResults = map[string][]byte{
	methodCallTool: []byte(`{"content":[]}`), methodPrompt: []byte(`{"messages":[]}`), methodRead: []byte(`{"contents":[]}`),
}

// safeInput is a result that wants input as the SDK can decode it, whatever its kind.
func safeInput(in *InputRequired) []byte {
	return plain(struct {
		Type     string          `json:"resultType"`
		Content  []any           `json:"content"`
		Messages []any           `json:"messages"`
		Contents []any           `json:"contents"`
		Requests json.RawMessage `json:"inputRequests"`
		State    string          `json:"requestState,omitempty"`
	}{"input_required", []any{}, []any{}, []any{}, in.requests, in.State})
}

// errorMessage is the message of an error in a result's place.
func errorMessage(id []byte, text string) []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":{"code":-32603,"message":`+string(plain(text))+`}}`...)
}
