package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// doctorOf runs aster mcp doctor over one remote server.
func doctorOf(t *testing.T, url string) (code int, steps map[string]string, text string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "servers.yaml")
	yaml := fmt.Sprintf("mcp:\n  servers:\n    far:\n      url: %s\n      start_timeout: 5s\n      headers: {X-Key: secret-canary-1}\n", url)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	env := &cli.Env{Args: []string{"mcp", "doctor", "far", "--json", "--config", file}, Home: home, Getenv: vars("HOME", home)}
	code, text, stderr := run(t, env)
	var report struct {
		Servers []struct {
			Steps []struct{ Name, Verdict, Text, Next string }
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil || len(report.Servers) != 1 {
		t.Fatalf("%v\n%s%s", err, text, stderr)
	}
	steps = map[string]string{}
	for _, s := range report.Servers[0].Steps {
		steps[s.Name] = s.Verdict + ": " + s.Text + " > " + s.Next
	}
	return code, steps, text
}

func TestDoctorRemote(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.Header.Get("X-Key") != "" {
				code = http.StatusTeapot // the plain request must hold no header of the user's
			}
			w.WriteHeader(code)
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "ping"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	good := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	tests := []struct {
		name    string
		handler http.Handler
		code    int
		want    map[string]string // parts of steps
	}{
		{"well", good, cli.ExitOK, map[string]string{"connection": "ok: made", "http": "ok: ", "protocol": "ok: MCP 20", "tools": "ok: 1 listed"}},
		{"sign-in", status(http.StatusUnauthorized), cli.ExitWaits, map[string]string{"http": "ok: 401 Unauthorized: it asks for a login", "sign-in": "> aster mcp login far"}},
		{"down", status(http.StatusServiceUnavailable), cli.ExitBlocked, map[string]string{"http": "fail: 503 Service Unavailable"}},
		{"not there", status(http.StatusNotFound), cli.ExitBlocked, map[string]string{"http": "warn: 404", "protocol": "fail: "}},
		{"a web page", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>welcome</html>")
		}), cli.ExitBlocked, map[string]string{"http": "warn: 200 OK with a web page", "protocol": "fail: not MCP"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			far := httptest.NewServer(tt.handler)
			defer far.Close()
			code, steps, text := doctorOf(t, far.URL+"/mcp?token=secret-canary-2")
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for name, part := range tt.want {
				if !strings.Contains(steps[name], part) {
					t.Errorf("step %s is %q, want %q in it", name, steps[name], part)
				}
			}
			if strings.Contains(text, "secret-canary") {
				t.Errorf("a secret is shown:\n%s", text)
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

func TestDoctorRemoteTLS(t *testing.T) {
	far := httptest.NewTLSServer(http.NotFoundHandler())
	defer far.Close()
	code, steps, _ := doctorOf(t, far.URL)
	if code != cli.ExitBlocked || !strings.Contains(steps["tls"], "fail: ") || !strings.Contains(steps["tls"], "> add the authority") {
		t.Errorf("exit code %d, %v", code, steps)
	}
	far.Close()
	code, steps, _ = doctorOf(t, far.URL)
	if code != cli.ExitBlocked || !strings.Contains(steps["connection"], "nothing listens") {
		t.Errorf("exit code %d, %v", code, steps)
	}
}
