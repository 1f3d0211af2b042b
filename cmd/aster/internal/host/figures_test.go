package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// connectClient is a client of a server in memory.
func connectClient(b *testing.B, srv *mcp.Server) *mcp.ClientSession {
	b.Helper()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := srv.Connect(context.Background(), st, nil); err != nil {
		b.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "0"}, nil).Connect(context.Background(), ct, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

// gatewayClient is a client of the gateway over servers inside aster.
func gatewayClient(b *testing.B, g *host.GatewayOptions, builtins ...host.Builtin) *mcp.ClientSession {
	b.Helper()
	s, err := host.NewSession(&host.SessionOptions{Config: config.Default(), StateDir: b.TempDir(), Builtins: builtins})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	s.Start(context.Background())
	gateway, err := host.NewGateway(s, g)
	if err != nil {
		b.Fatal(err)
	}
	return connectClient(b, gateway.Server())
}

// BenchmarkGatewayOverhead is one call of a tool, direct and through the gateway with its
// policy and its record of calls: the difference is what the gateway costs.
func BenchmarkGatewayOverhead(b *testing.B) {
	calls := func(b *testing.B, c *mcp.ClientSession, name string, args any) {
		b.ReportAllocs()
		var took []time.Duration
		for b.Loop() {
			begun := time.Now()
			if res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args}); err != nil || res.IsError {
				b.Fatal(res, err)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	}
	args := map[string]any{"x": "1"}
	in := host.Builtin{Name: "files", Server: fakeServer("files", "read"), Effect: reading}
	b.Run("direct", func(b *testing.B) { calls(b, connectClient(b, fakeServer("files", "read")), "read", args) })
	b.Run("bridge", func(b *testing.B) {
		calls(b, gatewayClient(b, nil, in), "aster_mcp", map[string]any{"action": "execute", "name": "files/read", "arguments": args})
	})
	b.Run("tools", func(b *testing.B) {
		calls(b, gatewayClient(b, &host.GatewayOptions{Expose: host.ExposeTools}, in), "files__read", args)
	})
}

// wordyServer has n tools of the size that real ones have.
func wordyServer(name string, n int) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ServerOptions{Instructions: "Keeps the records of " + name + "."})
	verbs, nouns := []string{"list", "create", "update", "delete", "search", "export", "archive"}, []string{"invoice", "ticket", "customer", "order", "project", "message", "document"}
	for i := range n {
		verb, noun := verbs[i%len(verbs)], nouns[i/len(verbs)%len(nouns)]
		srv.AddTool(&mcp.Tool{Name: fmt.Sprintf("%s_%s_%d", verb, noun, i),
			Description: fmt.Sprintf("Can %s every %s that matches a filter, and says which of them it touched. Pages are of 50 at most; read on with the cursor of the reply before.", verb, noun),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"filter":{"type":"string","description":"A filter such as status:open"},"cursor":{"type":"string","description":"The cursor of the reply before"},"limit":{"type":"integer","minimum":1,"maximum":50},"fields":{"type":"array","items":{"type":"string"}}},"required":["filter"]}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	return srv
}

// BenchmarkPromptTokens has what a client's model reads before its first word: the
// gateway's instructions and its one tool, against the plain lists of all servers.
func BenchmarkPromptTokens(b *testing.B) {
	for _, n := range []int{40, 100, 500, 2800} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const perServer = 20
			var builtins []host.Builtin
			plain := 0
			for i := range n / perServer {
				srv := wordyServer(fmt.Sprintf("crm%d", i), perServer)
				builtins = append(builtins, host.Builtin{Name: fmt.Sprintf("crm%d", i), Server: srv, Effect: reading})
				plain += listTokens(b, connectClient(b, srv))
			}
			c := gatewayClient(b, nil, builtins...)
			bridged := 0
			for b.Loop() {
				bridged = listTokens(b, c) + bridge.EstimateTokens(c.InitializeResult().Instructions)
			}
			b.ReportMetric(float64(plain), "plain-tokens")
			b.ReportMetric(float64(bridged), "aster-tokens")
		})
	}
}

// listTokens are those of a whole tools/list.
func listTokens(b *testing.B, c *mcp.ClientSession) int {
	b.Helper()
	var text strings.Builder
	for tool, err := range c.Tools(context.Background(), nil) {
		if err != nil {
			b.Fatal(err)
		}
		raw, err := json.Marshal(tool)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(raw)
	}
	return bridge.EstimateTokens(text.String())
}
