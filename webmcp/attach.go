package webmcp

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	cdpwebmcp "github.com/chromedp/cdproto/webmcp"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// attachment is one connection to one browser start: it turns what the browser says
// into changes of the registry and ends of calls. It is a cdp.Handler; the Handler
// methods run on the connection's reading goroutine, everything else on any.
type attachment struct {
	opts     *BrowserOptions
	log      *slog.Logger
	registry *Registry
	broker   *broker      // belongs to the reading goroutine
	inject   jsonv2.Value // parameters that bring the shim to documents to come; set before the first target is told
	late     string       // the shim for documents that are there; the same
	progress func(tabID, message string)

	browser *cdp.Browser // set before Attach

	asked atomic.Int64  // answers that the tools of pages wait for
	idle  chan struct{} // holds one; says that asked came down to 0

	mu    sync.Mutex
	tabs  map[*cdp.Session]*tab // by the page's session; guarded by mu
	later map[*cdp.Session]bool // are prepared after the open pages have told their tools; nil from then on; guarded by mu
	calls map[string]*call      // native calls by invocation ID; guarded by mu
	// answers are the calls that wait for a frame's next document; guarded by mu.
	answers map[*cdp.Frame][]*call
	early   map[string]*nativeAnswer // answers that came before their call was known; guarded by mu
	seq     int64                    // guarded by mu
	// watchers are the running calls that want to hear of dialogs; guarded by mu.
	watchers map[*call]*watcher
}

func newAttachment(opts *BrowserOptions, registry *Registry) *attachment {
	a := &attachment{
		opts: opts, log: opts.Logger, registry: registry, broker: newBroker(),
		progress: func(string, string) {}, idle: make(chan struct{}, 1),
		tabs: map[*cdp.Session]*tab{}, later: map[*cdp.Session]bool{}, calls: map[string]*call{}, answers: map[*cdp.Frame][]*call{}, early: map[string]*nativeAnswer{},
	}
	compat, _ := strconv.Atoi(opts.Compat) // 0, and so the oldest, for CompatAuto
	a.play(compat)
	return a
}

// play makes the shim that of a Chromium version.
func (a *attachment) play(version int) {
	cfg := shim.Config{
		Allow: a.opts.Origins, Deny: a.opts.DenyOrigins, Legacy: a.opts.LegacyAPI, Compat: version, Broker: true, Secret: a.opts.Secret,
	}
	commandLine := true
	a.inject, _ = jsonv2.Marshal(page.AddScriptToEvaluateOnNewDocumentParams{Source: shim.Script(cfg), IncludeCommandLineAPI: &commandLine}) // always marshals
	a.late = shim.LateScript(cfg)
}

// askVersion plays the browser's own version. Its answer comes before the first target
// does: commands to the browser are answered in their order (measured in Chromium 156).
func (a *attachment) askVersion() {
	if a.opts.Compat != CompatAuto {
		return
	}
	cdp.Post(a.browser.Root(), browser.GetVersion, cdpproto.Empty{}, func(r browser.GetVersionResult, err error) {
		if err == nil {
			a.play(majorVersion(r.Product))
		}
	})
}

