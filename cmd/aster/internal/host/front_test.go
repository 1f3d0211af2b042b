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

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// frontRig is a guarded server with a client.
type frontRig struct {
	gatewayRig
	mu     sync.Mutex
	called []string // what reached a handler
}

// loadConfig reads a configuration as a user writes it.
func loadConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "aster.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(&config.Options{File: path, Dir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pages is a server like webmcp: page tools of https://shop.example under their own
// names, and the envelope webmcp_call.
func (r *frontRig) pages() host.Builtin {
	srv := mcp.NewServer(&mcp.Implementation{Name: "webmcp", Version: "1"}, &mcp.ServerOptions{Instructions: "what it is for"})
	tools := map[string]*mcp.Tool{}
	for _, name := range []string{"buy", "look", "webmcp_tabs", "webmcp_call"} {
		tools[name] = &mcp.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		srv.AddTool(tools[name], func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.called = append(r.called, name+string(req.Params.Arguments))
			return &mcp.CallToolResult{Meta: mcp.Meta{"aster/timeoutMs": req.Params.Meta["aster/timeoutMs"]}, Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	}
	return host.Builtin{Name: "webmcp", Server: srv, Effect: reading, Resolve: func(_ context.Context, req *mcp.CallToolRequest) (host.Target, error) {
		name, args, direct := req.Params.Name, req.Params.Arguments, true
		var wrap func(json.RawMessage) (json.RawMessage, error)
		if name == "webmcp_call" {
			var in struct {
				Name, Handle string
				Arguments    json.RawMessage
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return host.Target{}, err
			}
			if in.Handle != "" {
				return host.Target{}, nil
			}
			name, args, direct = in.Name, in.Arguments, false
			wrap = func(raw json.RawMessage) (json.RawMessage, error) {
				return json.Marshal(map[string]any{"name": name, "arguments": raw})
			}
		}
		page := name == "buy" || name == "look"
		return host.Target{Tool: tools[name], Page: page, Origin: map[bool]string{true: "https://shop.example"}[page], Arguments: args, Direct: direct, Wrap: wrap}, nil
	}}
}

func newFrontRig(t *testing.T, o *host.SessionOptions, front func(*frontRig) host.Builtin, revision string, answer *mcp.ElicitResult) *frontRig {
	t.Helper()
	r := &frontRig{gatewayRig: gatewayRig{asked: make(chan string, 10), state: t.TempDir()}}
	if o.Config == nil {
		o.Config = config.Default()
	}
	o.StateDir = r.state
	f, err := host.NewFront(o, front(r))
	if err != nil {
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
	ss, err := f.Server().Connect(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.client, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, opts).Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: revision}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.client.Close()
		_ = ss.Wait()
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

var (
	yes = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}
	no  = &mcp.ElicitResult{Action: "decline"}
)

// The decision is on the page's tool, whatever the client called, and made once.
func TestFrontJudgesTheRealTool(t *testing.T) {
	const askLook = "mcp:\n  policy:\n    rules:\n      - {ask: webmcp/look, origins: ['https://shop.example'], reason: secret page}\n"
	const denyBuy = "mcp:\n  policy:\n    rules:\n      - {deny: webmcp/buy, args: {item: 'gun*'}, reason: no guns}\n"
	envelope := map[string]any{"name": "buy", "arguments": map[string]any{"item": "gun-1", "b": 1}}
	for _, tt := range []struct {
		name     string
		config   string
		approve  guard.Mode
		readOnly bool
		answer   *mcp.ElicitResult // nil cannot be asked
		tool     string
		args     any
		want     string   // in the result
		called   []string // what reached the server
		asked    int
		record   []string
	}{
		{"page tool under its own name", "", "", false, nil, "buy", map[string]any{"item": "x"}, "done", []string{`buy{"item":"x"}`}, 0, []string{"allow default success webmcp/buy"}},
		{"envelope, the user agrees", "", "", false, yes, "webmcp_call", envelope, "done",
			[]string{`webmcp_call{"arguments":{"b":1,"item":"gun-1"},"name":"buy"}`}, 1, []string{"allow user success webmcp/buy"}},
		{"envelope, the user refuses", "", "", false, no, "webmcp_call", envelope, "the user refused", nil, 1, []string{"deny user denied webmcp/buy"}},
		{"envelope, nobody to ask", "", "", false, nil, "webmcp_call", envelope, "--approve=client", nil, 0, []string{"deny default denied webmcp/buy"}},
		{"envelope, left to the client", "", guard.ModeClient, false, nil, "webmcp_call", envelope, "done",
			[]string{`webmcp_call{"arguments":{"b":1,"item":"gun-1"},"name":"buy"}`}, 0, []string{"allow mode success webmcp/buy"}},
		{"own name, aster asks", "", guard.ModeAster, false, yes, "buy", nil, "done", []string{"buy{}"}, 1, []string{"allow user success webmcp/buy"}},
		{"a rule on arguments, by envelope", denyBuy, "", false, yes, "webmcp_call", envelope, "no guns", nil, 0, []string{"deny rule denied webmcp/buy"}},
		{"a rule on arguments, by name", denyBuy, "", false, yes, "buy", map[string]any{"item": "gun-2"}, "no guns", nil, 0, []string{"deny rule denied webmcp/buy"}},
		{"a rule on an origin asks", askLook, "", false, yes, "look", nil, "done", []string{"look{}"}, 1, []string{"allow user success webmcp/look"}},
		{"read-only", "", "", true, yes, "buy", nil, "read-only mode", nil, 0, []string{"deny read-only denied webmcp/buy"}},
		{"read-only, by envelope", "", guard.ModeClient, true, yes, "webmcp_call", envelope, "read-only mode", nil, 0, []string{"deny read-only denied webmcp/buy"}},
		{"read-only reads", "", "", true, nil, "webmcp_tabs", nil, "done", []string{"webmcp_tabs{}"}, 0, []string{"allow default success webmcp/webmcp_tabs"}},
		{"reading on in a result", "", "", true, nil, "webmcp_call", map[string]any{"handle": "h"}, "done", []string{`webmcp_call{"handle":"h"}`}, 0, nil},
		{"two keys", "", "", false, nil, "buy", json.RawMessage(`{"a":1,"a":2}`), "stands twice", nil, 0, []string{"deny arguments denied webmcp/buy"}},
	} {
		for _, revision := range []string{"2025-06-18", "2026-07-28"} {
			t.Run(tt.name+"/"+revision, func(t *testing.T) {
				o := &host.SessionOptions{Approve: tt.approve, ReadOnly: tt.readOnly}
				if tt.config != "" {
					o.Config = loadConfig(t, tt.config)
				}
				r := newFrontRig(t, o, (*frontRig).pages, revision, tt.answer)
				text, _ := r.call(t, tt.tool, tt.args)
				if !strings.Contains(text, tt.want) {
					t.Errorf("the result is %q, want %q in it", text, tt.want)
				}
				if diff := cmp.Diff(tt.called, r.called); diff != "" {
					t.Errorf("what was called (-want +got):\n%s", diff)
				}
				if len(r.asked) != tt.asked {
					t.Fatalf("the user was asked %d times, want %d", len(r.asked), tt.asked)
				}
				if tt.asked > 0 {
					if q := <-r.asked; !strings.Contains(q, "test wants to call webmcp/") || !strings.Contains(q, "https://shop.example") {
						t.Errorf("the question does not name tool and origin: %q", q)
					}
				}
				// On 2026-07-28 a question is an answer of its own, and recorded as one.
				got := slices.DeleteFunc(r.audited(t), func(s string) bool { return strings.Contains(s, " asking ") })
				if diff := cmp.Diff(tt.record, got); diff != "" {
					t.Errorf("the record (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// What the guard does not change.
func TestFrontLeavesTheServerAsItIs(t *testing.T) {
	r := newFrontRig(t, &host.SessionOptions{}, (*frontRig).pages, "", nil)
	if got := r.client.InitializeResult().Instructions; got != "what it is for" {
		t.Errorf("instructions %q", got)
	}
	res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "look", Meta: mcp.Meta{"aster/timeoutMs": 7.0}})
	if err != nil || res.Meta["aster/timeoutMs"] != 7.0 {
		t.Errorf("_meta did not pass: %v %v", res, err)
	}
	if _, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), `unknown tool "nothing"`) {
		t.Errorf("an unknown tool: %v", err)
	}
}

// A tool that is filtered out is not listed, and like one that is not there.
func TestFrontFilters(t *testing.T) {
	c := loadConfig(t, "mcp:\n  tools:\n    deny: [webmcp/buy]\n")
	r := newFrontRig(t, &host.SessionOptions{Config: c, Approve: guard.ModeClient}, (*frontRig).pages, "", nil)
	if got := r.tools(t); !slices.Equal(got, []string{"look", "webmcp_call", "webmcp_tabs"}) {
		t.Errorf("tools %q", got)
	}
	if _, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "buy"}); err == nil || !strings.Contains(err.Error(), `unknown tool "buy"`) {
		t.Errorf("a denied tool: %v", err)
	}
	if text, isError := r.call(t, "webmcp_call", map[string]any{"name": "buy"}); !isError || !strings.Contains(text, "there is no tool") {
		t.Errorf("a denied tool in the envelope: %q", text)
	}
	if len(r.called) > 0 || len(r.audited(t)) > 0 {
		t.Errorf("called %q", r.called)
	}
}

// A server without an envelope is judged by its list, also where that changes.
func TestFrontOfAPlainServer(t *testing.T) {
	srv := fakeServer("shortcuts", "list", "run")
	effect := func(tool string) guard.Effect {
		if tool == "list" {
			return guard.EffectRead
		}
		return guard.EffectUnknown
	}
	r := newFrontRig(t, &host.SessionOptions{Approve: guard.ModeAster}, func(*frontRig) host.Builtin {
		return host.Builtin{Name: "shortcuts", Server: srv, Effect: effect}
	}, "", no)
	if text, isError := r.call(t, "list", nil); isError || len(r.asked) > 0 {
		t.Errorf("a tool that reads: %q", text)
	}
	if text, isError := r.call(t, "run", map[string]any{"x": "1"}); !isError || len(r.asked) != 1 {
		t.Errorf("a tool that acts: %q, asked %d times", text, len(r.asked))
	}
	srv.AddTool(&mcp.Tool{Name: "run", Description: "another", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		t.Error("called")
		return nil, nil
	})
	r.call(t, "run", nil)
	got := []string{}
	for rec, err := range guard.Records(guard.ReadLog(filepath.Join(r.state, "audit.jsonl"), nil)) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Tool == "shortcuts/run" {
			got = append(got, rec.Definition)
		}
	}
	if len(got) < 2 || got[0] == got[len(got)-1] {
		t.Errorf("the definitions on record are %q, want the second to be another", got)
	}
}

// A record that cannot be begun refuses the call.
func TestFrontWithoutRecord(t *testing.T) {
	c := loadConfig(t, fmt.Sprintf("mcp:\n  audit:\n    file: %q\n", t.TempDir())) // a directory
	r := newFrontRig(t, &host.SessionOptions{Config: c}, (*frontRig).pages, "", nil)
	if text, isError := r.call(t, "look", nil); !isError || !strings.Contains(text, "mcp.audit.enabled: false") || len(r.called) > 0 {
		t.Errorf("called without a record: %v %q", isError, text)
	}
}

// BenchmarkFront is what the guard costs a call: the same server with and without it.
func BenchmarkFront(b *testing.B) {
	for _, way := range []string{"bare", "guarded"} {
		b.Run(way, func(b *testing.B) {
			srv := fakeServer("web", "search")
			if way == "guarded" {
				f, err := host.NewFront(&host.SessionOptions{Config: config.Default(), StateDir: b.TempDir()}, host.Builtin{Name: "web", Server: srv, Effect: reading})
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
			}
			ct, st := mcp.NewInMemoryTransports()
			if _, err := srv.Connect(b.Context(), st, nil); err != nil {
				b.Fatal(err)
			}
			client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "0"}, nil).Connect(b.Context(), ct, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			params := &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"x": "what a user looks for"}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.CallTool(b.Context(), params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
