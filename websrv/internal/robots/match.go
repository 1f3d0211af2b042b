package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Allowed reports whether the product token agent may ask for url: the longest pattern that matches decides, and
// allow wins a tie (RFC 9309, 2.2.2). agent is a bare token such as "aster", compared without
// case; url should be escaped as it would be sent. /robots.txt itself is always allowed in a [Closed] file.
func (f *File) Allowed(agent, url string) bool { return f.Rules(agent).Allowed(url) }

// Sitemaps are the values of the Sitemap lines, in the file's order and unchecked. They belong to no group.
func (f *File) Sitemaps() []string {
	if f == nil {
		return nil
	}
	return slices.Clone(f.sitemaps)
}

// Rules are the rules that hold for one product token: those of all groups that name it, else those
// of all groups for everybody, else none.
func (f *File) Rules(agent string) *Rules {
	r := &Rules{}
	if f == nil {
		return r
	}
	r.closed = f.closed
	token := strings.ToLower(agent)
	own := token != "" && token != "*" && slices.ContainsFunc(f.groups, func(g group) bool { return slices.Contains(g.agents, token) })
	if !own {
		token = "*"
	}
	var all []rule
	for _, g := range f.groups {
		if !slices.Contains(g.agents, token) {
			continue
		}
		all = append(all, g.rules...)
		r.delay = max(r.delay, g.delay)
	}
	r.index(all)
	return r
}

// Rules answer for one product token. The zero Rules allow everything.
type Rules struct {
	closed bool
	delay  time.Duration
	// plain holds the patterns without wildcards, wild the others by what stands before the first
	// wildcard, the longest first. A path is looked up by its beginnings of the lengths that occur.
	plain        map[string]bool // whether allow
	plainLengths []int           // longest first
	wild         map[string][]glob
	wildLengths  []int
}

// glob is a pattern with a wildcard.
type glob struct {
	allow    bool
	length   int      // of the whole pattern, which is its weight
	parts    []string // what stands after the first part and between the stars
	anchored bool     // ends with $
}

// index sorts rules for lookup. Of equal patterns allow is kept, since it wins a tie.
func (r *Rules) index(all []rule) {
	r.plain, r.wild = map[string]bool{}, map[string][]glob{}
	for _, x := range all {
		r.add(x.pattern, len(x.pattern), x.allow)
		// As in Google's parser, index.htm and index.html also stand for their folder.
		if i := strings.LastIndexByte(x.pattern, '/'); i >= 0 && strings.HasPrefix(x.pattern[i:], "/index.htm") {
			r.add(x.pattern[:i+1]+"$", i+2, x.allow)
		}
	}
	plain, wild := map[int]bool{}, map[int]bool{}
	for p := range r.plain {
		plain[len(p)] = true
	}
	for p, globs := range r.wild {
		wild[len(p)] = true
		slices.SortFunc(globs, func(a, b glob) int {
			if a.length != b.length {
				return cmp.Compare(b.length, a.length)
			}
			if a.allow != b.allow && a.allow {
				return -1
			} else if a.allow != b.allow {
				return 1
			}
			return 0
		})
	}
	r.plainLengths, r.wildLengths = lengths(plain), lengths(wild)
}

func lengths(set map[int]bool) []int {
	list := make([]int, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b int) int { return b - a })
	return list
}

func (r *Rules) add(pattern string, length int, allow bool) {
	if pattern == "" {
		return // an empty rule says nothing
	}
	body, anchored := strings.CutSuffix(pattern, "$")
	first, rest, star := strings.Cut(body, "*")
	if !star && !anchored {
		r.plain[pattern] = allow || r.plain[pattern]
		return
	}
	g := glob{allow: allow, length: length, anchored: anchored}
	if star {
		g.parts = strings.Split(rest, "*")
	}
	r.wild[first] = append(r.wild[first], g)
}

// Delay is the Crawl-delay asked for, 0 if there is none, at most a day.
func (r *Rules) Delay() time.Duration { return r.delay }

// Closed reports whether nothing is allowed because the file could not be read.
func (r *Rules) Closed() bool { return r.closed }

// Allowed reports whether url may be asked for; see [File.Allowed].
func (r *Rules) Allowed(url string) bool {
	path := escapePath(url)
	if r.closed {
		return path == "/robots.txt"
	}
	weight, allow := 0, true
	for _, n := range r.plainLengths {
		if n > len(path) {
			continue
		}
		if a, ok := r.plain[path[:n]]; ok {
			weight, allow = n, a
			break // the others are shorter
		}
	}
	for _, n := range r.wildLengths {
		if n > len(path) {
			continue
		}
		for _, g := range r.wild[path[:n]] {
			if g.length < weight || g.length == weight && allow {
				break // none of the rest weighs more
			}
			if g.match(path[n:]) {
				weight, allow = g.length, g.allow
				break
			}
		}
	}
	return allow
}

// match reports whether the rest of a path fits what follows the pattern's first part. Taking each part where it
// occurs first is enough, as only stars lie between.
func (g *glob) match(rest string) bool {
	if len(g.parts) == 0 {
		return !g.anchored || rest == ""
	}
	last := len(g.parts) - 1
	for _, part := range g.parts[:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	if g.anchored {
		return strings.HasSuffix(rest, g.parts[last])
	}
	return strings.Contains(rest, g.parts[last])
}

// escapePath is the part of a URL that patterns are held against, with its escapes in upper case. Other
// bytes stay as they are: a crawler asks about the address that it would send.
func escapePath(url string) string {
	p := pathParamsQuery(url)
	if strings.IndexByte(p, '%') < 0 {
		return p
	}
	b := []byte(p)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' && isHex(b[i+1]) && isHex(b[i+2]) {
			b[i+1], b[i+2] = upper(b[i+1]), upper(b[i+2])
		}
	}
	return string(b)
}

// pathParamsQuery cuts scheme, host and fragment off a URL, with or without a scheme.
func pathParamsQuery(url string) string {
	start := 0
	if strings.HasPrefix(url, "//") {
		start = 2
	}
	from := start
	if early, scheme := indexAny(url, start), strings.Index(url[start:], "://"); scheme >= 0 && (early < 0 || early >= start+scheme) {
		from = start + scheme + 3
	}
	i := indexAny(url, from)
	if i < 0 {
		return "/"
	}
	end := len(url)
	if hash := strings.IndexByte(url[start:], '#'); hash >= 0 {
		end = start + hash
	}
	switch {
	case end < i:
		return "/"
	case url[i] != '/':
		return "/" + url[i:end]
	}
	return url[i:end]
}

// indexAny is where path, parameters or query begin at the earliest, -1 if nowhere.
func indexAny(url string, from int) int {
	i := strings.IndexAny(url[from:], "/?;")
	if i < 0 {
		return -1
	}
	return from + i
}
