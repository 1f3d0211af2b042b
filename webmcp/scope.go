package webmcp

import (
	"net/url"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// scope is what globs of origins are matched with for a document.
type scope struct {
	own string   // its origin, or that of the document it inherits from
	all []string // that, its address's, and those of the pages it is embedded in
}

// scopeOf works out a frame's scope. It is called on the connection's reading goroutine.
func scopeOf(f *cdp.Frame) (s scope) {
	if f.Origin != "null" {
		s.own = f.Origin
	}
	s.all = []string{s.own}
	for _, up := range f.Ancestors() {
		if s.own == "" && up.Origin != "null" && up.Origin != "" {
			s.own = up.Origin
		}
		s.all = append(s.all, up.Origin)
	}
	address := "" // of a sandboxed document: its origin is opaque, its address is not
	if u, err := url.Parse(f.URL); err == nil && u.Host != "" {
		address = u.Scheme + "://" + u.Host
	}
	if s.own == "" {
		s.own = address
	}
	s.all = append(s.all, s.own, address)
	return s
}

// allowed reports whether a document may be touched or shown: none of its origins is
// denied, and its own is among those wanted, if some are named.
func (s scope) allowed(origins, deny []string) bool {
	for _, origin := range s.all {
		if matchAny(deny, origin) {
			return false
		}
	}
	return len(origins) == 0 || matchAny(origins, s.own)
}

// inScope reports whether a frame's document may be touched.
func (a *attachment) inScope(f *cdp.Frame) bool {
	return scopeOf(f).allowed(a.opts.Origins, a.opts.DenyOrigins)
}

func matchAny(globs []string, origin string) bool {
	for _, g := range globs {
		if origin != "" && shim.MatchOrigin(g, origin) {
			return true
		}
	}
	return false
}
