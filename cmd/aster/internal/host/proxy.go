//lint:file-ignore SA1019 logging is deprecated in 2026-07-28, but servers of older revisions have it.

package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// Beside tools, servers have prompts, resources and completions. They reach the client
// through the gateway: under their own names where one server is served by itself, else
// with the server in front: a prompt as server__name, a resource as aster://server/URI.

// resourceScheme is in front of the URIs of resources of several servers.
const resourceScheme = "aster://"

const (
	// featureWait bounds the listing of one server's prompts and resources.
	featureWait = 10 * time.Second
	// featureGrace is how long of that a new gateway waits: a server that lists its tools and
	// then hangs must not hold up the client of all.
	featureGrace = 3 * time.Second
)

// capabilities are what the servers that are up can do together. One that is not up yet may
// have prompts and resources, which then come as changes of empty lists.
func (g *Gateway) capabilities() *mcp.ServerCapabilities {
	caps := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}
	for _, sv := range g.s.Servers() {
		c := sv.Status.Capabilities
		if c == nil {
			c = &mcp.ServerCapabilities{Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{Subscribe: true}}
		}
		if c.Prompts != nil {
			caps.Prompts = &mcp.PromptCapabilities{ListChanged: true}
		}
		if r := c.Resources; r != nil {
			caps.Resources = &mcp.ResourceCapabilities{ListChanged: true, Subscribe: r.Subscribe || caps.Resources != nil && caps.Resources.Subscribe}
		}
		if c.Completions != nil {
			caps.Completions = &mcp.CompletionCapabilities{}
		}
		if c.Logging != nil {
			caps.Logging = &mcp.LoggingCapabilities{}
		}
	}
	return caps
}

// addFeatures serves what the servers that are up have beside tools, unless it does
// already. It asks all of them at once.
func (g *Gateway) addFeatures(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, featureWait)
	defer cancel()
	var wg sync.WaitGroup
	for _, src := range g.s.set.Sources() {
		wg.Go(func() { g.features[src.Name()].follow(ctx, g, src) })
	}
	wg.Wait()
}

// awaitFeatures is addFeatures, but not waited for any longer than a client can be kept.
func (g *Gateway) awaitFeatures() {
	done := make(chan struct{})
	g.s.tell(func(g *Gateway) {
		defer close(done)
		g.addFeatures(context.Background())
	})
	timer := time.NewTimer(featureGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// adding calls a function of the SDK that panics on definitions that it does not like.
func (g *Gateway) adding(what string, add func()) {
	defer func() {
		if r := recover(); r != nil {
			g.log.Warn("not served", "what", what, "why", fmt.Sprint(r))
		}
	}()
	add()
}

// relist lists a server's prompts or resources again. What the server says to have
// changed is told to the clients by the SDK.
func (g *Gateway) relist(server string, add func(*features, context.Context, *Gateway, *source.Source) error) {
	src, f := g.s.set.Source(server), g.features[server]
	if src == nil || f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), featureWait)
	defer cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := add(f, ctx, g, src); err != nil {
		g.log.Warn("not listed again", "server", server, "err", err)
	}
}

// tellToolsChanged tells the clients of a server that is served by itself what it said: that
// its tools changed, also where they are the same again by the time they are listed. Of
// several servers only what really changes is told, since each telling costs a client a list.
func (g *Gateway) tellToolsChanged() {
	if !g.own {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	names := slices.Sorted(maps.Keys(g.served))
	if len(names) == 0 {
		return
	}
	// The library tells of what is added, the same as before or not.
	if err := g.addTool(names[0], g.served[names[0]]); err != nil {
		g.log.Debug("not told of changed tools", "err", err)
	}
}

// tellUpdated tells those who subscribed to a resource that it changed.
func (g *Gateway) tellUpdated(server, uri string) {
	ctx, cancel := context.WithTimeout(context.Background(), featureWait)
	defer cancel()
	g.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: g.shownURI(server, uri)})
}

// tellElicited tells the clients that the user is done with a page that was opened.
func (g *Gateway) tellElicited(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), featureWait)
	defer cancel()
	for ss := range g.server.Sessions() {
		ss.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id})
	}
}

func (g *Gateway) shownURI(server, uri string) string {
	if g.own {
		return uri
	}
	return resourceScheme + server + "/" + uri
}

func (g *Gateway) ownURI(server, uri string) string {
	if g.own {
		return uri
	}
	return strings.TrimPrefix(uri, resourceScheme+server+"/")
}

// sourceOf finds the server that a prompt's name or a resource's URI leads to, and what it
// is called there.
func (g *Gateway) sourceOf(prompt, uri string) (src *source.Source, own string) {
	for _, src := range g.s.set.Sources() {
		if g.own {
			return src, prompt + uri
		}
		if prompt != "" {
			if own, ok := g.features[src.Name()].promptOf(prompt); ok {
				return src, own
			}
		} else if strings.HasPrefix(uri, resourceScheme+src.Name()+"/") {
			return src, g.ownURI(src.Name(), uri)
		}
	}
	return nil, ""
}

func (g *Gateway) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	none := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref == nil {
		return none, nil
	}
	ref := *req.Params.Ref
	src, own := g.sourceOf(ref.Name, ref.URI)
	if src == nil {
		return none, nil
	}
	if ref.Name != "" {
		ref.Name = own
	} else {
		ref.URI = own
	}
	p := *req.Params
	p.Ref = &ref
	return src.Complete(ctx, &p)
}

func (g *Gateway) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	src, own := g.sourceOf("", req.Params.URI)
	if src == nil {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	return src.Subscribe(ctx, own)
}

func (g *Gateway) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	src, own := g.sourceOf("", req.Params.URI)
	if src == nil {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	return src.Unsubscribe(ctx, own)
}

type logMessage = mcp.LoggingMessageParams

// tellLog passes a server's log message on to the clients, who choose the level.
func (g *Gateway) tellLog(p *mcp.LoggingMessageParams) {
	for ss := range g.server.Sessions() {
		go ss.Log(context.Background(), p) // must not block the server's connection
	}
}
