package websrv

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits of the proxy.
const (
	maxProxyConns      = 256
	maxProxyConnBytes  = 128 << 20 // from the network, of one connection
	proxyIdle          = 2 * time.Minute
	proxyHeaderTimeout = 10 * time.Second
	maxRefusals        = 256 // remembered
)

// proxy is the way out of the local Chromium: an HTTP proxy on the loopback interface
// that connects by the guard. Chromium does no look-ups of its own, so that what a page
// loads, frames, fetches or opens a WebSocket to is decided on by the address used, as
// every request of the Go client is.
type proxy struct {
	network *network
	server  *http.Server
	addr    string // 127.0.0.1:port
	slots   chan struct{}
	ctx     context.Context // ends with the proxy
	cancel  context.CancelFunc
	wg      sync.WaitGroup // the server, and every tunnel

	mu       sync.Mutex
	refusals map[string]error // host:port to why it was not reached; guarded by mu
}

// newProxy starts a proxy; the caller closes it.
func newProxy(n *network) (*proxy, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, &netError{errBrowser, "the guarded proxy for Chromium found no free port on the loopback interface"}
	}
	p := &proxy{network: n, addr: ln.Addr().String(), slots: make(chan struct{}, maxProxyConns), refusals: map[string]error{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: proxyHeaderTimeout,
		IdleTimeout:       proxyIdle,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
		ErrorLog:          log.New(io.Discard, "", 0), // it would name what pages asked for
	}
	p.wg.Go(func() { p.server.Serve(ln) })
	return p, nil
}

// Close ends all connections and returns when they have ended.
func (p *proxy) Close() {
	p.cancel()
	p.server.Close()
	p.wg.Wait()
}

// ServeHTTP carries one request: CONNECT for TLS and WebSockets, a whole URL for plain
// HTTP. Anything else is no proxy request, such as one of a page in another browser.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.IsAbs() && r.URL.Host != "":
		p.forward(w, r)
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// refuse remembers why a host was not reached, for the error of the page's load.
func (p *proxy) refuse(hostport string, err error) {
	p.network.log.Debug("chromium was refused a connection", "to", hostport, "why", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refusals) >= maxRefusals {
		clear(p.refusals)
	}
	p.refusals[hostport] = err
}

// reached forgets an earlier refusal.
func (p *proxy) reached(hostport string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.refusals, hostport)
}

// refusal is why a cleaned URL's host was not reached, nil if it was not asked for or was
// reached.
func (p *proxy) refusal(u *url.URL) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusals[hostPort(u)]
}

func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), urlPort(u)) }

// tunnel connects to r.Host and carries bytes both ways.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err == nil {
		host, err = cleanHost(host)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	key := net.JoinHostPort(host, port)
	out, err := p.network.guard.dial(r.Context(), "tcp", key)
	if err != nil {
		p.refuse(key, classify(r.Context(), host, err))
		w.WriteHeader(http.StatusForbidden)
		return
	}
	p.reached(key)
	defer out.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	in, buffered, err := hijacker.Hijack()
	if err != nil {
		return
	}
	p.wg.Add(1) // the server does not wait for hijacked connections
	defer p.wg.Done()
	defer in.Close()
	stop := context.AfterFunc(p.ctx, func() { in.Close(); out.Close() })
	defer stop()
	in.SetDeadline(time.Time{})
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipe(out, io.LimitReader(buffered, maxProxyConnBytes), in)
	}()
	pipe(in, io.LimitReader(out, maxProxyConnBytes), out)
	in.Close()
	out.Close()
	<-done
}

// pipe copies from r, which reads conn, to w until an end, an error or a long silence.
func pipe(w net.Conn, r io.Reader, conn net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		conn.SetReadDeadline(time.Now().Add(proxyIdle))
		n, err := r.Read(buf)
		if n > 0 {
			w.SetWriteDeadline(time.Now().Add(proxyIdle))
			if _, err := w.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	if c, ok := w.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// hopHeaders are those of a connection, not of a message (RFC 9110 §7.6.1).
var hopHeaders = [...]string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// removeHopHeaders removes them, and those that Connection names.
func removeHopHeaders(h http.Header) {
	for _, f := range h.Values("Connection") {
		for _, name := range strings.Split(f, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopHeaders {
		h.Del(name)
	}
}

// forward carries a plain HTTP request. Where there is no answer the connection is cut:
// a page of our own would look like the site's.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	u, err := cleanURL(r.URL.String())
	if err != nil || u.Scheme != "http" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	resp, err := p.send(r, u)
	if err != nil {
		err = classify(r.Context(), u.Hostname(), err)
		p.refuse(hostPort(u), err)
		if errors.Is(err, errBlocked) {
			p.network.log.Info("chromium was refused an address", "host", u.Host)
		}
		panic(http.ErrAbortHandler)
	}
	p.reached(hostPort(u))
	defer resp.Body.Close()
	removeHopHeaders(resp.Header)
	h := w.Header()
	for k, v := range resp.Header {
		h[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	if !copyFlushing(w, io.LimitReader(resp.Body, maxProxyConnBytes)) {
		panic(http.ErrAbortHandler)
	}
}

// send makes the outgoing request.
func (p *proxy) send(r *http.Request, u *url.URL) (*http.Response, error) {
	if err := p.network.guard.allowed(u); err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL, out.Host, out.RequestURI = u, u.Host, ""
	removeHopHeaders(out.Header)
	if r.ContentLength == 0 {
		out.Body = nil
	}
	return p.network.plain.RoundTrip(out)
}

// copyFlushing copies a body as it comes, so that a stream of events arrives. It reports
// whether it came to the body's end.
func copyFlushing(w http.ResponseWriter, r io.Reader) bool {
	rc := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return false
			}
			rc.Flush()
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
