package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// A rig is a guarded server with a client over in-memory transports.
type rig struct {
	guard   *guard.Guard
	record  *memory
	client  *mcp.ClientSession
	mu      sync.Mutex
	handled []mcp.CallToolParamsRaw // what reached the tool
	asked   []*mcp.ElicitParams
}

type rigOptions struct {
	revision string
	opts     guard.Options
	// answer is the client's; nil advertises no elicitation.
	answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)
	// handler is the tool's; nil answers "done".
	handler mcp.ToolHandler
	resolve func(context.Context, *mcp.CallToolRequest) (guard.Resolved, error)
	shared  *guard.Guard // instead of one made of opts
	manual  bool         // the client does not go on by itself after input_required
}

func accept(word string) func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": word}}, nil
	}
}

func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	r := &rig{}
	r.guard, r.record = newGuard(t, o.opts)
	if o.shared != nil {
		r.guard = o.shared
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "srv", Version: "1"}, nil)
	handler := o.handler
	if handler == nil {
		handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		}
	}
	server.AddTool(&mcp.Tool{Name: "act", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r.mu.Lock()
		r.handled = append(r.handled, *req.Params)
		r.mu.Unlock()
		return handler(ctx, req)
	})
	resolve := o.resolve
	if resolve == nil {
		resolve = func(_ context.Context, req *mcp.CallToolRequest) (guard.Resolved, error) {
			return guard.Resolved{Request: guard.Request{Tool: tool("srv", req.Params.Name), Arguments: req.Params.Arguments}}, nil
		}
	}
	server.AddReceivingMiddleware(r.guard.Middleware(resolve))
	copts := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: o.manual}}
	if o.answer != nil {
		copts.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			r.mu.Lock()
			r.asked = append(r.asked, req.Params)
			r.mu.Unlock()
			return o.answer(req.Params)
		}
	}
	a, b := mcp.NewInMemoryTransports()
	ss, err := server.Connect(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "rig", Version: "2"}, copts)
	r.client, err = client.Connect(t.Context(), b, &mcp.ClientSessionOptions{ProtocolVersion: o.revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.client.Close(); _ = ss.Wait() })
	if got := r.client.InitializeResult().ProtocolVersion; got != o.revision {
		t.Fatalf("the session speaks %s, want %s", got, o.revision)
	}
	return r
}

func (r *rig) call(t *testing.T, args string) *mcp.CallToolResult {
	t.Helper()
	res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "act", Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

func TestElicitation(t *testing.T) {
	for _, revision := range revisions {
		for _, tt := range []struct {
			name   string
			answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)
			made   int // of two calls
			asked  int
			want   string // in the text of the last result
		}{
			{"once", accept("once"), 2, 2, "done"},
			{"session", accept("session"), 2, 1, "done"},
			{"no", accept("no"), 0, 2, "refused"},
			{"decline", func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "decline"}, nil }, 0, 2, "refused"},
			{"cancel", func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "cancel"}, nil }, 0, 2, "refused"},
			{"accept without an answer", func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "accept"}, nil }, 0, 2, "without an answer"},
			{"not offered", accept("always"), 0, 2, "not called"},
			{"no elicitation", nil, 0, 0, "no way to ask"},
		} {
			t.Run(revision+"/"+tt.name, func(t *testing.T) {
				r := newRig(t, rigOptions{revision: revision, answer: tt.answer})
				if tt.name == "not offered" && revision == "2026-07-28" {
					tt.want = "" // the client itself refuses the form
				}
				for range 2 {
					res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "act", Arguments: json.RawMessage(`{"b":1,"a":"x"}`)})
					if err != nil {
						if tt.want != "" {
							t.Fatal(err)
						}
						continue
					}
					if !strings.Contains(text(res), tt.want) || res.IsError != (tt.made == 0) {
						t.Errorf("the result is %q, error %v, want %q", text(res), res.IsError, tt.want)
					}
				}
				if len(r.handled) != tt.made || len(r.asked) != tt.asked {
					t.Fatalf("%d calls and %d questions, want %d and %d", len(r.handled), len(r.asked), tt.made, tt.asked)
				}
				for _, p := range r.handled {
					if string(p.Arguments) != `{"a":"x","b":1}` || p.RequestState != "" || p.InputResponses != nil {
						t.Errorf("the tool got %+v, want the decided arguments and nothing of ours", p)
					}
				}
				for _, q := range r.asked {
					if !strings.Contains(q.Message, "rig wants to call srv/act") || !strings.Contains(q.Message, `a: "x"`) {
						t.Errorf("the question %q does not name the real tool and its arguments", q.Message)
					}
				}
			})
		}
	}
}

