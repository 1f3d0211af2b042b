package cdptest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// PageTimeout bounds each step of a [Page].
const PageTimeout = 20 * time.Second

// Page is a tab as the test's user drives it. Its methods fail the test on an error.
type Page struct {
	Target  string // target ID
	Session string // session of the test's own connection
	b       *Browser
	c       *Conn
}

// NewPage opens a tab at url and waits until it has loaded.
func (b *Browser) NewPage(t testing.TB, url string) *Page {
	t.Helper()
	c := b.User(t)
	var r struct{ TargetID string }
	call(t, c, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &r)
	p := b.AttachPage(t, r.TargetID)
	t.Cleanup(func() { // the browser, or the tab, may be gone by now
		ctx, cancel := context.WithTimeout(context.Background(), PageTimeout)
		defer cancel()
		c.Call(ctx, "", "Target.closeTarget", map[string]any{"targetId": p.Target})
	})
	if url != "about:blank" {
		p.Navigate(t, url)
	}
	return p
}

// AttachPage lets the test drive a tab that exists already.
func (b *Browser) AttachPage(t testing.TB, targetID string) *Page {
	t.Helper()
	c := b.User(t)
	var s struct{ SessionID string }
	call(t, c, "", "Target.attachToTarget", map[string]any{"targetId": targetID, "flatten": true}, &s)
	p := &Page{Target: targetID, Session: s.SessionID, b: b, c: c}
	p.Call(t, "Page.enable", nil)
	return p
}

// Targets lists the targets of a type ("page", "iframe"), by ID with their URL.
func (b *Browser) Targets(t testing.TB, typ string) map[string]string {
	t.Helper()
	var r struct {
		TargetInfos []struct{ TargetID, Type, URL string }
	}
	call(t, b.User(t), "", "Target.getTargets", map[string]any{"filter": []any{map[string]any{}}}, &r)
	out := map[string]string{}
	for _, ti := range r.TargetInfos {
		if ti.Type == typ {
			out[ti.TargetID] = ti.URL
		}
	}
	return out
}

func call(t testing.TB, c *Conn, session, method string, params, result any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), PageTimeout)
	defer cancel()
	raw, err := c.Call(ctx, session, method, params)
	if err != nil {
		t.Fatal(err)
	}
	if result != nil {
		if err := json.Unmarshal(raw, result); err != nil {
			t.Fatalf("%s: %v in %s", method, err, raw)
		}
	}
}

// Call sends a raw command to the tab.
func (p *Page) Call(t testing.TB, method string, params any) json.RawMessage {
	t.Helper()
	var raw json.RawMessage
	call(t, p.c, p.Session, method, params, &raw)
	return raw
}

// Navigate goes to url and waits for its load event.
func (p *Page) Navigate(t testing.TB, url string) {
	t.Helper()
	p.awaitLoad(t, func() { p.Call(t, "Page.navigate", map[string]any{"url": url}) })
}

// Reload reloads the tab and waits for its load event.
func (p *Page) Reload(t testing.TB) {
	t.Helper()
	p.awaitLoad(t, func() { p.Call(t, "Page.reload", nil) })
}

// Back goes one step back in history. It does not wait: a page that comes out of the
// back/forward cache fires no load event.
func (p *Page) Back(t testing.TB) {
	t.Helper()
	p.Eval(t, "void setTimeout(() => history.back())")
}

func (p *Page) awaitLoad(t testing.TB, act func()) {
	t.Helper()
	loaded := make(chan struct{}, 1)
	cancel := p.c.Subscribe(func(e Event) {
		if e.Session == p.Session && e.Method == "Page.loadEventFired" {
			select {
			case loaded <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	act()
	select {
	case <-loaded:
	case <-time.After(PageTimeout):
		t.Fatal("the page did not load")
	}
}

// Eval evaluates js in the tab's main world, awaits a promise, and returns the value
// as JSON. An exception fails the test.
func (p *Page) Eval(t testing.TB, js string) json.RawMessage {
	t.Helper()
	v, err := p.TryEval(js)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TryEval is Eval with the error returned.
func (p *Page) TryEval(js string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), PageTimeout)
	defer cancel()
	raw, err := p.c.Call(ctx, p.Session, "Runtime.evaluate", map[string]any{"expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true})
	if err != nil {
		return nil, err
	}
	var r struct {
		Result struct {
			Type  string
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	if r.ExceptionDetails != nil {
		return nil, fmt.Errorf("%s %s in %.200s", r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description, js)
	}
	return r.Result.Value, nil
}

// EvalString is Eval for a string value.
func (p *Page) EvalString(t testing.TB, js string) string {
	t.Helper()
	var s string
	raw := p.Eval(t, js)
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%.80s gave %s, not a string", js, raw)
	}
	return s
}

// Send sends a command without waiting for its answer, for steps that never answer
// (a crash, an endless loop, a dialog).
func (p *Page) Send(method string, params any) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), PageTimeout)
		defer cancel()
		p.c.Call(ctx, p.Session, method, params)
	}()
}

// Close closes the tab.
func (p *Page) Close(t testing.TB) {
	t.Helper()
	call(t, p.c, "", "Target.closeTarget", map[string]any{"targetId": p.Target}, nil)
}

// Activate brings the tab to the front.
func (p *Page) Activate(t testing.TB) {
	t.Helper()
	call(t, p.c, "", "Target.activateTarget", map[string]any{"targetId": p.Target}, nil)
}
