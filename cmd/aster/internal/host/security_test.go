//lint:file-ignore SA1019 sampling and roots are deprecated, and servers of older revisions ask for them; a gateway passes them on.

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// foreignServer is a configured server over HTTP whose tools claim to only read. It keeps
// what clients said that they can do.
type foreignServer struct {
	*httptest.Server
	mu   sync.Mutex
	caps []*mcp.ClientCapabilities
}

func newForeignServer(t *testing.T, descriptions map[string]string) *foreignServer {
	t.Helper()
	f := &foreignServer{}
	srv := mcp.NewServer(&mcp.Implementation{Name: "foreign", Version: "1"}, nil)
	for name, text := range descriptions {
		srv.AddTool(&mcp.Tool{Name: name, Description: text, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "did " + name}}}, nil
			})
	}
	srv.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if r, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams]); ok {
				f.mu.Lock()
				f.caps = append(f.caps, r.Params.Capabilities)
				f.mu.Unlock()
			}
			return next(ctx, method, req)
		}
	})
	f.Server = httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
	t.Cleanup(func() { f.CloseClientConnections(); f.Close() })
	return f
}

// foreignRig is the gateway over one configured server that keeps its address.
func foreignRig(t *testing.T, url, state string, o *host.SessionOptions, g *host.GatewayOptions, answer *mcp.ElicitResult) *gatewayRig {
	t.Helper()
	o.Config = loadConfig(t, fmt.Sprintf("mcp:\n  servers:\n    foreign:\n      url: %q\n", url))
	return newGatewayRigIn(t, state, o, g, answer)
}

// Security rows 1 to 3: what was first listed is the baseline. A tool that is new
// or changed since is not listed, not found, not described and not called.
func TestChangedToolsAreHeldBack(t *testing.T) {
	tools := map[string]string{"keep": "Keeps a note", "swap": "Swaps a note"}
	var mu sync.Mutex
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv := mcp.NewServer(&mcp.Implementation{Name: "foreign", Version: "1"}, nil)
		mu.Lock()
		now := maps.Clone(tools)
		mu.Unlock()
		for name, text := range now {
			srv.AddTool(&mcp.Tool{Name: name, Description: text, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "did " + name}}}, nil
			})
		}
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP(w, r)
	}))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	state := t.TempDir()
	first := foreignRig(t, proxy.URL, state, &host.SessionOptions{Approve: guard.ModeNever}, &host.GatewayOptions{Expose: host.ExposeBoth}, nil)
	if got := first.tools(t); !slices.Equal(got, []string{"aster_mcp", "foreign__keep", "foreign__swap"}) {
		t.Fatalf("the first list is %q", got)
	}
	mu.Lock()
	tools["swap"], tools["added"] = "Swaps a note.", "Adds a note"
	mu.Unlock()
	r := foreignRig(t, proxy.URL, state, &host.SessionOptions{Approve: guard.ModeNever}, &host.GatewayOptions{Expose: host.ExposeBoth}, nil)
	if got := r.tools(t); !slices.Equal(got, []string{"aster_mcp", "foreign__keep"}) {
		t.Errorf("listed: %q", got)
	}
	for row, name := range map[string]string{"security row 1: a changed tool": "swap", "security row 2: a new tool": "added"} {
		t.Run(row, func(t *testing.T) {
			if text, _ := r.call(t, "aster_mcp", map[string]any{"action": "search", "query": name + " note"}); strings.Contains(text, "foreign/"+name) {
				t.Errorf("security row 3: %s is found: %s", name, text)
			}
			for _, action := range []string{"describe", "execute"} {
				if text, isError := r.call(t, "aster_mcp", map[string]any{"action": action, "name": "foreign/" + name, "arguments": map[string]any{}}); !isError || strings.Contains(text, "did ") {
					t.Errorf("security row 3: %s of %s: %q", action, name, text)
				}
			}
		})
	}
	if held := fmt.Sprint(r.session.HeldBack()); !strings.Contains(held, "foreign/swap") || !strings.Contains(held, "foreign/added") || !strings.Contains(held, "aster mcp approve") {
		t.Errorf("held back: %s", held)
	}
}

// What a server says of its tools makes nothing easier for it.
func TestClaimsLoosenNothing(t *testing.T) {
	f := newForeignServer(t, map[string]string{"look": "Only looks"})
	t.Run("security row 11, security row 12: a tool that claims to only read asks, by its own name", func(t *testing.T) {
		r := foreignRig(t, f.URL, t.TempDir(), &host.SessionOptions{Approve: guard.ModeAster}, &host.GatewayOptions{Expose: host.ExposeBoth}, no)
		for _, call := range []struct {
			tool string
			args any
		}{{"foreign__look", nil}, {"aster_mcp", map[string]any{"action": "execute", "name": "foreign/look", "arguments": map[string]any{}}}} {
			if text, isError := r.call(t, call.tool, call.args); !isError || strings.Contains(text, "did look") {
				t.Errorf("%s: %q", call.tool, text)
			}
			select {
			case q := <-r.asked:
				if !strings.Contains(q, "foreign/look") {
					t.Errorf("the question is %q", q)
				}
			default:
				t.Errorf("%s: the user was not asked", call.tool)
			}
		}
		lines := r.audited(t)
		if len(lines) == 0 {
			t.Error("nothing is on record")
		}
		for _, line := range lines {
			if !strings.HasSuffix(line, " foreign/look") {
				t.Errorf("on record: %q", line)
			}
		}
	})
	t.Run("security row 25: read-only wins over every allow", func(t *testing.T) {
		strict := foreignRig(t, f.URL, t.TempDir(), &host.SessionOptions{Approve: guard.ModeNever, ReadOnly: true}, &host.GatewayOptions{Expose: host.ExposeTools}, nil)
		if text, isError := strict.call(t, "foreign__look", nil); !isError || !strings.Contains(text, "read-only") {
			t.Errorf("read-only: %q", text)
		}
	})
	t.Run("security row 27: no sampling and no roots are offered", func(t *testing.T) {
		foreignRig(t, f.URL, t.TempDir(), &host.SessionOptions{Legacy: true}, nil, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.caps) == 0 {
			t.Error("nobody said what it can do")
		}
		for _, c := range f.caps {
			if c != nil && (c.Sampling != nil || c.RootsV2 != nil) {
				t.Errorf("a server was offered %+v", c)
			}
		}
	})
}
