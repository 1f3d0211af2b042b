package webmcp

import (
	"fmt"

	"github.com/chromedp/cdproto/page"

	"github.com/aster-mcp/aster/cdp"
)

// A JavaScript dialog stops the page's scripts until somebody answers it. It is the
// user's to answer; the callers of running calls are told why nothing moves.

func (a *attachment) dialogOpened(s *cdp.Session, e *page.EventJavascriptDialogOpening) {
	a.mu.Lock()
	t := a.tabs[s.Page()]
	if t == nil {
		a.mu.Unlock()
		return
	}
	t.dialog = &dialog{kind: string(e.Type), message: e.Message}
	busy := t.running() > 0
	var tell []progressFunc
	for _, w := range a.watchers {
		if w.call.doc.tab == t {
			tell = append(tell, w.tell)
		}
	}
	a.mu.Unlock()
	if busy && a.opts.Dialogs != DialogsLeave {
		cdp.Post(s, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: a.opts.Dialogs == DialogsAccept}, nil)
	}
	for _, f := range tell {
		f(dialogText(e.Type.String(), e.Message))
	}
}

func (a *attachment) dialogClosed(s *cdp.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tabs[s.Page()]; t != nil {
		t.dialog = nil
	}
}

func dialogText(kind, message string) string {
	return fmt.Sprintf("the page shows a dialog (%s) and waits for the user to answer it: %q", kind, clip(message, 200))
}

// running is the number of calls that run in a tab, with the attachment's lock held.
func (t *tab) running() (n int) {
	for _, d := range t.docs {
		n += len(d.calls)
	}
	return n
}

// watcher is a running call whose caller wants to hear of dialogs.
type watcher struct {
	call *call
	tell progressFunc
}

// watchDialogs tells the caller of a call about dialogs in its tab, one that is open
// already included, until the returned func is called.
func (a *attachment) watchDialogs(c *call, tell progressFunc) (stop func()) {
	if tell == nil {
		return func() {}
	}
	w := &watcher{c, tell}
	a.mu.Lock()
	if a.watchers == nil {
		a.watchers = map[*call]*watcher{}
	}
	a.watchers[c] = w
	open := c.doc.tab.dialog
	a.mu.Unlock()
	if open != nil {
		tell(dialogText(open.kind, open.message))
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watchers, c)
	}
}
