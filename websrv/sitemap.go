package websrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/content"
	"github.com/aster-mcp/aster/websrv/internal/readable"
	"github.com/aster-mcp/aster/websrv/internal/sitemap"
)

const (
	maxSitemapDepth = 3                // of indexes within indexes
	maxSitemapFiles = 50               // read in one call
	maxSitemapTime  = 40 * time.Second // of one call; what is there by then is the result
	sitemapTimeout  = 20 * time.Second // of one file
	maxSitemapRoots = 100              // files that a robots.txt may name
	sourceHome      = "links of the home page"
)

// siteMapper lists the addresses of a site from its sitemaps and feeds, without a key. It keeps nothing between
// calls: its cursors say where to go on. It is safe for concurrent use.
type siteMapper struct {
	n      *network
	robots *robotsFiles
}

// newSiteMapper makes a reader of sitemaps on n, which outlives it.
func newSiteMapper(n *network) *siteMapper { return &siteMapper{n, newRobotsFiles(n)} }

// Name is what users call it.
func (m *siteMapper) Name() string { return "local sitemap reader" }

// Local is true.
func (m *siteMapper) Local() bool { return true }

// mapPlace is where a walk over a site's files stands: what was asked for, and the numbers of the files from the
// root down. As a cursor it is JSON in base64.
type mapPlace struct {
	URL        string `json:"u"`
	Search     string `json:"s,omitempty"`
	Subdomains bool   `json:"d,omitempty"`
	Path       []int  `json:"p,omitempty"` // the place, the file's number there, and within each index that of the file below
	Skip       int    `json:"n,omitempty"` // entries of the last file that were given back
}

func (p *mapPlace) encode() string {
	b, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parsePlace(cursor string) (*mapPlace, bool) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	p := &mapPlace{}
	if err != nil || json.Unmarshal(b, p) != nil || len(p.Path) < 2 || len(p.Path) > maxSitemapDepth+2 || p.Skip < 0 {
		return nil, false
	}
	for _, n := range p.Path {
		if n < 0 {
			return nil, false
		}
	}
	return p, true
}

// sitemap lists addresses in the order of the site's files: those that robots.txt names, else those in the usual places, else those
// that the home page names, else the links of the home page. The error is a *Failure.
func (m *siteMapper) sitemap(ctx context.Context, args *sitemapArgs) (*sitemapResult, error) {
	place := &mapPlace{URL: args.URL, Search: args.Search, Subdomains: args.Subdomains}
	if args.Cursor != "" {
		var ok bool
		if place, ok = parsePlace(args.Cursor); !ok {
			return nil, failf(ErrInvalid, "the cursor cannot be read").withNext("call sitemap again with the URL and no cursor")
		}
	}
	u, ok := cleanLink(place.URL)
	if !ok {
		return nil, failf(ErrInvalid, "%q is not an address of the web", plain(place.URL, maxTarget))
	}
	w := &mapWalk{m: m, place: place, site: newScope(u, place.Subdomains), limit: orDefault(args.Limit, defaultSitemapURLs), search: strings.ToLower(place.Search),
		resume: place.Path, visited: map[string]bool{}, seen: map[string]bool{}, res: &sitemapResult{Entries: []sitemapEntry{}}, end: m.n.o.Now().Add(maxSitemapTime)}
	if err := w.walk(ctx, u); err != nil {
		return nil, err
	}
	if ctx.Err() != nil && len(w.res.Entries) == 0 {
		return nil, ctx.Err()
	}
	w.res.Source = plain(strings.Join(w.sources, ", "), 2*maxTarget)
	if w.res.Next == "" && args.Cursor == "" {
		w.res.Total = len(w.res.Entries)
	}
	return w.res, nil
}

// mapWalk is one call.
type mapWalk struct {
	m       *siteMapper
	place   *mapPlace
	site    scope
	limit   int
	search  string // in lower case
	resume  []int  // the path to the file to go on with; used up on the way down
	files   int
	visited map[string]bool // files
	seen    map[string]bool // addresses given back
	sources []string
	res     *sitemapResult
	end     time.Time
	stopped bool
	found   bool // a sitemap was read
}

// The places where a site's files are looked for, in this order. The first that has one is the only one.
const (
	placeGiven  = iota // the address itself
	placeRobots        // robots.txt
	placeUsual         // where files without a Sitemap line are
	placeHead          // the head of the home page
	placeLinks         // the links of the home page
)

