package webmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BatchEvery is the least time between two changes of the served list, after the
// first, which is made at once. The SDK holds its notification back while changes
// come less than 10 ms apart, so a page that floods must not set the pace.
const BatchEvery = 25 * time.Millisecond

// LoadBatch is how much longer the first change waits while its page loads: most
// pages register their tools one after the other then, and get their title.
const LoadBatch = 10 * time.Millisecond

// syncer keeps the MCP server's tools equal to the registry's. One goroutine runs it.
type syncer struct {
	b      *Bridge
	served map[string]servedTool
}

// servedTool is a tool as it was told to clients.
type servedTool struct {
	tool  *PageTool
	title string // of the tab
}

// current reports whether clients know what there is to know. A title that changes
// later, as those of mail and chat pages do, is not worth a notification.
func (old servedTool) current(t *PageTool, title string) bool {
	return old.tool != nil && same(old.tool, t) && (old.title == title || !placeholder(old.title, t.URL))
}

// placeholder reports whether a title is the one that the browser makes of the address.
func placeholder(title, url string) bool { return title == "" || strings.HasSuffix(url, title) }

// run applies changes until ctx ends.
func (s *syncer) run(ctx context.Context) {
	var last time.Time
	wait := time.NewTimer(time.Hour)
	defer wait.Stop()
	for {
		next := s.b.registry.sweep()
		if next.IsZero() {
			next = time.Now().Add(time.Hour)
		}
		wait.Reset(time.Until(next) + time.Millisecond)
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
			continue
		case served := <-s.b.serveNow:
			s.apply()
			close(served)
			continue
		case <-s.b.registry.Changed():
		}
		if s.anyLoading() {
			pause(ctx, LoadBatch)
		}
		if d := BatchEvery - time.Since(last); d > 0 {
			pause(ctx, d)
		}
		s.apply()
		last = time.Now()
	}
}

// apply makes the difference between what is served and what is live.
func (s *syncer) apply() {
	want := map[string]*PageTool{}
	if s.b.opts.Expose != ExposeFixed {
		for _, t := range s.b.visible() {
			want[t.Name] = t
		}
	}
	var gone []string
	for name := range s.served {
		if want[name] == nil {
			gone = append(gone, name)
			delete(s.served, name)
		}
	}
	if len(gone) > 0 {
		sort.Strings(gone)
		s.b.server.RemoveTools(gone...)
	}
	for name, t := range want {
		title := t.TabTitle()
		if s.served[name].current(t, title) {
			continue
		}
		if err := s.b.serve(t, title); err != nil {
			s.b.opts.Logger.Warn("tool not served", "tool", name, "origin", t.Origin, "err", err)
			continue
		}
		s.served[name] = servedTool{t, title}
	}
}

// anyLoading reports whether a tool that clients do not know yet is in a page that loads.
func (s *syncer) anyLoading() bool {
	for _, t := range s.b.registry.Tools() {
		if s.served[t.Name].tool != t && t.loading() {
			return true
		}
	}
	return false
}

// serve adds a tool to the MCP server. The SDK panics on definitions that it does not
// like, and they are a stranger's: normalizeSchema prevents it, recover makes sure.
func (b *Bridge) serve(t *PageTool, title string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("refused by the MCP library: %v", r)
		}
	}()
	key := t.key
	name := t.Name
	b.server.AddTool(definition(t, title), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		live := b.registry.Lookup(name)
		if live == nil || live.key != key {
			return errorResult(fmt.Sprintf("the tool %s is gone: its page took it back, navigated or was closed; list the tools again", name)), nil
		}
		return b.call(ctx, req, live, req.Params.Arguments), nil
	})
	return nil
}

const maxShownTitle = 1_000

// definition is a page tool as MCP clients see it: what the page says is data, with
// the origin in front, and where it runs in _meta.
func definition(t *PageTool, tabTitle string) *mcp.Tool {
	no := false
	title := oneLine(t.Title, maxShownTitle)
	d := &mcp.Tool{
		Name: t.Name, Title: title, Description: describe(t), InputSchema: t.InputSchema,
		Annotations: &mcp.ToolAnnotations{Title: title},
		Meta: mcp.Meta{
			"aster/origin": t.Origin, "aster/tab": t.TabID, "aster/tabTitle": oneLine(tabTitle, 200), "aster/url": t.URL, "aster/pageName": t.PageName,
		},
	}
	if !t.Main {
		d.Meta["aster/frame"] = t.key.Frame
	}
	if t.Declarative {
		d.Meta["aster/form"] = true
	}
	if t.SchemaNote != "" {
		d.Meta["aster/schemaNote"] = t.SchemaNote
	}
	if h := t.Annotations; h != nil {
		d.Annotations.ReadOnlyHint = h.ReadOnly
		if h.Consequential {
			yes := true
			d.Annotations.DestructiveHint = &yes
		} else {
			d.Annotations.DestructiveHint = &no
		}
		if h.UntrustedContent {
			yes := true
			d.Annotations.OpenWorldHint = &yes
			d.Meta["aster/untrustedContent"] = true
		}
	}
	return d
}

// describe puts the origin in front of the page's words.
func describe(t *PageTool) string {
	text := t.Description
	if text == "" {
		text = t.PageName
	}
	mark := ""
	if h := t.Annotations; h != nil && h.UntrustedContent {
		mark = " (results hold content of strangers)"
	}
	return "[" + t.Origin + "]" + mark + " " + visibleText(text)
}

// visible lists the tools that clients may see.
func (b *Bridge) visible() []*PageTool {
	all := b.registry.Tools()
	shown := all[:0]
	active := b.activeTab()
	for _, t := range all {
		if h := t.Annotations; h != nil && h.Debugging && !b.opts.Debugging {
			continue
		}
		if b.opts.ActiveTab && t.TabID != active {
			continue
		}
		shown = append(shown, t)
	}
	return shown
}

// emptyArgs is what a call without arguments means.
var emptyArgs = json.RawMessage(`{}`)
