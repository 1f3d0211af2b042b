package webmcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Browser is the attachment to one browser, for any number of clients: one connection,
// one registry, one shim in each page. Its methods may be called from any goroutine.
type Browser struct {
	opts     BrowserOptions
	registry *Registry
	slots    chan struct{} // one for each running call
	ready    readiness     // for a list
	settled  readiness     // for a call of a tool that is not known
	listed   readiness     // a client has its first list
	lastWS   string        // of the browser start that was attached last; Run's goroutine only

	mu     sync.Mutex
	att    *attachment // nil while there is no browser; guarded by mu
	status status      // guarded by mu
	focus  focus       // guarded by mu
}

// NewBrowser checks the options and connects to nothing: Run does.
func NewBrowser(opts *BrowserOptions) (*Browser, error) {
	if opts == nil {
		opts = &BrowserOptions{}
	}
	b := &Browser{opts: *opts, registry: newRegistry(), slots: make(chan struct{}, MaxCalls), ready: newReadiness(), settled: newReadiness(), listed: newReadiness()}
	if err := b.opts.normalise(); err != nil {
		return nil, err
	}
	b.status = status{state: stateStarting}
	return b, nil
}

// Registry is the set of live page tools.
func (b *Browser) Registry() *Registry { return b.registry }

// Status says in words where the connection to the browser stands.
func (b *Browser) Status() string { return b.currentStatus().String() }

func (b *Browser) attached() *attachment {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.att
}

// Bridge is a browser with one client. Its methods may be called from any goroutine.
type Bridge struct {
	browser *Browser
	client  *Server
}

// New makes a bridge. It checks the options and connects to nothing: Run does.
func New(opts *Options) (*Bridge, error) {
	if opts == nil {
		opts = &Options{}
	}
	browser, err := NewBrowser(opts.Browser())
	if err != nil {
		return nil, err
	}
	client, err := browser.NewServer(opts.Client())
	if err != nil {
		return nil, err
	}
	return &Bridge{browser, client}, nil
}

// Run is [Browser.Run] and [Server.Run].
func (b *Bridge) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { b.client.Run(ctx) })
	return b.browser.Run(ctx)
}

// Server is the client's MCP server, to be connected to any transport.
func (b *Bridge) Server() *mcp.Server { return b.client.MCP() }

// Lookup is [Server.Lookup].
func (b *Bridge) Lookup(name string) *PageTool { return b.client.Lookup(name) }

// Target is [Server.Target].
func (b *Bridge) Target(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
	return b.client.Target(ctx, req)
}

// Registry is the set of live page tools.
func (b *Bridge) Registry() *Registry { return b.browser.registry }
