package webmcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/aster-mcp/aster/cdp"
)

// FocusEvery is how often tabs are asked whether they are in front, with Options.ActiveTab.
const FocusEvery = 300 * time.Millisecond

// askAgain is how long a question of a tab stands before another is asked.
const askAgain = 5 * time.Second

// watchFocus keeps the tab that is served with Options.ActiveTab: the visible one that
// last had the focus. While no window of the browser has it, the last one stays.
func (b *Browser) watchFocus(ctx context.Context) {
	tick := time.NewTicker(FocusEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if a := b.attached(); a != nil {
			a.askFocus()
			b.chooseTab(a)
		}
	}
}

// askFocus asks every tab in scope; the answers come when they come.
func (a *attachment) askFocus() {
	a.mu.Lock()
	sessions := make([]*cdp.Session, 0, len(a.tabs))
	for s, t := range a.tabs {
		if time.Since(t.askedAt) > askAgain {
			t.askedAt = time.Now()
			sessions = append(sessions, s)
		}
	}
	a.mu.Unlock()
	for _, s := range sessions {
		// The frame tree comes first only to get onto the reading goroutine, which owns the frames.
		s.Post(page.CommandGetFrameTree, nil, func(_ jsonv2.Value, err error) { a.askTab(s, err) })
	}
}

func (a *attachment) askTab(s *cdp.Session, err error) {
	f := s.RootFrame()
	if err != nil || f == nil || !touchable(f) || !a.inScope(f) {
		a.focusAnswer(s, false, false)
		return
	}
	a.inWorld(f, "[document.visibilityState === 'visible', document.hasFocus()]", func(r runtime.EvaluateResult, err error) {
		var got [2]bool
		if err == nil && r.Result != nil {
			json.Unmarshal(r.Result.Value, &got)
		}
		a.focusAnswer(s, got[0], got[1])
	})
}

func (a *attachment) focusAnswer(s *cdp.Session, visible, focused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tabs[s]; t != nil {
		t.askedAt, t.visible = time.Time{}, visible
		if focused {
			t.focusedAt = time.Now()
		}
	}
}

// chooseTab takes the visible tab that had the focus last.
func (b *Browser) chooseTab(a *attachment) {
	a.mu.Lock()
	var best *tab
	for _, t := range a.tabs {
		if t.visible && (best == nil || t.focusedAt.After(best.focusedAt) || t.focusedAt.Equal(best.focusedAt) && t.id < best.id) {
			best = t
		}
	}
	id := ""
	if best != nil {
		id = best.id
	}
	a.mu.Unlock()
	b.mu.Lock()
	changed := b.focus.tab != id
	b.focus.tab = id
	b.mu.Unlock()
	if changed {
		b.registry.signal()
	}
}
