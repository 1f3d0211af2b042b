package webmcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// join makes a rig of a further client of a browser that is attached already.
func join(t *testing.T, b *webmcp.Browser, browser *cdptest.Browser, server *cdptest.Server, opts *webmcp.ClientOptions) *rig {
	t.Helper()
	s, err := b.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(ctx) })
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.MCP().Connect(ctx, there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		cancel()
		s.Close()
		wg.Wait()
	})
	return &rig{Server: server, browser: browser, client: client}
}

// Clients of one browser have one connection, and names over what each may see.
func TestClientsOfOneBrowser(t *testing.T) {
	server, browser := cdptest.Serve(t), cdptest.Shared(t, false)
	b, err := webmcp.NewBrowser(&webmcp.BrowserOptions{Finder: finder(t, browser.HTTP), Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { b.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })

	all := join(t, b, browser, server, nil)
	all.await(t, "the browser", func() bool { return strings.HasPrefix(all.tabs(t).Browser, "connected") })
	url := server.Page("/both", script(register("find", "() => location.host")+register("extra", "() => 1")))
	first := browser.NewPage(t, url)
	all.awaitNames(t, "extra", "find")
	local := server.At("a.localhost", "")
	browser.NewPage(t, server.At("a.localhost", "/both"))
	all.awaitTools(t, 4)

	one := join(t, b, browser, server, &webmcp.ClientOptions{Origins: []string{local}, Expose: webmcp.ExposeTools})
	one.awaitNames(t, "extra", "find") // not the long names of a second page
	wantText(t, one.call(t, "find", nil), false, strings.TrimPrefix(local, "http://"))
	none := join(t, b, browser, server, &webmcp.ClientOptions{DenyOrigins: []string{local, strings.TrimSuffix(url, "/both")}})
	if got := none.names(t); len(got) > 0 {
		t.Errorf("a client that may see neither page has %q", got)
	}
	wantText(t, none.call(t, "webmcp_call", map[string]any{"name": "find"}), true, "no open page")

	first.Close(t)
	all.awaitTools(t, 2)
	if got := one.names(t); len(got) != 2 {
		t.Errorf("after another page left, the client has %q", got)
	}
}
