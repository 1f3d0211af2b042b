package webmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
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

// syncer keeps the MCP server's tools equal to what its client may see. One goroutine runs it.
type syncer struct {
	s      *Server
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

// run applies changes until ctx ends. Who asks for what is known now is not made to wait
// for the end of a batch.
func (y *syncer) run(ctx context.Context) {
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case served := <-y.s.serveNow:
			y.apply()
			close(served)
		case <-y.s.view.changed:
			served := y.s.batch(ctx, max(y.loadBatch(), BatchEvery-time.Since(last)))
			y.apply()
			last = time.Now()
			if served != nil {
				close(served)
			}
		}
	}
}

// batch waits for more changes of a batch, until somebody asks for what is known: to them
// it is to be told when that is served.
func (s *Server) batch(ctx context.Context, d time.Duration) (served chan struct{}) {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case served = <-s.serveNow:
	case <-t.C:
	case <-ctx.Done():
	}
	return served
}

// loadBatch is LoadBatch while a page is loading of which clients do not know a tool.
func (y *syncer) loadBatch() time.Duration {
	if y.anyLoading() {
		return LoadBatch
	}
	return 0
}

// apply makes the difference between what is served and what is live.
func (y *syncer) apply() {
	want := map[string]*PageTool{}
	if y.s.opts.Expose != ExposeFixed {
		for _, t := range y.s.visible() {
			want[t.Name] = t.PageTool
		}
	}
	var gone []string
	for name := range y.served {
		if want[name] == nil {
			gone = append(gone, name)
			delete(y.served, name)
		}
	}
	if len(gone) > 0 {
		sort.Strings(gone)
		y.s.server.RemoveTools(gone...)
	}
	var news []newTool
	for name, t := range want {
		if title := t.TabTitle(); !y.served[name].current(t, title) {
			news = append(news, newTool{NamedTool{name, t}, title, nil})
		}
	}
	y.s.serveAll(news)
	for _, n := range news {
		if n.err != nil {
			y.s.opts.Logger.Warn("tool not served", "tool", n.tool.Name, "origin", n.tool.Origin, "err", n.err)
			continue
		}
		y.served[n.tool.Name] = servedTool{n.tool.PageTool, n.title}
	}
}

// newTool is a tool that clients do not know yet.
type newTool struct {
	tool  NamedTool
	title string // of the tab
	err   error  // why it is not served
}

// serveParallel is the number of tools from which on all processors check them: the SDK
// takes some 0.1 ms for each.
const serveParallel = 32

// serveAll serves tools and notes in each what went wrong with it.
func (s *Server) serveAll(tools []newTool) {
	workers := 1
	if len(tools) >= serveParallel {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tools)); i = next.Add(1) - 1 {
				tools[i].err = s.serve(tools[i].tool, tools[i].title)
			}
		})
	}
	wg.Wait()
}

// anyLoading reports whether a tool that clients do not know yet is in a page that loads.
func (y *syncer) anyLoading() bool {
	for _, t := range y.s.view.tools() {
		if y.served[t.Name].tool != t.PageTool && t.loading() {
			return true
		}
	}
	return false
}

// serve adds a tool to the MCP server. The SDK panics on definitions that it does not
// like, and they are a stranger's: normalizeSchema prevents it, recover makes sure.
func (s *Server) serve(t NamedTool, title string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("refused by the MCP library: %v", r)
		}
	}()
	key := t.key
	name := t.Name
	s.server.AddTool(definition(t, title), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		live := s.view.lookup(name)
		if live == nil || live.key != key {
			return errorResult(fmt.Sprintf("the tool %s is gone: its page took it back, navigated or was closed; list the tools again", name)), nil
		}
		return conform(live, s.call(ctx, req, NamedTool{name, live}, req.Params.Arguments)), nil
	})
	return nil
}

const maxShownTitle = 1_000

// definition is a page tool as MCP clients see it: what the page says is data, with
// the origin in front, and where it runs in _meta.
func definition(t NamedTool, tabTitle string) *mcp.Tool {
	no := false
	title := oneLine(t.Title, maxShownTitle)
	d := &mcp.Tool{
		Name: t.Name, Title: title, Description: describe(t.PageTool), InputSchema: t.InputSchema,
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
	if note := outputOf(d, t.PageTool); note != "" {
		d.Meta["aster/schemaNote"] = note
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

// madeDefinition is the definition of a tool that was made last, with what it depends on
// beside the tool.
type madeDefinition struct {
	name, tabTitle string
	of             *mcp.Tool
}

// definition is the definition of a tool: the same one for as long as nothing changes,
// because whoever judges calls reads each definition, which is more work than to make it.
func (t NamedTool) definition() *mcp.Tool {
	title := t.TabTitle()
	if made := t.made.Load(); made != nil && made.name == t.Name && made.tabTitle == title {
		return made.of
	}
	made := &madeDefinition{t.Name, title, definition(t, title)}
	t.made.Store(made) // clients for whom it has other names take turns
	return made.of
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

// visible lists the tools that the client may see now.
func (s *Server) visible() []NamedTool {
	all := s.view.tools()
	if s.opts.Hide != nil {
		all = slices.DeleteFunc(all, func(t NamedTool) bool { return s.opts.Hide(t.Name) })
	}
	if !s.opts.ActiveTab {
		return all
	}
	active := s.browser.activeTab()
	return slices.DeleteFunc(all, func(t NamedTool) bool { return t.TabID != active })
}

// emptyArgs is what a call without arguments means.
var emptyArgs = json.RawMessage(`{}`)
