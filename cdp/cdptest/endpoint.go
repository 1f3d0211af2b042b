package cdptest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// browserPath is the path that every DevTools websocket of a browser begins with.
const browserPath = "/devtools/browser"

// EndpointTimeout bounds the waits of a fake endpoint, such as [Endpoint.Conn].
const EndpointTimeout = 60 * time.Second

// EndpointOptions configures [NewEndpoint]. The zero value is a browser that serves
// /json/version and answers every command with an empty result.
type EndpointOptions struct {
	// Handler gets each command, in order, on the connection's reading goroutine: the
	// next one waits until it returns. Nil answers every command with {}.
	Handler func(c *FakeConn, m Message)
	// OnConnect is called after each websocket handshake, before the first command is read.
	OnConnect func(c *FakeConn)
	// Version answers GET /json/version in place of the fake; see also [Endpoint.SetVersion].
	Version http.HandlerFunc
	// Browser is the Browser field of /json/version; empty means "Chrome/156.0.8078.114".
	Browser string
	// Consent makes it a browser with the toggle at chrome://inspect/#remote-debugging
	// on: all of /json answers 404, and any path under /devtools/browser is accepted
	// (measured in Chromium 156). Nobody is asked; see [Endpoint.Hold] for the pending dialog.
	Consent bool
	// Hold starts with websocket handshakes held, as after a call of [Endpoint.Hold].
	Hold bool
}

// Endpoint is a fake browser's DevTools server on a real loopback socket. Its methods
// may be called from any goroutine.
type Endpoint struct {
	// HTTP is its http://127.0.0.1:port, Port that port.
	HTTP string
	Port int

	opts EndpointOptions
	srv  *httptest.Server

	mu       sync.Mutex
	id       string             // guarded by mu; changes with Restart
	starts   int                // guarded by mu
	version  http.HandlerFunc   // guarded by mu; nil means the fake's own
	refuse   bool               // guarded by mu
	held     chan struct{}      // guarded by mu; nil when handshakes are not held, closed on release
	waiting  int                // guarded by mu
	gets     int                // guarded by mu
	upgrades int                // guarded by mu
	hosts    []string           // guarded by mu
	conns    map[*FakeConn]bool // guarded by mu
	fresh    chan *FakeConn     // connections not yet taken by Conn
	active   sync.WaitGroup     // connections being served
	closed   chan struct{}      // closed by Close
	once     sync.Once
}

// NewEndpoint starts a fake endpoint and stops it when the test ends. The test does
// not end before every Handler call has returned.
func NewEndpoint(t testing.TB, opts *EndpointOptions) *Endpoint {
	t.Helper()
	e := &Endpoint{conns: map[*FakeConn]bool{}, fresh: make(chan *FakeConn, 1024), closed: make(chan struct{})}
	if opts != nil {
		e.opts = *opts
	}
	e.version = e.opts.Version
	if e.opts.Hold {
		e.held = make(chan struct{})
	}
	e.nextID()
	e.srv = httptest.NewServer(e)
	e.HTTP = e.srv.URL
	e.Port = e.srv.Listener.Addr().(*net.TCPAddr).Port
	t.Cleanup(e.Close)
	return e
}

// nextID makes the ID of a new browser start: each has another websocket path.
func (e *Endpoint) nextID() {
	e.starts++
	e.id = fmt.Sprintf("fa4e0000-0000-4000-8000-%012d", e.starts)
}

// WS is the websocket URL of the current browser start.
func (e *Endpoint) WS() string { return fmt.Sprintf("ws://127.0.0.1:%d%s", e.Port, e.Path()) }

// Path is the path of [Endpoint.WS].
func (e *Endpoint) Path() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return browserPath + "/" + e.id
}

// Gets counts the requests that were not websocket handshakes.
func (e *Endpoint) Gets() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gets
}

// Upgrades counts the websocket handshakes that clients began, held and refused ones
// included. Each is one consent dialog for the user of a real browser.
func (e *Endpoint) Upgrades() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.upgrades
}

// Waiting counts the handshakes held now.
func (e *Endpoint) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting
}

// Hosts lists the Host header of every request, in order of arrival.
func (e *Endpoint) Hosts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.hosts...)
}

// SetVersion replaces what GET /json/version answers; nil restores the fake's own answer.
func (e *Endpoint) SetVersion(h http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.version = h
}

// Hold keeps later websocket handshakes waiting, as a consent dialog does, until
// [Endpoint.Allow] or [Endpoint.Refuse].
func (e *Endpoint) Hold() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse = false
	if e.held == nil {
		e.held = make(chan struct{})
	}
}

// Allow lets held and later handshakes pass.
func (e *Endpoint) Allow() { e.release(false) }

// Refuse answers held and later handshakes with 403 "Connection rejected", as Chrome
// does when its user declines.
func (e *Endpoint) Refuse() { e.release(true) }

