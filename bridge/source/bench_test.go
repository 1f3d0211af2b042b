package source_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall is a call's round trip to a server in this process, and the same
// over the SDK alone.
func BenchmarkCall(b *testing.B) {
	args := json.RawMessage(`{"a":1}`)
	b.Run("source", func(b *testing.B) {
		s, err := source.New(source.Spec{Name: "s", Server: sdkServer()}, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		if err := s.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Call(b.Context(), "echo", args, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		near, far := mcp.NewInMemoryTransports()
		ss, err := sdkServer().Connect(b.Context(), far, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer ss.Wait()
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "b"}, nil).Connect(context.Background(), near, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer cs.Close()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
