package websrv

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of connecting.
const (
	maxAddresses   = 8                // tried of one host
	connectTimeout = 10 * time.Second // to one address
	firstHighPort  = 1024
)

// guard decides where connections may go. The address that is decided on is the address
// that is connected to: a name that answers differently the next time, and any spelling
// of an address, end at the same table. It is immutable and safe for concurrent use.
type guard struct {
	hosts       map[string]bool // allow-listed: host, or host:port
	ranges      []netip.Prefix  // allow-listed
	allow, deny []string        // domains
	highPorts   bool
	resolver    resolver
	connect     dialFunc
}

func newGuard(o *networkOptions) (*guard, error) {
	g := &guard{hosts: map[string]bool{}, highPorts: o.HighPorts, resolver: o.Resolver, connect: o.Dial}
	for _, entry := range o.AllowPrivate {
		if err := g.open(strings.TrimSpace(entry)); err != nil {
			return nil, err
		}
	}
	var err error
	if g.allow, err = domainPatterns(o.AllowDomains); err != nil {
		return nil, err
	}
	if g.deny, err = domainPatterns(o.DenyDomains); err != nil {
		return nil, err
	}
	return g, nil
}

// open reads an entry of AllowPrivate.
func (g *guard) open(entry string) error {
	if p, err := netip.ParsePrefix(entry); err == nil {
		g.ranges = append(g.ranges, p.Masked())
		return nil
	}
	host, port := entry, ""
	if h, p, err := net.SplitHostPort(entry); err == nil {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return badURL("allow_private: %q has no valid port", entry)
		}
		host, port = h, ":"+p
	}
	host, err := cleanHost(strings.Trim(host, "[]"))
	if err != nil {
		return badURL("allow_private: %q is neither host, host:port nor CIDR", entry)
	}
	g.hosts[host+port] = true
	return nil
}

// domainPatterns cleans a list of domain patterns.
func domainPatterns(list []string) ([]string, error) {
	var out []string
	for _, d := range list {
		name, sub := strings.CutPrefix(strings.TrimSpace(d), "*.")
		host, err := cleanHost(strings.Trim(name, "[]"))
		if err != nil {
			return nil, badURL("%q is not a domain", d)
		}
		if sub {
			host = "*." + host
		}
		out = append(out, host)
	}
	return out, nil
}

// inDomain reports whether a host is in the domain of a pattern.
func inDomain(pattern, host string) bool {
	base, sub := strings.CutPrefix(pattern, "*.")
	return !sub && host == base || strings.HasSuffix(host, "."+base)
}

// allowed decides on what a cleaned URL says, before anything is looked up.
func (g *guard) allowed(u *url.URL) error { return g.allowedHost(u.Hostname()) }

func (g *guard) allowedHost(host string) error {
	for _, d := range g.deny {
		if inDomain(d, host) {
			return blocked("%s is denied by the configuration (deny %s)", host, d)
		}
	}
	for _, d := range g.allow {
		if inDomain(d, host) {
			return nil
		}
	}
	if len(g.allow) > 0 {
		return blocked("%s is not among the domains that the configuration allows", host)
	}
	return nil
}

// listed reports whether the configuration opens host:port, wherever it resolves to.
func (g *guard) listed(host, port string) bool { return g.hosts[host] || g.hosts[host+":"+port] }

// inRanges reports whether an address is in an allow-listed CIDR.
func (g *guard) inRanges(a netip.Addr) bool {
	for _, p := range g.ranges {
		if p.Contains(a) || p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// address decides on a connection to host at the address a.
func (g *guard) address(host, port string, a netip.Addr) error {
	if g.inRanges(a) {
		return nil
	}
	if g.listed(host, port) {
		if a.IsUnspecified() || a.IsMulticast() {
			return blocked("%s resolves to %s, which is no host", host, a)
		}
		return nil
	}
	switch why := special(a); {
	case why == "":
	case a.IsLinkLocalUnicast(): // metadata of a cloud: not a thing to open at a page's word
		return blocked("%s is not a public address: it is %s", describe(host, a), why)
	default:
		return blocked("%s is not a public address: it is %s; to allow it add %q to mcp.web.allow_private in aster.yaml",
			describe(host, a), why, net.JoinHostPort(host, port))
	}
	n, _ := strconv.Atoi(port)
	if n != 80 && n != 443 && (n < firstHighPort || !g.highPorts) {
		return blocked("port %s of %s is not allowed; to allow it add %q to mcp.web.allow_private in aster.yaml",
			port, host, net.JoinHostPort(host, port))
	}
	return nil
}

func describe(host string, a netip.Addr) string {
	if host == a.String() {
		return host
	}
	return host + " (" + a.String() + ")"
}

// dial connects for a request of a tool or a page.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, badURL("the URL has no valid host and port")
	}
	if host, err = cleanHost(host); err != nil {
		return nil, err
	}
	if err := g.allowedHost(host); err != nil {
		return nil, err
	}
	addrs, err := g.resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	return g.connectAny(ctx, network, addrs, port)
}

// resolve is the addresses of host that may be connected to, at least one.
func (g *guard) resolve(ctx context.Context, host, port string) ([]netip.Addr, error) {
	addrs, err := g.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var good []netip.Addr
	for _, a := range addrs {
		if refusal := g.address(host, port, a); refusal != nil {
			err = refusal
			continue
		}
		good = append(good, a)
	}
	if len(good) == 0 {
		return nil, err
	}
	return good, nil
}

// check decides on a cleaned URL as a connection would, without making one.
func (g *guard) check(ctx context.Context, u *url.URL) error {
	if err := g.allowed(u); err != nil {
		return err
	}
	_, err := g.resolve(ctx, u.Hostname(), urlPort(u))
	return err
}

// dialTrusted connects to a provider's base URL of the configuration.
func (g *guard) dialTrusted(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, badURL("the URL has no valid host and port")
	}
	addrs, err := g.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	return g.connectAny(ctx, network, addrs, port)
}

func (g *guard) dialTrusted4(ctx context.Context, _, address string) (net.Conn, error) {
	return g.dialTrusted(ctx, "tcp4", address)
}

// lookup is the addresses of a host, at least one.
func (g *guard) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap() // the system's resolver gives IPv4 addresses in IPv6 form
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

// connectAny connects to the first of the addresses that answers.
func (g *guard) connectAny(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	var first error
	tried := 0
	for _, a := range addrs {
		if network == "tcp4" && !a.Is4() || tried == maxAddresses {
			continue
		}
		tried++
		conn, err := g.connectOne(ctx, network, netip.AddrPortFrom(a, portNumber(port)))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if first == nil {
		return nil, &netError{errNetwork, "the host has no IPv4 address, which this provider needs"}
	}
	return nil, first
}

func portNumber(port string) uint16 {
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

func (g *guard) connectOne(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if g.connect != nil {
		return g.connect(ctx, network, to.String())
	}
	// The kernel is asked for exactly the address that was decided on.
	d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if got, err := netip.ParseAddrPort(address); err != nil || got.Addr().Unmap().WithZone("") != to.Addr().Unmap().WithZone("") {
			return blocked("the connection went to another address than was allowed")
		}
		return nil
	}}
	return d.DialContext(ctx, network, to.String())
}
