package source

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

var errPage = errors.New("the page to open is neither at an https address nor at an http one of this machine")

// checkPage refuses what a client must not be asked to open: a client may hand the address
// to its system as it is, where other schemes run programs (MCP 2025-11-25, elicitation,
// safe URL handling).
func checkPage(raw string) error {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '`' || r == '\\' || r == '"' }) {
		return errPage
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Host == "" {
		return errPage
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme == "https" && host != "" || u.Scheme == "http" && local {
		return nil
	}
	return errPage
}
