package shim_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// shared outlives single tests: the browsers and the server that all of them use.
// It ends in TestMain.
type shared struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func() // guarded by mu
}

func (s *shared) Helper() {}
func (s *shared) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}
func (s *shared) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (s *shared) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Several tabs work at once, of which only one is in front: timers must run in all.
var unthrottled = []string{"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"}

var (
	all           shared
	nativeBrowser = sync.OnceValue(func() *cdptest.Browser {
		return cdptest.New(&all, &cdptest.Options{Native: true, Args: unthrottled})
	})
	plainBrowser = sync.OnceValue(func() *cdptest.Browser {
		return cdptest.New(&all, &cdptest.Options{Args: unthrottled})
	})
	// programBrowser is apart, since others put scripts into all documents of theirs.
	programBrowser = sync.OnceValue(func() *cdptest.Browser {
		return cdptest.New(&all, &cdptest.Options{Args: unthrottled})
	})
	server = sync.OnceValue(func() *cdptest.Server {
		s := cdptest.Serve(&all)
		s.Page("/blank", blank)
		return s
	})
)

const blank = "<!doctype html><title>blank</title><body>"

func TestMain(m *testing.M) { os.Exit(cdptest.Main(tests{m})) }

// tests are those of the package, with the end of what they share.
type tests struct{ *testing.M }

func (m tests) Run() int {
	flag.Parse()
	if flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" && cdptest.Find() != "" {
		programs()
	}
	code := m.M.Run()
	for i := len(all.cleanups) - 1; i >= 0; i-- {
		all.cleanups[i]()
	}
	return code
}

// testSecret is the secret of every shim under test.
const testSecret = "the-secret-of-the-test"

// inject makes the shim part of every document that the tab loads from now on.
func inject(t testing.TB, p *cdptest.Page, cfg shim.Config) {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = testSecret
	}
	p.Call(t, "Runtime.enable", nil)
	p.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": shim.Script(cfg), "includeCommandLineAPI": true})
}

// openPlain opens a tab without the shim in the browser without native WebMCP.
func openPlain(t testing.TB, url string) *cdptest.Page {
	t.Helper()
	cdptest.Require(t)
	p := plainBrowser().NewPage(t, url)
	t.Cleanup(func() { p.Close(t) })
	return p
}

// openShim opens a tab with the shim in it.
func openShim(t testing.TB, url string, cfg shim.Config) *cdptest.Page {
	t.Helper()
	p := openPlain(t, "about:blank")
	inject(t, p, cfg)
	if url != "about:blank" {
		p.Navigate(t, url)
	}
	return p
}

// testdata reads a file of testdata.
func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eventually polls until ok, for at most half a minute.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within half a minute: %s", what)
		}
	}
}

// peer is a DevTools session as aster has one: it hears the shim and drives it.
type peer struct {
	conn    *cdptest.Conn
	session string

	mu     sync.Mutex
	events []inspected     // guarded by mu
	parsed []*shim.Message // guarded by mu; of the events that carry text
	bad    error           // guarded by mu; the first text that Parse refused
	nextID int             // guarded by mu
}

// inspected is one Runtime.inspectRequested.
type inspected struct {
	Object struct {
		Type     string
		Value    json.RawMessage
		ObjectID string
	}
	ExecutionContextID int
}

// text is the message that the event carries, or "".
func (i inspected) text() string {
	var s string
	if i.Object.Type == "string" {
		json.Unmarshal(i.Object.Value, &s)
	}
	return s
}

