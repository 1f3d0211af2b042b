package websrv

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

const (
	maxURLBytes  = 8 << 10
	maxHostBytes = 253
)

// cleanURL reads an address as a browser would: http or https, the host in lower-case
// ASCII, every spelling of an IPv4 address (2130706433, 0x7f.1, full-width digits) as
// dotted decimals, no default port, no userinfo. Its errors wrap errBadURL.
func cleanURL(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURLBytes {
		return nil, badURL("the URL is longer than %s", sizeText(maxURLBytes))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, badURL("the address is not a valid URL") // err holds all of it
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		if u.Scheme == "" {
			return nil, badURL("the URL has no scheme: it must begin with https:// or http://")
		}
		return nil, badURL("the scheme %.20q cannot be fetched, only http and https", u.Scheme)
	}
	host, err := cleanHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, badURL("the URL has no valid port")
		}
		port = strconv.FormatUint(n, 10)
	}
	u.User, u.Opaque = nil, ""
	u.Host = joinHost(host, port, u.Scheme)
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// joinHost leaves out a scheme's own port.
func joinHost(host, port, scheme string) string {
	if port == "" || port == schemePort(scheme) {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

func schemePort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// urlPort is the port that a cleaned URL connects to.
func urlPort(u *url.URL) string { return orDefault(u.Port(), schemePort(u.Scheme)) }

// cleanHost is the host part of a URL by the URL standard's host parser: an IPv6 address,
// else a domain mapped to ASCII, which is an IPv4 address if its last label is a number.
func cleanHost(host string) (string, error) {
	if host == "" {
		return "", badURL("the URL has no host")
	}
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" {
			return "", badURL("the URL has no valid IPv6 address")
		}
		return a.String(), nil
	}
	ascii, err := idna.Lookup.ToASCII(strings.ToLower(host))
	if err != nil {
		// Names with "_" or with "--" in the third place are no valid IDNA, but exist.
		if ascii = strings.ToLower(host); !plainName(ascii) {
			return "", badURL("the URL has no valid host name")
		}
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if len(ascii) > maxHostBytes || !plainName(ascii) {
		return "", badURL("the URL has no valid host name")
	}
	if numericHost(ascii) {
		a, ok := parseIPv4(ascii)
		if !ok {
			return "", badURL("the URL has no valid IPv4 address")
		}
		return a.String(), nil
	}
	return ascii, nil
}

// plainName reports whether a host name has only the characters of names in use, and no
// empty label.
func plainName(s string) bool {
	if s == "" || strings.HasPrefix(s, ".") || strings.Contains(s, "..") {
		return false
	}
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// numericHost is the URL standard's "ends in a number" check.
func numericHost(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Part(last)
	return ok
}

// parseIPv4 is the URL standard's IPv4 parser: one to four parts, decimal, octal or
// hexadecimal, of which the last fills the bytes that are left.
func parseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, ok := ipv4Part(p)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			v |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		v |= n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func ipv4Part(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		if s, base = s[2:], 16; s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 40)
	return n, err == nil && !strings.HasPrefix(s, "+")
}
