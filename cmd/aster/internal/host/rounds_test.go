//lint:file-ignore SA1019 sampling and roots are deprecated, and servers of older revisions ask for them; a gateway passes them on.

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

const (
	revisionOld = "2025-11-25"
	revisionNew = "2026-07-28"
)

var nameForm = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)

// askingServer has a tool and a prompt that ask for a name before they answer: by their
// result, or by a request of the server's own where its clients are older.
func askingServer(revisions ...string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: revisions})
	form := &mcp.ElicitParams{Mode: "form", Message: "What is your name?", RequestedSchema: nameForm}
	nameOf := func(r mcp.InputResponse) string {
		res, _ := r.(*mcp.ElicitResult)
		if res == nil {
			return ""
		}
		name, _ := res.Content["name"].(string)
		return name
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	srv.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(revisions) > 0 {
			res, err := req.Session.Elicit(ctx, form)
			if err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			return text("Hello, " + nameOf(res) + "!"), nil
		}
		if name := nameOf(req.Params.InputResponses["who"]); name != "" && req.Params.RequestState == "server's own" {
			return text("Hello, " + name + "!"), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"who": form}, RequestState: "server's own"}, nil
	})
	srv.AddTool(&mcp.Tool{Name: "think", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": &mcp.CreateMessageParams{MaxTokens: 1}}}, nil
	})
	srv.AddPrompt(&mcp.Prompt{Name: "greeting"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if name := nameOf(req.Params.InputResponses["who"]); name != "" && req.Params.RequestState == "server's own" {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello, " + name + "!"}}}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"who": form}, RequestState: "server's own"}, nil
	})
	return srv
}

type roundsRig struct {
	*gatewayRig
	raw *mcp.ClientSession // of a client of 2026-07-28 that answers nothing by itself
}

func newRoundsRig(t *testing.T, o *host.SessionOptions, g *host.GatewayOptions) *roundsRig {
	t.Helper()
	r := &roundsRig{gatewayRig: newGatewayRig(t, o, g, nil)}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := r.gateway.Server().Connect(ctx, st, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "raw"}, &mcp.ClientOptions{
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, errors.New("asked") },
	})
	var err error
	if r.raw, err = client.Connect(ctx, ct, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.raw.Close() })
	return r
}

// round makes one round of a call.
func (r *roundsRig) round(t *testing.T, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.raw.CallTool(ctx, p)
}