func TestMiddlewareRecordsOnce(t *testing.T) {
	for _, revision := range revisions {
		r := newRig(t, rigOptions{revision: revision, answer: accept("once")})
		r.call(t, `{}`)
		var outcomes []guard.Outcome
		for _, e := range r.record.all() {
			if e.Event == "end" {
				outcomes = append(outcomes, e.Outcome)
			}
		}
		want := []guard.Outcome{guard.OutcomeSuccess}
		if revision == "2026-07-28" {
			want = []guard.Outcome{guard.OutcomeAsking, guard.OutcomeSuccess}
		}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Errorf("%s: outcomes (-want +got):\n%s", revision, diff)
		}
		if begin, _ := r.record.last(t); begin.Tool != "srv/act" || begin.Client == nil || begin.Client.Name != "rig" || !begin.Asked || begin.Answer != "once" {
			t.Errorf("%s: the record is %+v", revision, begin)
		}
	}
}

// An answer belongs to one call: it cannot be played again, moved to other arguments,
// made up, or used after the state was changed.
func TestAnswerIsForOneCall(t *testing.T) {
	yes := mcp.InputResponseMap{"aster_approval": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}}
	r := newRig(t, rigOptions{revision: "2026-07-28", manual: true, answer: accept("once")})
	send := func(args, state string, answers mcp.InputResponseMap) *mcp.CallToolResult {
		t.Helper()
		res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "act", Arguments: json.RawMessage(args), RequestState: state, InputResponses: answers})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := send(`{"n":1}`, "", nil)
	if !first.NeedsInput() || first.RequestState == "" || len(first.InputRequests) != 1 {
		t.Fatalf("the first result is %+v, want a question", first)
	}
	second := send(`{"n":1}`, "", nil)
	flipped := []byte(second.RequestState)
	flipped[len(flipped)/2] ^= 1
	for name, res := range map[string]*mcp.CallToolResult{
		"other arguments": send(`{"n":2}`, first.RequestState, yes),
		"no state":        send(`{"n":1}`, "", yes),
		"made-up state":   send(`{"n":1}`, "aster1.e30.AAAA", yes),
		"changed state":   send(`{"n":1}`, string(flipped), yes),
		"no answer":       send(`{"n":1}`, second.RequestState, nil),
	} {
		if !res.NeedsInput() || len(r.handled) != 0 {
			t.Errorf("%s: the call was made (%d)", name, len(r.handled))
		}
	}
	if res := send(`{ "n" : 1 }`, first.RequestState, yes); res.NeedsInput() || len(r.handled) != 1 {
		t.Fatalf("the right answer: %+v, %d calls, want one", res, len(r.handled))
	}
	if res := send(`{"n":1}`, first.RequestState, yes); !res.NeedsInput() || len(r.handled) != 1 {
		t.Errorf("played again: %+v, %d calls, want another question", res, len(r.handled))
	}
}

// A server that itself asks for input is called for each round, and the user agrees to
// the call once.
func TestServersOwnQuestions(t *testing.T) {
	handler := func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := len(req.Params.RequestState)
		if n > 0 {
			if _, ok := req.Params.InputResponses["theirs"]; !ok || strings.Trim(req.Params.RequestState, "s") != "" {
				return nil, fmt.Errorf("round %d came with %v and state %q", n, req.Params.InputResponses, req.Params.RequestState)
			}
		}
		if n == 2 || n == 1 && req.Session.InitializeParams().ProtocolVersion != "2026-07-28" { // the SDK goes one round for old clients
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"theirs": &mcp.ElicitParams{Message: "Which?"}}, RequestState: strings.Repeat("s", n+1)}, nil
	}
	for _, revision := range revisions {
		r := newRig(t, rigOptions{revision: revision, handler: handler, answer: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if p.Message == "Which?" {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"x": "y"}}, nil
			}
			return accept("once")(p)
		}})
		if res := r.call(t, `{"n":1}`); text(res) != "done" || res.IsError {
			t.Errorf("%s: the result is %q, want done", revision, text(res))
		}
		ours := 0
		for _, q := range r.asked {
			if q.Message != "Which?" {
				ours++
			}
		}
		if ours != 1 {
			t.Errorf("%s: the user was asked %d times for the call, want once", revision, ours)
		}
	}
}

