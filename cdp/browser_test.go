package cdp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// recorder is a Handler that writes down what it is told.
type recorder struct {
	mu   sync.Mutex
	log  []string
	more chan struct{}
	last *cdp.Session // the one attached last; guarded by mu
	on   func(s *cdp.Session, what string)
}

func newRecorder(on func(s *cdp.Session, what string)) *recorder {
	return &recorder{more: make(chan struct{}, 10_000), on: on}
}

func (r *recorder) session() *cdp.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *recorder) add(s *cdp.Session, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	r.log = append(r.log, line)
	if strings.HasPrefix(line, "attached") {
		r.last = s
	}
	r.mu.Unlock()
	if r.on != nil {
		r.on(s, line)
	}
	r.more <- struct{}{}
}

func (r *recorder) Attached(s *cdp.Session) { r.add(s, "attached %s", s.ID()) }
func (r *recorder) Enabled(*cdp.Session)    {}
func (r *recorder) Detached(s *cdp.Session, why cdp.Reason) {
	r.add(s, "detached %s: %v", s.ID(), why)
}
func (r *recorder) TargetInfo(s *cdp.Session, i *target.Info) {
	r.add(s, "info %s %s", i.TargetID, i.Title)
}
func (r *recorder) DocumentGone(f *cdp.Frame, why cdp.Reason) {
	r.add(f.Session, "gone %s: %v", f.ID, why)
}
func (r *recorder) FrameNavigated(f *cdp.Frame, restored bool) {
	r.add(f.Session, "navigated %s %s %v", f.ID, f.URL, restored)
}
func (r *recorder) ContextCreated(f *cdp.Frame, existing bool) {
	r.add(f.Session, "context %s %d %v", f.ID, f.Context, existing)
}
func (r *recorder) Event(s *cdp.Session, method string, _ jsonv2.Value) {
	if strings.HasPrefix(method, "Custom.") {
		r.add(s, "event %s", method)
	}
}

func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// await waits until a line with the given start has been recorded.
func (r *recorder) await(t *testing.T, start string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		if slices.ContainsFunc(r.lines(), func(l string) bool { return strings.HasPrefix(l, start) }) {
			return
		}
		select {
		case <-r.more:
		case <-deadline:
			t.Fatalf("never told %q; told:\n%s", start, strings.Join(r.lines(), "\n"))
		}
	}
}

// obliging answers every command with an empty result.
func obliging(c *cdptest.FakeConn, m cdptest.Message) {
	if m.Method != "Hang.for" {
		c.Reply(m.ID, m.SessionID, map[string]any{})
	}
}

