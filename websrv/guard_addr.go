package websrv

import (
	"net/netip"
	"sync"

	"code.dny.dev/ssrf"
)

// special says why an address is not a public one, "" if it is.
func special(a netip.Addr) string {
	a = a.WithZone("")
	if a.Is4In6() {
		return "an IPv4 address in an IPv6 one"
	}
	for _, r := range specialRanges() {
		if r.prefix.Contains(a) {
			return r.why
		}
	}
	// The registries know ranges that have no name here; a new one refuses all the same.
	if registry().SafeAddr(a) != nil {
		return "a special-purpose address"
	}
	return ""
}

type addrRange struct {
	prefix netip.Prefix
	why    string
}

// registry is the table of the IANA special-purpose registries.
var registry = sync.OnceValue(func() *ssrf.Guardian { return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork()) })

// specialRanges are the ranges that no page needs, with their reasons. An address that
// carries an IPv4 address (NAT64, 6to4, Teredo) is refused whatever it carries: no public
// host is reachable by such an address only.
var specialRanges = sync.OnceValue(func() []addrRange {
	var list []addrRange
	for _, r := range []struct{ prefix, why string }{
		{"0.0.0.0/8", "this machine's unspecified address"},
		{"10.0.0.0/8", "a private network"},
		{"100.64.0.0/10", "a carrier's or cloud's inner network"},
		{"127.0.0.0/8", "this machine"},
		{"169.254.0.0/16", "a link-local address (cloud metadata)"},
		{"172.16.0.0/12", "a private network"},
		{"192.0.0.0/24", "a protocol assignment"},
		{"192.0.2.0/24", "a documentation range"},
		{"192.88.99.0/24", "a 6to4 relay"},
		{"192.168.0.0/16", "a private network"},
		{"198.18.0.0/15", "a benchmarking range"},
		{"198.51.100.0/24", "a documentation range"},
		{"203.0.113.0/24", "a documentation range"},
		{"224.0.0.0/4", "a multicast address"},
		{"240.0.0.0/4", "a reserved range"},
		{"::/128", "this machine's unspecified address"},
		{"::1/128", "this machine"},
		{"::/96", "an IPv4 address in an IPv6 one"},
		{"::ffff:0:0/96", "an IPv4 address in an IPv6 one"},
		{"::ffff:0:0:0/96", "an IPv4 address in an IPv6 one"},
		{"64:ff9b::/96", "an IPv4 address in an IPv6 one"},
		{"64:ff9b:1::/48", "an IPv4 address in an IPv6 one"},
		{"100::/64", "a discard range"},
		{"2001::/23", "a protocol assignment"}, // with Teredo, 2001::/32
		{"2001:db8::/32", "a documentation range"},
		{"2002::/16", "an IPv4 address in an IPv6 one"},
		{"3fff::/20", "a documentation range"},
		{"5f00::/16", "a segment routing range"},
		{"fc00::/7", "a private network"},
		{"fe80::/10", "a link-local address"},
		{"fec0::/10", "a private network"},
		{"ff00::/8", "a multicast address"},
	} {
		list = append(list, addrRange{netip.MustParsePrefix(r.prefix), r.why})
	}
	return list
})
