//lint:file-ignore SA1019 logging is deprecated in 2026-07-28, but servers of older revisions have it.

package host

import (
	"context"
	"fmt"
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

// featureWait bounds the listing of one server's prompts and resources.
const featureWait = 10 * time.Second

// capabilities are what the servers that are up can do together.
func (g *Gateway) capabilities() *mcp.ServerCapabilities {
	caps := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}
	for _, sv := range g.s.Servers() {
		c := sv.Status.Capabilities
		if c == nil {
			continue
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

// addFeatures serves what the servers have beside tools.
func (g *Gateway) addFeatures(ctx context.Context) {
	g.s.mu.Lock()
	g.s.gateway = g
	g.s.mu.Unlock()
	for _, src := range g.s.set.Sources() {
		caps := src.Status().Capabilities
		if caps == nil || g.s.servers[src.Name()].builtin != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, featureWait)
		if caps.Prompts != nil {
			g.addPrompts(ctx, src)
		}
		if caps.Resources != nil {
			g.addResources(ctx, src)
		}
		if caps.Logging != nil && src.Status().Era == source.EraLegacy {
			// All of it: our clients choose their level themselves.
			if err := src.SetLogLevel(ctx, "debug"); err != nil {
				g.log.Debug("log level not set", "server", src.Name(), "err", err)
			}
		}
		cancel()
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

// relist lists a server's prompts or resources again, one server at a time. What
// the server says to have changed is told to the clients by the SDK.
func (g *Gateway) relist(server string, add func(*Gateway, context.Context, *source.Source)) {
	src, sv := g.s.set.Source(server), g.s.servers[server]
	if src == nil || sv.builtin != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), featureWait)
	defer cancel()
	add(g, ctx, src)
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

// featureNames are what a gateway serves of one server beside tools, by kind.
type featureNames struct {
	mu    sync.Mutex // held while the server is listed
	known map[string][]string
}

// change takes over a new list of one kind and returns what is not on it any more.
func (f *featureNames) change(kind string, list []string) (gone []string) {
	if f.known == nil {
		f.known = map[string][]string{}
	}
	for _, name := range f.known[kind] {
		if !slices.Contains(list, name) {
			gone = append(gone, name)
		}
	}
	f.known[kind] = list
	return gone
}

func (g *Gateway) addPrompts(ctx context.Context, src *source.Source) {
	g.features.mu.Lock()
	defer g.features.mu.Unlock()
	list, err := src.Prompts(ctx)
	if err != nil {
		g.log.Warn("prompts not listed", "server", src.Name(), "err", err)
		return
	}
	var names []string
	for _, p := range list {
		names = append(names, g.promptName(src.Name(), p.Name))
	}
	g.server.RemovePrompts(g.features.change("prompts of "+src.Name(), names)...)
	for _, p := range list {
		own := p.Name
		shown := *p
		shown.Name = g.promptName(src.Name(), own)
		g.adding(shown.Name, func() {
			g.server.AddPrompt(&shown, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return g.prompt(ctx, src, own, req)
			})
		})
	}
}

func (g *Gateway) addResources(ctx context.Context, src *source.Source) {
	g.features.mu.Lock()
	defer g.features.mu.Unlock()
	read := func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		res, err := g.read(ctx, src, req)
		if err != nil {
			return nil, err
		}
		for _, c := range res.Contents {
			if c != nil {
				c.URI = g.shownURI(src.Name(), c.URI)
			}
		}
		return res, nil
	}
	list, err := src.Resources(ctx)
	if err != nil {
		g.log.Warn("resources not listed", "server", src.Name(), "err", err)
		return
	}
	var uris []string
	for _, r := range list {
		uris = append(uris, g.shownURI(src.Name(), r.URI))
	}
	g.server.RemoveResources(g.features.change("resources of "+src.Name(), uris)...)
	for _, r := range list {
		shown := *r
		shown.URI = g.shownURI(src.Name(), r.URI)
		g.adding(shown.URI, func() { g.server.AddResource(&shown, read) })
	}
	templates, err := src.ResourceTemplates(ctx)
	if err != nil {
		g.log.Warn("resource templates not listed", "server", src.Name(), "err", err)
		return
	}
	uris = nil
	for _, t := range templates {
		uris = append(uris, g.shownURI(src.Name(), t.URITemplate))
	}
	g.server.RemoveResourceTemplates(g.features.change("templates of "+src.Name(), uris)...)
	for _, t := range templates {
		shown := *t
		shown.URITemplate = g.shownURI(src.Name(), t.URITemplate)
		g.adding(shown.URITemplate, func() { g.server.AddResourceTemplate(&shown, read) })
	}
}

func (g *Gateway) promptName(server, name string) string {
	if g.own {
		return name
	}
	return server + wireSeparator + name
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
		switch {
		case g.own:
			return src, prompt + uri
		case prompt != "" && strings.HasPrefix(prompt, src.Name()+wireSeparator):
			return src, prompt[len(src.Name()+wireSeparator):]
		case uri != "" && strings.HasPrefix(uri, resourceScheme+src.Name()+"/"):
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
