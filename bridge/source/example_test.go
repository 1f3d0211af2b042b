package source_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session over one server in this process and one that is not installed.
func Example() {
	greeter := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	type args struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	mcp.AddTool(greeter, &mcp.Tool{Name: "greet", Description: "Greets somebody by name."},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + a.Name + "!"}}}, nil, nil
		})

	set, err := source.NewSet([]source.Spec{
		{Name: "greeter", Server: greeter},
		{Name: "absent", Command: "no-such-command-xyz"},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer set.Close()
	ctx := context.Background()
	set.Start(ctx)
	for _, s := range set.Sources() {
		fmt.Printf("%s: %s\n", s.Name(), s.Status())
	}

	injector, err := bridge.NewInjector(set.Catalog(), bridge.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	call := json.RawMessage(`{"action":"execute","name":"greeter/greet","arguments":{"name":"Ada"}}`)
	reply, err := injector.Handle(ctx, call, set)
	if err != nil {
		fmt.Println(err)
		return
	}
	var result mcp.CallToolResult
	if err := json.Unmarshal(reply.Result, &result); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// absent: not installed: "no-such-command-xyz" is not on PATH
	// greeter: connected, 1 tool
	// Hello, Ada!
}
