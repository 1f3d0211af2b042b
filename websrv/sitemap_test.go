package websrv

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// urlset is a sitemap with these addresses.
func urlset(links ...string) string {
	return "<?xml version=\"1.0\"?><urlset><url><loc>" + strings.Join(links, "</loc></url><url><loc>") + "</loc></url></urlset>"
}

func sitemapIndex(files ...string) string {
	return "<sitemapindex><sitemap><loc>" + strings.Join(files, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func mustMap(t *testing.T, m *siteMapper, args *sitemapArgs) *sitemapResult {
	t.Helper()
	res, err := m.sitemap(context.Background(), args)
	if err != nil {
		t.Fatalf("sitemap: %v", err)
	}
	return res
}

// mapped are the addresses of a result without their base, those of other hosts with a mark.
func mapped(base string, res *sitemapResult) (list []string) {
	for _, e := range res.Entries {
		s := strings.TrimPrefix(e.URL, base)
		if e.Foreign {
			s += " foreign"
		}
		list = append(list, s)
	}
	return list
}

func TestSitemapPlaces(t *testing.T) {
	tests := []struct {
		name   string
		site   sitePages
		path   string
		want   []string
		source string
	}{
		{"robots.txt", sitePages{"/robots.txt": "Sitemap: /maps/one.xml\nSitemap: /maps/two.xml", "/maps/one.xml": urlset("/a", "/b"), "/maps/two.xml": urlset("/b", "/c"), "/sitemap.xml": urlset("/no")},
			"/deep/page", []string{"/a", "/b", "/c"}, "/maps/one.xml"},
		{"usual place", sitePages{"/sitemap.xml": urlset("/a"), "/sitemap_index.xml": sitemapIndex("/no.xml")}, "/", []string{"/a"}, "/sitemap.xml"},
		{"usual index", sitePages{"/sitemap_index.xml": sitemapIndex("/s/1.xml.gz", "/s/2.txt"), "/s/1.xml.gz": zipped(t, urlset("/a")), "/s/2.txt": "https://example.org/x"}, "/",
			[]string{"/a", "https://example.org/x foreign"}, "/sitemap_index.xml"},
		{"named file that is gone", sitePages{"/robots.txt": "Sitemap: /gone.xml", "/sitemap.xml": urlset("/a")}, "/", []string{"/a"}, "/sitemap.xml"},
		{"given file", sitePages{"/my/map.xml": urlset("/a"), "/sitemap.xml": urlset("/no")}, "/my/map.xml", []string{"/a"}, "/my/map.xml"},
		{"head of the home page", sitePages{"/": `<html><head><link rel="alternate" type="application/rss+xml" title="Comments" href="/comments"><link rel="alternate" type="application/rss+xml" href="/rss">`,
			"/rss": "<rss><channel><item><title>T</title><link>/post</link></item></channel></rss>", "/comments": "<rss><channel><item><link>/no</link></item></channel></rss>"}, "/", []string{"/post"}, "/rss"},
		{"links of the home page", sitePages{"/": sitePage("Home", "/x", "/y?utm_source=a", "https://elsewhere.example/", "/z.png")}, "/", []string{"/x", "/y"}, sourceHome},
		{"indexes in a circle", sitePages{"/sitemap.xml": sitemapIndex("/sitemap.xml", "/b.xml"), "/b.xml": sitemapIndex("/sitemap.xml", "/c.xml"), "/c.xml": urlset("/a")}, "/", []string{"/a"}, "/sitemap.xml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, n := localSite(t, tt.site)
			res := mustMap(t, newSiteMapper(n), &sitemapArgs{URL: base + tt.path})
			if diff := cmp.Diff(tt.want, mapped(base, res)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if got := strings.ReplaceAll(res.Source, base, ""); !strings.HasPrefix(got, tt.source) {
				t.Errorf("source %q, want %q first; warnings %q", got, tt.source, res.Warnings)
			}
			if res.Next != "" || res.Total != len(tt.want) {
				t.Errorf("next %q, total %d; want the end and %d", res.Next, res.Total, len(tt.want))
			}
		})
	}
}

func TestSitemapContinues(t *testing.T) {
	site := sitePages{"/robots.txt": "Sitemap: /index.xml\nSitemap: /last.txt"}
	var whole, files []string
	for i := range 5 {
		var links []string
		for j := range 9 {
			links = append(links, fmt.Sprintf("/%d/%d", i, j))
		}
		whole = append(whole, links...)
		files = append(files, fmt.Sprintf("/map%d.xml", i))
		site[files[i]] = urlset(links...)
	}
	site["/nested.xml"] = sitemapIndex(files[1:3]...)
	site["/index.xml"] = sitemapIndex(files[0], "/nested.xml", files[3], files[4])
	base, n := localSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last.txt" {
			fmt.Fprintf(w, "http://%s/end", r.Host)
			return
		}
		site.ServeHTTP(w, r)
	}))
	whole = append(whole, "/end")
	for _, limit := range []int{1, 4, 9, 10, 45, 46, 100} {
		var parts []string
		args := &sitemapArgs{URL: base, Limit: limit}
		for range 60 {
			// A new reader each time: the cursor alone says where to go on.
			res := mustMap(t, newSiteMapper(n), args)
			if len(res.Entries) > limit {
				t.Errorf("%d entries, want at most %d", len(res.Entries), limit)
			}
			parts = append(parts, mapped(base, res)...)
			if res.Next == "" {
				break
			}
			args = &sitemapArgs{Cursor: res.Next, Limit: limit}
		}
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Errorf("limit %d: the parts are not the whole (-whole +parts):\n%s", limit, diff)
		}
	}
	res := mustMap(t, newSiteMapper(n), &sitemapArgs{URL: base, Search: "/3", Limit: 5})
	rest := mustMap(t, newSiteMapper(n), &sitemapArgs{Cursor: res.Next, Limit: 50})
	got := append(mapped(base, res), mapped(base, rest)...)
	want := slices.DeleteFunc(slices.Clone(whole), func(s string) bool { return !strings.Contains(s, "/3") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with a search (-want +got):\n%s", diff)
	}
}

