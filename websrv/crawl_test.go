package websrv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// localSite serves a site on this machine, and a network that may reach it without a pace.
func localSite(t testing.TB, h http.Handler) (base string, n *network) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	n, err := newNetwork(&networkOptions{AllowPrivate: []string{strings.TrimPrefix(srv.URL, "http://")}, PaceInterval: -1, NoCache: true, Chromium: "off", UserAgent: "aster/test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return srv.URL, n
}

// sitePages are a site by path. A text that begins with "<" is sent as HTML; "301 /x" redirects; a number alone is a
// status; other texts are plain.
type sitePages map[string]string

func (p sitePages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := p[r.URL.RequestURI()]
	if !ok {
		body, ok = p[r.URL.Path]
	}
	switch status, _ := strconv.Atoi(body); {
	case !ok:
		http.NotFound(w, r)
	case status != 0:
		w.WriteHeader(status)
	case strings.HasPrefix(body, "301 "):
		http.Redirect(w, r, strings.TrimPrefix(body, "301 "), http.StatusMovedPermanently)
	case strings.HasPrefix(body, "<"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, body)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, body)
	}
}

// sitePage is an HTML page with a text of its own and links in it.
func sitePage(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><title>%s</title></head><body><main><h1>%[1]s</h1>", title)
	for i := range 4 {
		fmt.Fprintf(&b, "<p>Paragraph %d of the page called %s says something about its subject, at some length, so that it counts as text.</p>", i, title)
	}
	for _, l := range links {
		fmt.Fprintf(&b, `<p>This paragraph holds <a href="%s">a link to %[1]s</a> among its many other words.</p>`, l)
	}
	return b.String() + "</main></body></html>"
}

func maxDepth(n int) *int { return &n }

func noCrawlProgress(int, int, string) {}

// crawled are the paths of a result's pages, with the error of those that failed.
func crawled(base string, res *crawlResult) (list []string) {
	for _, p := range res.Pages {
		s := strings.TrimPrefix(p.URL, base)
		if p.Error != "" {
			s += ": " + p.Error
		}
		list = append(list, s)
	}
	return list
}

func mustCrawl(t *testing.T, c *siteCrawler, args *crawlArgs) *crawlResult {
	t.Helper()
	res, err := c.crawl(context.Background(), args, noCrawlProgress)
	if err != nil {
		t.Fatalf("crawl: %v", err)
	}
	return res
}

func TestCrawl(t *testing.T) {
	site := sitePages{
		"/robots.txt": "user-agent: aster\ndisallow: /secret\n",
		"/": sitePage("Home", "/docs/b/", "/docs/a#part", "/docs/a?utm_source=x", "/secret", "/gone", "/moved", "/docs/copy", "/image.png", "/plain.txt",
			"https://elsewhere.example/", "mailto:a@b.c", "/page?b=2&a=1", "/page?a=1&b=2"),
		"/docs/a":    sitePage("A", "/docs/a/deeper", "/"),
		"/docs/b/":   sitePage("B"),
		"/docs/copy": sitePage("B"),
		"/moved":     "301 /docs/b/",
		"/plain.txt": "This is plain text.",
		"/page":      sitePage("With a query"),
		"/secret":    sitePage("Secret"),
		"/docs/a/deeper": `<html><head><meta name=robots content="nofollow"><title>D</title></head><body><main><p>A page of some words that lies deeper than the others do and asks not to be followed.</p>` +
			`<p><a href="/docs/never">never</a></p></main></body></html>`,
		"/docs/never": sitePage("Never"),
	}
	base, n := localSite(t, site)
	res := mustCrawl(t, newSiteCrawler(n), &crawlArgs{URL: base, MaxPages: 50, MaxDepth: maxDepth(5)})
	want := []string{"/", "/gone: the site answered 404 Not Found", "/page?b=2&a=1", "/docs/a", "/moved", "/plain.txt", "/docs/a/deeper"}
	got := crawled(base, res)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if res.Stopped != "" || res.Next != "" {
		t.Errorf("stopped %q, next %q; want the end", res.Stopped, res.Next)
	}
	if res.Skipped != 3 { // the secret, the copy, and the page that another one moved to
		t.Errorf("skipped %d pages, want 3; warnings %q", res.Skipped, res.Warnings)
	}
	if p := res.Pages[0]; p.Title != "Home" || p.Status != 200 || p.ContentType != "text/html" || !strings.Contains(p.Markdown, "Paragraph 3") || p.Tokens == 0 {
		t.Errorf("first page = %+v", p)
	}
}

