package webmcp

import (
	"context"
	"errors"
	"log/slog"
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
	told  atomic.Int64  // answers that came
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
// expensive part of attaching. A tab that goes somewhere in between is prepared then; a
// document that was quicker is adopted once it has loaded, see probe.
const promptTabs = 8

// prepare makes the shim part of the target's documents to come, and has their headers told.
func (a *attachment) prepare(s *cdp.Session) {
	s.Post(page.CommandAddScriptToEvaluateOnNewDocument, a.inject, nil)
	a.watchHeaders(s)
}

// leaving prepares a target that had to wait and now goes to another document.
func (a *attachment) leaving(s *cdp.Session) {
	a.mu.Lock()
	waits := a.later[s]
	delete(a.later, s)
	a.mu.Unlock()
	if waits {
		a.prepare(s)
	}
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
	if s.Held() {
		a.probeStarted(s)
	}
}

// tracked counts an answer that the tools of a page wait for.
func tracked[R any](a *attachment, done func(R, error)) func(R, error) {
	a.asked.Add(1)
	return func(r R, err error) {
		done(r, err)
		a.told.Add(1)
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
	case page.FrameStartedNavigating.Method:
		a.leaving(s)
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
