package websrv

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// localSuffixes are names that mean something only in the user's own network: RFC 6761,
// RFC 6762, RFC 7686, RFC 8375, RFC 9476 and the .internal of ICANN.
var localSuffixes = [...]string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private",
	"home.arpa", "test", "invalid", "onion", "alt"}

// private reports whether a URL must stay on this machine: its host is allow-listed as
// private, is not public, or cannot be resolved publicly, or the URL holds a password. Such
// a URL is never sent to a remote provider. reason is a phrase that follows "because".
func (n *network) private(ctx context.Context, rawURL string) (yes bool, reason string) {
	if u, err := url.Parse(strings.TrimSpace(rawURL)); err == nil && u.User != nil {
		return true, "the URL holds a user name or password"
	}
	u, err := cleanURL(rawURL)
	if err != nil {
		return true, "it is not a URL of a public host"
	}
	return n.guard.private(ctx, u)
}

func (g *guard) private(ctx context.Context, u *url.URL) (bool, string) {
	host := u.Hostname()
	if g.listed(host, urlPort(u)) {
		return true, host + " is listed in mcp.web.allow_private"
	}
	if err := g.allowed(u); err != nil {
		return true, host + " is not allowed by the configuration"
	}
	name := host
	if _, err := netip.ParseAddr(host); err != nil {
		if !strings.Contains(host, ".") {
			return true, host + " is a name of the local network"
		}
		for _, s := range localSuffixes {
			if strings.HasSuffix(host, "."+s) {
				return true, host + " is a name of the local network"
			}
		}
		if _, ok := g.resolver.(*net.Resolver); ok {
			name += "." // without the search domains of this machine
		}
	}
	addrs, err := g.lookup(ctx, name)
	if err != nil {
		return true, host + " does not resolve publicly"
	}
	for _, a := range addrs {
		if why := special(a); why != "" {
			return true, describe(host, a) + " is not public: " + why
		}
		if g.inRanges(a) {
			return true, describe(host, a) + " is listed in mcp.web.allow_private"
		}
	}
	return false, ""
}
