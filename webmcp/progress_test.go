package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

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

// progressBefore are the reports that came before the result, in order; one after it is
// an error.
func (l *lockedLog) progressBefore(t *testing.T, result string) (got []float64) {
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
		if raw, ok := strings.CutPrefix(line, "read: "); ok && json.Unmarshal([]byte(raw), &m) == nil && m.Method == "notifications/progress" {
			got = append(got, m.Params.Progress)
		}
	}
	return got
}

// reportingServer has a tool that reports its progress n times, and then answers; it
// says in flushed how long it waited.
func reportingServer(n int, flushed chan<- time.Duration) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "reporting", Version: "0"}, nil)
	srv.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		send, flush := webmcp.Progress(ctx, req)
		if send == nil {
			return &mcp.CallToolResult{IsError: true}, nil
		}
		for i := range n {
			send(float64(i+1), float64(n), "working")
		}
		start := time.Now()
		flush()
		flushed <- time.Since(start)
		send(float64(n+1), 0, "late")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "all done"}}}, nil
	})
	return srv
}

func TestProgressIsInOrderAndBeforeTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reports = 500
		srv := reportingServer(reports, make(chan time.Duration, 1))
		ct, st := mcp.NewInMemoryTransports()
		ss, err := srv.Connect(t.Context(), st, nil)
		if err != nil {
			t.Fatal(err)
		}
		var log lockedLog
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil).Connect(t.Context(), &mcp.LoggingTransport{Transport: ct, Writer: &log}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &mcp.CallToolParams{Name: "work"}
		p.SetProgressToken("p")
		if _, err := cs.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"}); err != nil || !res.IsError {
			t.Errorf("without a token: %v, %v; want no send", res, err)
		}
		synctest.Wait() // what was under way is there now
		cs.Close()
		ss.Wait()
		got := log.progressBefore(t, "all done")
		if len(got) == 0 || got[len(got)-1] != reports || !slices.IsSorted(got) || len(slices.Compact(got)) != len(got) {
			t.Errorf("reports %v, want them in order up to %d", got, reports)
		}
	})
}

// A client that does not read holds up a call's end for a bounded time, and then gets
// its result.
func TestProgressToAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reports = 10 * webmcp.MaxUnsentProgress
		flushed := make(chan time.Duration, 1)
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ss, err := reportingServer(reports, flushed).Connect(t.Context(), &mcp.IOTransport{Reader: in, Writer: out}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
		type message struct {
			ID     int
			Params mcp.ProgressNotificationParams
		}
		dec := json.NewDecoder(fromServer)
		if err := dec.Decode(&message{}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","arguments":{},"_meta":{"progressToken":"p"}}}`)
		if took := <-flushed; took != webmcp.ProgressFlush {
			t.Errorf("flushed after %v with nobody reading, want %v", took, webmcp.ProgressFlush)
		}
		var got []float64
		for {
			var m message
			if err := dec.Decode(&m); err != nil {
				t.Fatal(err)
			}
			if m.ID == 2 {
				break
			}
			got = append(got, m.Params.Progress)
		}
		if len(got) > 1 { // the one under way; the others are dropped
			t.Errorf("reports %v", got)
		}
		toServer.Close()
		fromServer.Close()
		ss.Wait()
	})
}
