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
)

// A model that names a tool of a server that is not connected is told that, and why, and
// not led to another server's tool of the same name. Once the server can be had the call
// starts it.
func TestToolOfAServerThatIsDown(t *testing.T) {
	var up atomic.Bool
	bad := fakeServer("bad", "echo")
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return bad }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	c := config.Default()
	c.Servers = []*config.Server{
		{Name: "bad", Transport: config.StreamableHTTP, URL: web.URL},
		{Name: "unset", Transport: config.StreamableHTTP, URL: "http://127.0.0.1:1/${NO_SUCH_VARIABLE_XYZ}"},
	}
	r := newGatewayRig(t, &host.SessionOptions{Config: c, Approve: guard.ModeNever, Builtins: []host.Builtin{{Name: "good", Server: fakeServer("good", "echo"), Effect: reading}}}, nil, nil)
	const why = "the server bad is not connected (not responding: answers 500 Internal Server Error). 'aster mcp doctor bad'"
	for _, tt := range []struct {
		args map[string]any
		want []string
		ok   bool
	}{
		{map[string]any{"action": "execute", "name": "bad/echo", "arguments": map[string]any{}}, []string{"bad/echo cannot be used: " + why}, false},
		{map[string]any{"action": "execute", "name": "bad__echo"}, []string{why}, false},
		{map[string]any{"action": "describe", "name": "`bad/echo`"}, []string{why}, false},
		{map[string]any{"action": "describe", "names": []string{"bad/echo", "bad/other"}}, []string{why}, false},
		{map[string]any{"action": "describe", "names": []string{"good/echo", "bad/echo"}}, []string{why, "schema: "}, true},
		{map[string]any{"action": "execute", "name": "unset/echo"}, []string{"the server unset is not connected", "NO_SUCH_VARIABLE_XYZ", "aster mcp doctor unset"}, false},
	} {
		text, isError := r.call(t, "aster_mcp", tt.args)
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: %q, want %q", tt.args, text, want)
			}
		}
		if isError == tt.ok || !tt.ok && strings.Contains(text, "good/echo") || strings.Contains(text, "no tool") {
			t.Errorf("%v: %q, an error: %v", tt.args, text, isError)
		}
	}
	for _, other := range []string{"badly/echo", "echo"} { // no server of that name
		if text, _ := r.call(t, "aster_mcp", map[string]any{"action": "execute", "name": other}); strings.Contains(text, "not connected") {
			t.Errorf("%s: %q", other, text)
		}
	}
	up.Store(true)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, isError := r.call(t, "aster_mcp", map[string]any{"action": "execute", "name": "bad/echo", "arguments": map[string]any{"x": "1"}})
		if !isError && strings.Contains(text, `echo{"x":"1"}`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it never came back: %q", text)
		}
	}
}
