package host_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/cmd/aster/internal/upstream"
)

// site serves one MCP server where let says so, else a status.
func site(t *testing.T, status int, let func(*http.Request) bool) string {
	t.Helper()
	srv := fakeServer("bad", "echo")
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !let(r) {
			w.WriteHeader(status)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

// become calls a tool until what comes of it is right.
func (r *gatewayRig) become(t *testing.T, name string, right func(text string, isError bool) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, isError := r.call(t, name, map[string]any{"x": "1"})
		if right(text, isError) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it stays with %q", text)
		}
	}
}

func works(text string, isError bool) bool {
	return !isError && strings.Contains(text, `echo{"x":"1"}`)
}

// TestOwnNameOfAServerThatIsDown does for tools under names of their own what is done for
// those behind aster_mcp: the model is told that the server is not connected, and why, and
// the call starts it once it can be had.
func TestOwnNameOfAServerThatIsDown(t *testing.T) {
	for name, o := range map[string]*host.GatewayOptions{"echo": {Expose: host.ExposeTools, Own: true}, "bad__echo": {Expose: host.ExposeTools}} {
		t.Run(name, func(t *testing.T) {
			var up atomic.Bool
			c := config.Default()
			c.Servers = []*config.Server{{Name: "bad", Transport: config.StreamableHTTP, URL: site(t, http.StatusInternalServerError, func(*http.Request) bool { return up.Load() }), Trust: true}}
			r := newGatewayRig(t, &host.SessionOptions{Config: c}, o, nil)
			const want = "cannot be used: the server bad is not connected (not responding: answers 500 Internal Server Error). 'aster mcp doctor bad'"
			if text, isError := r.call(t, name, nil); !isError || !strings.Contains(text, want) {
				t.Errorf("%q, an error: %v", text, isError)
			}
			up.Store(true)
			r.become(t, name, works)
		})
	}
}

// TestLoginOfARunningSession lets a session that runs have the login that the user makes
// meanwhile, and takes away the one that the user ends.
func TestLoginOfARunningSession(t *testing.T) {
	c := config.Default()
	url := site(t, http.StatusUnauthorized, func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer good" })
	c.Servers = []*config.Server{{Name: "bad", Transport: config.StreamableHTTP, URL: url, Trust: true}}
	r := newGatewayRig(t, &host.SessionOptions{Config: c, Approve: guard.ModeClient}, &host.GatewayOptions{Expose: host.ExposeTools, Own: true}, nil)
	wanting := func(text string, isError bool) bool {
		return isError && strings.Contains(text, "needs sign-in") && strings.Contains(text, "aster mcp login bad")
	}
	if text, isError := r.call(t, "echo", nil); !wanting(text, isError) {
		t.Errorf("%q, an error: %v", text, isError)
	}
	if err := upstream.NewStore(r.state, false).Save(t.Context(), "bad", url, &upstream.Grant{AccessToken: "good"}); err != nil {
		t.Fatal(err)
	}
	r.become(t, "echo", works)
	if had, err := host.Logout(t.Context(), c.Servers[0], func(string) string { return "" }, r.state); !had || err != nil {
		t.Fatalf("Logout: %v, %v", had, err)
	}
	r.become(t, "echo", wanting)
}