func TestCrawlBounds(t *testing.T) {
	site := sitePages{"/": sitePage("Home", "/docs/one", "/docs/two", "/blog/one"), "/docs/one": sitePage("One", "/docs/one/sub"), "/docs/one/sub": sitePage("Sub", "/docs/one/sub/sub"),
		"/docs/one/sub/sub": sitePage("Subsub"), "/docs/two": sitePage("Two"), "/blog/one": sitePage("Blog")}
	base, n := localSite(t, site)
	tests := []struct {
		name string
		args crawlArgs
		want []string
	}{
		{"depth 0", crawlArgs{MaxDepth: maxDepth(0)}, []string{"/"}},
		{"depth 1", crawlArgs{MaxDepth: maxDepth(1)}, []string{"/", "/blog/one", "/docs/one", "/docs/two"}},
		{"depth by default is 2", crawlArgs{}, []string{"/", "/blog/one", "/docs/one", "/docs/two", "/docs/one/sub"}},
		{"pages", crawlArgs{MaxPages: 2}, []string{"/", "/blog/one"}},
		{"include", crawlArgs{Include: []string{"/docs/**"}}, []string{"/docs/one", "/docs/two", "/docs/one/sub"}},
		{"exclude", crawlArgs{Exclude: []string{"/docs/*"}}, []string{"/", "/blog/one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.args.URL = base + "/"
			got := crawled(base, mustCrawl(t, newSiteCrawler(n), &tt.args))
			if tt.name == "pages" {
				if len(got) != 2 {
					t.Errorf("pages = %q, want two", got)
				}
				return
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

// tree is a site of n pages, each with ten links, whose answers take their time in no order.
func tree(n int, wait bool) http.Handler {
	var count atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if r.URL.Path != "/" && (err != nil || i >= n) {
			http.NotFound(w, r)
			return
		}
		if wait {
			time.Sleep(time.Duration(count.Add(1)*7919%5) * time.Millisecond)
		}
		var links []string
		for j := 1; j <= 10; j++ {
			if i*10+j < n {
				links = append(links, fmt.Sprintf("/%d", i*10+j))
			}
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, sitePage(fmt.Sprintf("Number %d", i), links...))
	})
}

func TestCrawlIsDeterministicAndContinues(t *testing.T) {
	base, n := localSite(t, tree(60, true))
	args := crawlArgs{URL: base, MaxPages: 100, MaxDepth: maxDepth(9)}
	whole := crawled(base, mustCrawl(t, newSiteCrawler(n), &args))
	if len(whole) != 60 {
		t.Fatalf("crawled %d pages, want 60: %q", len(whole), whole)
	}
	if again := crawled(base, mustCrawl(t, newSiteCrawler(n), &args)); !slices.Equal(whole, again) {
		t.Errorf("the order changed:\n%s", cmp.Diff(whole, again))
	}
	c := newSiteCrawler(n)
	args.MaxPages = 7
	var parts []string
	for range 20 {
		res := mustCrawl(t, c, &args)
		parts = append(parts, crawled(base, res)...)
		if res.Next == "" {
			break
		}
		if res.Stopped != "pages" {
			t.Errorf("stopped by %q, want pages", res.Stopped)
		}
		repeat := mustCrawl(t, c, &crawlArgs{Cursor: res.Next, MaxPages: 7}) // a cursor stays good
		args.Cursor = res.Next
		next := mustCrawl(t, c, &args)
		if !slices.Equal(crawled(base, repeat), crawled(base, next)) {
			t.Error("the same cursor gave other pages the second time")
		}
		parts = append(parts, crawled(base, next)...)
		if args.Cursor = next.Next; args.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("the parts are not the whole (-whole +parts):\n%s", diff)
	}
	if _, err := c.crawl(context.Background(), &crawlArgs{Cursor: "nonsense"}, noCrawlProgress); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown cursor: %v, want ErrInvalid", err)
	}
}

// hanging is a tree whose pages from the third on hang until the client goes or the test opens the gate.
func hanging(gate chan struct{}) http.Handler {
	inner := tree(30, false)
	var count atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" && count.Add(1) > 3 {
			select {
			case <-r.Context().Done():
			case <-gate:
			}
		}
		inner.ServeHTTP(w, r)
	})
}

