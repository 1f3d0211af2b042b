package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// gatewayRig is a session over servers of the test, and a client of its gateway.
type gatewayRig struct {
	session *host.Session
	gateway *host.Gateway
	client  *mcp.ClientSession
	asked   chan string // questions to the user; nil refuses to be asked
	state   string
}

// fakeServer has one tool for each name; a tool answers with its name and arguments.
func fakeServer(name string, tools ...string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ServerOptions{Instructions: "Does the things of " + name + ".\nMore."})
	for _, t := range tools {
		srv.AddTool(&mcp.Tool{Name: t, Description: "Does " + t, InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)},
			func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if t == "long" {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("line of a long text\n", 20_000)}}}, nil
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t + string(req.Params.Arguments)}}}, nil
			})
	}
	return srv
}

func reading(string) guard.Effect { return guard.EffectRead }

func newGatewayRig(t *testing.T, o *host.SessionOptions, g *host.GatewayOptions, answer *mcp.ElicitResult) *gatewayRig {
	t.Helper()
	return newGatewayRigIn(t, t.TempDir(), o, g, answer)
}

// newGatewayRigIn is newGatewayRig with a state directory that lasts longer.
func newGatewayRigIn(t *testing.T, state string, o *host.SessionOptions, g *host.GatewayOptions, answer *mcp.ElicitResult) *gatewayRig {
	t.Helper()
	r := &gatewayRig{asked: make(chan string, 10), state: state}
	if o.Config == nil {
		o.Config = config.Default()
	}
	o.StateDir, o.Version = r.state, "test"
	var err error
	if r.session, err = host.NewSession(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(func() {
		if r.client != nil {
			r.client.Close()
		}
		if err := r.session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		cancel()
	})
	r.session.Start(ctx)
	if r.gateway, err = host.NewGateway(r.session, g); err != nil {
		t.Fatal(err)
	}
	opts := &mcp.ClientOptions{}
	if answer != nil {
		opts.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			r.asked <- req.Params.Message
			return answer, nil
		}
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := r.gateway.Server().Connect(ctx, st, nil); err != nil {
		t.Fatal(err)
	}
	if r.client, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, opts).Connect(ctx, ct, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *gatewayRig) call(t *testing.T, name string, args any) (string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	res, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text + "\n")
		}
	}
	return b.String(), res.IsError
}

func (r *gatewayRig) tools(t *testing.T) (names []string) {
	t.Helper()
	for tool, err := range r.client.Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// audited reads the record: "decision by outcome tool" of each call.
func (r *gatewayRig) audited(t *testing.T) (lines []string) {
	t.Helper()
	for rec, err := range guard.Records(guard.ReadLog(filepath.Join(r.state, "audit.jsonl"), nil)) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", rec.Decision, rec.By, rec.Outcome, rec.Tool))
	}
	return lines
}

func TestGatewayFindsDescribesAndCalls(t *testing.T) {
	r := newGatewayRig(t, &host.SessionOptions{Builtins: []host.Builtin{
		{Name: "web", Server: fakeServer("web", "search", "long"), Effect: reading},
		{Name: "webmcp", Server: fakeServer("webmcp", "pay", "webmcp_tabs", "webmcp_call"), Effect: reading, Hidden: []string{"webmcp_call"},
			Origin: func(tool string) (string, bool) { return "https://bank.example", tool == "pay" }},
	}}, nil, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}})
	if got := r.tools(t); !slices.Equal(got, []string{"aster_mcp"}) {
		t.Errorf("tools %q, want the bridge alone", got)
	}
	instructions := r.client.InitializeResult().Instructions
	for _, want := range []string{"web (2 tools)", "search: Does search", "webmcp_tabs"} {
		if !strings.Contains(instructions, want) {
			t.Errorf("the instructions lack %q:\n%s", want, instructions)
		}
	}
	if strings.Contains(instructions, "webmcp_call") {
		t.Error("a tool that the bridge stands for is listed")
	}
	if text, _ := r.call(t, "aster_mcp", map[string]any{"action": "search", "query": "search"}); !strings.Contains(text, "web/search") {
		t.Errorf("search found %q", text)
	}
	if text, _ := r.call(t, "aster_mcp", map[string]any{"action": "describe", "name": "web/search"}); !strings.Contains(text, `"properties"`) {
		t.Errorf("described as %q", text)
	}
	exec := func(name string) (string, bool) {
		return r.call(t, "aster_mcp", map[string]any{"action": "execute", "name": name, "arguments": map[string]any{"x": "1"}})
	}
	if text, isError := exec("web/search"); isError || !strings.Contains(text, `search{"x":"1"}`) {
		t.Errorf("web/search: %v %q", isError, text)
	}
	if text, isError := exec("webmcp/webmcp_call"); !isError {
		t.Errorf("a hidden tool was called: %q", text)
	}
	if text, isError := exec("nobody/nothing"); !isError {
		t.Errorf("a tool of nobody was called: %q", text)
	}
	// A page's tool asks, naming the real tool and its origin.
	if text, _ := exec("webmcp/pay"); len(r.asked) != 1 {
		t.Errorf("the user was asked %d times: %q", len(r.asked), text)
	} else if q := <-r.asked; !strings.Contains(q, "webmcp/pay") || !strings.Contains(q, "https://bank.example") {
		t.Errorf("the question is %q", q)
	}
	if got := fmt.Sprint(r.audited(t)); got != "[allow default success web/search ask default asking webmcp/pay allow user success webmcp/pay]" {
		t.Errorf("audited %s", got)
	}
}

