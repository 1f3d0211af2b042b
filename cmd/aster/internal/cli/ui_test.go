package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// plainSite is a server of MCP with one tool.
func plainSite(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "remove", Annotations: &mcp.ToolAnnotations{}, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "red"}}}, nil
	})
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	return site.URL
}

// TestUIAnswers has a process ask about a call, and aster ui answer, over the socket at which
// the two meet.
func TestUIAnswers(t *testing.T) {
	home := t.TempDir()
	yaml := fmt.Sprintf("mcp:\n  servers:\n    far: {url: %q}\n", plainSite(t))
	if err := os.WriteFile(filepath.Join(home, "aster.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(args string, stdout io.Writer) *cli.Env {
		return &cli.Env{Args: fields(args), Home: home, Getenv: vars("HOME", home, "ASTER_HOME", home), Stdout: stdout, Stderr: io.Discard}
	}
	if code, _, stderr := run(t, env("mcp call --approve aster far/remove {}", nil)); code != 4 || !strings.Contains(stderr, "aster ui") {
		t.Errorf("nobody to ask: exit code %d, want 4, and %q must name aster ui", code, stderr)
	}

	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- cli.Run(ctx, env("ui --no-tabs", stdout)); stdout.Close() }()
	t.Cleanup(func() { cancel(); io.Copy(io.Discard, out); <-ended })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base, token, ok := strings.Cut(strings.TrimSpace(line), "/#token=")
	if !ok {
		t.Fatalf("the address is %q", line)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	events, err := client.Get(base + "/events?token=" + token)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()

	var called bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, env("mcp call --approve aster far/remove {}", &called))
		events.Body.Close() // where it did not ask, nothing is waited for
	}()
	body, err := json.Marshal(map[string]string{"id": askedID(t, events.Body), "answer": "once"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/answer", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := <-code; got != cli.ExitOK || res.StatusCode != http.StatusNoContent || !strings.Contains(called.String(), "red") {
		t.Errorf("the call that was allowed: exit code %d, answer %d, %q", got, res.StatusCode, called.String())
	}
}

// askedID reads the page's events until there is a question.
func askedID(t *testing.T, body io.Reader) string {
	t.Helper()
	for r := bufio.NewReader(body); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var st struct{ Asks []struct{ ID string } }
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &st) == nil && len(st.Asks) > 0 {
			return st.Asks[0].ID
		}
	}
}
