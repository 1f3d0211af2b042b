package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// InputName names the guard's question among a result's input requests.
const InputName = "aster_approval"

const (
	// version20260728 is the first revision of MCP on which a server asks by its result
	// instead of by a request of its own.
	version20260728 = "2026-07-28"
	// answerField is the field of the form.
	answerField = "answer"
)

// An InputRequired is the error of an approver whose answer comes with the client's next
// request: multi round-trip requests of MCP 2026-07-28. Result is what to answer this
// one with.
type InputRequired struct {
	Requests mcp.InputRequestMap
	State    string
}

// Error says that the user is being asked.
func (e *InputRequired) Error() string { return "the user is being asked" }

// Result is the result, flagged as input_required, that makes the client ask the user
// and send the request again.
func (e *InputRequired) Result() (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(struct {
		ResultType    string              `json:"resultType"`
		InputRequests mcp.InputRequestMap `json:"inputRequests"`
		RequestState  string              `json:"requestState"`
	}{"input_required", e.Requests, e.State})
	if err != nil {
		return nil, fmt.Errorf("asking the user: %w", err)
	}
	// The type of a result can only be set by decoding it.
	var res mcp.CallToolResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return nil, fmt.Errorf("asking the user: %w", err)
	}
	return &res, nil
}

// Elicit returns an Approver that asks the user through the client of req, by
// elicitation: on 2026-07-28 with a result that requires input, on older revisions with a
// request of the server's. It returns [ErrNoWayToAsk] where the client does not
// advertise forms. It serves the one request only.
func (g *Guard) Elicit(req *mcp.CallToolRequest) Approver { return &elicitor{g: g, req: req} }

type elicitor struct {
	g   *Guard
	req *mcp.CallToolRequest
}

func (e *elicitor) Approve(ctx context.Context, q Question) (Answer, error) {
	if e.req == nil || e.req.Session == nil || e.req.Params == nil {
		return AnswerNo, ErrNoWayToAsk
	}
	params := e.req.Session.InitializeParams()
	if !elicitsForms(params) {
		return AnswerNo, fmt.Errorf("%w: the client does not take questions (elicitation)", ErrNoWayToAsk)
	}
	ask := &mcp.ElicitParams{Mode: "form", Message: q.Text(), RequestedSchema: answerSchema(&q)}
	if params.ProtocolVersion >= version20260728 {
		return e.byResult(&q, ask)
	}
	res, err := e.req.Session.Elicit(ctx, ask)
	if err != nil {
		if ctx.Err() != nil {
			return AnswerNo, ctx.Err()
		}
		return AnswerNo, fmt.Errorf("asking through the client: %w", err)
	}
	return readAnswer(res)
}

func elicitsForms(p *mcp.InitializeParams) bool {
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	// Before modes were added a client with neither meant forms.
	c := p.Capabilities.Elicitation
	return c.Form != nil || c.URL == nil
}

// byResult reads the answer that came with the request, or asks for one.
func (e *elicitor) byResult(q *Question, ask *mcp.ElicitParams) (Answer, error) {
	if resp, ok := e.req.Params.InputResponses[InputName].(*mcp.ElicitResult); ok && resp != nil {
		if _, err := e.g.states.open(e.req.Params.RequestState, stateAsk, q.binding); err == nil {
			return readAnswer(resp)
		}
	}
	return AnswerNo, &InputRequired{
		Requests: mcp.InputRequestMap{InputName: ask},
		State:    e.g.states.seal(stateAsk, q.binding, ""),
	}
}

// answerSchema is the form: one field, without a default, so that nothing is agreed to
// by a client that fills in defaults. enumNames are how revisions up to 2025-06-18 write
// titles, and what later ones still accept.
func answerSchema(q *Question) json.RawMessage {
	titles := map[Answer]string{AnswerOnce: "Yes, this once", AnswerSession: "Yes, for this session", AnswerAlways: "Yes, always (writes a rule)"}
	var words, names []string
	for _, a := range q.Choices {
		words, names = append(words, a.String()), append(names, titles[a])
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{answerField: map[string]any{
			"type": "string", "title": "Allow this call?",
			"enum": append(words, AnswerNo.String()), "enumNames": append(names, "No"),
		}},
		"required": []string{answerField},
	})
	if err != nil { // strings only
		return nil
	}
	return raw
}

var errNoAnswer = errors.New("the client accepted the question without an answer")

// readAnswer is strict: only an accepted form with one of the words is an agreement.
func readAnswer(res *mcp.ElicitResult) (Answer, error) {
	if res == nil || res.Action != "accept" {
		return AnswerNo, nil
	}
	word, ok := res.Content[answerField].(string)
	if !ok {
		return AnswerNo, errNoAnswer
	}
	for a, w := range answerWords {
		if w == word {
			return Answer(a), nil
		}
	}
	return AnswerNo, errNoAnswer
}
