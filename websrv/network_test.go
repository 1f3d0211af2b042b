package websrv

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fakeWeb is a web on this machine: names resolve to public addresses, and connections to
// these end at test servers.
type fakeWeb struct {
	t       testing.TB
	mu      sync.Mutex
	names   map[string][]netip.Addr        // guarded by mu
	answers map[string]func() []netip.Addr // guarded by mu
	routes  map[string]string              // ip:port to a server's address; guarded by mu
	dialed  []string                       // guarded by mu
	n       int
}

func newFakeWeb(t testing.TB) *fakeWeb {
	return &fakeWeb{t: t, names: map[string][]netip.Addr{}, answers: map[string]func() []netip.Addr{}, routes: map[string]string{}}
}

// LookupNetIP makes it a resolver.
func (w *fakeWeb) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.answers[host]; f != nil {
		return f(), nil
	}
	if a := w.names[host]; a != nil {
		return append([]netip.Addr(nil), a...), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (w *fakeWeb) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	to := w.routes[address]
	w.mu.Unlock()
	if to == "" {
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", to)
}

// connections are the addresses that were connected to so far.
func (w *fakeWeb) connections() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.dialed...)
}

// host serves h as http://name/.
func (w *fakeWeb) host(name string, h http.Handler) *httptest.Server {
	w.t.Helper()
	s := httptest.NewServer(h)
	w.t.Cleanup(s.Close)
	w.route(name, "80", s.Listener.Addr().String())
	return s
}

// route makes name a public host whose port is served at to.
func (w *fakeWeb) route(name, port, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names[name] == nil {
		w.n++
		w.names[name] = []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, byte(w.n)})}
	}
	w.routes[net.JoinHostPort(w.names[name][0].String(), port)] = to
}

// answer has f say the addresses of a name each time it is looked up.
func (w *fakeWeb) answer(name string, f func() []netip.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[name] = f
}

// connect has connections to address (ip:port) end at to.
func (w *fakeWeb) connect(address, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[address] = to
}

// resolve gives a name its addresses.
func (w *fakeWeb) resolve(name string, addrs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[name] = nil
	for _, a := range addrs {
		w.names[name] = append(w.names[name], netip.MustParseAddr(a))
	}
}

// open is a network over the fake web, closed at the test's end.
func (w *fakeWeb) open(o networkOptions) *network {
	w.t.Helper()
	o.Resolver, o.Dial = w, w.dial
	if o.Chromium == "" {
		o.Chromium = os.Getenv("ASTER_TEST_CHROME")
	}
	n, err := newNetwork(&o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { n.Close() })
	return n
}

func testContext(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func htmlPage(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, body)
	}
}
