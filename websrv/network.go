package websrv

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits of the network client. All of them hold without any option being set.
const (
	defaultMaxBodyBytes   = 10 << 20 // decoded body of one response
	topMaxBodyBytes       = 64 << 20 // what a request may ask for at most
	maxHeaderBytes        = 256 << 10
	defaultRequestTimeout = 30 * time.Second
	topRequestTimeout     = 5 * time.Minute
	defaultMaxRedirects   = 5
	defaultMaxConcurrent  = 16
	defaultUserAgent      = "aster (+https://github.com/aster-mcp/aster)"
	defaultAccept         = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1"
)

// resolver looks up addresses; *net.Resolver is one.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// networkOptions configures [newNetwork]. The zero value is safe: public hosts on the
// ports 80 and 443 only.
type networkOptions struct {
	// Client lends the TLS settings of its *http.Transport; its dialer, proxy, cookie jar
	// and redirect policy are not used. nil means the defaults.
	Client    *http.Client
	UserAgent string // "" means defaultUserAgent

	// AllowPrivate lists what may be reached although it is not public: a host, a
	// host:port or a CIDR. A host or CIDR opens all its ports. Set by the configuration,
	// never by a tool's argument.
	AllowPrivate []string
	// AllowDomains, when not empty, are the only domains that are reached; DenyDomains
	// are never reached, and win. "example.com" covers its subdomains too,
	// "*.example.com" only these.
	AllowDomains, DenyDomains []string
	// HighPorts allows the ports from 1024 up on public hosts.
	HighPorts bool

	MaxBodyBytes int64         // decoded bytes of a response; 0 means 10 MiB
	Timeout      time.Duration // of a request without its own; 0 means 30 s
	MaxRedirects int           // 0 means 5, negative none

	// PaceInterval is between paced requests to one host; 0 means 1 s, negative none, and
	// no heed to Retry-After either.
	PaceInterval time.Duration
	PacePerHost  int // paced requests to one host at a time; 0 means 2

	MaxConcurrent int // requests to pages under way at once; 0 means 16

	NoCache     bool
	CacheBytes  int64         // memory for cached responses; 0 means 64 MiB
	CacheDir    string        // where responses outlive the process; "" keeps them in memory only
	CacheMaxAge time.Duration // of a page that says nothing of it; 0 keeps it for a question only

	Chromium     string        // path of a Chromium or Chrome; "" looks for one, "off" uses none
	ChromiumIdle time.Duration // idle time after which it is stopped; 0 means 2 min

	Logger *slog.Logger     // nil discards
	Now    func() time.Time // nil means time.Now

	// Resolver and Dial replace the system's for tests: fake hosts need no network. Dial
	// gets only addresses (ip:port) that the guard has let pass.
	Resolver resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// network is the way out of this package: every request to a page, by the Go client or by
// the local Chromium, passes its guard. It is safe for concurrent use.
type network struct {
	o     networkOptions
	guard *guard
	// plain is for addresses from tools and pages; trusted and trusted4 (IPv4 only) for
	// base URLs from the configuration. They share no connections: a connection to a
	// private host that the configuration opened must not carry a page's request.
	plain, trusted, trusted4 *http.Transport
	renderer                 *renderer
	pacer                    *pacer
	slots                    chan struct{} // requests to pages under way
	cache                    *cache        // nil when off
	log                      *slog.Logger
	closeOnce                sync.Once
}

// newNetwork returns a network; the caller closes it. It fails on an option that cannot
// be understood.
func newNetwork(o *networkOptions) (*network, error) {
	n := &network{}
	if o != nil {
		n.o = *o
	}
	n.setDefaults()
	g, err := newGuard(&n.o)
	if err != nil {
		return nil, err
	}
	n.guard = g
	base, err := baseTransport(n.o.Client)
	if err != nil {
		return nil, err
	}
	n.plain = newTransport(base, g.dial)
	n.trusted = newTransport(base, g.dialTrusted)
	n.trusted4 = newTransport(base, g.dialTrusted4)
	n.slots = make(chan struct{}, n.o.MaxConcurrent)
	n.pacer, n.cache, n.renderer = newPacer(&n.o), newCache(&n.o), newRenderer(n)
	return n, nil
}

func (n *network) setDefaults() {
	o := &n.o
	setDefault(&o.UserAgent, defaultUserAgent)
	setDefault(&o.MaxBodyBytes, defaultMaxBodyBytes)
	setDefault(&o.Timeout, defaultRequestTimeout)
	setDefault(&o.MaxRedirects, defaultMaxRedirects)
	setDefault(&o.MaxConcurrent, defaultMaxConcurrent)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n.log = o.Logger
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
}

// setDefault gives p the value v if it has none.
func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// baseTransport is the transport whose TLS settings are taken over.
func baseTransport(c *http.Client) (*http.Transport, error) {
	if c == nil || c.Transport == nil {
		return &http.Transport{}, nil
	}
	t, ok := c.Transport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("an HTTP client with a transport of type %T cannot be guarded: it must be a *http.Transport", c.Transport)
	}
	return t, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport is a transport that reaches the network by dial only. It has no proxy:
// a proxy would make the connection where the guard cannot see its address.
func newTransport(base *http.Transport, dial dialFunc) *http.Transport {
	t := &http.Transport{
		DialContext:            dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    4,
		MaxConnsPerHost:        16,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true, // decoded by client_decode.go, within bounds
	}
	if base.TLSClientConfig != nil {
		t.TLSClientConfig = base.TLSClientConfig.Clone()
	}
	return t
}

// Close stops the local Chromium, the proxy and all goroutines, and returns when they
// have ended. Further calls of do, render and screenshot fail.
func (n *network) Close() error {
	n.closeOnce.Do(func() {
		n.renderer.Close()
		for _, t := range []*http.Transport{n.plain, n.trusted, n.trusted4} {
			t.CloseIdleConnections()
		}
	})
	return nil
}
