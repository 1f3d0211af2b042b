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

// What changes at a server beside its tools reaches the client, under the gateway's names.
func TestProxyFollowsChanges(t *testing.T) {
	srv := mcp.NewServer(&mcp.Implementation{Name: "up"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addPrompt := func(name string) {
		srv.AddPrompt(&mcp.Prompt{Name: name}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	}
	addResource := func(uri string) {
		srv.AddResource(&mcp.Resource{Name: "r", URI: uri}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: "x"}}}, nil
		})
	}
	srv.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	addPrompt("one")
	addResource("file:///one")
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	c := config.Default()
	c.Servers = []*config.Server{{Name: "up", Transport: config.StreamableHTTP, URL: web.URL}}
	r := newGatewayRig(t, &host.SessionOptions{Config: c}, nil, nil)

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	told := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "c"}, &mcp.ClientOptions{
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { told <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { told <- "resources" },
		ResourceUpdatedHandler:     func(_ context.Context, q *mcp.ResourceUpdatedNotificationRequest) { told <- q.Params.URI },
		ElicitationCompleteHandler: func(_ context.Context, q *mcp.ElicitationCompleteNotificationRequest) { told <- q.Params.ElicitationID },
	})
	ct, st := mcp.NewInMemoryTransports()
	if _, err := r.gateway.Server().Connect(ctx, st, nil); err != nil {
		t.Fatal(err)
	}
	cs, err := client.Connect(ctx, ct, &mcp.ClientSessionOptions{ProtocolVersion: revisionOld})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	hears := func(want string) {
		t.Helper()
		for {
			select {
			case got := <-told:
				if got == want {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%s: not told", want)
			}
		}
	}
	names := func() (out []string) {
		t.Helper()
		ps, err := cs.ListPrompts(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		rs, err := cs.ListResources(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps.Prompts {
			out = append(out, p.Name)
		}
		for _, r := range rs.Resources {
			out = append(out, r.URI)
		}
		slices.Sort(out)
		return out
	}
	until := func(want string) {
		t.Helper()
		for fmt.Sprint(names()) != want {
			if ctx.Err() != nil {
				t.Fatalf("lists %v, want %s", names(), want)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	until("[aster://up/file:///one up__one]")
	addPrompt("two")
	hears("prompts")
	addResource("file:///two")
	hears("resources")
	until("[aster://up/file:///one aster://up/file:///two up__one up__two]")
	srv.RemovePrompts("one")
	srv.RemoveResources("file:///one")
	until("[aster://up/file:///two up__two]")

	if err := cs.Subscribe(ctx, &mcp.SubscribeParams{URI: "aster://up/file:///two"}); err != nil {
		t.Fatal(err)
	}
	srv.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "file:///two"})
	hears("aster://up/file:///two")
	for ss := range srv.Sessions() {
		if err := ss.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: "e1"}); err != nil {
			t.Fatal(err)
		}
	}
	hears("e1")
}