func TestSitemapFails(t *testing.T) {
	m := func(site sitePages) (string, *siteMapper) {
		base, n := localSite(t, site)
		return base, newSiteMapper(n)
	}
	base, mapper := m(sitePages{})
	if _, err := mapper.sitemap(context.Background(), &sitemapArgs{URL: base}); !errors.Is(err, ErrTargetFailed) {
		t.Errorf("site without anything: %v, want ErrTargetFailed", err)
	}
	base, mapper = m(sitePages{"/robots.txt": "user-agent: *\ndisallow: /", "/": sitePage("Home", "/x")})
	if _, err := mapper.sitemap(context.Background(), &sitemapArgs{URL: base}); !errors.Is(err, ErrTargetFailed) || !strings.Contains(err.Error(), "robots.txt") {
		t.Errorf("site that allows nothing: %v, want ErrTargetFailed for robots.txt", err)
	}
	for _, c := range []string{"x", "e30", "eyJ1IjoiaHR0cDovL2EvIiwicCI6Wy0xLDBdfQ", strings.Repeat("A", 100)} {
		if _, err := mapper.sitemap(context.Background(), &sitemapArgs{Cursor: c}); !errors.Is(err, ErrInvalid) {
			t.Errorf("cursor %q: %v, want ErrInvalid", c, err)
		}
	}
	for _, u := range []string{"", "mailto:a@b", "/x"} {
		if _, err := mapper.sitemap(context.Background(), &sitemapArgs{URL: u}); !errors.Is(err, ErrInvalid) {
			t.Errorf("URL %q: %v, want ErrInvalid", u, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mapper.sitemap(ctx, &sitemapArgs{URL: base}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSitemapDoesNotReachInside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the private server was asked for %s", r.URL)
	}))
	defer inside.Close()
	base, n := localSite(t, sitePages{"/robots.txt": "Sitemap: " + inside.URL + "/sitemap.xml", "/sitemap.xml": sitemapIndex(inside.URL+"/x.xml", "/a.xml"), "/a.xml": urlset("/a")})
	res := mustMap(t, newSiteMapper(n), &sitemapArgs{URL: base})
	if got := mapped(base, res); !slices.Equal(got, []string{"/a"}) || len(res.Warnings) != 2 {
		t.Errorf("entries %q, warnings %q; want /a and two warnings", got, res.Warnings)
	}
}

func FuzzSitemapCursor(f *testing.F) {
	f.Add((&mapPlace{URL: "https://example.com/", Path: []int{1, 0, 3}, Skip: 9}).encode())
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := parsePlace(s)
		if !ok {
			return
		}
		again, ok := parsePlace(p.encode())
		if !ok || !cmp.Equal(p, again) {
			t.Errorf("cursor %q became %+v, then %+v", s, p, again)
		}
	})
}
