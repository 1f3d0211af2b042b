package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// Bounds of a completion: a shell waits for it with every press of a key.
const (
	maxCompletions   = 500
	completePatience = 150 * time.Millisecond
)

// completeServers completes the names of servers.
func (o *configSource) completeServers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, _, err := o.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return serverNames(c), cobra.ShellCompDirectiveNoFileComp
}

// completeTools completes SERVER/TOOL, with what the servers listed last: it starts none.
func (o *configSource) completeTools(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	c, _, err := o.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return o.toolNames(c, typed, func(id string) bool { return c.Tools.Filter(id).Allowed })
}

// completeEdits completes servers, and tools once their server is typed.
func (o *enableOptions) completeEdits(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if !strings.Contains(typed, "/") {
		return o.completeServers(cmd, args, typed)
	}
	c, _, err := o.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, directive := o.toolNames(c, typed, func(id string) bool { return c.Tools.Filter(id).Allowed != o.on })
	if o.on { // rules are taken out as they are written
		for _, p := range c.Tools.Deny {
			if strings.HasPrefix(p.Text, typed) && !slices.Contains(names, p.Text) {
				names = append(names, p.Text)
			}
		}
	}
	return names, directive
}

// toolNames are the IDs that begin with what is typed. Before the "/" it is servers, so
// that a list of hundreds is not offered at once.
func (o *configSource) toolNames(c *config.Config, typed string, wanted func(id string) bool) ([]string, cobra.ShellCompDirective) {
	server, _, inside := strings.Cut(typed, "/")
	if !inside {
		var out []string
		for _, name := range serverNames(c) {
			if s := c.Server(name); s == nil || !s.Disabled {
				out = append(out, name+"/")
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var out []string
	for _, id := range o.knownTools(c, server) {
		if strings.HasPrefix(id, typed) && wanted(id) && len(out) < maxCompletions && host.CleanText(id) == id && !strings.ContainsAny(id, "\t\n") {
			out = append(out, id)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// knownTools are the IDs of a server's tools as far as they are known without starting it.
func (o *configSource) knownTools(c *config.Config, server string) []string {
	var ids []string
	if server == config.ServerWeb {
		for _, name := range webTools {
			ids = append(ids, server+"/"+name)
		}
		return ids
	}
	s := c.Server(server)
	dir, err := o.env.stateDir()
	if s == nil || err != nil {
		return nil
	}
	found := make(chan *host.List, 1)
	go func() { // a home on a network may be slow, and a shell does not wait
		list, _ := host.OpenLists(dir).Load(s)
		found <- list
	}()
	select {
	case list := <-found:
		if list != nil {
			for _, t := range list.Tools {
				ids = append(ids, string(t.ID()))
			}
		}
	case <-time.After(completePatience):
	}
	slices.Sort(ids)
	return ids
}

// webTools are the tools of the server web.
var webTools = []string{"crawl", "extract", "screenshot", "search", "sitemap"}
