package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/webmcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bridge is an MCP server before it has a browser: the fixed tools are there, and say how
// the connection stands. Run attaches, in the background.
func ExampleNew() {
	finder, err := cdp.NewFinder("auto", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	bridge, err := webmcp.New(&webmcp.Options{Finder: finder})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	server, err := bridge.Server().Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, far, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name)
	}
	// Output:
	// webmcp_call
	// webmcp_tabs
	// webmcp_tools
}

// Several clients share one attachment, each with names and filters of its own.
func ExampleNewBrowser() {
	finder, err := cdp.NewFinder("auto", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	browser, err := webmcp.NewBrowser(&webmcp.BrowserOptions{Finder: finder, DenyOrigins: []string{"https://bank.example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		if _, err := browser.NewServer(nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a program runs it until its clients have left
	fmt.Println(browser.Run(ctx))
}

// A guard in front of webmcp_call has to know what is really called.
func ExampleDecodeCall() {
	in, err := webmcp.DecodeCall(json.RawMessage(`{"name": "shop_add", "arguments": {"item": "milk"}}`))
	fmt.Println(in.Name, string(in.Arguments), err)
	_, err = webmcp.DecodeCall(json.RawMessage(`{}`))
	fmt.Println(err != nil)
	// Output:
	// shop_add {"item": "milk"} <nil>
	// true
}

// A tool that passes on what it hears of its own work.
func ExampleProgress() {
	server := mcp.NewServer(&mcp.Implementation{Name: "copier", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "copy", Description: "Copies two files.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			send, flush := webmcp.Progress(ctx, req)
			defer flush() // no report comes after the result
			for i := range 2 {
				if send != nil { // the client wants reports
					send(float64(i+1), 2, fmt.Sprintf("copied file %d", i+1))
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})

	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			log.Println(r.Params.Message) // copied file 1, copied file 2
		},
	}).Connect(ctx, far, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	params := &mcp.CallToolParams{Name: "copy"}
	params.SetProgressToken("1")
	result, err := client.CallTool(ctx, params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: done
}