func TestCrawlCancel(t *testing.T) {
	gate := make(chan struct{})
	base, n := localSite(t, hanging(gate))
	c := newSiteCrawler(n)
	ctx, cancel := context.WithCancel(context.Background())
	var at time.Time
	res, err := c.crawl(ctx, &crawlArgs{URL: base, MaxPages: 50, TimeoutSeconds: 60}, func(done, _ int, _ string) {
		if done == 3 {
			at = time.Now()
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// The promise is 1 s on a machine that is not busy; the pages that hang would take forever.
	if took := time.Since(at); took > 5*time.Second {
		t.Errorf("the crawl ended %v after it was cancelled, want at most 1 s", took)
	}
	if res.Stopped != "cancelled" || len(res.Pages) != 3 || res.Next == "" {
		t.Fatalf("stopped %q with %d pages, next %q; want cancelled, 3 pages and a cursor", res.Stopped, len(res.Pages), res.Next)
	}
	close(gate)
	rest := mustCrawl(t, c, &crawlArgs{Cursor: res.Next, MaxPages: 50})
	if all := append(crawled(base, res), crawled(base, rest)...); len(all) != 30 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 30 {
		t.Errorf("before and after the cancellation %d pages were read, want each of 30 once: %q", len(all), all)
	}
}

func TestCrawlTime(t *testing.T) {
	t.Parallel() // it only waits
	base, n := localSite(t, hanging(nil))
	res := mustCrawl(t, newSiteCrawler(n), &crawlArgs{URL: base, MaxPages: 50, TimeoutSeconds: 2})
	if res.Stopped != "time" || len(res.Pages) > 3 || res.Next == "" {
		t.Errorf("stopped %q with %d pages, next %q; want time, at most 3 pages and a cursor", res.Stopped, len(res.Pages), res.Next)
	}
}

func TestCrawlTellsThatItLives(t *testing.T) {
	gate := make(chan struct{})
	base, n := localSite(t, hanging(gate))
	c := newSiteCrawler(n)
	c.every = 10 * time.Millisecond
	silent, once := 0, sync.Once{}
	_, err := c.crawl(context.Background(), &crawlArgs{URL: base, MaxPages: 5}, func(done, total int, _ string) {
		if total != 5 || done > total {
			t.Errorf("progress %d of %d, want at most 5 of 5", done, total)
		}
		if done == 3 {
			if silent++; silent > 5 {
				once.Do(func() { close(gate) })
			}
		}
	})
	if err != nil || silent <= 5 {
		t.Errorf("%d reports while the site hung, error %v; want more than 5", silent, err)
	}
}

// TestCrawlProgressCountsPages has pages that are left out: they are not among those of the total.
func TestCrawlProgressCountsPages(t *testing.T) {
	base, n := localSite(t, sitePages{"/robots.txt": "user-agent: *\ndisallow: /no/", "/": sitePage("Home", "/no/1", "/no/2", "/no/3", "/a"), "/a": sitePage("A")})
	last := 0
	_, err := newSiteCrawler(n).crawl(context.Background(), &crawlArgs{URL: base, MaxPages: 2}, func(done, total int, _ string) {
		if last = max(last, done); done > total {
			t.Errorf("progress %d of %d", done, total)
		}
	})
	if err != nil || last != 2 {
		t.Errorf("progress ends at %d, %v; want 2", last, err)
	}
}

func TestCrawlRobots(t *testing.T) {
	tests := []struct {
		name, robots, want string
	}{
		{"not there", "404", ""},
		{"forbidden allows", "403", ""},
		{"broken server", "503", "status 503"},
		{"asks to wait", "429", "status 429"},
		{"all forbidden", "user-agent: *\ndisallow: /", "robots.txt does not allow /"},
		{"other robots", "user-agent: other\ndisallow: /", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, n := localSite(t, sitePages{"/robots.txt": tt.robots, "/": sitePage("Home")})
			_, err := newSiteCrawler(n).crawl(context.Background(), &crawlArgs{URL: base}, noCrawlProgress)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("crawl: %v, want none", err)
			case tt.want != "" && (!errors.Is(err, ErrTargetFailed) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("crawl: %v, want a failed page that says %q", err, tt.want)
			}
		})
	}
}

func TestRobotsServesAnOldCopy(t *testing.T) {
	site := sitePages{"/robots.txt": "user-agent: *\ndisallow: /no", "/": sitePage("Home", "/no"), "/no": sitePage("No")}
	base, n := localSite(t, site)
	now := time.Now()
	n.o.Now = func() time.Time { return now }
	c := newSiteCrawler(n)
	mustCrawl(t, c, &crawlArgs{URL: base})
	site["/robots.txt"] = "503"
	now = now.Add(23 * time.Hour)
	if res := mustCrawl(t, c, &crawlArgs{URL: base}); len(res.Pages) != 1 || res.Skipped != 1 {
		t.Errorf("with a copy of 23 hours: %d pages, %d skipped, want 1 and 1", len(res.Pages), res.Skipped)
	}
	now = now.Add(2 * time.Hour)
	if _, err := c.crawl(context.Background(), &crawlArgs{URL: base}, noCrawlProgress); !errors.Is(err, ErrTargetFailed) {
		t.Errorf("with a copy of 25 hours: %v, want a failed page", err)
	}
}

func TestCrawlWaitsWhenAsked(t *testing.T) {
	var count atomic.Int64
	base, n := localSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && count.Add(1) == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		sitePages{"/": sitePage("Home")}.ServeHTTP(w, r)
	}))
	c := newSiteCrawler(n)
	var waited []time.Duration
	c.sleep = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	res := mustCrawl(t, c, &crawlArgs{URL: base})
	if len(res.Pages) != 1 || res.Pages[0].Status != 200 || len(waited) > 1 || len(waited) == 1 && waited[0] != 7*time.Second {
		t.Errorf("pages %+v after waiting %v, want the page after at most one wait of 7 s", res.Pages, waited)
	}
}