func TestGatewayCutsLongResults(t *testing.T) {
	r := newGatewayRig(t, &host.SessionOptions{Builtins: []host.Builtin{{Name: "web", Server: fakeServer("web", "long"), Effect: reading}}}, nil, nil)
	text, _ := r.call(t, "aster_mcp", map[string]any{"action": "execute", "name": "web/long", "arguments": map[string]any{}})
	if n := bridge.EstimateTokens(text); n > config.DefaultResultTokens+100 {
		t.Fatalf("a result of %d tokens", n)
	}
	pages := 1
	for !strings.Contains(text, "no more") && pages < 50 {
		i := strings.LastIndex(text, `"handle":"`)
		if i < 0 {
			break
		}
		handle, _, _ := strings.Cut(text[i+len(`"handle":"`):], `"`)
		next, isError := r.call(t, "aster_mcp", map[string]any{"action": "read", "handle": handle})
		if isError {
			t.Fatalf("page %d: %.300s", pages+1, next)
		}
		text, pages = next, pages+1
	}
	if pages < 3 {
		t.Errorf("%d pages of 400,000 characters; the last ends in %q", pages, text[max(0, len(text)-300):])
	}
}

func TestGatewayUnderOwnNames(t *testing.T) {
	builtins := func() []host.Builtin {
		return []host.Builtin{
			{Name: "web", Server: fakeServer("web", "search", "a.b", strings.Repeat("n", 100)), Effect: reading},
			{Name: "x", Server: fakeServer("x", "_odd")},
		}
	}
	r := newGatewayRig(t, &host.SessionOptions{Builtins: builtins()}, &host.GatewayOptions{Expose: host.ExposeBoth}, nil)
	names := r.tools(t)
	if len(names) != 5 || !slices.Contains(names, "aster_mcp") || !slices.Contains(names, "web__search") {
		t.Errorf("tools %q", names)
	}
	for _, n := range names {
		if len(n) > host.MaxWireName {
			t.Errorf("a name of %d characters: %s", len(n), n)
		}
	}
	if text, isError := r.call(t, "web__search", map[string]any{"x": "2"}); isError || !strings.Contains(text, `search{"x":"2"}`) {
		t.Errorf("web__search: %q", text)
	}
	// Under its own name the client's approval is the question.
	odd := names[slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "x__") })]
	if text, isError := r.call(t, odd, nil); isError {
		t.Errorf("%s: %q", odd, text)
	}
	own := newGatewayRig(t, &host.SessionOptions{Builtins: builtins(), Only: []string{"web"}}, &host.GatewayOptions{Expose: host.ExposeTools, Own: true}, nil)
	if got := own.tools(t); !slices.Equal(got, []string{"a.b", strings.Repeat("n", 100), "search"}) {
		t.Errorf("the tools of one server are %q", got)
	}
}

func TestGatewayKeepsToTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "aster.yaml")
	text := `mcp:
  tools:
    deny: ["web/crawl"]
  policy:
    rules:
      - {deny: ["web/search"], reason: "not today"}
  servers:
    gone: {command: ` + filepath.Join(dir, "no-such-program") + `}
    unset: {command: "true", args: ["${NO_SUCH_VARIABLE}"]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(&config.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	r := newGatewayRig(t, &host.SessionOptions{Config: c, Builtins: []host.Builtin{{Name: "web", Server: fakeServer("web", "search", "crawl", "extract"), Effect: reading}}}, nil, nil)
	exec := func(name string) (string, bool) {
		return r.call(t, "aster_mcp", map[string]any{"action": "execute", "name": name, "arguments": map[string]any{}})
	}
	if text, isError := exec("web/search"); !isError || !strings.Contains(text, "not today") {
		t.Errorf("a denied call: %v %q", isError, text)
	}
	if text, isError := exec("web/crawl"); !isError || !strings.Contains(text, "no tool") {
		t.Errorf("a tool that is held back: %v %q", isError, text)
	}
	if text, isError := exec("web/extract"); isError {
		t.Errorf("a call beside broken servers: %q", text)
	}
	held := r.session.HeldBack()
	if len(held) != 1 || held[0].ID != "web/crawl" || !strings.Contains(held[0].Reason, file) {
		t.Errorf("held back: %+v", held)
	}
	if p := r.session.Problems(); len(p) != 1 || p[0].Server != "unset" || !strings.Contains(p[0].Text, "NO_SUCH_VARIABLE") {
		t.Errorf("problems: %+v", p)
	}
	for _, sv := range r.session.Servers() {
		if sv.Name == "gone" && sv.Status.Failure == nil {
			t.Errorf("a server that is not installed is %v", sv.Status)
		}
	}
}

// A server's reports reach the client in the server's order, and none comes after the
// result: for a client of an older revision, for one of 2026-07-28, and for such a one
// before an older server.
func TestProgressKeepsItsOrder(t *testing.T) {
	const reports = 200
	for _, tt := range []struct{ client, server string }{{revisionOld, ""}, {revisionNew, ""}, {revisionNew, revisionOld}} {
		t.Run(tt.client+"/"+tt.server, func(t *testing.T) {
			opts := &mcp.ServerOptions{}
			if tt.server != "" {
				opts.SupportedProtocolVersions = []string{tt.server}
			}
			srv := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, opts)
			srv.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				for i := range reports {
					p := &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: reports}
					if err := req.Session.NotifyProgress(ctx, p); err != nil {
						t.Error(err)
					}
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "all done"}}}, nil
			})
			r := newGatewayRig(t, oneServer(srv, reading), ownTools, nil)
			var log lockedLog
			ct, st := mcp.NewInMemoryTransports()
			if _, err := r.gateway.Server().Connect(t.Context(), st, nil); err != nil {
				t.Fatal(err)
			}
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil).Connect(t.Context(), &mcp.LoggingTransport{Transport: ct, Writer: &log}, &mcp.ClientSessionOptions{ProtocolVersion: tt.client})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			p := &mcp.CallToolParams{Name: "work", Arguments: map[string]any{}}
			p.SetProgressToken("p")
			if _, err := cs.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if _, err := cs.ListTools(t.Context(), nil); err != nil { // what was under way is there now
				t.Fatal(err)
			}
			got := log.progressBefore(t, "all done")
			if len(got) == 0 || !slices.IsSorted(got) || len(slices.Compact(got)) != len(got) {
				t.Errorf("reports %v, want them in order", got)
			}
		})
	}
}

// lockedLog may be written while it is read.
type lockedLog struct {
	mu  sync.Mutex
	log strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

// progressBefore are the reports that came before the result; one after it is an error.
func (l *lockedLog) progressBefore(t *testing.T, result string) (got []float64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	before, after, ok := strings.Cut(l.log.String(), result)
	if !ok || strings.Contains(after, "notifications/progress") {
		t.Fatalf("no result, or reports after it: %s", after)
	}
	for line := range strings.Lines(before) {
		var m struct {
			Method string
			Params mcp.ProgressNotificationParams
		}
		if raw, ok := strings.CutPrefix(line, "read: "); ok && json.Unmarshal([]byte(raw), &m) == nil && m.Method == "notifications/progress" {
			got = append(got, m.Params.Progress)
		}
	}
	return got
}