// walk goes over the files of a site, from the most telling place to the least.
func (w *mapWalk) walk(ctx context.Context, u *url.URL) error {
	root := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	for place := w.pop(); place < placeHead; place++ {
		list, err := w.list(ctx, place, u, root)
		if err != nil {
			return err
		}
		if w.roots(ctx, place, list); w.found || w.stopped {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return w.home(ctx, root)
}

// list are the files of a place.
func (w *mapWalk) list(ctx context.Context, place int, u, root *url.URL) ([]string, error) {
	switch {
	case place == placeGiven && looksLikeSitemap(u):
		return []string{u.String()}, nil
	case place == placeUsual:
		return []string{resolveLink(root, "/sitemap.xml"), resolveLink(root, "/sitemap_index.xml")}, nil
	case place != placeRobots:
		return nil, nil
	}
	file, _, err := w.m.robots.file(ctx, root)
	if err != nil {
		return nil, err
	}
	named := file.Sitemaps()
	if len(named) > maxSitemapRoots {
		w.warn("robots.txt names more sitemaps than are read")
		named = named[:maxSitemapRoots]
	}
	for i, s := range named {
		named[i] = resolveLink(root, s)
	}
	return named, nil
}

// pop takes the next number off the path to go on from, 0 where it is used up.
func (w *mapWalk) pop() int {
	if len(w.resume) == 0 {
		return 0
	}
	n := w.resume[0]
	w.resume = w.resume[1:]
	return n
}

// looksLikeSitemap reports whether an address may be a sitemap itself.
func looksLikeSitemap(u *url.URL) bool {
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".xml", ".gz", ".txt", ".rss", ".atom", ".rdf", ".json":
		return true
	}
	last := strings.ToLower(path.Base(u.Path))
	return strings.Contains(last, "sitemap") || last == "feed" || last == "rss" || last == "atom"
}

func resolveLink(base *url.URL, s string) string {
	u, err := base.Parse(strings.TrimSpace(s))
	if err != nil {
		return ""
	}
	return u.String()
}

// roots walks over the files of a place. Of the usual names one is enough, as they hold the same.
func (w *mapWalk) roots(ctx context.Context, place int, list []string) {
	for i := w.pop(); i < len(list) && !w.stopped && !(place == placeUsual && w.found); i++ {
		w.file(ctx, list[i], []int{place, i})
		w.resume = nil
	}
}

// file reads one file, and the files below if it is an index.
func (w *mapWalk) file(ctx context.Context, address string, at []int) {
	guess := at[0] != placeRobots && len(at) == 2 // nobody promised that it is there
	u, ok := cleanLink(address)
	if !ok || w.visited[crawlKey(u)] {
		return
	}
	if w.files >= maxSitemapFiles || ctx.Err() != nil || w.m.n.o.Now().After(w.end) {
		if w.files > 0 {
			w.stop(at, 0)
		}
		return
	}
	w.visited[crawlKey(u)] = true
	w.files++
	body, base, reason := w.fetch(ctx, u.String())
	if reason != "" {
		if !guess && ctx.Err() == nil {
			w.warn(plain(u.String(), maxTarget) + " could not be read: " + reason)
		}
		return
	}
	var children []string
	skip, n := 0, 0
	if slices.Equal(at, w.place.Path) {
		skip = w.place.Skip
	}
	kind, warning, err := sitemap.Read(body, base, func(kind sitemap.Kind, e sitemap.Entry) bool {
		if kind == sitemap.KindIndex {
			children = append(children, e.URL)
			return true
		}
		if n++; n <= skip {
			return true
		}
		return w.entry(e, at, n)
	})
	if err != nil {
		if !guess {
			w.warn(plain(u.String(), maxTarget) + ": " + plain(err.Error(), maxReason))
		}
		return
	}
	w.found = true
	if len(w.sources) < 5 {
		w.sources = append(w.sources, u.String())
	}
	if warning != "" {
		w.warn(plain(u.String(), maxTarget) + ": " + warning)
	}
	if kind == sitemap.KindIndex {
		w.index(ctx, children, at)
	}
}

// index walks over the files of an index. By the protocol these are no indexes; in the wild they are.
func (w *mapWalk) index(ctx context.Context, children []string, at []int) {
	if len(at) > maxSitemapDepth+1 {
		w.warn("indexes of sitemaps are nested too deep; some were left out")
		return
	}
	for i := w.pop(); i < len(children) && !w.stopped; i++ {
		w.file(ctx, children[i], append(slices.Clone(at), i))
		w.resume = nil
	}
}

// entry takes an address over; n counts those of its file. It reports whether to go on.
func (w *mapWalk) entry(e sitemap.Entry, at []int, n int) bool {
	if w.search != "" && !strings.Contains(strings.ToLower(e.URL+" "+e.Title), w.search) || w.seen[e.URL] {
		return true
	}
	if len(w.res.Entries) >= w.limit {
		w.stop(at, n-1)
		return false
	}
	w.seen[e.URL] = true
	out := sitemapEntry{URL: e.URL, Title: plain(e.Title, maxReason), Modified: e.Modified}
	if u, ok := cleanLink(e.URL); ok {
		out.Foreign = !w.site.covers(u)
	}
	w.res.Entries = append(w.res.Entries, out)
	return true
}

// stop ends the walk with a cursor to the place where it stands.
func (w *mapWalk) stop(at []int, skip int) {
	w.stopped = true
	p := *w.place
	p.Path, p.Skip = at, skip
	w.res.Next = p.encode()
}

func (w *mapWalk) warn(s string) {
	if len(w.res.Warnings) < maxSkipLogged {
		w.res.Warnings = append(w.res.Warnings, s)
	}
}

// fetch asks for a file and brings it to plain UTF-8. reason says why there is none.
func (w *mapWalk) fetch(ctx context.Context, address string) (body []byte, base, reason string) {
	resp, err := w.m.n.do(ctx, &request{URL: address, Accept: "application/xml,text/xml,*/*;q=0.5", MaxBytes: sitemap.MaxBytes, Timeout: sitemapTimeout})
	switch {
	case err != nil:
		return nil, "", plain(err.Error(), maxReason)
	case resp.Status < 200 || resp.Status > 299:
		return nil, "", "the site answered with status " + itoa3(resp.Status)
	}
	if body, err = sitemap.Unpack(resp.Body); err == nil {
		body, _, err = content.Decode(body, resp.Header.Get("Content-Type"))
	}
	if err != nil {
		return nil, "", plain(err.Error(), maxReason)
	}
	return body, resp.FinalURL, ""
}

// home looks for sitemaps and feeds that the home page names, and falls back on its links.
func (w *mapWalk) home(ctx context.Context, root *url.URL) error {
	rules, reason, err := w.m.robots.rules(ctx, root)
	switch {
	case err != nil:
		return err
	case reason != "":
		return failf(ErrTargetFailed, "robots.txt of %s could not be read, so nothing of it is: %s", root.Host, reason)
	}
	if !rules.Allowed(root.String()) {
		return failf(ErrTargetFailed, "%s names no sitemap, and its robots.txt does not allow its home page to be read", root.Host)
	}
	resp, err := w.m.n.do(ctx, &request{URL: root.String(), Accept: crawlAccept, MaxBytes: min(maxCrawlPageBytes, w.m.n.o.MaxBodyBytes), RefreshRedirect: true})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
	case resp.Status < 200 || resp.Status > 299:
		return failf(ErrTargetFailed, "%s has no sitemap, and its home page answers with status %d", root.Host, resp.Status)
	}
	if whose, yes := challenge(resp); yes {
		return failf(ErrTargetFailed, "%s shows a check for robots (%s)", root.Host, whose)
	}
	body, _, err := content.Decode(resp.Body, resp.Header.Get("Content-Type"))
	if err != nil {
		return failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
	}
	base, ok := cleanLink(resp.FinalURL)
	if !ok {
		base = root
	}
	if w.roots(ctx, placeHead, headLinks(body, base)); w.found || w.stopped {
		return nil
	}
	doc, err := readable.Extract(body, base.String(), nil)
	if err != nil {
		return failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
	}
	w.harvest(doc, base)
	return nil
}

// harvest lists the links of a page.
func (w *mapWalk) harvest(doc *readable.Document, base *url.URL) {
	w.sources = []string{sourceHome}
	w.warn("the site has no sitemap; these are the links of its home page")
	site := newScope(base, w.place.Subdomains)
	at := []int{placeLinks, 0}
	skip, n := 0, 0
	if slices.Equal(at, w.place.Path) {
		skip = w.place.Skip
	}
	for _, l := range doc.Links {
		u, ok := cleanLink(l.URL)
		if !ok || !site.covers(u) || isAsset(u) {
			continue
		}
		if n++; n <= skip {
			continue
		}
		if !w.entry(sitemap.Entry{URL: u.String(), Title: l.Text}, at, n) {
			return
		}
	}
}
