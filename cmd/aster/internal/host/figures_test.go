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

// overheadTarget is what the gateway may add to a call of a tool, in the middle.
const overheadTarget = 500 * time.Microsecond

// BenchmarkGatewayOverhead is one call of a tool through the gateway with its policy and its
// record of calls, each beside a direct one, so that both see the same machine. over-p50-ms
// is the middle of its times less the middle of the direct ones; the aim is target-ms.
func BenchmarkGatewayOverhead(b *testing.B) {
	args := map[string]any{"x": "1"}
	in := host.Builtin{Name: "files", Server: fakeServer("files", "read"), Effect: reading}
	for name, by := range map[string]struct {
		g      *host.GatewayOptions
		params mcp.CallToolParams
	}{
		"bridge": {nil, mcp.CallToolParams{Name: "aster_mcp", Arguments: map[string]any{"action": "execute", "name": "files/read", "arguments": args}}},
		"tools":  {&host.GatewayOptions{Expose: host.ExposeTools}, mcp.CallToolParams{Name: "files__read", Arguments: args}},
	} {
		b.Run(name, func(b *testing.B) {
			direct, through := connectClient(b, fakeServer("files", "read")), gatewayClient(b, by.g, in)
			var own, gateway []time.Duration
			for b.Loop() {
				own = append(own, callOnce(b, direct, mcp.CallToolParams{Name: "read", Arguments: args}))
				gateway = append(gateway, callOnce(b, through, by.params))
			}
			b.ReportMetric(middleMS(own), "direct-p50-ms")
			b.ReportMetric(middleMS(gateway)-middleMS(own), "over-p50-ms")
			b.ReportMetric(float64(overheadTarget.Microseconds())/1000, "target-ms")
		})
	}
}

// callOnce is how long one call takes.
func callOnce(b *testing.B, c *mcp.ClientSession, params mcp.CallToolParams) time.Duration {
	b.Helper()
	begun := time.Now()
	if res, err := c.CallTool(context.Background(), &params); err != nil || res.IsError {
		b.Fatal(res, err)
	}
	return time.Since(begun)
}

// middleMS is the middle of some durations in milliseconds.
func middleMS(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
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
