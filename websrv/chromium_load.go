package websrv

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed chromium_serialize.js
var serializeScript string

// event notes what a tab reports. It is called in order, and must not wait.
func (t *tab) event(ev any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := ev.(type) {
	case *cdpnetwork.EventResponseReceived:
		if e.Type != cdpnetwork.ResourceTypeDocument || e.Response == nil {
			return
		}
		if len(t.docs) >= maxDocs {
			clear(t.docs)
		}
		t.docs[e.LoaderID] = e.Response
	case *page.EventLifecycleEvent:
		if t.frame == "" || e.FrameID != t.frame {
			return
		}
		if e.Name == "init" {
			t.loader, t.states = e.LoaderID, map[string]bool{}
		}
		if e.LoaderID == t.loader {
			t.states[e.Name] = true
		}
	case *page.EventJavascriptDialogOpening:
		t.wg.Go(t.dismiss)
	case *inspector.EventTargetCrashed:
		t.crashed = true
		if t.cancel != nil {
			t.cancel() // questions under way will not be answered
		}
	default:
		return
	}
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

const maxDocs = 64 // answers of documents that are kept, frames included

// dismiss closes a dialog that a page has opened: nobody will answer it.
func (t *tab) dismiss() {
	chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, s *chromedp.Target) error {
		_, err := cdpproto.Call(ctx, s, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		return err
	}))
}

// load navigates and waits until the page is ready, or the time for that is over.
func (t *tab) load() error {
	tree, err := cdpproto.Call(t.ctx, t.session, page.GetFrameTree, cdpproto.Empty{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.frame = tree.FrameTree.Frame.ID
	t.mu.Unlock()
	nav, err := cdpproto.Call(t.ctx, t.session, page.Navigate, page.NavigateParams{URL: t.url.String()})
	if err != nil {
		return err
	}
	if nav.IsDownload {
		return &netError{errBrowser, t.url.Host + " sends a file for download here, not a page"}
	}
	if nav.ErrorText != "" {
		return t.loadError(nav.ErrorText)
	}
	if err := t.ready(); err != nil {
		return err
	}
	return t.settle()
}

// ready waits for the load event, the quiet network and the selector. A page that
// navigates on by itself is waited for anew.
func (t *tab) ready() error {
	loaded := time.Time{} // when the load event was seen
	for {
		t.mu.Lock()
		crashed, load, quiet := t.crashed, t.states["load"], t.states["networkIdle"]
		t.mu.Unlock()
		now := time.Now()
		switch {
		case crashed:
			return errTabCrashed
		case !load:
			loaded = time.Time{}
		case loaded.IsZero():
			loaded = now
		}
		if load && (quiet || now.Sub(loaded) >= quietWait) {
			found, err := t.has(t.o.WaitFor)
			t.unfound = !found
			if err != nil || found {
				return err
			}
		}
		if now.After(t.limit) {
			t.timedOut = true
			return nil
		}
		if err := t.wait(pollEvery); err != nil {
			return err
		}
	}
}

var errTabCrashed = &netError{errBrowser, "the page crashed its tab in the local Chromium"}

// wait returns after a change of the tab, or after d.
func (t *tab) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
		return t.ctx.Err()
	case <-t.changed:
	case <-timer.C:
	}
	return nil
}

// settle waits for as long as the caller asked for.
func (t *tab) settle() error {
	end := time.Now().Add(min(t.o.Settle, maxSettle))
	if end.After(t.limit) {
		end = t.limit
	}
	for time.Now().Before(end) {
		if err := t.wait(time.Until(end)); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether an element is in the page.
func (t *tab) has(selector string) (bool, error) {
	if selector == "" {
		return true, nil
	}
	var found string
	err := t.eval(`s => { try { return document.querySelector(s) ? "yes" : "no" } catch { return "bad" } }`, &found, selector)
	var gone *cdpError
	if errors.As(err, &gone) { // the document changed under the question
		return false, nil
	}
	if found == "bad" {
		return false, badSelector(selector)
	}
	return found == "yes", err
}

func badSelector(selector string) error {
	return badURL("%.80q is not a CSS selector", selector)
}

// cdpError is an answer of the browser that is no result.
type cdpError struct{ text string }

func (e *cdpError) Error() string { return e.text }

// eval calls a function, given as JavaScript text, in a world of its own in the main
// frame: the page's scripts neither see it nor change what it sees. Its result, or the
// result of its promise, is decoded into out.
func (t *tab) eval(function string, out any, args ...any) error {
	list, err := json.Marshal(args)
	if err != nil {
		return err
	}
	world, err := cdpproto.Call(t.ctx, t.session, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.frame, WorldName: "aster"})
	if err != nil {
		return t.callError(err)
	}
	yes := true
	res, err := cdpproto.Call(t.ctx, t.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "(\n" + function + "\n)(..." + string(list) + ")", ContextID: world.ExecutionContextID, ReturnByValue: &yes, AwaitPromise: &yes, Silent: &yes})
	if err != nil {
		return t.callError(err)
	}
	if res.ExceptionDetails != nil || res.Result == nil {
		return &cdpError{"a script of ours failed in the page"}
	}
	return json.Unmarshal(res.Result.Value, out)
}

