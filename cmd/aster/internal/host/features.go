//lint:file-ignore SA1019 logging is deprecated in 2026-07-28, but servers of older revisions have it.

package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// features are what a gateway serves of one server beside its tools.
type features struct {
	mu sync.Mutex // held while the server is listed
	// of is what was last listed for: a server that is started again says anew what it has.
	of        *mcp.ServerCapabilities
	resources []string // as served
	templates []string // as served

	names   sync.Mutex
	prompts map[string]string // the server's own name by the one served; guarded by names
}

// follow serves what a server has now, if it was not asked since it was started.
func (f *features) follow(ctx context.Context, g *Gateway, src *source.Source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := src.Status()
	caps := st.Capabilities
	if caps == nil || caps == f.of || st.State != source.Connected {
		return
	}
	var err error
	if caps.Prompts != nil || len(f.prompts) > 0 {
		err = f.addPrompts(ctx, g, src)
	}
	if caps.Resources != nil || len(f.resources)+len(f.templates) > 0 {
		err = errors.Join(err, f.addResources(ctx, g, src))
	}
	if caps.Logging != nil && st.Era == source.EraLegacy {
		// All of it: our clients choose their level themselves.
		err = errors.Join(err, src.SetLogLevel(ctx, "debug"))
	}
	if err != nil {
		g.log.Warn("not all that a server has is served", "server", src.Name(), "err", err)
	}
	if ctx.Err() == nil {
		f.of = caps // else the next change is the next try
	}
}

// promptOf is the server's own name of a prompt; false if it is not this server's.
func (f *features) promptOf(shown string) (own string, ok bool) {
	f.names.Lock()
	defer f.names.Unlock()
	own, ok = f.prompts[shown]
	return own, ok
}

func (f *features) addPrompts(ctx context.Context, g *Gateway, src *source.Source) error {
	list, err := src.Prompts(ctx)
	if err != nil {
		return fmt.Errorf("prompts: %w", err)
	}
	own := map[string]string{}
	for _, p := range list {
		own[g.promptName(src.Name(), p.Name)] = p.Name
	}
	f.names.Lock()
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(f.prompts)), func(name string) bool { _, ok := own[name]; return ok })
	f.prompts = own
	f.names.Unlock()
	g.server.RemovePrompts(gone...)
	for _, p := range list {
		name, shown := p.Name, *p
		shown.Name = g.promptName(src.Name(), name)
		g.adding(shown.Name, func() {
			g.server.AddPrompt(&shown, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return g.prompt(ctx, src, name, req)
			})
		})
	}
	return nil
}

func (f *features) addResources(ctx context.Context, g *Gateway, src *source.Source) error {
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
		return fmt.Errorf("resources: %w", err)
	}
	var uris []string
	for _, r := range list {
		uris = append(uris, g.shownURI(src.Name(), r.URI))
	}
	g.server.RemoveResources(without(f.resources, uris)...)
	f.resources = uris
	for i, r := range list {
		shown := *r
		shown.URI = uris[i]
		g.adding(shown.URI, func() { g.server.AddResource(&shown, read) })
	}
	templates, err := src.ResourceTemplates(ctx)
	if err != nil {
		return fmt.Errorf("resource templates: %w", err)
	}
	uris = nil
	for _, t := range templates {
		uris = append(uris, g.shownURI(src.Name(), t.URITemplate))
	}
	g.server.RemoveResourceTemplates(without(f.templates, uris)...)
	f.templates = uris
	for i, t := range templates {
		shown := *t
		shown.URITemplate = uris[i]
		g.adding(shown.URITemplate, func() { g.server.AddResourceTemplate(&shown, read) })
	}
	return nil
}

// without are the strings of a list that are not in another.
func without(list, other []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(other, s) {
			out = append(out, s)
		}
	}
	return out
}

// promptName is the name under which a prompt is served: server__name, or its own. Where
// another server's prompt could be written the same way it ends in a hash of both.
func (g *Gateway) promptName(server, name string) string {
	if g.own {
		return name
	}
	whole := server + wireSeparator + name
	if strings.Count(whole, wireSeparator) == 1 && !strings.HasSuffix(server, "_") && !strings.HasPrefix(name, "_") {
		return whole
	}
	sum := sha256.Sum256([]byte(server + "/" + name))
	return whole + "_" + hex.EncodeToString(sum[:])[:wireNameHash]
}
