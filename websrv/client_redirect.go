package websrv

import (
	"net/http"
	"net/url"
	"strings"
)

// redirect is the hop that an answer sends to, nil if it is the last.
func (n *network) redirect(h *hop, a *answer) (*hop, error) {
	if h.request.NoRedirect || n.o.MaxRedirects < 0 {
		return nil, nil
	}
	target, ok := a.header.Get("Location"), isRedirect(a.status)
	if !ok || target == "" {
		if !h.request.RefreshRedirect {
			return nil, nil
		}
		if target = metaRefresh(a); target == "" {
			return nil, nil
		}
	}
	ref, err := h.url.Parse(strings.TrimSpace(target))
	if err != nil {
		return nil, blocked("%s redirects to an address that is not a URL", h.url.Host)
	}
	u, err := cleanURL(ref.String())
	if err != nil { // the site's fault, not the caller's
		return nil, blocked("%s redirects to where nothing is read: %v", h.url.Host, err)
	}
	same := origin(u) == origin(h.url)
	if h.request.Trusted && !same {
		return nil, blocked("%s redirects to another origin, which a provider's address must not", h.url.Host)
	}
	if sameDocument(u, h.url) && h.method == http.MethodGet && !isRedirect(a.status) {
		return nil, nil // a page that refreshes itself
	}
	next := &hop{method: h.method, url: u, header: h.header, body: h.body, request: h.request}
	if !same {
		next.header = crossOrigin(h.header)
	}
	if a.status != http.StatusTemporaryRedirect && a.status != http.StatusPermanentRedirect && h.method != http.MethodHead {
		next.method, next.body = http.MethodGet, nil
		next.header = next.header.Clone()
		next.header.Del("Content-Type")
	}
	return next, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// origin is scheme://host:port of a cleaned URL.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func sameDocument(a, b *url.URL) bool {
	x, y := *a, *b
	x.Fragment, y.Fragment = "", ""
	x.RawFragment, y.RawFragment = "", ""
	return x.String() == y.String()
}

// crossOrigin keeps the headers that say nothing about the user: what a caller added
// (keys, cookies) stays with the origin it was meant for.
func crossOrigin(h http.Header) http.Header {
	kept := http.Header{}
	for _, k := range []string{"User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Content-Type"} {
		if v := h.Values(k); len(v) > 0 {
			kept[k] = v
		}
	}
	return kept
}