// Where the guard has nothing to ask, a server's own rounds pass as they are.
func TestServersStatePassesUntouched(t *testing.T) {
	var states []string
	r := newRig(t, rigOptions{revision: "2026-07-28", answer: accept("x"), opts: guard.Options{Policy: policy(t, guard.PolicyOptions{Mode: guard.ModeClient})},
		handler: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			states = append(states, req.Params.RequestState)
			if req.Params.RequestState == "" {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"theirs": &mcp.ElicitParams{Message: "Which?"}}, RequestState: "opaque"}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		}})
	r.call(t, `{}`)
	if diff := cmp.Diff([]string{"", "opaque"}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestEnvelope(t *testing.T) {
	free := false
	resolve := func(_ context.Context, req *mcp.CallToolRequest) (guard.Resolved, error) {
		var in struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil || in.Name == "" {
			return guard.Resolved{Free: in.Name == "", Bind: func(ctx context.Context) context.Context {
				free = true
				return ctx
			}}, err
		}
		if in.Name == "none" {
			return guard.Resolved{}, errors.New("no such tool in this session")
		}
		return guard.Resolved{
			Request: guard.Request{Tool: tool("webmcp", in.Name), Class: guard.ClassPage, Origin: "https://a.example", Arguments: in.Arguments},
			Wrap: func(args json.RawMessage) (json.RawMessage, error) {
				return json.Marshal(map[string]any{"name": in.Name, "arguments": args})
			},
		}, nil
	}
	deny := guard.PolicyOptions{Mode: guard.ModeNever, Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"webmcp/pay"}, Args: map[string]string{"amount": "1000"}}}}
	r := newRig(t, rigOptions{revision: "2025-11-25", resolve: resolve, opts: guard.Options{Policy: policy(t, deny)}})
	for _, tt := range []struct {
		args    string
		isError bool
		calls   int
		tool    string
	}{
		{`{"name":"pay","arguments":{"amount":5}}`, false, 1, "webmcp/pay"},
		{`{"name":"pay","arguments":{"amount":1e3}}`, true, 1, "webmcp/pay"},
		{`{"name":"pay","arguments":{"amount":5,"amount":1000}}`, true, 1, "webmcp/pay"},
		{`{"name":"none"}`, true, 1, "webmcp/pay"},
		{`{}`, false, 2, "webmcp/pay"},
	} {
		res := r.call(t, tt.args)
		if res.IsError != tt.isError || len(r.handled) != tt.calls {
			t.Errorf("%s: error %v (%s), %d calls so far, want %v, %d", tt.args, res.IsError, text(res), len(r.handled), tt.isError, tt.calls)
		}
		if begin, _ := r.record.last(t); string(begin.Tool) != tt.tool || begin.Origin != "https://a.example" {
			t.Errorf("%s: the record names %s of %s, want the real tool", tt.args, begin.Tool, begin.Origin)
		}
	}
	if got := string(r.handled[0].Arguments); got != `{"arguments":{"amount":5},"name":"pay"}` {
		t.Errorf("the envelope went on as %s", got)
	}
	if n := len(r.record.all()); n != 6 {
		t.Errorf("%d entries for three guarded calls, want 6", n)
	}
	if !free {
		t.Error("the context of a free call is not bound to what was resolved")
	}
}

// Answers for one session do not serve another of the same guard.
func TestSessionsAreApart(t *testing.T) {
	for _, revision := range revisions {
		a := newRig(t, rigOptions{revision: revision, answer: accept("session")})
		b := newRig(t, rigOptions{revision: revision, answer: accept("session"), shared: a.guard})
		for range 2 {
			a.call(t, `{}`)
			b.call(t, `{}`)
		}
		if len(a.asked) != 1 || len(b.asked) != 1 || len(a.handled) != 2 || len(b.handled) != 2 {
			t.Errorf("%s: %d and %d questions, want one in each session", revision, len(a.asked), len(b.asked))
		}
		if begin, _ := a.record.last(t); begin.Session == "" {
			t.Errorf("%s: a session without an ID has no name in the record", revision)
		}
	}
}

func TestReports(t *testing.T) {
	res := &mcp.CallToolResult{IsError: true, StructuredContent: json.RawMessage(`{"a":1}`), Content: []mcp.Content{
		&mcp.TextContent{Text: "bad"}, &mcp.ImageContent{Data: make([]byte, 10)}, &mcp.AudioContent{Data: make([]byte, 20)},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{Text: "12345"}}, &mcp.ResourceLink{URI: "file:x"}}}
	if diff := cmp.Diff(guard.Report{IsError: true, Error: "bad", Bytes: 3 + 10 + 20 + 5 + 6 + 7}, guard.ReportOf(res)); diff != "" {
		t.Errorf("ReportOf (-want +got):\n%s", diff)
	}
	raw := json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"bad"}]}`)
	if diff := cmp.Diff(guard.Report{IsError: true, Error: "bad", Bytes: len(raw)}, guard.RawReport(raw)); diff != "" {
		t.Errorf("RawReport (-want +got):\n%s", diff)
	}
	if got := guard.RawReport(json.RawMessage(`nonsense`)); got.Bytes != 8 || got.IsError {
		t.Errorf("RawReport of nonsense = %+v", got)
	}
}