// newPeer attaches a connection of its own to the tab.
func newPeer(t testing.TB, b *cdptest.Browser, target string) *peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := cdptest.Dial(ctx, b.WS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	p := &peer{conn: c}
	var r struct{ SessionID string }
	p.call(t, "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &r)
	p.session = r.SessionID
	c.Subscribe(p.event)
	p.call(t, "Page.enable", nil, nil)
	p.call(t, "Runtime.enable", nil, nil)
	return p
}

func (p *peer) event(e cdptest.Event) {
	if e.Session != p.session {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Method == "Runtime.inspectRequested" {
		var i inspected
		json.Unmarshal(e.Params, &i)
		p.events = append(p.events, i)
		if i.Object.Type != "string" {
			return
		}
		m, err := shim.Parse(i.text())
		if err != nil && p.bad == nil {
			p.bad = fmt.Errorf("%.200s: %w", i.text(), err)
		}
		p.parsed = append(p.parsed, m)
	}
}

// call sends a command of the peer's session and decodes the result.
func (p *peer) call(t testing.TB, method string, params, result any) {
	t.Helper()
	if err := p.tryCall(method, params, result); err != nil {
		t.Fatal(err)
	}
}

func (p *peer) tryCall(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	raw, err := p.conn.Call(ctx, p.session, method, params)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// inject adds the script to every new document of the tab, in the peer's name.
func (p *peer) inject(t testing.TB, cfg shim.Config) {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = testSecret
	}
	p.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": shim.Script(cfg), "includeCommandLineAPI": true}, nil)
}

// heard is everything that came up so far.
func (p *peer) heard() []inspected {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]inspected(nil), p.events...)
}

// messages is every message that came up so far.
func (p *peer) messages(t testing.TB) []*shim.Message {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad != nil {
		t.Fatal(p.bad)
	}
	return append([]*shim.Message(nil), p.parsed...)
}

// api is the handle of the last api object that a document announced.
func (p *peer) api(t testing.TB) string {
	t.Helper()
	var id string
	eventually(t, "a document announces its api", func() bool {
		for _, e := range p.heard() {
			if e.Object.ObjectID != "" {
				id = e.Object.ObjectID
			}
		}
		return id != ""
	})
	return id
}

// tools replays the messages: the names of the live tools, in order of their arrival.
func (p *peer) tools(t testing.TB) string {
	t.Helper()
	var live []string
	drop := func(name string) {
		for i, n := range live {
			if n == name {
				live = append(live[:i:i], live[i+1:]...)
				return
			}
		}
	}
	for _, m := range p.messages(t) {
		if m.Tools == nil {
			continue
		}
		if m.Tools.Reset {
			live = nil
		}
		for _, n := range m.Tools.Remove {
			drop(n)
		}
		for _, tool := range m.Tools.Add {
			live = append(live, tool.Name)
		}
	}
	return strings.Join(live, ",")
}

// result waits for the result of the call named id.
func (p *peer) result(t testing.TB, id string) *shim.Result {
	t.Helper()
	var r *shim.Result
	eventually(t, "the result of "+id, func() bool {
		for _, m := range p.messages(t) {
			if m.Result != nil && m.Result.ID == id {
				r = m.Result
			}
		}
		return r != nil
	})
	return r
}

// remote is a value as DevTools hands it out.
type remote struct {
	Type, Subtype, ClassName, Description, ObjectID string
	Value                                           json.RawMessage
}

// method calls a method of an api handle.
func (p *peer) method(t testing.TB, api, method string, args ...any) remote {
	t.Helper()
	list := []any{map[string]any{"value": method}}
	for _, a := range args {
		if r, ok := a.(remote); ok {
			list = append(list, map[string]any{"objectId": r.ObjectID})
		} else {
			list = append(list, map[string]any{"value": a})
		}
	}
	var r struct {
		Result           remote
		ExceptionDetails json.RawMessage
	}
	p.call(t, "Runtime.callFunctionOn", map[string]any{"objectId": api, "functionDeclaration": shim.CallMethod, "arguments": list}, &r)
	if r.ExceptionDetails != nil {
		t.Fatalf("%s: %s", method, r.ExceptionDetails)
	}
	return r.Result
}

// run calls a tool to its end.
func (p *peer) run(t testing.TB, api, name, args string) *shim.Result {
	t.Helper()
	p.mu.Lock()
	p.nextID++
	id := fmt.Sprint("call-", p.nextID)
	p.mu.Unlock()
	p.method(t, api, "invoke", id, name, args)
	return p.result(t, id)
}

