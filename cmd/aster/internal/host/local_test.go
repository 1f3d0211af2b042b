package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestLocal(t *testing.T) {
	srv := newServer(nil)
	l, err := host.ConnectLocal(t.Context(), srv, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tools, err := l.Tools(t.Context())
	if err != nil || len(tools) == 0 || tools[0].Name != "badjson" || string(tools[0].InputSchema) != `{"type":"object"}` {
		t.Fatalf("tools %+v, %v", tools, err)
	}
	text, failed, err := l.Call(t.Context(), "echo", map[string]any{"a": 1})
	if text != `{"a":1}` || failed || err != nil {
		t.Errorf("echo: %q, failed %v, %v", text, failed, err)
	}
	if _, failed, err := l.Call(t.Context(), "panic", nil); !failed || err != nil {
		t.Errorf("panic: failed %v, %v", failed, err)
	}
	if _, _, err := l.Call(t.Context(), "no such tool", nil); err == nil {
		t.Error("a tool that does not exist gives no error")
	}
	for len(l.Changed()) > 0 {
		<-l.Changed()
	}
	srv.AddTool(&mcp.Tool{Name: "later", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	select {
	case <-l.Changed():
	case <-time.After(10 * time.Second):
		t.Error("no word of the new tool")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
