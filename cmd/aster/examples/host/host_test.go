package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// TestMain makes the test binary the server that the example is given, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "greeter" {
		greeter()
		return
	}
	os.Exit(cdptest.Main(m))
}

func greeter() {
	s := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	type args struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greets a person by their name."},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + a.Name + "!"}}}, nil, nil
		})
	s.Run(context.Background(), &mcp.StdioTransport{})
}

// build compiles the example as a module of its own, as a stranger would.
func build(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") {
			copyFile(t, name, filepath.Join(dir, name))
		}
	}
	copyFile(t, filepath.Join(root, "go.sum"), filepath.Join(dir, "go.sum"))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/aster-mcp/aster"
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(mod), "module host.example")
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", path, path, filepath.ToSlash(root))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "host.exe")
	cmd := exec.Command("go", "build", "-o", exe, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOSUMDB=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the example does not build outside of this module: %v\n%s", err, out)
	}
	return exe
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fakeModel is a chat API that searches, describes and executes, and then says what it saw.
type fakeModel struct {
	mu    sync.Mutex
	seen  []string // the tools' answers
	first struct {
		tools  []byte
		system string
	}
}

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/chat/completions" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := req.Messages[len(req.Messages)-1]
	text := fmt.Sprint(last.Content)
	if last.Role == "tool" {
		f.seen = append(f.seen, text)
	} else {
		f.first.tools, f.first.system = req.Tools, fmt.Sprint(req.Messages[0].Content)
	}
	script := []string{
		`{"action":"search","query":"greet a person"}`,
		`{"action":"describe","name":"greeter/greet"}`,
		`{"action":"execute","name":"greeter/greet","arguments":{"name":"Ada"}}`,
	}
	message := map[string]any{"role": "assistant", "content": "It said: " + text}
	if n := len(f.seen); n < len(script) {
		message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": fmt.Sprintf("call_%d", n), "type": "function", "function": map[string]any{"name": "aster_mcp", "arguments": script[n]}}}}
	}
	json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message}}})
}

func TestHost(t *testing.T) {
	exe := build(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(self, " \t") && runtime.GOOS != "windows" {
		t.Fatalf("the path %q holds a space, which -server does not take", self)
	}
	for _, tt := range []struct {
		name, stdin string
		want        string // of the answer
		log         string // of the guard
	}{
		{"agreed", "y\n", "It said: Hello, Ada!", `call "greeter/greet"`},
		{"not agreed", "n\n", "did not agree", `refused "greeter/greet"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeModel{}
			api := httptest.NewServer(f)
			defer api.Close()
			cmd := exec.Command(exe, "-server", "greeter="+self+" greeter", "Greet Ada.")
			cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+api.URL, "OPENAI_API_KEY=k", "MODEL=fake")
			var stdout, stderr bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.stdin), &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if !strings.Contains(stdout.String(), tt.want) || !strings.Contains(stderr.String(), tt.log) {
				t.Errorf("stdout lacks %q or stderr lacks %q\n%s\n%s", tt.want, tt.log, stdout.String(), stderr.String())
			}
			if !bytes.Contains(f.first.tools, []byte(`"name":"aster_mcp"`)) || !strings.Contains(f.first.system, "greeter") {
				t.Errorf("the model was given the tools %s and the text\n%s", f.first.tools, f.first.system)
			}
			if len(f.seen) != 3 || !strings.Contains(f.seen[0], "greeter/greet") || !strings.Contains(f.seen[1], "who to greet") {
				t.Errorf("the tools' answers: %q", f.seen)
			}
		})
	}

	for want, env := range map[string][]string{
		"host: no model: set OPENAI_BASE_URL": {"OPENAI_BASE_URL=", "MODEL=fake"},
		"host: no question":                   {"OPENAI_BASE_URL=http://127.0.0.1:9", "MODEL=fake"},
	} {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("started without it: %v, %s, want %q", err, out, want)
		}
	}
}
