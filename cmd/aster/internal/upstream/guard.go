package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

const maxAuthRedirects = 5

var errPrivate = errors.New("names an address inside this network")

// A guard makes requests to addresses that a server names: its metadata and its
// authorization server. They may lead into the user's network only if the server
// itself is there, and go over https, or http on this machine.
type guard struct {
	host string // of the server that the user configured

	mu      sync.Mutex
	private bool // that host was reached at an address that is not public
}

func newGuard(server string) *guard {
	g := &guard{}
	if u, err := url.Parse(server); err == nil {
		g.host = u.Hostname()
	}
	return g
}

// client makes an HTTP client whose idle connections the caller closes.
func (g *guard) client() *http.Client {
	t := &http.Transport{DialContext: g.dial, TLSHandshakeTimeout: tokenPatience, MaxResponseHeaderBytes: 256 << 10, IdleConnTimeout: time.Minute}
	return &http.Client{
		Transport: bounded{t},
		Timeout:   tokenPatience,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case len(via) >= maxAuthRedirects:
				return fmt.Errorf("over %d redirects", maxAuthRedirects)
			case req.Method != http.MethodGet:
				return errors.New("a redirect would repeat a request that holds a secret")
			}
			return nil
		},
	}
}

// dial connects to an address that may be reached. The decision is made on the
// address that is used, so that a name cannot change its mind in between.
func (g *guard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	own := strings.EqualFold(host, g.host)
	var last error = fmt.Errorf("%s has no address", host)
	for _, ip := range ips {
		ip = ip.Unmap()
		if !public(ip) && !own && !g.inside() {
			last = fmt.Errorf("%s %w", host, errPrivate)
			continue
		}
		c, err := (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		if err != nil {
			last = err
			continue
		}
		if own && !public(ip) {
			g.mu.Lock()
			g.private = true
			g.mu.Unlock()
		}
		return c, nil
	}
	return nil, last
}

func (g *guard) inside() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.private
}

// Address ranges that are not the Internet's and that net/netip does not know
// (RFC 6890, RFC 6598, RFC 6052, RFC 3056).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// bounded refuses other schemes than https, save on this machine, and bounds bodies.
type bounded struct{ *http.Transport }

// RoundTrip makes one request.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkPage(req.URL.String()); err != nil {
		return nil, err
	}
	resp, err := b.Transport.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{io.LimitReader(resp.Body, maxTokenAnswer), resp.Body}
	}
	return resp, err
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// checkPage accepts https, and http on this machine.
func checkPage(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("the address cannot be parsed")
	}
	if u.Scheme == "https" && u.Host != "" && u.User == nil {
		return nil
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	if u.Scheme == "http" && u.User == nil && (host == "localhost" || err == nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("the address %.60q is neither https nor http on this machine", u.Scheme+"://"+host)
}
