package websrv

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Limits of a page.
const (
	defaultWidth, defaultHeight = 1280, 800
	maxViewport                 = 4096 // CSS pixels a side
	maxSettle                   = 10 * time.Second
	quietWait                   = 5 * time.Second // for a quiet network after load
	pollEvery                   = 100 * time.Millisecond
	maxReading                  = 5 * time.Second // of the time of a page, kept for reading it
)

// renderOptions says when a page is ready to be read. The zero value waits for the load
// event and then, for at most 5 s, for a quiet network.
type renderOptions struct {
	WaitFor   string        // CSS selector that must be in the page; "" waits for none
	Settle    time.Duration // further wait after that, at most 10 s
	Timeout   time.Duration // of all; 0 means that of the network's options
	UserAgent string        // "" leaves the browser's own
	Width     int           // viewport, CSS pixels, at most 4096; 0 means 1280
	Height    int           // at most 4096; 0 means 800
	MaxBytes  int64         // of HTML; 0 means the network's limit
}

// rendered is a page as it stands in the local Chromium.
type rendered struct {
	URL, FinalURL, Title string
	Status               int         // of the main document; 0 when unknown
	Header               http.Header // of the main document
	HTML                 []byte      // UTF-8, open shadow trees put in their places
	TimedOut             bool        // a wait condition was not met; HTML is what was there
}

// tab is one page in a browser context of its own: no cookie, storage or cache is shared
// with another. Its methods are called from one goroutine.
type tab struct {
	n   *network
	run *rendererRun
	// ctx is chromedp's, which names the tab; it ends with the deadline.
	ctx     context.Context
	cancel  context.CancelFunc // of ctx; nil before the tab is open; guarded by mu
	session *chromedp.Target
	url     *url.URL
	o       renderOptions
	scale   float64
	limit   time.Time // for wait conditions; what is left after it is for reading

	mu       sync.Mutex
	frame    cdpproto.FrameID                           // the main one; "" before the first document; guarded by mu
	loader   cdpproto.LoaderID                          // of the present document; guarded by mu
	docs     map[cdpproto.LoaderID]*cdpnetwork.Response // answers of documents; guarded by mu
	states   map[string]bool                            // lifecycle events of the present document; guarded by mu
	crashed  bool                                       // guarded by mu
	changed  chan struct{}                              // has a token after a change
	wg       sync.WaitGroup                             // answers to dialogs
	timedOut bool
	unfound  bool // the selector was not there when the page had loaded
}

// withTab loads a page and calls f with it.
func (n *network) withTab(ctx context.Context, rawURL string, o renderOptions, scale float64, f func(*tab) error) error {
	u, err := cleanURL(rawURL)
	if err != nil {
		return err
	}
	timeout := min(orDefault(o.Timeout, n.o.Timeout), topRequestTimeout)
	late := &netError{errTimeout, u.Host + " was not ready within " + timeout.String()}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	if err := n.guard.check(ctx, u); err != nil {
		return classify(ctx, u.Hostname(), err)
	}
	run, release, err := n.renderer.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	deadline, _ := ctx.Deadline()
	t := &tab{limit: deadline.Add(-min(timeout/4, maxReading)), n: n, run: run, url: u, o: o, scale: scale, docs: map[cdpproto.LoaderID]*cdpnetwork.Response{}, states: map[string]bool{}, changed: make(chan struct{}, 1)}
	end, err := t.open(ctx)
	defer end()
	if err == nil {
		err = t.load()
	}
	if err == nil {
		err = f(t)
	}
	return t.explain(ctx, err)
}

// open makes the tab, ready to load.
func (t *tab) open(ctx context.Context) (end func(), err error) {
	tabCtx, cancel := chromedp.NewContext(t.run.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(t.event))
	// The first action binds the tab's life to its context, so the deadline comes after.
	stop := context.AfterFunc(ctx, cancel)
	end = func() {
		stop()
		chromedp.Cancel(tabCtx) // closes the tab, also one that hangs
		t.wg.Wait()
	}
	if err := chromedp.Do(tabCtx); err != nil {
		return end, err
	}
	t.mu.Lock()
	t.ctx, t.cancel = tabCtx, cancel
	t.mu.Unlock()
	return end, t.prepare()
}

// prepare sets the tab up: no downloads, the viewport, the events that load needs.
func (t *tab) prepare() error {
	return chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, s *chromedp.Target) error {
		c := chromedp.FromContext(ctx)
		t.session = s
		if _, err := cdpproto.Call(ctx, c.Browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: c.BrowserContextID}); err != nil {
			return err
		}
		if _, err := cdpproto.Call(ctx, s, inspector.Enable, cdpproto.Empty{}); err != nil { // it tells of a crash
			return err
		}
		if _, err := cdpproto.Call(ctx, s, cdpnetwork.Enable, cdpnetwork.EnableParams{}); err != nil {
			return err
		}
		if _, err := cdpproto.Call(ctx, s, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true}); err != nil {
			return err
		}
		if t.o.UserAgent != "" {
			if _, err := cdpproto.Call(ctx, s, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: t.o.UserAgent}); err != nil {
				return err
			}
		}
		_, err := cdpproto.Call(ctx, s, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: side(t.o.Width, defaultWidth), Height: side(t.o.Height, defaultHeight), DeviceScaleFactor: t.scale})
		return err
	}))
}

// side is a side of the viewport within bounds.
func side(n, d int) int64 { return int64(min(max(orDefault(n, d), 1), maxViewport)) }

// render loads a page in the local Chromium and returns its DOM as HTML. An error wraps
// errNoBrowser when there is no browser, one of the other sentinels, or the context's error.
func (n *network) render(ctx context.Context, rawURL string, o renderOptions) (*rendered, error) {
	r := &rendered{}
	err := n.withTab(ctx, rawURL, o, 1, func(t *tab) error {
		limit := min(orDefault(o.MaxBytes, n.o.MaxBodyBytes), topMaxBodyBytes)
		var got struct {
			HTML, Title string
			TooLong     bool
		}
		if err := t.eval(serializeScript, &got, limit); err != nil {
			return err
		}
		if got.TooLong || int64(len(got.HTML)) > limit {
			return tooLarge(limit)
		}
		final, err := t.finalURL()
		if err != nil {
			return err
		}
		*r = rendered{URL: t.url.String(), FinalURL: final, Title: got.Title, HTML: []byte(got.HTML), TimedOut: t.timedOut}
		r.Status, r.Header = t.document()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