// majorVersion is 156 for "Chrome/156.0.8078.114", and 0 for what has no such form.
func majorVersion(product string) int {
	_, version, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

var _ cdp.Handler = (*attachment)(nil)

// Attached queues what a new page or frame needs: the shim for its documents to come
// and the browser's own WebMCP. Both are asked for everywhere; the page decides in
// which of the two a tool appears.
func (a *attachment) Attached(s *cdp.Session) {
	a.mu.Lock()
	prompt := s.Held() || a.later == nil || len(a.tabs) < promptTabs
	if !prompt {
		a.later[s] = true
	}
	a.mu.Unlock()
	if prompt {
		a.prepare(s)
	}
	if s.Parent() != nil {
		return
	}
	info := s.Info()
	a.mu.Lock()
	a.tabs[s] = &tab{
		id: string(info.TargetID), session: s, title: info.Title, url: info.URL, attachedAt: time.Now(),
		docs: map[*cdp.Frame]*document{}, late: map[*cdp.Frame]string{},
	}
	a.mu.Unlock()
}

// promptTabs is the number of open tabs that are prepared for their next document at
// once. With more tabs it would be in the way of the tools of the others: it is the most
// expensive part of attaching. A document that comes in between is adopted once it has
// loaded, see probe.
const promptTabs = 8

// prepare makes the shim part of the target's documents to come, and has their headers told.
func (a *attachment) prepare(s *cdp.Session) {
	s.Post(page.CommandAddScriptToEvaluateOnNewDocument, a.inject, nil)
	a.watchHeaders(s)
}

// prepareLater prepares the targets that had to wait.
func (a *attachment) prepareLater() {
	a.mu.Lock()
	later := a.later
	a.later = nil
	a.mu.Unlock()
	for s := range later {
		a.prepare(s)
	}
}

// Enabled asks for the browser's own tools, which are reported at once.
func (a *attachment) Enabled(s *cdp.Session) {
	s.Post(cdpwebmcp.CommandEnable, nil, tracked(a, func(_ jsonv2.Value, err error) { a.enabled(s, err) }))
}

// tracked counts an answer that the tools of a page wait for.
func tracked[R any](a *attachment, done func(R, error)) func(R, error) {
	a.asked.Add(1)
	return func(r R, err error) {
		done(r, err)
		if a.asked.Add(-1) == 0 {
			select {
			case a.idle <- struct{}{}:
			default:
			}
		}
	}
}

// enabled notes a browser whose DevTools do not know WebMCP.
func (a *attachment) enabled(s *cdp.Session, err error) {
	var refused *cdproto.Error
	if !errors.As(err, &refused) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tabs[s.Page()]; t != nil {
		t.noDomain = true
	}
}

// Detached forgets a tab; its documents have been reported gone before.
func (a *attachment) Detached(s *cdp.Session, why cdp.Reason) {
	a.mu.Lock()
	t := a.tabs[s]
	delete(a.tabs, s)
	a.mu.Unlock()
	if t != nil {
		a.registry.forgetTab(t.id)
	}
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

// Event handles what the sources and the dialogs say.
func (a *attachment) Event(s *cdp.Session, method string, params jsonv2.Value) {
	switch method {
	case runtime.InspectRequested.Method:
		handle(a, params, func(e *runtime.EventInspectRequested) { a.shimSays(s, e) })
	case network.ResponseReceived.Method:
		a.response(s, params)
	case cdpwebmcp.ToolsAdded.Method:
		handle(a, params, func(e *cdpwebmcp.EventToolsAdded) { a.nativeAdded(s, e) })
	case cdpwebmcp.ToolsRemoved.Method:
		handle(a, params, func(e *cdpwebmcp.EventToolsRemoved) { a.nativeRemoved(s, e) })
	case cdpwebmcp.ToolResponded.Method:
		handle(a, params, func(e *cdpwebmcp.EventToolResponded) { a.nativeResponded(s, e) })
	case page.JavascriptDialogOpening.Method:
		handle(a, params, func(e *page.EventJavascriptDialogOpening) { a.dialogOpened(s, e) })
	case page.JavascriptDialogClosed.Method:
		a.dialogClosed(s)
	case page.LoadEventFired.Method:
		a.loaded(s)
	}
}

func handle[E any](a *attachment, raw jsonv2.Value, f func(*E)) {
	e := new(E)
	if err := jsonv2.Unmarshal(raw, e, jsonv2.AllowInvalidUTF8(true)); err != nil {
		a.log.Warn("event not understood", "err", err)
		return
	}
	f(e)
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
		a.probe(s)
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

// connect opens the connection for this attachment and attaches.
func (a *attachment) connect(ctx context.Context, ep cdp.Endpoint) error {
	b, err := cdp.Dial(ctx, ep, &cdp.Options{Logger: a.log, Handler: a})
	if err != nil {
		return err
	}
	a.browser = b // nothing is told before Attach
	a.askVersion()
	if err := b.Attach(ctx); err != nil {
		b.Close()
		return err
	}
	return nil
}
