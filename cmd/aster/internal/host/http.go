package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the HTTP endpoint.
const (
	HTTPPath            = "/mcp"
	MaxHTTPBodyBytes    = 4 << 20          // of a request
	MaxHTTPSessions     = 64               // clients at once
	MaxHTTPRequests     = 512              // under way at once, listening ones included
	HTTPBodyTimeout     = 10 * time.Second // for a request's header, and again for its body
	HTTPSessionIdle     = time.Hour        // after a client's last request
	maxHTTPHeaderBytes  = 64 << 10
	httpConnectionIdle  = 2 * time.Minute
	httpShutdownTimeout = 500 * time.Millisecond
	httpOpenTimeout     = 5 * time.Second // for those that open a session at the same time
)

// firstStateless is the first revision of MCP that has no sessions.
const firstStateless = "2026-07-28"

// HTTPOptions configure [ServeHTTP]. Zero bounds are the constants.
type HTTPOptions struct {
	Logger *slog.Logger // nil discards
	// Token is what clients have to show as a bearer token; "" asks for none.
	Token string
	// Hosts are names, beside those of this machine, under which clients may reach the
	// endpoint.
	Hosts []string

	MaxBodyBytes int64
	MaxSessions  int
	BodyTimeout  time.Duration
	SessionIdle  time.Duration
}

// ErrNotLoopback is the error of an address that other machines can reach, where no host
// name for them was given.
var ErrNotLoopback = errors.New("other machines could reach this address")

// ListenHTTP listens on HOST:PORT. Other than a loopback address is an error, unless hosts
// names the machine for others. Port 0 takes a free one.
func ListenHTTP(ctx context.Context, address string, hosts []string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q: want HOST:PORT, such as 127.0.0.1:8808", address)
	}
	ip, err := netip.ParseAddr(host)
	if loopback := host == "localhost" || err == nil && ip.IsLoopback(); !loopback && len(hosts) == 0 {
		return nil, fmt.Errorf("%q: %w", address, ErrNotLoopback)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}

// ServeHTTP serves srv to any number of clients over Streamable HTTP at [HTTPPath], until
// ctx ends; then it returns within a second. Each client has a session of its own, whose
// ID cannot be guessed; clients of 2026-07-28, which has none, are served too. l is closed.
//
// A request is refused whose Host is not this endpoint's (DNS rebinding), which comes from
// a web page of another origin, or which lacks the token: 403, 403 and 401. Bodies that are
// too long or too slow get 413 and 408, clients beyond the bound 503.
func ServeHTTP(ctx context.Context, srv *mcp.Server, l net.Listener, opts *HTTPOptions) error {
	h := newEndpoint(srv, l.Addr(), opts)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: h.o.BodyTimeout, IdleTimeout: httpConnectionIdle, MaxHeaderBytes: maxHTTPHeaderBytes,
		ErrorLog:    slog.NewLogLogger(h.o.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	err := RunHTTP(ctx, server, l, func() {
		for ss := range srv.Sessions() {
			go ss.Close() // ends its streams; one that hangs is cut off
		}
	})
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

// RunHTTP serves l until ctx ends, and then returns within a second: after leave, which may
// be nil, requests have half a second to end and are cut off. l is closed.
func RunHTTP(ctx context.Context, server *http.Server, l net.Listener, leave func()) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpShutdownTimeout)
	defer cancel()
	if leave != nil {
		leave()
	}
	if server.Shutdown(wait) != nil {
		server.Close()
	}
	<-ended
	return nil
}

// endpoint checks requests before MCP sees them.
type endpoint struct {
	o         HTTPOptions
	srv       *mcp.Server
	hosts     []string // allowed in Host, lower case, without port
	port      string
	token     [sha256.Size]byte
	stateful  http.Handler
	stateless http.Handler
	running   atomic.Int64 // requests

	mu      sync.Mutex
	opening int           // requests that may open a session; guarded by mu
	opened  chan struct{} // closed when one of those has ended; guarded by mu
}

