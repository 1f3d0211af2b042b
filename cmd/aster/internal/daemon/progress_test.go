package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
)

// serveAs plays a daemon whose server is srv.
func serveAs(t *testing.T, dir string, srv *mcp.Server) {
	t.Helper()
	ln, err := net.Listen("unix", daemon.PathsIn(dir, "").Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(conn)
			var hello daemon.Hello
			if line, err := r.ReadBytes('\n'); err != nil || json.Unmarshal(line, &hello) != nil {
				conn.Close()
				continue
			}
			fmt.Fprintf(conn, `{"aster":%q,"protocol":%d}`+"\n", hello.Aster, daemon.Protocol)
			if _, err := srv.Connect(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(r), Writer: conn}, nil); err != nil {
				conn.Close()
			}
		}
	}()
}

// The reports of a call reach the client in their order, under its own token, and none
// comes after the result.
func TestProgressKeepsItsOrder(t *testing.T) {
	const reports = 200
	srv := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "0"}, nil)
	srv.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range reports {
			req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: reports})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "all done"}}}, nil
	})
	d := dir(t)
	serveAs(t, d, srv)
	c := join(t, d, "v1.0.0", nil)
	var log lockedLog
	here, there := mcp.NewInMemoryTransports()
	if _, err := c.Server().Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil).Connect(t.Context(), &mcp.LoggingTransport{Transport: here, Writer: &log}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	p := &mcp.CallToolParams{Name: "work", Arguments: map[string]any{}}
	p.SetProgressToken("own")
	if _, err := cs.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := cs.ListTools(t.Context(), nil); err != nil { // what was under way is there now
		t.Fatal(err)
	}
	got := log.progressBefore(t, "all done", "own")
	if len(got) == 0 || !slices.IsSorted(got) || len(slices.Compact(got)) != len(got) {
		t.Errorf("reports %v, want them in order", got)
	}
}

// lockedLog may be written while it is read.
type lockedLog struct {
	mu  sync.Mutex
	log strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

// progressBefore are the reports with a token that came before the result; one after it
// is an error.
func (l *lockedLog) progressBefore(t *testing.T, result, token string) (got []float64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	before, after, ok := strings.Cut(l.log.String(), result)
	if !ok || strings.Contains(after, "notifications/progress") {
		t.Fatalf("no result, or reports after it: %s", after)
	}
	for line := range strings.Lines(before) {
		var m struct {
			Method string
			Params mcp.ProgressNotificationParams
		}
		raw, read := strings.CutPrefix(line, "read: ")
		if read && json.Unmarshal([]byte(raw), &m) == nil && m.Method == "notifications/progress" && m.Params.ProgressToken == token {
			got = append(got, m.Params.Progress)
		}
	}
	return got
}
