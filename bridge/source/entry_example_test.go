package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// One server without a set. A failed start is a state with words for a person.
func ExampleNew() {
	s, err := source.New(source.Spec{Name: "notes", Command: "no-such-command-xyz"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Start(context.Background()) != nil)
	fmt.Println(s.Status())
	// Output:
	// true
	// not installed: "no-such-command-xyz" is not on PATH
}

// A child gets what it needs to run, and no secrets of its parent.
func ExampleBaseEnv() {
	fmt.Println(source.BaseEnv([]string{"PATH=/bin", "GITHUB_TOKEN=s3cret", "HOME=/home/ada"}))
	// Output: [HOME=/home/ada PATH=/bin]
}

// What goes with one call travels in its context, because an Invoker has no place for it.
func ExampleWithCallOptions() {
	server := mcp.NewServer(&mcp.Implementation{Name: "trace", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "id", Description: "Says which trace the call belongs to.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(req.Params.Meta["trace"])}}}, nil
		})
	set, err := source.NewSet([]source.Spec{{Name: "trace", Server: server}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer set.Close()
	set.Start(context.Background())
	tool, err := set.Catalog().Resolve("trace/id")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := source.WithCallOptions(context.Background(), &source.CallOptions{Meta: map[string]any{"trace": "t-1"}})
	result, err := set.Invoke(ctx, tool, json.RawMessage(`{}`))
	fmt.Println(strings.Contains(string(result), `"t-1"`), err)
	// Output: true <nil>
}
