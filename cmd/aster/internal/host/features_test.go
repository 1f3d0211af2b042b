package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// promptServer has a prompt, and a resource, of each name.
func promptServer(names ...string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "prompts"}, nil)
	for _, name := range names {
		srv.AddPrompt(&mcp.Prompt{Name: name}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "prompt " + name}, nil
		})
		srv.AddResource(&mcp.Resource{Name: name, URI: "note:" + name}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: "note " + name}}}, nil
		})
	}
	return srv
}

// featuresOf are the prompts and resources that a client is listed, sorted.
func featuresOf(t *testing.T, cs *mcp.ClientSession) (out []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for p, err := range cs.Prompts(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Name)
	}
	for r, err := range cs.Resources(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.URI)
	}
	slices.Sort(out)
	return out
}

func waitForFeatures(t *testing.T, cs *mcp.ClientSession, want ...string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := featuresOf(t, cs)
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("lists %q, want %q", got, want)
		}
	}
}

// Servers of this process have prompts and resources like others, and no name of one stands
// for another's.
func TestFeaturesOfBuiltins(t *testing.T) {
	r := newGatewayRig(t, &host.SessionOptions{Builtins: []host.Builtin{
		{Name: "a", Server: promptServer("one", "b__two")}, {Name: "a__b", Server: promptServer("two")},
	}}, nil, nil)
	got := featuresOf(t, r.client)
	if len(got) != 6 || len(slices.Compact(slices.Clone(got))) != 6 || !slices.Contains(got, "a__one") || !slices.Contains(got, "aster://a/note:one") {
		t.Fatalf("lists %q", got)
	}
	seen := map[string]int{}
	for p, err := range r.client.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		seen[res.Description]++
	}
	if fmt.Sprint(seen) != "map[prompt b__two:1 prompt one:1 prompt two:1]" {
		t.Errorf("the prompts answer %v", seen)
	}
	res, err := r.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "aster://a__b/note:two"})
	if err != nil || res.Contents[0].Text != "note two" || res.Contents[0].URI != "aster://a__b/note:two" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A server that comes up when the client is long there brings what it has, and one that is
// started anew what it has then.
func TestFeaturesOfLateServers(t *testing.T) {
	release := make(chan struct{})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return promptServer("late") }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			handler.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	c := config.Default()
	c.Servers = []*config.Server{{Name: "up", Transport: config.StreamableHTTP, URL: web.URL}}
	s, err := host.NewSession(&host.SessionOptions{Config: c, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	now, cancel := context.WithCancel(t.Context())
	cancel()
	s.Start(now) // does not wait
	g, err := host.NewGateway(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{revisionOld, revisionNew} {
		ct, st := mcp.NewInMemoryTransports()
		if _, err := g.Server().Connect(t.Context(), st, nil); err != nil {
			t.Fatal(err)
		}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cs.Close() })
		if caps := cs.InitializeResult().Capabilities; caps.Prompts == nil || !caps.Prompts.ListChanged || caps.Resources == nil {
			t.Fatalf("%s: a client cannot know that there may be prompts: %+v", revision, caps)
		}
		if revision == revisionNew {
			waitForFeatures(t, cs, "aster://up/note:late", "up__late")
			continue
		}
		if got := featuresOf(t, cs); len(got) != 0 {
			t.Fatalf("lists %q of a server that is not up", got)
		}
		close(release)
		waitForFeatures(t, cs, "aster://up/note:late", "up__late")
	}
}

// What a server says of its tools reaches the client of a server that is served by itself,
// also where a tool came and went at once.
func TestProxyPassesOnToolsChanged(t *testing.T) {
	srv := fakeServer("up", "stay")
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	c := config.Default()
	c.Servers = []*config.Server{{Name: "up", Transport: config.StreamableHTTP, URL: web.URL}}
	r := newGatewayRig(t, &host.SessionOptions{Config: c}, &host.GatewayOptions{Expose: host.ExposeTools, Own: true}, nil)
	told := make(chan struct{}, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "c"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	})
	ct, st := mcp.NewInMemoryTransports()
	if _, err := r.gateway.Server().Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	cs, err := client.Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: revisionOld})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	// The same tool again: the server says so, and its list is what it was.
	for end := time.After(30 * time.Second); ; {
		fakeTool(srv, "stay")
		select {
		case <-told:
			if tools, err := cs.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 1 {
				t.Errorf("%+v, %v", tools, err)
			}
			return
		case <-time.After(100 * time.Millisecond):
		case <-end:
			t.Fatal("the client was not told")
		}
	}
}

// fakeTool adds a tool of fakeServer.
func fakeTool(srv *mcp.Server, name string) {
	srv.AddTool(&mcp.Tool{Name: name, Description: "Does " + name, InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
}