// callError keeps an error of the context apart from one of the browser.
func (t *tab) callError(err error) error {
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	return &cdpError{fmt.Sprintf("the local Chromium could not do it: %.200s", err)}
}

// document is the status and headers of the present document.
func (t *tab) document() (int, http.Header) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.docs[t.loader]
	if r == nil {
		return 0, http.Header{}
	}
	h := http.Header{}
	for k, v := range r.Headers {
		if s, ok := v.(string); ok && !strings.EqualFold(k, "Set-Cookie") {
			h.Set(k, s)
		}
	}
	return int(r.Status), h
}

// finalURL is where the page is. A page that could not be loaded, also one that the first
// page led to, is an error.
func (t *tab) finalURL() (string, error) {
	tree, err := cdpproto.Call(t.ctx, t.session, page.GetFrameTree, cdpproto.Empty{})
	if err != nil {
		return "", t.callError(err)
	}
	f := tree.FrameTree.Frame
	if f.UnreachableURL != "" {
		return "", t.unreachable(f.UnreachableURL, "ERR_FAILED")
	}
	u, err := cleanURL(f.URL + f.URLFragment)
	if err != nil {
		return "", &netError{errBrowser, t.url.Host + " led to a page that is neither http nor https"}
	}
	return u.String(), nil
}

// loadError says why a navigation failed.
func (t *tab) loadError(text string) error {
	failed := t.url.String()
	if tree, err := cdpproto.Call(t.ctx, t.session, page.GetFrameTree, cdpproto.Empty{}); err == nil && tree.FrameTree.Frame.UnreachableURL != "" {
		failed = tree.FrameTree.Frame.UnreachableURL
	}
	return t.unreachable(failed, text)
}

// unreachable says why a URL was not loaded: in the proxy's words where it refused, else
// in those of Chromium's net errors.
func (t *tab) unreachable(rawURL, text string) error {
	u, err := cleanURL(rawURL)
	if err != nil {
		return blocked("%s led to an address that is neither http nor https", t.url.Host)
	}
	name := strings.TrimPrefix(text, "net::")
	if !strings.Contains(name, "CERT") && !strings.Contains(name, "SSL") {
		if err := t.run.proxy.refusal(u); err != nil {
			return err
		}
	}
	words, kind := chromiumError(name)
	return &netError{kind, u.Host + " " + words + " (" + name + ")"}
}

func chromiumError(name string) (words string, kind error) {
	switch {
	case strings.HasPrefix(name, "ERR_CERT"), strings.HasPrefix(name, "ERR_SSL"):
		return "has no valid certificate or secure connection", errTLS
	case name == "ERR_TOO_MANY_REDIRECTS":
		return "redirects too many times", errTooManyRedirects
	case name == "ERR_TUNNEL_CONNECTION_FAILED", name == "ERR_UNSAFE_PORT", strings.HasPrefix(name, "ERR_BLOCKED"), name == "ERR_UNKNOWN_URL_SCHEME",
		name == "ERR_UNSAFE_REDIRECT", name == "ERR_INVALID_REDIRECT", name == "ERR_DISALLOWED_URL_SCHEME":
		return "was not reached: the address is not allowed", errBlocked
	case strings.Contains(name, "TIMED_OUT"):
		return "did not answer in time", errTimeout
	case name == "ERR_ABORTED":
		return "sends something here that is not a page", errBrowser
	}
	return "could not be loaded by the local Chromium", errNetwork
}

// explain makes a sentence of what stopped a page's load.
func (t *tab) explain(ctx context.Context, err error) error {
	var (
		ours *netError
		cdp  *cdpError
	)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return classify(ctx, t.url.Host, ctx.Err())
	case errors.As(err, &ours):
		return ours
	case t.run.ctx.Err() != nil:
		return &netError{errBrowser, "the local Chromium ended while it worked on the page; try again"}
	case errors.As(err, &cdp):
		return &netError{errBrowser, cdp.text}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.crashed {
		return errTabCrashed
	}
	return &netError{errBrowser, fmt.Sprintf("the local Chromium could not load the page: %.200s", err)}
}