func TestCrawlKey(t *testing.T) {
	same := [][2]string{
		{"HTTP://Example.COM:80", "http://example.com/"},
		{"https://example.com:443/a#x", "https://example.com/a"},
		{"https://example.com./a/../b/./c", "https://example.com/b/c"},
		{"https://example.com/?b=2&utm_source=x&a=1&gclid=3", "https://example.com/?a=1&b=2"},
		{"https://example.com/%7euser/%e3%81", "https://example.com/~user/%E3%81"},
		{"https://me:pw@example.com/a", "https://example.com/a"},
		{"https://example.com/a;jsessionid=12", "https://example.com/a"},
		{"https://example.com/a?PHPSESSID=1", "https://example.com/a?"},
	}
	for _, s := range same {
		a, okA := cleanLink(s[0])
		b, okB := cleanLink(s[1])
		if !okA || !okB || crawlKey(a) != crawlKey(b) {
			t.Errorf("%q and %q have the keys %q and %q, want one", s[0], s[1], crawlKey(a), crawlKey(b))
		}
	}
	other := [][2]string{
		{"http://example.com/", "https://example.com/"},
		{"https://example.com/a", "https://example.com/a/"},
		{"https://example.com/a", "https://example.com/A"},
		{"https://example.com/a%2Fb", "https://example.com/a/b"},
		{"https://example.com/?a=1", "https://example.com/?a=2"},
		{"https://example.com:8080/", "https://example.com/"},
	}
	for _, s := range other {
		a, _ := cleanLink(s[0])
		b, _ := cleanLink(s[1])
		if crawlKey(a) == crawlKey(b) {
			t.Errorf("%q and %q have the same key %q", s[0], s[1], crawlKey(a))
		}
	}
	for _, s := range []string{"", "/a", "mailto:a@b", "javascript:x", "ftp://example.com/", "http://", "http://example.com/" + strings.Repeat("x", maxCrawlURL)} {
		if u, ok := cleanLink(s); ok {
			t.Errorf("%.40q counts as the page %v", s, u)
		}
	}
}