func dialFake(t *testing.T, handler func(*cdptest.FakeConn, cdptest.Message), h cdp.Handler) (*cdp.Browser, *cdptest.FakeConn) {
	t.Helper()
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: handler})
	b, err := cdp.Dial(context.Background(), cdp.Endpoint{WS: e.WS()}, &cdp.Options{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, e.Conn(t)
}

func attachFake(c *cdptest.FakeConn, session, targetID, typ, url string, waiting bool) {
	c.Event("", "Target.attachedToTarget", map[string]any{
		"sessionId": session, "waitingForDebugger": waiting,
		"targetInfo": map[string]any{"targetId": targetID, "type": typ, "title": "", "url": url, "attached": true, "canAccessOpener": false},
	})
}

func TestEveryTargetIsReleased(t *testing.T) {
	rec := newRecorder(func(s *cdp.Session, what string) {
		if what == "attached P" {
			panic("a handler that panics")
		}
	})
	_, c := dialFake(t, obliging, rec)
	for _, x := range []struct{ session, typ, url string }{
		{"A", "page", "https://a.example/"}, {"P", "page", "https://p.example/"}, {"E", "page", "chrome-extension://x/y.html"},
		{"D", "page", "devtools://devtools/x.html"}, {"W", "worker", "https://a.example/w.js"},
	} {
		attachFake(c, x.session, "T"+x.session, x.typ, x.url, true)
		deadline := time.Now().Add(10 * time.Second)
		for {
			var methods []string
			for _, m := range c.Messages() {
				if m.SessionID == x.session {
					methods = append(methods, m.Method)
				}
			}
			if slices.Contains(methods, "Runtime.runIfWaitingForDebugger") {
				if left := len(methods) == 1; left != (x.session == "E" || x.session == "D" || x.session == "W") {
					t.Errorf("%s got %q", x.session, methods)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s (%s) was never released: %q", x.session, x.url, methods)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// A session that the browser tells of twice goes on.
func TestAttachedTwice(t *testing.T) {
	rec := newRecorder(nil)
	_, c := dialFake(t, obliging, rec)
	for _, kind := range []string{"page", "iframe"} {
		attachFake(c, kind, "T"+kind, kind, "https://a.example/", false)
		attachFake(c, kind, "T"+kind, kind, "https://a.example/", false)
	}
	attachFake(c, "last", "Tlast", "page", "https://b.example/", false)
	rec.await(t, "attached last")
	rec.mu.Lock()
	log := slices.Clone(rec.log)
	rec.mu.Unlock()
	if want := []string{"attached page", "attached iframe", "attached last"}; !slices.Equal(log, want) {
		t.Errorf("the handler was told %q, want %q", log, want)
	}
	// What is sent for the last one comes after all that was sent for the others.
	sent := func() (methods []string) {
		for _, m := range c.Messages() {
			methods = append(methods, m.SessionID+" "+m.Method)
		}
		return methods
	}
	for deadline := time.Now().Add(10 * time.Second); !slices.Contains(sent(), "last Runtime.enable"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the last session is not enabled: %q", sent())
		}
	}
	if slices.Contains(sent(), " Target.detachFromTarget") {
		t.Errorf("a session was given up: %q", sent())
	}
}

func TestOrderAndAnswers(t *testing.T) {
	rec := newRecorder(nil)
	b, c := dialFake(t, obliging, rec)
	attachFake(c, "S", "T", "page", "https://a.example/", false)
	rec.await(t, "attached S")
	var mu sync.Mutex
	var order []string
	done := make(chan struct{})
	b.Root().Post("Custom.first", nil, func(jsonv2.Value, error) {
		mu.Lock()
		order = append(order, "answer")
		mu.Unlock()
		close(done)
	})
	<-done
	for i := range 100 {
		c.Event("S", fmt.Sprintf("Custom.e%d", i), map[string]any{})
	}
	rec.await(t, "event Custom.e99")
	var events []string
	for _, l := range rec.lines() {
		if strings.HasPrefix(l, "event") {
			events = append(events, l)
		}
	}
	for i, e := range events {
		if e != fmt.Sprintf("event Custom.e%d", i) {
			t.Fatalf("event %d is %q", i, e)
		}
	}
}

func TestCallEnds(t *testing.T) {
	rec := newRecorder(nil)
	b, c := dialFake(t, func(c *cdptest.FakeConn, m cdptest.Message) {
		if m.Method == "Refuse.it" {
			c.Error(m.ID, -32601, "'Refuse.it' wasn't found")
			return
		}
		obliging(c, m)
	}, rec)
	attachFake(c, "S", "T", "page", "https://a.example/", false)
	rec.await(t, "attached S")
	session := rec.session()
	var refused interface{ Error() string }
	if err := session.Call(context.Background(), "Refuse.it", nil, nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "wasn't found") {
		t.Errorf("refused: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := session.Call(ctx, "Hang.for", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hanging: %v", err)
	}
	if err := session.Call(context.Background(), "Big.one", map[string]string{"x": strings.Repeat("x", cdp.MaxCommandBytes)}, nil); !errors.Is(err, cdp.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	gone := make(chan error, 2)
	go func() { gone <- session.Call(context.Background(), "Hang.for", nil, nil) }()
	waitFor(t, func() bool { return countMethod(c, "Hang.for") == 2 })
	c.Event("", "Target.detachedFromTarget", map[string]any{"sessionId": "S"})
	if err := <-gone; !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("detached: %v", err)
	}
	go func() { gone <- b.Root().Call(context.Background(), "Hang.for", nil, nil) }()
	waitFor(t, func() bool { return countMethod(c, "Hang.for") == 3 })
	c.Drop()
	if err := <-gone; !errors.Is(err, cdp.ErrClosed) {
		t.Errorf("dropped: %v", err)
	}
	<-b.Done()
	if err := b.Root().Call(context.Background(), "Any.thing", nil, nil); !errors.Is(err, cdp.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func countMethod(c *cdptest.FakeConn, method string) (n int) {
	for _, m := range c.Messages() {
		if m.Method == method {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

func TestNonsenseFromTheBrowser(t *testing.T) {
	for name, text := range map[string]string{"not JSON": "nonsense", "half": `{"id":1,`, "array": `[1]`} {
		b, c := dialFake(t, obliging, nil)
		c.WriteText([]byte(text))
		select {
		case <-b.Done():
			if b.Err() == nil {
				t.Errorf("%s: no reason given", name)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the connection goes on", name)
		}
	}
	b, c := dialFake(t, obliging, newRecorder(nil))
	for _, text := range []string{`{}`, `{"id":12345,"result":{}}`, `{"method":"Target.attachedToTarget","params":{}}`, `{"method":"Target.attachedToTarget","params":[]}`,
		`{"method":"Page.frameNavigated","sessionId":"nobody","params":{}}`, `{"method":"Target.detachedFromTarget","params":{"sessionId":"nobody"}}`} {
		c.WriteText([]byte(text))
	}
	attachFake(c, "S", "T", "page", "https://a.example/", false)
	for _, method := range []string{"Page.frameNavigated", "Page.frameAttached", "Page.frameDetached", "Page.frameStartedNavigating", "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Page.navigatedWithinDocument"} {
		for _, params := range []string{`{}`, `null`, `{"frame":null}`, `{"context":{}}`, `{"context":{"id":1,"auxData":{"isDefault":true,"frameId":"F"}}}`, `{"frameId":"A","parentFrameId":"A"}`} {
			c.WriteText([]byte(fmt.Sprintf(`{"method":%q,"sessionId":"S","params":%s}`, method, params)))
		}
	}
	if err := b.Root().Call(context.Background(), "Still.there", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestSubscribe(t *testing.T) {
	rec := newRecorder(nil)
	_, c := dialFake(t, obliging, rec)
	attachFake(c, "S", "T", "page", "https://a.example/", false)
	rec.await(t, "attached S")
	session := rec.session()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	loads := cdpproto.Events(ctx, session, page.LoadEventFired)
	c.Event("S", "Page.loadEventFired", map[string]any{"timestamp": 1})
	for _, err := range loads {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	slow, stop := session.Subscribe("Custom.flood")
	defer stop()
	for range cdp.MaxSubscription + 1 {
		c.Event("S", "Custom.flood", json.RawMessage(`{}`))
	}
	c.Event("S", "Custom.end", json.RawMessage(`{}`))
	rec.await(t, "event Custom.end")
	n := 0
	for range slow {
		n++
	}
	if n != cdp.MaxSubscription {
		t.Errorf("%d events before the channel was closed, want %d", n, cdp.MaxSubscription)
	}
}

func TestFramesOfARealBrowser(t *testing.T) {
	cb := cdptest.New(t, nil)
	srv := cdptest.Serve(t)
	seen := make(chan string, 100)
	rec := newRecorder(func(s *cdp.Session, what string) {
		if strings.HasPrefix(what, "context") {
			for _, f := range s.Frames() {
				if f.Context != 0 {
					seen <- fmt.Sprintf("%s main=%v above=%d origin=%v", f.URL, f.Main(), len(f.Ancestors()), strings.HasPrefix(f.URL, f.Origin))
				}
			}
		}
	})
	srv.Page("/c", "<p>child")
	p := cb.NewPage(t, srv.Page("/p", `<iframe src="/c"></iframe><iframe src="`+srv.At("b.localhost", "/c")+`"></iframe>`))
	b, err := cdp.Dial(context.Background(), cdp.Endpoint{WS: cb.WS}, &cdp.Options{Handler: rec})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Attach(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{
		srv.At("localhost", "/p") + " main=true above=0 origin=true": true, srv.At("localhost", "/c") + " main=false above=1 origin=true": true,
		srv.At("b.localhost", "/c") + " main=false above=1 origin=true": true,
	}
	deadline := time.After(10 * time.Second)
	var got []string
	for len(want) > 0 {
		select {
		case s := <-seen:
			got = append(got, s)
			delete(want, s)
		case <-deadline:
			t.Fatalf("never seen: %v; seen %q; told:\n%s", want, got, strings.Join(rec.lines(), "\n"))
		}
	}
	p.Close(t)
	rec.await(t, "detached")
}
