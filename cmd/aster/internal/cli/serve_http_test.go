package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/aster-mcp/aster/shortcuts"
)

// lockedBuffer is written by a command that runs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestServeHTTP(t *testing.T) {
	for _, args := range [][]string{{"shortcuts"}, {}} { // behind a front, and the gateway
		ctx, cancel := context.WithCancel(t.Context())
		var stderr lockedBuffer
		home := t.TempDir()
		code := make(chan int, 1)
		go func() {
			code <- cli.Run(ctx, &cli.Env{Args: append(append([]string{"mcp", "serve"}, args...), "--http", "127.0.0.1:0"), Stderr: &stderr, Home: home,
				ShortcutsRunner: func() (shortcuts.Runner, error) { return &fakeShortcuts{}, nil }})
		}()
		said := regexp.MustCompile(`serving (http://127\.0\.0\.1:\d+/mcp)\naster: bearer token: (\w+)\n`)
		var found []string
		for end := time.Now().Add(30 * time.Second); found == nil; time.Sleep(5 * time.Millisecond) {
			if found = said.FindStringSubmatch(stderr.String()); found == nil && time.Now().After(end) {
				t.Fatalf("%q: no address: %s", args, stderr.String())
			}
		}
		for token, want := range map[string]int{found[2]: 200, "wrong": 401} {
			req, err := http.NewRequestWithContext(ctx, "POST", found[1], strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%q: status %d, want %d", args, res.StatusCode, want)
			}
		}
		cancel()
		if got := <-code; got != 0 || strings.Count(stderr.String(), found[2]) != 1 {
			t.Errorf("%q: exit code %d; stderr: %s", args, got, stderr.String())
		}
	}
	for _, bad := range [][]string{{"--http", "0.0.0.0:0"}, {"--http", "127.0.0.1"}, {"--no-token"}, {"--http", "127.0.0.1:0", "--no-token", "--http-host", "box"}} {
		var stderr lockedBuffer
		if code := cli.Run(t.Context(), &cli.Env{Args: append([]string{"mcp", "serve"}, bad...), Stderr: &stderr, Home: t.TempDir()}); code != cli.ExitUsage {
			t.Errorf("%q: exit code %d: %s", bad, code, stderr.String())
		}
	}
}