func TestCrawlTraps(t *testing.T) {
	f := func(list ...string) *frontier {
		start, _ := cleanLink("https://example.com/")
		f, g := newFrontier(&crawlArgs{}, start), &globs{}
		for _, l := range list {
			f.add(l, true, g)
		}
		return f
	}
	var calendar, filters, items []string
	for i := range 200 {
		calendar = append(calendar, fmt.Sprintf("https://example.com/cal/%d/%d", 2000+i/12, i%12+1))
		filters = append(filters, fmt.Sprintf("https://example.com/list?sort=%d&page=1", i))
		items = append(items, fmt.Sprintf("https://example.com/item/%d", i))
	}
	if got := len(f(calendar...).next); got != maxPerPattern {
		t.Errorf("%d pages of a calendar are queued, want %d", got, maxPerPattern)
	}
	if got := len(f(filters...).next); got != maxPerPattern {
		t.Errorf("%d pages of a filter are queued, want %d", got, maxPerPattern)
	}
	if got := len(f(items...).next); got != len(items) {
		t.Errorf("%d items are queued, want all %d", got, len(items))
	}
	if got := f("https://example.com/a/b/a/b/a/b/a/b/", "https://example.com/a/b/a/b/").next; len(got) != 1 {
		t.Errorf("%d paths are queued, want that without a loop", len(got))
	}
}

// A glob that does not begin as paths do still means something.
func TestGlobsWithoutARoot(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"*.pdf", "/docs/a.pdf", true},
		{"*.pdf", "/a.pdf", true},
		{"*.pdf", "/a.pdf/x", false},
		{"docs/**", "/docs/a/b", true},
		{"docs/**", "/old/docs/a", false},
		{"/*.pdf", "/docs/a.pdf", false},
		{"**/b", "/a/b", true},
	} {
		g, err := newGlobs([]string{c.glob}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.wanted(&url.URL{Path: c.path}); got != c.want {
			t.Errorf("%q lets %q pass: %v, want %v", c.glob, c.path, got, c.want)
		}
	}
}

func TestScope(t *testing.T) {
	start, _ := cleanLink("https://www.example.com/")
	for _, tt := range []struct {
		link              string
		exact, subdomains bool
	}{
		{"https://example.com/", true, true}, {"http://www.example.com/", true, true}, {"https://docs.example.com/", false, true},
		{"https://badexample.com/", false, false}, {"https://example.com:8443/", false, false}, {"https://example.org/", false, false},
	} {
		u, _ := cleanLink(tt.link)
		if a, b := newScope(start, false).covers(u), newScope(start, true).covers(u); a != tt.exact || b != tt.subdomains {
			t.Errorf("%s is covered: %v, with subdomains %v; want %v and %v", tt.link, a, b, tt.exact, tt.subdomains)
		}
	}
}
