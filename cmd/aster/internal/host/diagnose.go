package host

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/aster-mcp/aster/cdp"
)

// Diagnosis is what [Diagnose] found in a browser.
type Diagnosis struct {
	Product string // name and version, such as "Chrome/156.0.8078.114"
	Tabs    int    // open tabs, extension pages and DevTools not counted
	Asked   int    // pages in a secure context that answered
	Native  int    // of these, pages that have WebMCP from the browser
	Silent  int    // tabs that did not answer: stopped, discarded or without a page
}

// pageWait is how long the pages of a browser get to answer, all together.
const pageWait = 2 * time.Second

// nativeProbe tells how a page comes by WebMCP: "native", "other" (an injected one),
// "none", or "insecure" where no page can have it.
const nativeProbe = `(() => { try {
  if (!isSecureContext) return 'insecure';
  const d = Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext');
  if (!d || !d.get) return 'none';
  return /\[native code\]/.test(Function.prototype.toString.call(d.get)) ? 'native' : 'other';
} catch { return 'none'; } })()`

// Diagnose connects to a browser, which may ask its user for consent and then blocks until
// there is an answer, and looks at it without changing anything. Errors are those of
// [cdp.Dial].
func Diagnose(ctx context.Context, ep cdp.Endpoint, logger *slog.Logger) (*Diagnosis, error) {
	p := &probe{answers: map[cdpproto.FrameID]string{}, changed: make(chan struct{}, 1)}
	b, err := cdp.Dial(ctx, ep, &cdp.Options{Logger: logger, Handler: p})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	var version struct {
		Product string `json:"product"`
	}
	if err := b.Root().Call(ctx, "Browser.getVersion", nil, &version); err != nil {
		return nil, fmt.Errorf("asking for the version: %w", err)
	}
	var targets struct {
		TargetInfos []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"targetInfos"`
	}
	if err := b.Root().Call(ctx, "Target.getTargets", nil, &targets); err != nil {
		return nil, fmt.Errorf("listing the tabs: %w", err)
	}
	d := &Diagnosis{Product: CleanText(version.Product)}
	for _, t := range targets.TargetInfos {
		if t.Type == "page" && !strings.HasPrefix(t.URL, "devtools:") && !strings.HasPrefix(t.URL, "chrome-extension:") {
			d.Tabs++
		}
	}
	if err := b.Attach(ctx); err != nil {
		return nil, fmt.Errorf("attaching to the tabs: %w", err)
	}
	p.await(ctx, d.Tabs)
	p.count(d)
	return d, nil
}

// probe asks the main frame of every page. It is the Handler of one connection.
type probe struct {
	changed chan struct{}

	mu      sync.Mutex
	answers map[cdpproto.FrameID]string // guarded by mu
}

// Enabled has nothing to ask.
func (*probe) Enabled(*cdp.Session) {}

// await returns when n pages have answered, or after pageWait.
func (p *probe) await(ctx context.Context, n int) {
	timer := time.NewTimer(pageWait)
	defer timer.Stop()
	for {
		p.mu.Lock()
		have := len(p.answers)
		p.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-p.changed:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *probe) count(d *Diagnosis) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.answers {
		switch a {
		case "native":
			d.Native++
			d.Asked++
		case "none", "other":
			d.Asked++
		}
	}
	d.Silent = max(d.Tabs-len(p.answers), 0)
}

// ContextCreated asks the page, once it has a document.
func (p *probe) ContextCreated(f *cdp.Frame, _ bool) {
	if !f.Main() || f.Context == 0 {
		return
	}
	id := f.ID
	yes := true
	ask := runtime.EvaluateParams{Expression: nativeProbe, ContextID: f.Context, ReturnByValue: &yes, Silent: &yes}
	cdp.Post(f.Session, runtime.Evaluate, ask, func(res runtime.EvaluateResult, err error) {
		if err != nil || res.Result == nil {
			return
		}
		p.mu.Lock()
		p.answers[id] = strings.Trim(string(res.Result.Value), `"`)
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
	})
}

// The rest of [cdp.Handler] is of no interest here.

func (*probe) Attached(*cdp.Session)                    {}
func (*probe) Detached(*cdp.Session, cdp.Reason)        {}
func (*probe) TargetInfo(*cdp.Session, *target.Info)    {}
func (*probe) DocumentGone(*cdp.Frame, cdp.Reason)      {}
func (*probe) FrameNavigated(*cdp.Frame, bool)          {}
func (*probe) Event(*cdp.Session, string, jsonv2.Value) {}
