package websrv

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Bounds that keep a crawl out of places without an end.
const (
	maxCrawlURL      = 2_048 // bytes of an address
	maxPerPattern    = 50    // addresses that differ in a date or in a query's values only
	maxSameSegment   = 3     // times that a path may hold the same segment
	maxPathSegments  = 30
	maxCrawlPatternN = 10_000 // patterns that are counted
)

// cleanLink is the address that a crawl would ask for: without fragment, names of trackers and of
// sessions, and with an escaped path. ok is false for what is no page of the web.
func cleanLink(raw string) (u *url.URL, ok bool) {
	if len(raw) > maxCrawlURL {
		return nil, false
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, false
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	u.User, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", false
	u.Host = canonicalHost(u)
	cleanPath(u)
	u.RawQuery = cleanQuery(u.RawQuery, false)
	return u, true
}

// canonicalHost is the host in lower case, without the scheme's own port and a dot at its end.
func canonicalHost(u *url.URL) string {
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		return host
	}
	return host + ":" + port
}

// cleanPath resolves dot segments and drops a session's name. The escapes stay as they are but for their
// case, since a server may tell them apart.
func cleanPath(u *url.URL) {
	p := u.EscapedPath()
	if i := strings.IndexByte(p, ';'); i >= 0 && strings.HasPrefix(strings.ToLower(p[i:]), ";jsessionid=") {
		end := strings.IndexByte(p[i:], '/')
		if end < 0 {
			p = p[:i]
		} else {
			p = p[:i] + p[i+end:]
		}
	}
	slash := strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..")
	p = path.Clean("/" + p)
	if slash && p != "/" {
		p += "/"
	}
	p = upperEscapes(p)
	if un, err := url.PathUnescape(p); err == nil {
		u.Path, u.RawPath = un, p
	}
}

// upperEscapes writes percent escapes in upper case and undoes those of letters, digits, "-", "_", "." and "~", which
// mean the same either way (RFC 3986, 6.2.2).
func upperEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		raw, err := url.PathUnescape(s[i : i+3])
		if err != nil {
			b.WriteByte(s[i])
			continue
		}
		if c := raw[0]; c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

// cleanQuery drops the parameters that no page depends on; sorted orders the rest.
func cleanQuery(q string, sorted bool) string {
	var keep []string
	for p := range strings.SplitSeq(q, "&") {
		name, _, _ := strings.Cut(p, "=")
		if p != "" && !tracking(strings.ToLower(name)) {
			keep = append(keep, upperEscapes(p))
		}
	}
	if sorted {
		slices.Sort(keep)
	}
	return strings.Join(keep, "&")
}

// tracking reports the names of parameters that follow a visitor or a session, in lower case.
func tracking(name string) bool {
	switch name {
	case "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "igsh", "mc_cid", "mc_eid", "_ga", "_gl",
		"_hsenc", "_hsmi", "hsctatracking", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "wickedid", "rb_clickid", "s_cid", "ref_src", "ref_url", "spm",
		"phpsessid", "jsessionid", "sessionid", "session_id", "aspsessionid", "cfid", "cftoken", "sid_token":
		return true
	}
	return strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "pk_") || strings.HasPrefix(name, "mtm_") || strings.HasPrefix(name, "aspsessionid")
}

