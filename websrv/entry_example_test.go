package websrv_test

import (
	"context"
	"fmt"

	"github.com/aster-mcp/aster/websrv"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The server in the same process, for a client over a transport in memory.
func ExampleNewServer() {
	web, err := websrv.NewServer(&websrv.Options{LocalOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer web.Close()
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	server, err := web.MCP().Connect(ctx, near, nil)
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
	// crawl
	// extract
	// screenshot
	// search
	// sitemap
}
