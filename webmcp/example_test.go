package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"

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