func (e *Endpoint) release(refuse bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse = refuse
	if e.held != nil {
		close(e.held)
		e.held = nil
	}
}

// Conn returns the next connection that was accepted and not yet returned, and fails
// the test when none comes within [EndpointTimeout].
func (e *Endpoint) Conn(t testing.TB) *FakeConn {
	t.Helper()
	select {
	case c := <-e.fresh:
		return c
	case <-time.After(EndpointTimeout):
		t.Fatalf("no websocket connection within %v", EndpointTimeout)
		return nil
	}
}

// Restart cuts every connection and begins a new browser start on the same port, with
// another websocket path. A port file written before is stale from then on.
func (e *Endpoint) Restart() {
	e.mu.Lock()
	e.nextID()
	e.mu.Unlock()
	e.DropAll()
}

// DropAll cuts every connection, as a browser that is killed does.
func (e *Endpoint) DropAll() {
	e.mu.Lock()
	conns := make([]*FakeConn, 0, len(e.conns))
	for c := range e.conns {
		conns = append(conns, c)
	}
	e.mu.Unlock()
	for _, c := range conns {
		c.Drop()
	}
}

// WritePortFile writes dir's DevToolsActivePort for the current start, in the form of
// Chromium 156: the port, a newline, the path without one.
func (e *Endpoint) WritePortFile(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d\n%s", e.Port, e.Path())
	if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Close stops listening, cuts every connection and waits until all handlers have returned.
func (e *Endpoint) Close() {
	e.once.Do(func() {
		close(e.closed)
		e.srv.Listener.Close()
		e.DropAll()
		e.active.Wait()
		e.srv.CloseClientConnections()
		e.srv.Close()
	})
}

// ServeHTTP implements [http.Handler] for the fake's own server.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrade := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	e.mu.Lock()
	e.hosts = append(e.hosts, r.Host)
	if upgrade {
		e.upgrades++
	} else {
		e.gets++
	}
	version, path := e.version, browserPath+"/"+e.id
	e.mu.Unlock()

	switch {
	case !allowedHost(r.Host):
		bare(w, http.StatusInternalServerError, "Host header is specified and is not an IP address or localhost.")
	case upgrade && (r.URL.Path == path || e.opts.Consent && strings.HasPrefix(r.URL.Path, browserPath)):
		e.serveSocket(w, r)
	case upgrade || r.URL.Path != "/json/version":
		bare(w, http.StatusNotFound, "")
	case version != nil:
		version(w, r)
	case e.opts.Consent:
		bare(w, http.StatusNotFound, "")
	default:
		e.serveVersion(w, r, path)
	}
}

func (e *Endpoint) serveVersion(w http.ResponseWriter, r *http.Request, path string) {
	browser := e.opts.Browser
	if browser == "" {
		browser = "Chrome/156.0.8078.114"
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	fmt.Fprintf(w, "{\n   \"Browser\": %q,\n   \"Protocol-Version\": \"1.3\",\n   \"webSocketDebuggerUrl\": %q\n}\n", browser, "ws://"+r.Host+path)
}

// allowedHost is Chrome's rule against DNS rebinding: an IP address, localhost, or a
// name under it (measured in Chromium 156).
func allowedHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// bare answers as Chrome's DevTools server does: without Date and Server.
func bare(w http.ResponseWriter, status int, body string) {
	w.Header()["Date"] = nil
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// consent waits while handshakes are held, and reports whether this one may pass.
func (e *Endpoint) consent(r *http.Request) bool {
	e.mu.Lock()
	held := e.held
	if held != nil {
		e.waiting++
	}
	e.mu.Unlock()
	if held != nil {
		defer func() {
			e.mu.Lock()
			e.waiting--
			e.mu.Unlock()
		}()
		select {
		case <-held:
		case <-r.Context().Done():
			return false
		case <-e.closed:
			return false
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.refuse
}

func (e *Endpoint) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !e.consent(r) {
		bare(w, http.StatusForbidden, "Connection rejected")
		return
	}
	c, err := upgradeSocket(w, r)
	if err != nil {
		bare(w, http.StatusBadRequest, err.Error())
		return
	}
	e.mu.Lock()
	select {
	case <-e.closed: // DropAll has run or is about to: it must not miss this one
		e.mu.Unlock()
		c.Drop()
		return
	default:
	}
	e.conns[c] = true
	e.active.Add(1)
	e.mu.Unlock()
	defer e.active.Done()
	defer func() {
		c.end(false)
		e.mu.Lock()
		delete(e.conns, c)
		e.mu.Unlock()
	}()
	select {
	case e.fresh <- c:
	default: // nobody calls Conn
	}
	if e.opts.OnConnect != nil {
		e.opts.OnConnect(c)
	}
	handler := e.opts.Handler
	if handler == nil {
		handler = func(c *FakeConn, m Message) { c.Reply(m.ID, m.SessionID, struct{}{}) }
	}
	c.serve(handler)
}