func newEndpoint(srv *mcp.Server, addr net.Addr, opts *HTTPOptions) *endpoint {
	h := &endpoint{srv: srv, opened: make(chan struct{})}
	if opts != nil {
		h.o = *opts
	}
	if h.o.Logger == nil {
		h.o.Logger = slog.New(slog.DiscardHandler)
	}
	h.o.MaxBodyBytes = orDefault(h.o.MaxBodyBytes, MaxHTTPBodyBytes)
	h.o.MaxSessions = orDefault(h.o.MaxSessions, MaxHTTPSessions)
	h.o.BodyTimeout = orDefault(h.o.BodyTimeout, HTTPBodyTimeout)
	h.o.SessionIdle = orDefault(h.o.SessionIdle, HTTPSessionIdle)
	h.token = sha256.Sum256([]byte(h.o.Token))
	h.hosts = []string{"localhost", "127.0.0.1", "::1"}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		h.port = fmt.Sprint(tcp.Port)
		if !tcp.IP.IsUnspecified() {
			h.hosts = append(h.hosts, tcp.IP.String())
		}
	}
	for _, name := range h.o.Hosts {
		h.hosts = append(h.hosts, strings.ToLower(name))
	}
	get := func(*http.Request) *mcp.Server { return srv }
	// Host is checked here, for every kind of listener.
	h.stateful = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger: h.o.Logger, SessionTimeout: h.o.SessionIdle, MaxRequestBodyBytes: h.o.MaxBodyBytes, DisableLocalhostProtection: true})
	h.stateless = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger: h.o.Logger, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: h.o.MaxBodyBytes, DisableLocalhostProtection: true})
	return h
}

func (h *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.running.Add(-1)
	if h.running.Add(1) > MaxHTTPRequests {
		h.refuse(w, r, http.StatusServiceUnavailable, "too many requests are under way")
		return
	}
	switch {
	case !h.knowsHost(r.Host):
		h.refuse(w, r, http.StatusForbidden, "the Host of this request is not this server's")
		return
	case !SameOrigin(r):
		h.refuse(w, r, http.StatusForbidden, "requests of web pages of other origins are not served")
		return
	case !h.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="aster"`)
		h.refuse(w, r, http.StatusUnauthorized, "a bearer token is needed: aster printed it when it started, or it is in the --token-file")
		return
	case r.URL.Path != HTTPPath:
		h.refuse(w, r, http.StatusNotFound, "MCP is at "+HTTPPath)
		return
	}
	if !h.readBody(w, r) {
		return
	}
	if r.Header.Get("MCP-Protocol-Version") >= firstStateless {
		h.stateless.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
		if !h.open(r.Context()) {
			h.refuse(w, r, http.StatusServiceUnavailable, "too many clients are connected")
			return
		}
		defer h.openedOne()
	}
	h.stateful.ServeHTTP(w, r)
}

// open reports whether a request may open a session. A session that is being opened may
// count twice, as a request and as a session already: where only such are in the way, open
// waits for them.
func (h *endpoint) open(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, httpOpenTimeout)
	defer cancel()
	for {
		h.mu.Lock()
		sessions := h.sessions()
		if sessions >= h.o.MaxSessions {
			h.mu.Unlock()
			return false
		}
		if h.opening+sessions < h.o.MaxSessions {
			h.opening++
			h.mu.Unlock()
			return true
		}
		opened := h.opened
		h.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return false
		}
	}
}

// openedOne ends a request that might open a session.
func (h *endpoint) openedOne() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opening--
	close(h.opened)
	h.opened = make(chan struct{})
}

// sessions counts the sessions that have an ID; others belong to one request.
func (h *endpoint) sessions() (n int) {
	for ss := range h.srv.Sessions() {
		if ss.ID() != "" {
			n++
		}
	}
	return n
}

func (h *endpoint) refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	h.o.Logger.InfoContext(r.Context(), "request refused", "code", code, "why", text, "method", r.Method, "from", r.RemoteAddr)
	http.Error(w, text, code)
}

// knowsHost reports whether a request was meant for this endpoint. A page that makes its
// own name point to this machine sends that name.
func (h *endpoint) knowsHost(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), "80"
	}
	return port == h.port && slices.Contains(h.hosts, strings.ToLower(strings.TrimSuffix(host, ".")))
}

// SameOrigin reports whether a request comes from no web page, or from one of this
// endpoint's own origin.
func SameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host && origin != "https://"+r.Host {
			return false
		}
	}
	return true
}

func (h *endpoint) authorized(r *http.Request) bool {
	if h.o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], h.token[:]) == 1
}

// readBody reads the body of a request within its bounds; false means that the answer is
// written. The time limit ends with the body: an answer may take as long as the call does.
func (h *endpoint) readBody(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		r.Body = http.NoBody
		return true
	}
	if r.ContentLength > h.o.MaxBodyBytes {
		w.Header().Set("Connection", "close")
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request has at most %d bytes", h.o.MaxBodyBytes))
		return false
	}
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Now().Add(h.o.BodyTimeout)); err != nil {
		h.refuse(w, r, http.StatusInternalServerError, "no time limit can be set")
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxBodyBytes))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request has at most %d bytes", h.o.MaxBodyBytes))
		return false
	case err != nil:
		w.Header().Set("Connection", "close")
		h.refuse(w, r, http.StatusRequestTimeout, "the request did not come in time")
		return false
	}
	if err := rc.SetReadDeadline(time.Time{}); err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}
