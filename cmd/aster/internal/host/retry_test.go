package host_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// TestGatewayLateServer serves the tools of a server that was not there when the session
// began, without a call and without a word of the user's: the client is told of new tools.
func TestGatewayLateServer(t *testing.T) {
	var up atomic.Bool
	real := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fakeServer("late", "read") }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.Error(w, "<html>502 Bad Gateway", http.StatusBadGateway)
			return
		}
		real.ServeHTTP(w, r)
	}))
	c := config.Default()
	c.Servers = []*config.Server{{Name: "late", Transport: config.StreamableHTTP, URL: web.URL, Trust: true}}
	s, err := host.NewSession(&host.SessionOptions{Config: c, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	defer s.Close() // first: the server waits for open streams
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Start(ctx)
	if f := s.Servers()[0].Status.Failure; f == nil {
		t.Fatal("the server is up before it is")
	}
	g, err := host.NewGateway(s, &host.GatewayOptions{Expose: host.ExposeBoth})
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 100)
	client := lateClient(ctx, t, g, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	up.Store(true)
	for !slices.Contains(toolNames(ctx, t, client), "late__read") {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the tools of the late server never came in")
		}
	}
	if _, ok := s.Catalog().Get("late/read"); !ok {
		t.Error("the late server's tool is not in the catalogue")
	}
}

// slowSession is a session of one server that is still starting, until release.
func slowSession(ctx context.Context, t *testing.T, approve guard.Mode) (s *host.Session, release func()) {
	t.Helper()
	up := make(chan struct{})
	real := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fakeServer("slow", "read") }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-up
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	c := config.Default()
	c.Servers = []*config.Server{{Name: "slow", Transport: config.StreamableHTTP, URL: web.URL, StartTimeout: time.Minute}}
	s, err := host.NewSession(&host.SessionOptions{Config: c, StateDir: t.TempDir(), Approve: approve})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) // before the server's, which waits for open streams
	release = sync.OnceFunc(func() { close(up) })
	t.Cleanup(release)
	begun, stop := context.WithCancel(ctx)
	stop()
	s.Start(begun)
	return s, release
}

// aMoment is about when the client's request is there; either order is right.
const aMoment = 50 * time.Millisecond

// TestSlowServerByItself lists the tools of one server that is served by itself when its
// start took longer than the client was kept waiting.
func TestSlowServerByItself(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, release := slowSession(ctx, t, "")
	g, err := host.NewGateway(s, &host.GatewayOptions{Expose: host.ExposeTools, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	client := lateClient(ctx, t, g, nil)
	time.AfterFunc(aMoment, release)
	if got := toolNames(ctx, t, client); !slices.Equal(got, []string{"read"}) {
		t.Errorf("the first list: %q, want the tool of the server that was still starting", got)
	}
}

// TestCallOfAStartingServer waits for the server whose tool is named, in place of telling
// the model to come again.
func TestCallOfAStartingServer(t *testing.T) {
	for args, want := range map[string]string{
		`{"action":"describe","name":"slow/read"}`:                      "schema",
		`{"action":"describe","names":["slow/read","slow/none"]}`:       "schema",
		`{"action":"execute","name":"slow/read","arguments":{"x":"1"}}`: `read{"x":"1"}`,
	} {
		t.Run(args, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, release := slowSession(ctx, t, guard.ModeNever)
			g, err := host.NewGateway(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			client := lateClient(ctx, t, g, nil)
			time.AfterFunc(aMoment, release)
			res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "aster_mcp", Arguments: json.RawMessage(args)})
			if err != nil {
				t.Fatal(err)
			}
			if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, want) || res.IsError {
				t.Errorf("%q, want %q", text, want)
			}
		})
	}
}

func lateClient(ctx context.Context, t *testing.T, g *host.Gateway, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := g.Server().Connect(ctx, st, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, o).Connect(ctx, ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func toolNames(ctx context.Context, t *testing.T, client *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := client.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}