// crawlKey is what two addresses of the same page have in common.
func crawlKey(u *url.URL) string {
	q := cleanQuery(u.RawQuery, true)
	if q != "" {
		q = "?" + q
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath() + q
}

// trapPattern is what the addresses of a calendar, a filter or a session have in common: a path that ends in a
// date, or the names of a query. It is "" for an address that needs no bound. trap reports an address that is
// one by itself: a path that goes round in circles.
func trapPattern(u *url.URL) (pattern string, trap bool) {
	segments := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	if len(segments) > maxPathSegments {
		return "", true
	}
	seen := map[string]int{}
	for _, s := range segments {
		if seen[s]++; seen[s] > maxSameSegment && s != "" {
			return "", true
		}
	}
	p := u.EscapedPath()
	if cut := dateEnd(segments); cut >= 0 {
		p = "/" + strings.Join(segments[:cut], "/") + "/date"
		pattern = p
	}
	if u.RawQuery != "" {
		var names []string
		for param := range strings.SplitSeq(u.RawQuery, "&") {
			name, _, _ := strings.Cut(param, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		pattern = p + "?" + strings.Join(slices.Compact(names), "&")
	}
	if pattern != "" {
		pattern = u.Host + pattern
	}
	return pattern, false
}

// dateEnd is where a date begins that a path ends with (2024/05, 2024/05/06, 2024-05-06), -1 if it does not.
func dateEnd(segments []string) int {
	n := len(segments)
	digits := func(s string, least, most int) bool {
		return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789") == ""
	}
	year := func(s string) bool { return digits(s, 4, 4) && (s[:2] == "19" || s[:2] == "20" || s[:2] == "21") }
	switch {
	case n >= 3 && year(segments[n-3]) && digits(segments[n-2], 1, 2) && digits(segments[n-1], 1, 2):
		return n - 3
	case n >= 2 && year(segments[n-2]) && digits(segments[n-1], 1, 2):
		return n - 2
	case n >= 1 && len(segments[n-1]) >= 7 && year(segments[n-1][:4]) && segments[n-1][4] == '-' && strings.Trim(segments[n-1], "0123456789-") == "":
		return n - 1
	}
	return -1
}

// isAsset reports addresses of files that hold no text, by their suffix.
func isAsset(u *url.URL) bool {
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp", ".tif", ".tiff", ".css", ".js", ".mjs", ".map", ".woff", ".woff2", ".ttf", ".otf", ".eot",
		".mp3", ".mp4", ".m4a", ".m4v", ".avi", ".mov", ".mkv", ".webm", ".ogg", ".ogv", ".wav", ".flac", ".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar",
		".exe", ".msi", ".dmg", ".pkg", ".deb", ".rpm", ".apk", ".iso", ".jar", ".wasm", ".bin", ".dll", ".so":
		return true
	}
	return false
}

// globs are the include and exclude patterns of a crawl, compiled once.
type globs struct {
	include, exclude []*regexp.Regexp
}

func newGlobs(include, exclude []string) (*globs, error) {
	g := &globs{}
	for _, x := range []struct {
		from []string
		to   *[]*regexp.Regexp
	}{{include, &g.include}, {exclude, &g.exclude}} {
		for _, glob := range x.from {
			re, err := regexp.Compile("^(?:" + globRegex(glob) + ")$")
			if err != nil {
				return nil, failf(ErrInvalid, "the pattern %q cannot be read", plain(glob, maxReason))
			}
			*x.to = append(*x.to, re)
		}
	}
	return g, nil
}

// wanted reports whether the patterns let a page pass.
func (g *globs) wanted(u *url.URL) bool {
	p := path.Clean("/" + u.EscapedPath())
	match := func(re *regexp.Regexp) bool { return re.MatchString(p) || re.MatchString(u.EscapedPath()) }
	return !slices.ContainsFunc(g.exclude, match) && (len(g.include) == 0 || slices.ContainsFunc(g.include, match))
}

// scope are the hosts that a crawl stays on.
type scope struct {
	Host       string // of the first page, without "www."
	Subdomains bool
}

func newScope(u *url.URL, subdomains bool) scope {
	return scope{strings.TrimPrefix(u.Host, "www."), subdomains}
}

// covers reports whether a host is the site's: the same port, the same name with or without "www.", or a
// subdomain where these are wanted.
func (s scope) covers(u *url.URL) bool {
	host := strings.TrimPrefix(u.Host, "www.")
	return host == s.Host || s.Subdomains && strings.HasSuffix(host, "."+s.Host)
}
