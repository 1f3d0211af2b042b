package websrv

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// siteOf serves n long pages, the first of which links to the others, and a sitemap of
// many addresses.
func siteOf(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page int
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nAllow: /\n")
		case r.URL.Path == "/sitemap.xml":
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
			for i := range 700 {
				fmt.Fprintf(w, "<url><loc>http://site.net/path/of/some/length/%d</loc><lastmod>2026-01-02</lastmod></url>", i)
			}
			fmt.Fprint(w, "</urlset>")
		case r.URL.Path == "/":
			var links strings.Builder
			for i := range n {
				fmt.Fprintf(&links, `<p><a href="/p/%d">The page with the number %d and its text</a></p>`, i, i)
			}
			htmlPage("<title>Home</title><main><h1>Home</h1><p>This is where the pages of the site begin, and there are many of them as you will see in the list that follows.</p>"+links.String()+"</main>")(w, r)
		default:
			if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &page); err != nil || page >= n {
				http.NotFound(w, r)
				return
			}
			htmlPage(strings.ReplaceAll(longPage(4), "Long", fmt.Sprintf("Page %d", page)))(w, r)
		}
	})
}

// TestCrawlReadsOn crawls a site whose text does not fit: no reply passes its length, and
// the pieces read by cursor are the pages, each below its own address.
func TestCrawlReadsOn(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", siteOf(8))
	s := f.server(t, f.only(Keys{}, idLocal))
	whole, err := s.Call(testContext(t, time.Minute), toolCrawl, json.RawMessage(`{"url":"http://site.net/","maxPages":9}`), &CallOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range whole.Structured.(*crawlReply).Texts {
		want[p.URL] = p.Text
	}
	if len(want) != 9 {
		t.Fatalf("%d pages, want 9", len(want))
	}
	c := connect(t, s, nil)
	got, args := map[string]string{}, map[string]any{"url": "http://site.net/", "maxPages": 9, "maxTokens": 2_000}
	for n := 0; ; n++ {
		res := callTool(t, c, toolCrawl, args)
		if res.IsError || replyTokens(res) > 2_000 || n > 200 {
			t.Fatalf("reply %d of %d tokens: %.300s", n, replyTokens(res), resultText(res))
		}
		for _, part := range res.Content {
			block := part.(*mcp.TextContent).Text
			if !strings.Contains(block, "\nBEGIN ") {
				continue
			}
			_, source, _ := strings.Cut(block, " of ")
			source, _, _ = strings.Cut(source, ". It is data")
			got[source] += unwrap(t, block)
		}
		r := structured[crawlReply](t, c, toolCrawl, res)
		if r.Cursor == "" {
			break
		}
		args = map[string]any{"cursor": r.Cursor, "maxTokens": 2_000}
	}
	for source, text := range want {
		if got[source] != text {
			t.Errorf("%s: the pieces are %d bytes, the page %d", source, len(got[source]), len(text))
		}
	}
}

// TestCrawlGoesOn continues a crawl where its bound ended it.
func TestCrawlGoesOn(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", siteOf(6))
	c := connect(t, f.server(t, f.only(Keys{}, idLocal)), nil)
	seen, args := map[string]int{}, map[string]any{"url": "http://site.net/", "maxPages": 3}
	for range 5 {
		r := structured[crawlReply](t, c, toolCrawl, callTool(t, c, toolCrawl, args))
		for _, p := range r.Pages {
			seen[p.URL]++
		}
		if r.Next == "" {
			break
		}
		args = map[string]any{"cursor": r.Next}
	}
	if len(seen) != 7 {
		t.Errorf("%d pages, want 7: %v", len(seen), seen)
	}
	for u, n := range seen {
		if n != 1 {
			t.Errorf("%s was read %d times", u, n)
		}
	}
	for _, bad := range []string{"x", seal(cursorNext, []byte("{}")), seal(cursorNext, []byte(`{"t":"crawl","p":"nobody","n":"x","a":{"url":"http://site.net/"}}`)),
		seal(cursorNext, []byte(`{"t":"crawl","p":"local crawler","n":"x","a":{"url":"http://site.net/","maxPages":9999999}}`)), position{}.cursor()} {
		if res := callTool(t, c, toolCrawl, map[string]any{"cursor": bad}); !res.IsError {
			t.Errorf("cursor %q was taken", bad)
		}
	}
}

// TestSitemapReadsOn reads a long list in replies that fit: every address comes once.
func TestSitemapReadsOn(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", siteOf(1))
	c := connect(t, f.server(t, f.only(Keys{}, idLocal)), nil)
	seen, args := map[string]int{}, map[string]any{"url": "http://site.net/", "limit": 300}
	for n := 0; ; n++ {
		res := callTool(t, c, toolSitemap, args)
		if res.IsError || replyTokens(res) > DefaultMaxTokens || n > 50 {
			t.Fatalf("reply %d of %d tokens: %.300s", n, replyTokens(res), resultText(res))
		}
		r := structured[sitemapReply](t, c, toolSitemap, res)
		for _, e := range r.Entries {
			seen[e.URL]++
		}
		if r.Next == "" {
			break
		}
		args = map[string]any{"cursor": r.Next}
	}
	if len(seen) != 700 {
		t.Errorf("%d addresses, want 700", len(seen))
	}
	for u, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", u, n)
		}
	}
}

// TestSitemapLimitChanges reads on with another limit than before.
func TestSitemapLimitChanges(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", siteOf(1))
	c := connect(t, f.server(t, f.only(Keys{}, idLocal)), nil)
	seen, cursor := map[string]int{}, ""
	for _, limit := range []int{7, 3, 300, 5, 1000, 1000, 1000} {
		args := map[string]any{"url": "http://site.net/", "limit": limit}
		if cursor != "" {
			args = map[string]any{"cursor": cursor, "limit": limit}
		}
		r := structured[sitemapReply](t, c, toolSitemap, callTool(t, c, toolSitemap, args))
		if len(r.Entries) == 0 || len(r.Entries) > limit {
			t.Fatalf("%d addresses, want from 1 to %d", len(r.Entries), limit)
		}
		for _, e := range r.Entries {
			seen[e.URL]++
		}
		if cursor = r.Next; cursor == "" {
			break
		}
	}
	for u, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", u, n)
		}
	}
	if cursor == "" != (len(seen) == 700) {
		t.Errorf("%d addresses and cursor %q, of 700", len(seen), cursor)
	}
}

// TestCrawlSaysWhyItStopped checks that a command's note is a sentence, not the name of a reason.
func TestCrawlSaysWhyItStopped(t *testing.T) {
	for stopped, want := range map[string]string{"pages": "more pages", "time": "time was over", "bytes": "as much text", "cancelled due to limits": "ended before its end: cancelled due to limits"} {
		r := (&Server{}).crawlPieces(&crawlReply{Stopped: stopped}, nil, position{}, 1000, true)
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], want) {
			t.Errorf("%s: %q", stopped, r.Notes)
		}
	}
}
