package host_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A line that is no JSON is answered, and the session goes on.
func ExampleServeStdio() {
	srv := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	srv.AddReceivingMiddleware(host.Recover(nil))
	in := strings.NewReader("hello\n")
	err := host.ServeStdio(context.Background(), srv, in, os.Stdout, nil)
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: the line is not one JSON value, or nests too deep"}}
	// <nil>
}

func ExampleCleanText() {
	fmt.Println(host.CleanText("Buy \x1b[31mnow\x1b[0m\n"))
	// Output: Buy now
}
