package webmcp

import (
	"time"

	"github.com/chromedp/cdproto/target"

	"github.com/aster-mcp/aster/cdp"
)

// tab is one attached page. Its fields are guarded by the attachment's lock.
type tab struct {
	id         string
	session    *cdp.Session
	title, url string
	attachedAt time.Time
	docs       map[*cdp.Frame]*document
	loading    bool
	crashed    bool
	slow       bool                  // has not answered attachment.round yet
	noDomain   bool                  // the browser's DevTools do not know WebMCP
	late       map[*cdp.Frame]string // documents that were open before us: what became of them
	dialog     *dialog
	// visible and focusedAt are kept for Options.ActiveTab.
	askedAt   time.Time // zero while no answer is awaited
	visible   bool
	focusedAt time.Time
}

// dialog is a JavaScript dialog that is open in a tab.
type dialog struct {
	kind, message string
}

// TargetInfo keeps titles and addresses current.
func (a *attachment) TargetInfo(s *cdp.Session, info *target.Info) {
	if s == nil {
		return
	}
	a.mu.Lock()
	t := a.tabs[s]
	titled := false
	if t != nil {
		titled = len(t.docs) > 0 && t.title != info.Title && placeholder(t.title, t.url)
		t.title, t.url = info.Title, info.URL
	}
	a.mu.Unlock()
	if titled {
		a.registry.signal()
	}
}

// askTitle asks for a tab's title: the browser does not tell when a page sets it
// (measured in Chromium 156).
func (a *attachment) askTitle(s *cdp.Session) {
	s = s.Page()
	cdp.Post(a.browser.Root(), target.GetTargetInfo, target.GetTargetInfoParams{TargetID: s.Info().TargetID}, func(r target.GetTargetInfoResult, err error) {
		if err == nil && r.TargetInfo != nil {
			a.TargetInfo(s, r.TargetInfo)
		}
	})
}

// loaded ends the time in which the tools of a reloaded page may come back unnoticed.
// Pages register tools in their load handlers too, so it is not over at once.
func (a *attachment) loaded(s *cdp.Session) {
	a.mu.Lock()
	t := a.tabs[s]
	untitled := false
	if t != nil {
		t.loading = false
		untitled = len(t.docs) > 0 && placeholder(t.title, t.url)
	}
	a.mu.Unlock()
	if untitled {
		a.askTitle(s)
	}
	if t != nil {
		a.registry.loaded(t.id)
		a.probe(s.RootFrame())
	}
}
