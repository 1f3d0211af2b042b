package websrv_test

import (
	"context"
	"encoding/json"
	"errors"
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

// notes is a provider: it searches what its program holds.
type notes map[string]string

func (notes) Name() string { return "notes" }
func (notes) Local() bool  { return true }

// Search finds titles; without one it leaves the query to the next provider.
func (n notes) Search(_ context.Context, q *websrv.Query) (*websrv.Hits, error) {
	if url := n[q.Text]; url != "" {
		return &websrv.Hits{List: []websrv.Hit{{Title: q.Text, URL: url}}}, nil
	}
	return nil, &websrv.Failure{Class: websrv.ErrRefused, Reason: "no note has this title", Next: "write one", SiteOnly: true}
}

// Providers are asked in their order. When none is left the error has every attempt.
func ExampleNewDispatcher() {
	d := websrv.NewDispatcher([]websrv.Provider{notes{}, notes{"lamps": "https://notes.example/lamps"}}, nil)
	answer, err := d.Search(context.Background(), &websrv.Query{Text: "lamps", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Value.List[0].URL, "after", len(answer.Attempts), "attempt")
	_, err = d.Search(context.Background(), &websrv.Query{Text: "chairs", Limit: 1})
	var failed *websrv.DispatchError
	fmt.Println(errors.As(err, &failed), errors.Is(err, websrv.ErrRefused))
	// Output:
	// https://notes.example/lamps after 1 attempt
	// true true
}

// What may be configured: the providers of each kind of work, and all of them.
func ExampleDefaultOrder() {
	order := websrv.DefaultOrder(websrv.OpSitemap)
	fmt.Println(len(order) > 0, len(order) < len(websrv.ProviderIDs()))
	fmt.Println(websrv.DefaultOrder("no such work") == nil)
	// Output:
	// true true
	// true
}

// An error of a call, for a person.
func ExampleErrorText() {
	web, err := websrv.NewServer(&websrv.Options{LocalOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer web.Close()
	_, err = web.Call(context.Background(), "extract", json.RawMessage(`{"url":"file:///etc/hosts"}`), nil)
	fmt.Println(websrv.ErrorText(err))
	// Output: url "file:///etc/hosts" is not an address
}
