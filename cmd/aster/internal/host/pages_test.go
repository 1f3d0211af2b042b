package host_test

import (
	"context"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// Clients that share a gateway over HTTP share its token, but not the rest of each other's
// results.
func TestPagesBelongToTheirClient(t *testing.T) {
	r := newGatewayRig(t, &host.SessionOptions{Builtins: []host.Builtin{{Name: "web", Server: fakeServer("web", "long"), Effect: reading}}}, nil, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- host.ServeHTTP(ctx, r.gateway.Server(), l, &host.HTTPOptions{Token: testToken})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	call := func(cs *mcp.ClientSession, args map[string]any) (string, bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "aster_mcp", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return textOf(res), res.IsError
	}
	handles := regexp.MustCompile(`"handle":"([^"]+)"\}\]$`)
	handleOf := func(text string) string {
		t.Helper()
		m := handles.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no handle at the end of %q", text[max(0, len(text)-200):])
		}
		return m[1]
	}
	execute := map[string]any{"action": "execute", "name": "web/long", "arguments": map[string]any{}}
	read := func(cs *mcp.ClientSession, handle string) (string, bool) {
		t.Helper()
		return call(cs, map[string]any{"action": "read", "handle": handle})
	}
	for _, revision := range []string{revisionOld, revisionNew} {
		t.Run(revision, func(t *testing.T) {
			mine, _ := dialHTTP(t, l.Addr().String(), revision, "session")
			other, _ := dialHTTP(t, l.Addr().String(), revision, "session")
			text, isError := call(mine, execute)
			if isError {
				t.Fatal(text)
			}
			handle := handleOf(text)
			second, isError := read(mine, handle)
			if isError || !strings.Contains(second, "line of a long text") {
				t.Fatalf("reading on: %.200s", second)
			}
			if third, isError := read(mine, handleOf(second)); isError {
				t.Errorf("reading on further: %.200s", third)
			}
			guess := handle[strings.LastIndex(handle, "r"):]
			tries := []string{guess, "r1.1000", "A-" + guess}
			if revision == revisionOld {
				tries = append(tries, handle) // even who knows it is not the session
			}
			for _, h := range tries {
				if text, isError := read(other, h); !isError || strings.Contains(text, "line of") {
					t.Errorf("another client read %q: %.200s", h, text)
				}
			}
		})
	}
}