// eval evaluates an expression in the page's main world, without running a promise.
func (p *peer) eval(t testing.TB, js string, commandLine bool) remote {
	t.Helper()
	var r struct {
		Result           remote
		ExceptionDetails json.RawMessage
	}
	// Without a group DOMDebugger.getEventListeners gives handles that are not valid.
	p.call(t, "Runtime.evaluate", map[string]any{"expression": js, "includeCommandLineAPI": commandLine, "objectGroup": "aster"}, &r)
	if r.ExceptionDetails != nil {
		t.Fatalf("%.80s: %s", js, r.ExceptionDetails)
	}
	return r.Result
}

// genuine is a command-line function that the page has not put something else in place of.
func (p *peer) genuine(t testing.TB) remote {
	t.Helper()
	for _, name := range []string{"inspect", "copy", "queryObjects"} {
		r := p.eval(t, name, true)
		if r.Type == "function" && r.Subtype == "" && r.Description == "function "+name+"() { [native code] }" {
			return r
		}
	}
	t.Fatal("the page shadows every command-line function")
	return remote{}
}

// attachLate brings the shim into the document that is open, and returns its api handle.
func (p *peer) attachLate(t testing.TB, cfg shim.Config) string {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = testSecret
	}
	notify := p.genuine(t)
	r := p.eval(t, shim.LateScript(cfg), false)
	if r.ObjectID == "" {
		t.Fatalf("the late script gives %s %s, not an api", r.Type, r.Value)
	}
	p.method(t, r.ObjectID, "connect", notify)
	return r.ObjectID
}

// secretOf reads the secret that an api handle shows.
func (p *peer) secretOf(t testing.TB, api string) string {
	t.Helper()
	var r struct {
		Result []struct {
			Name  string
			Value remote
		}
	}
	p.call(t, "Runtime.getProperties", map[string]any{"objectId": api, "ownProperties": true}, &r)
	for _, prop := range r.Result {
		if prop.Name == "secret" {
			var s string
			json.Unmarshal(prop.Value.Value, &s)
			return s
		}
	}
	return ""
}

// doorField finds the api of a shim that is there already, by the private field.
func (p *peer) doorField(t testing.TB) string {
	t.Helper()
	context := p.eval(t, "document.modelContext", false)
	var r struct {
		PrivateProperties []struct {
			Name  string
			Value remote
		}
	}
	p.call(t, "Runtime.getProperties", map[string]any{"objectId": context.ObjectID, "ownProperties": true}, &r)
	for _, f := range r.PrivateProperties {
		if f.Name == shim.DoorField && p.secretOf(t, f.Value.ObjectID) == testSecret {
			return f.Value.ObjectID
		}
	}
	return ""
}

// doorEvent finds it by the event listener.
func (p *peer) doorEvent(t testing.TB) string {
	t.Helper()
	context := p.eval(t, "document.modelContext", false)
	var l struct {
		Listeners []struct {
			Type    string
			Handler remote
		}
	}
	p.call(t, "DOMDebugger.getEventListeners", map[string]any{"objectId": context.ObjectID}, &l)
	for _, listener := range l.Listeners {
		if listener.Type != shim.DoorEvent {
			continue
		}
		var r struct{ Result remote }
		p.call(t, "Runtime.callFunctionOn", map[string]any{"objectId": listener.Handler.ObjectID, "functionDeclaration": shim.OpenDoor}, &r)
		if r.Result.ObjectID != "" && p.secretOf(t, r.Result.ObjectID) == testSecret {
			return r.Result.ObjectID
		}
	}
	return ""
}

// page is a tab with a test in hand.
type page struct {
	*cdptest.Page
	t testing.TB
}

func (p *page) eval(js string) json.RawMessage {
	p.t.Helper()
	return p.Page.Eval(p.t, js)
}
