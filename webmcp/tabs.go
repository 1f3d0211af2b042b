package webmcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// PingWait bounds how long webmcp_tabs waits for tabs to show that they are alive.
	PingWait = 600 * time.Millisecond
	// maxTabTools is the number of tool names that webmcp_tabs gives for one tab.
	maxTabTools = 60
	maxTabs     = 500
)

// tabReport is one tab as webmcp_tabs tells it.
type tabReport struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	URL   string   `json:"url"`
	State string   `json:"state"`
	Tools []string `json:"tools"`
	More  int      `json:"moreTools,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// States of a tab.
const (
	tabReady         = "ready"
	tabLoading       = "loading"
	tabNotResponding = "not responding: its main thread is busy or stopped, a dialog may be open, or the browser discarded the tab; look at it in the browser"
	tabPaused        = "its scripts do not run: a breakpoint holds them, or the browser froze the tab; click it in the browser"
	tabCrashed       = "crashed"
)

// taskScript answers after a task of the page's event loop, which a breakpoint or a
// frozen page holds back.
const taskScript = `new Promise((r) => { const c = new MessageChannel(); c.port1.onmessage = () => r(1); c.port2.postMessage(0); })`

// ping asks every tab for a sign of life, and says what is wrong with those that gave
// none in time.
func (a *attachment) ping(ctx context.Context) (wrong map[string]string) {
	type sign struct{ id, missing string } // missing: what is not shown yet
	a.mu.Lock()
	wrong = map[string]string{}
	signs := make(chan sign, 2*len(a.tabs))
	open := len(a.tabs)
	for s, t := range a.tabs {
		id := t.id
		wrong[id] = tabNotResponding
		s.Post(page.CommandGetFrameTree, nil, func(_ jsonv2.Value, err error) {
			f := s.RootFrame()
			if err != nil || f == nil || !touchable(f) || !a.inScope(f) {
				signs <- sign{id, ""}
				return
			}
			signs <- sign{id, tabPaused}
			a.inWorld(f, taskScript, func(runtime.EvaluateResult, error) { signs <- sign{id, ""} })
		})
	}
	a.mu.Unlock()
	timer := time.NewTimer(PingWait)
	defer timer.Stop()
	for open > 0 {
		select {
		case g := <-signs:
			if g.missing != "" {
				wrong[g.id] = g.missing
				continue
			}
			delete(wrong, g.id)
			open--
		case <-timer.C:
			return wrong
		case <-ctx.Done():
			return wrong
		}
	}
	return wrong
}

// round asks every tab one question and waits for the answers, as long as ctx lasts.
// A tab that has not answered once is asked no more.
func (a *attachment) round(ctx context.Context) {
	a.mu.Lock()
	answers := make(chan *tab, len(a.tabs))
	open := 0
	for s, t := range a.tabs {
		if t.slow {
			continue
		}
		t.slow = true
		open++
		s.Post(page.CommandGetFrameTree, nil, func(jsonv2.Value, error) { a.told.Add(1); answers <- t })
	}
	a.mu.Unlock()
	for ; open > 0; open-- {
		select {
		case t := <-answers:
			a.mu.Lock()
			t.slow = false
			a.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// titles asks the browser for the present titles of all pages.
func (a *attachment) titles(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, PingWait)
	defer cancel()
	r, err := cdpproto.Call(ctx, a.browser.Root(), target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil
	}
	titles := make(map[string]string, len(r.TargetInfos))
	for _, info := range r.TargetInfos {
		titles[string(info.TargetID)] = info.Title
	}
	return titles
}

// tabReports describes all attached tabs, by title and ID.
func (s *Server) tabReports(ctx context.Context, a *attachment) []tabReport {
	wrong := a.ping(ctx)
	titles := a.titles(ctx)
	tools := map[string][]string{}
	for _, t := range s.visible() {
		tools[t.TabID] = append(tools[t.TabID], t.Name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	reports := make([]tabReport, 0, len(a.tabs))
	for _, t := range a.tabs {
		if title, ok := titles[t.id]; ok {
			t.title = title
		}
		r := tabReport{ID: t.id, Title: oneLine(t.title, 200), URL: oneLine(t.url, 500), Tools: tools[t.id], State: tabReady}
		if len(r.Tools) > maxTabTools {
			r.More = len(r.Tools) - maxTabTools
			r.Tools = r.Tools[:maxTabTools]
		}
		if r.Tools == nil {
			r.Tools = []string{}
		}
		switch {
		case t.crashed:
			r.State = tabCrashed
		case wrong[t.id] != "":
			r.State = wrong[t.id]
		case t.loading:
			r.State = tabLoading
		}
		r.Notes = t.notes(a)
		reports = append(reports, r)
	}
	slices.SortFunc(reports, func(x, y tabReport) int {
		if d := cmp.Compare(len(y.Tools), len(x.Tools)); d != 0 {
			return d
		}
		return cmp.Or(cmp.Compare(x.Title, y.Title), cmp.Compare(x.ID, y.ID))
	})
	return reports
}

// notes says what a user would want to know of a tab, with the attachment's lock held.
func (t *tab) notes(a *attachment) []string {
	seen := map[string]bool{}
	for f, note := range t.late {
		d := t.docs[f]
		switch empty := d == nil || len(d.tools) == 0; {
		case note == lateReload, note == lateShim && empty:
			seen[note] = true
		case !empty:
			seen[latePolicy] = true
		}
	}
	for _, d := range t.docs {
		if d.dropped > 0 {
			seen[fmt.Sprintf("%d tools left out: a page may offer %d", d.dropped, MaxDocumentTools)] = true
		}
	}
	if t.dialog != nil {
		seen[dialogText(t.dialog.kind, t.dialog.message)] = true
	}
	notes := make([]string, 0, len(seen))
	for n := range seen {
		notes = append(notes, oneLine(n, 400))
	}
	slices.Sort(notes)
	return notes
}

// oneLine makes a stranger's text safe to stand in a line of ours: no control, format
// or direction characters, at most n characters.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return visible(r)
	}, s)
	return clip(strings.TrimSpace(s), n)
}

// visibleText is s without the characters that hide or reorder text.
func visibleText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, s)
}

// visible is r, or -1 for a character that could steer a terminal or hide text. The
// joiners stay: emoji and several scripts need them.
func visible(r rune) rune {
	switch {
	case r == '\u200c' || r == '\u200d':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == unicode.ReplacementChar:
		return -1
	}
	return r
}

// otherReport is a browser that was found but not chosen.
type otherReport struct {
	Source string `json:"source"`
	Choose string `json:"choose"`
}

// tabsResult is the answer of webmcp_tabs.
func (s *Server) tabsResult(ctx context.Context) *mcp.CallToolResult {
	st := s.browser.currentStatus()
	out := struct {
		Browser string        `json:"browser"`
		Others  []otherReport `json:"otherBrowsers,omitempty"`
		Tabs    []tabReport   `json:"tabs"`
	}{Browser: st.String(), Tabs: []tabReport{}}
	for _, o := range st.others {
		out.Others = append(out.Others, otherReport{o.Source, "--cdp-url " + o.WS})
	}
	if a := s.browser.attached(); a != nil {
		out.Tabs = s.tabReports(ctx, a)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Browser: %s\n", out.Browser)
	for _, o := range out.Others {
		fmt.Fprintf(&text, "Also running: %s; choose it with %s\n", o.Source, o.Choose)
	}
	noun := "tabs"
	if len(out.Tabs) == 1 {
		noun = "tab"
	}
	fmt.Fprintf(&text, "%d open %s. Titles, addresses and names are the pages' own words.\n", len(out.Tabs), noun)
	if len(out.Tabs) > maxTabs {
		fmt.Fprintf(&text, "Only the first %d are shown.\n", maxTabs)
		out.Tabs = out.Tabs[:maxTabs]
	}
	for _, t := range out.Tabs {
		fmt.Fprintf(&text, "- %q %s (tab %s, %s)\n", t.Title, t.URL, t.ID, t.State)
		if len(t.Tools) > 0 {
			fmt.Fprintf(&text, "  tools: %s", strings.Join(t.Tools, ", "))
			if t.More > 0 {
				fmt.Fprintf(&text, " and %d more (webmcp_tools shows them)", t.More)
			}
			text.WriteString("\n")
		}
		for _, n := range t.Notes {
			fmt.Fprintf(&text, "  note: %s\n", n)
		}
	}
	return s.results.own(text.String(), out)
}