func answerWith(res *mcp.CallToolResult, content map[string]any) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}, RequestState: res.RequestState, InputResponses: mcp.InputResponseMap{}}
	for name := range res.InputRequests {
		p.InputResponses[name] = &mcp.ElicitResult{Action: "accept", Content: content}
	}
	return p
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// answered is for rounds that must not fail.
func answered(t *testing.T, res *mcp.CallToolResult, err error) *mcp.CallToolResult {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func oneServer(srv *mcp.Server, effect func(string) guard.Effect) *host.SessionOptions {
	return &host.SessionOptions{Builtins: []host.Builtin{{Name: "asking", Server: srv, Effect: effect}}}
}

var ownTools = &host.GatewayOptions{Expose: host.ExposeTools, Own: true}

func TestRoundsReachTheClient(t *testing.T) {
	for _, tt := range []struct {
		name, record string
		server       *mcp.Server
	}{
		{"by result", "[allow default input asking/greet allow default success asking/greet]", askingServer()},
		{"by request", "[allow default success asking/greet]", askingServer(revisionOld)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoundsRig(t, oneServer(tt.server, reading), ownTools)
			res, err := r.round(t, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
			first := answered(t, res, err)
			if !first.NeedsInput() || len(first.InputRequests) != 1 {
				t.Fatalf("the first round is %+v", first)
			}
			for _, q := range first.InputRequests {
				if p, ok := q.(*mcp.ElicitParams); !ok || p.Message != "What is your name?" {
					t.Errorf("asked %+v", q)
				}
			}
			if strings.Contains(first.RequestState, "server's own") {
				t.Errorf("the server's own state goes out as %q", first.RequestState)
			}
			res, err = r.round(t, answerWith(first, map[string]any{"name": "Ann"}))
			if got := textOf(answered(t, res, err)); got != "Hello, Ann!" {
				t.Errorf("the second round says %q", got)
			}
			if got := fmt.Sprint(r.audited(t)); got != tt.record {
				t.Errorf("audited %s", got)
			}
		})
	}
}

func TestRoundsRefuseForeignState(t *testing.T) {
	for _, srv := range []*mcp.Server{askingServer(), askingServer(revisionOld)} {
		r := newRoundsRig(t, oneServer(srv, reading), ownTools)
		res, err := r.round(t, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
		first := answered(t, res, err)
		good := answerWith(first, map[string]any{"name": "Ann"})
		for name, change := range map[string]func(p *mcp.CallToolParams){
			"longer":          func(p *mcp.CallToolParams) { p.RequestState += "-TAMPERED" },
			"the server's":    func(p *mcp.CallToolParams) { p.RequestState = "server's own" },
			"unsigned":        func(p *mcp.CallToolParams) { p.RequestState, _, _ = strings.Cut(p.RequestState, ".") },
			"other arguments": func(p *mcp.CallToolParams) { p.Arguments = map[string]any{"x": 1} },
		} {
			bad := *good
			change(&bad)
			_, err := r.round(t, &bad)
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: %v, want an error of the parameters", name, err)
			}
		}
		res, err = r.round(t, good)
		answered(t, res, err)
		if _, err := r.round(t, good); err == nil {
			t.Error("a state is good twice")
		}
	}
}

func TestRoundsComposeWithApproval(t *testing.T) {
	for _, revisions := range [][]string{nil, {revisionOld}} {
		r := newRoundsRig(t, oneServer(askingServer(revisions...), nil), &host.GatewayOptions{Expose: host.ExposeBridge})
		p := &mcp.CallToolParams{Name: "aster_mcp", Arguments: map[string]any{"action": "execute", "name": "asking/greet", "arguments": map[string]any{}}}
		var asked []string
		for range 5 {
			res, err := r.round(t, p)
			got := answered(t, res, err)
			if !got.NeedsInput() {
				if textOf(got) != "Hello, Ann!" {
					t.Errorf("the end is %q", textOf(got))
				}
				break
			}
			for name := range got.InputRequests {
				asked = append(asked, name)
			}
			next := answerWith(got, map[string]any{"name": "Ann"})
			if _, ours := got.InputRequests["aster_approval"]; ours {
				next = answerWith(got, map[string]any{"answer": "once"})
			}
			next.Name, next.Arguments = p.Name, p.Arguments
			p = next
		}
		if len(asked) != 2 || asked[0] != "aster_approval" {
			t.Errorf("asked %q, want the approval once and the server's question", asked)
		}
		lines := r.audited(t)
		if last := lines[len(lines)-1]; last != "allow user success asking/greet" {
			t.Errorf("audited %q", lines)
		}
	}
}

func TestRoundsEndWithoutTheClient(t *testing.T) {
	o := oneServer(askingServer(revisionOld), reading)
	o.ParkedWait = 50 * time.Millisecond
	r := newRoundsRig(t, o, ownTools)
	res, err := r.round(t, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
	first := answered(t, res, err)
	const want = "[allow default cancelled asking/greet]"
	deadline := time.Now().Add(20 * time.Second)
	for fmt.Sprint(r.audited(t)) != want && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if got := fmt.Sprint(r.audited(t)); got != want {
		t.Fatalf("audited %s, want %s", got, want)
	}
	if _, err := r.round(t, answerWith(first, map[string]any{"name": "Ann"})); err == nil {
		t.Error("a call that ended goes on")
	}
}

func TestRoundsAskOnlyWhatIsAllowed(t *testing.T) {
	r := newRoundsRig(t, oneServer(askingServer(), reading), ownTools)
	res, err := r.round(t, &mcp.CallToolParams{Name: "think", Arguments: map[string]any{}})
	if got := answered(t, res, err); !got.IsError || got.NeedsInput() {
		t.Errorf("a question for the model reached the client: %+v", got)
	}
}

func TestRoundsForPrompts(t *testing.T) {
	srv := askingServer()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	c := config.Default()
	c.Servers = []*config.Server{{Name: "asking", Transport: config.StreamableHTTP, URL: web.URL}}
	r := newRoundsRig(t, &host.SessionOptions{Config: c}, &host.GatewayOptions{Expose: host.ExposeBridge})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	p := &mcp.GetPromptParams{Name: "asking__greeting"}
	first, err := r.raw.GetPrompt(ctx, p)
	if err != nil || !first.NeedsInput() || first.RequestState == "server's own" {
		t.Fatalf("the first round is %+v, %v", first, err)
	}
	p.InputResponses = mcp.InputResponseMap{"who": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}}
	p.RequestState = first.RequestState + "x"
	if _, err := r.raw.GetPrompt(ctx, p); err == nil {
		t.Error("a changed state is taken")
	}
	p.RequestState = first.RequestState
	second, err := r.raw.GetPrompt(ctx, p)
	if err != nil || len(second.Messages) != 1 {
		t.Fatalf("the second round is %+v, %v", second, err)
	}
}

// Clients that answer by their handlers, of both revisions, with servers of both.
func TestQuestionsBetweenRevisions(t *testing.T) {
	for _, server := range []string{revisionOld, revisionNew} {
		for _, client := range []string{revisionOld, revisionNew} {
			t.Run(server+" to "+client, func(t *testing.T) {
				srv := askingServer()
				if server == revisionOld {
					srv = askingServer(revisionOld)
				}
				r := newGatewayRig(t, oneServer(srv, reading), ownTools, nil)
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				ct, st := mcp.NewInMemoryTransports()
				if _, err := r.gateway.Server().Connect(ctx, st, nil); err != nil {
					t.Fatal(err)
				}
				r.client.Close() // else it is not clear whose user is asked
				c := mcp.NewClient(&mcp.Implementation{Name: "answering"}, &mcp.ClientOptions{
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
					}})
				cs, err := c.Connect(ctx, ct, &mcp.ClientSessionOptions{ProtocolVersion: client})
				if err != nil {
					t.Fatal(err)
				}
				defer cs.Close()
				res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
				if err != nil || textOf(res) != "Hello, Ann!" {
					t.Errorf("got %+v, %v", res, err)
				}
			})
		}
	}
}
