package webmcp

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/aster-mcp/aster/cdp"
)

// document is one document that offers tools. Its fields are guarded by the
// attachment's lock, but those that are set once.
type document struct {
	att     *attachment
	session *cdp.Session
	tab     *tab
	frameID string
	native  bool
	origin  string // set once
	url     string // set once: the address without fragment when the document appeared
	path    string // set once: its path
	frame   string // set once: the frame's descriptor in tool names, "" for the main frame
	scope   scope  // set once: what origin globs are matched with
	main    bool

	api     string // the shim's api object; "" under native
	tools   map[string]*PageTool
	calls   map[string]*call
	gone    bool
	dropped int // tools left out because of a bound

	asking, askAgain bool // for titles: see askTitles
}

// DocumentGone takes the document's tools away and ends its calls.
func (a *attachment) DocumentGone(f *cdp.Frame, why cdp.Reason) {
	a.partyGone(f)
	a.mu.Lock()
	t := a.tabs[f.Session.Page()]
	var d *document
	if t != nil {
		d = t.docs[f]
		delete(t.docs, f)
		delete(t.late, f)
		if f.Main() {
			t.dialog = nil
			t.loading = why.Kind == cdp.Navigated || why.Kind == cdp.Reloaded
			t.crashed = why.Kind == cdp.Crashed
		}
	}
	ended := a.endAnswers(f, why)
	if d == nil {
		a.mu.Unlock()
		finishGone(ended, why)
		return
	}
	removed, more := a.endDocument(f, d, why)
	ended = append(ended, more...)
	a.mu.Unlock()
	reloading := why.Kind == cdp.Reloaded || why.Kind == cdp.Navigated && sameAddress(why.URL, d.url)
	if len(removed) > 0 {
		a.registry.Apply(Change{Removed: removed, Reloading: reloading})
	}
	finishGone(ended, why)
}

func finishGone(ended []*call, why cdp.Reason) {
	for _, c := range ended {
		c.finish(outcome{kind: outcomeGone, text: why.String()})
	}
}

// endDocument empties a document. A call to a form may be the cause of the
// navigation, and the next document answers it: such a call stays.
func (a *attachment) endDocument(f *cdp.Frame, d *document, why cdp.Reason) (removed []*PageTool, ended []*call) {
	d.gone = true
	for _, t := range d.tools {
		removed = append(removed, t)
	}
	for _, c := range d.calls {
		if c.tool.Native && c.tool.Declarative && (why.Kind == cdp.Navigated || why.Kind == cdp.Reloaded) && c.invocation != "" {
			c.awaitNextDocument(why)
			continue
		}
		if why.Kind == cdp.Navigated || why.Kind == cdp.Reloaded {
			// A document that goes at once may go before it can say that it was submitted.
			if an := c.tool.Annotations; c.submitted == nil && an != nil && an.Autosubmit {
				a.awaitAnswer(f, c)
			}
			if c.submitted != nil {
				continue
			}
		}
		ended = append(ended, c)
	}
	d.tools, d.calls = nil, nil
	return removed, ended
}

// sameAddress reports whether a navigation comes back to the same document.
func sameAddress(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	return a != "" && a == b
}

// FrameNavigated marks the page as loading.
func (a *attachment) FrameNavigated(f *cdp.Frame, restored bool) {
	if !restored && f.Context != 0 { // a window that is used again: no new context will come
		a.pokeForms(f)
		a.readAnswer(f)
	}
	if !f.Main() {
		return
	}
	a.mu.Lock()
	t := a.tabs[f.Session]
	var moved Change
	if t != nil {
		t.loading, t.crashed = !restored, false
		t.url = f.URL
		if d := t.docs[f]; d != nil && restored && d.url != f.URL {
			moved = a.move(d, f)
		}
	}
	a.mu.Unlock()
	if t != nil {
		a.registry.arrived(t.id, f.URL)
	}
	if len(moved.Removed) > 0 {
		a.registry.Apply(moved)
	}
}

// move corrects a document out of the back/forward cache, with a.mu held: the browser
// reports its tools before it says where the frame now is (measured in Chromium 156).
func (a *attachment) move(d *document, f *cdp.Frame) (c Change) {
	for _, t := range d.tools {
		c.Removed = append(c.Removed, t)
	}
	delete(d.tab.docs, f)
	d.gone = true
	fresh := a.document(f, d.native)
	if fresh == nil {
		return c
	}
	fresh.api = d.api
	for _, old := range c.Removed {
		t := old.withTitle(old.Title)
		if fresh.add(t) {
			c.Added = append(c.Added, t)
		}
	}
	return c
}

// ContextCreated brings the shim to documents that were there before us.
func (a *attachment) ContextCreated(f *cdp.Frame, existing bool) {
	if existing {
		a.adopt(f)
	} else {
		a.readAnswer(f)
	}
}

// document finds the document of a frame or makes one, with a.mu held; nil for a
// frame of no tab or out of scope.
func (a *attachment) document(f *cdp.Frame, native bool) *document {
	t := a.tabs[f.Session.Page()]
	sc := scopeOf(f)
	if t == nil || !sc.allowed(a.opts.Origins, a.opts.DenyOrigins) {
		return nil
	}
	d := t.docs[f]
	if d == nil {
		d = &document{
			att: a, session: f.Session, tab: t, frameID: string(f.ID), native: native, origin: f.Origin, url: f.URL,
			main: f.Main(), scope: sc, tools: map[string]*PageTool{}, calls: map[string]*call{},
		}
		if u, err := url.Parse(f.URL); err == nil {
			d.path = u.Path
		}
		if d.url == "" || strings.HasPrefix(d.url, "about:") {
			d.path = "about"
		}
		if !d.main {
			d.frame = t.frameName(f, d)
		}
		t.docs[f] = d
		if placeholder(t.title, t.url) {
			a.askTitle(f.Session)
		}
	}
	return d
}

// frameName describes a child frame in tool names: by its name attribute, and by
// its place among the frames of the tab that look the same.
func (t *tab) frameName(f *cdp.Frame, d *document) string {
	used := map[string]bool{}
	for _, other := range t.docs {
		if !other.main && other.origin == d.origin && other.path == d.path {
			used[other.frame] = true
		}
	}
	base := "frame:" + f.Name
	for i, name := 1, base; ; i++ {
		if !used[name] {
			return name
		}
		name = base + "#" + strconv.Itoa(i)
	}
}

// touchable reports whether a document that is there already may get the shim: web
// pages, files, and opaque documents inside them.
func touchable(f *cdp.Frame) bool {
	origin := f.Origin
	for _, up := range f.Ancestors() {
		if origin != "null" && origin != "" {
			break
		}
		origin = up.Origin
	}
	for _, scheme := range []string{"http://", "https://", "file://"} {
		if strings.HasPrefix(origin, scheme) {
			return true
		}
	}
	return false
}
