package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/websrv/internal/sitemap"
)

const base = "https://example.com/sitemap.xml"

func read(body string) (list []sitemap.Entry, kind sitemap.Kind, warning string, err error) {
	kind, warning, err = sitemap.Read([]byte(body), base, func(_ sitemap.Kind, e sitemap.Entry) bool {
		list = append(list, e)
		return true
	})
	return list, kind, warning, err
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, body string
		kind       sitemap.Kind
		want       []sitemap.Entry
	}{
		{"urlset with extensions", `<?xml version="1.0" encoding="ISO-8859-1"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:xhtml="x" xmlns:news="n">
<url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2024-05-06T07:08:09+02:00</lastmod>
<image:image><image:loc>https://cdn.example.com/a.png</image:loc><image:title>no</image:title></image:image>
<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></url>
<url><loc><![CDATA[/b]]></loc><lastmod>yesterday</lastmod><news:news><news:title>A  headline</news:title></news:news></url>
<url><loc>ftp://example.com/c</loc></url><url><priority>1</priority></url></urlset>`, sitemap.KindURLSet, []sitemap.Entry{
			{URL: "https://example.com/a?x=1&y=2", Modified: "2024-05-06T07:08:09+02:00"},
			{URL: "https://example.com/b", Title: "A headline"}}},
		{"odd prefix", `<s:urlset xmlns:s="x"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>`, sitemap.KindURLSet,
			[]sitemap.Entry{{URL: "https://example.com/a"}}},
		{"index", `<sitemapindex><sitemap><loc>one.xml</loc><lastmod>2024-05</lastmod></sitemap></sitemapindex>`, sitemap.KindIndex,
			[]sitemap.Entry{{URL: "https://example.com/one.xml", Modified: "2024-05"}}},
		{"rss", `<rss version="2.0"><channel><title>Site</title><link>https://example.com/</link>
<item><title>One &amp; two&nbsp;three</title><link>https://example.com/1</link><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate></item>
<item><guid>https://example.com/2</guid></item></channel></rss>`, sitemap.KindFeed, []sitemap.Entry{
			{URL: "https://example.com/1", Title: "One & two three", Modified: "2024-03-05T10:00:00Z"}, {URL: "https://example.com/2"}}},
		{"rdf", `<rdf:RDF xmlns:rdf="r" xmlns:dc="d"><channel/><item><title>T</title><link>https://example.com/r</link><dc:date>2024-01-02</dc:date></item></rdf:RDF>`, sitemap.KindFeed,
			[]sitemap.Entry{{URL: "https://example.com/r", Title: "T", Modified: "2024-01-02"}}},
		{"atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/feed"/><entry><title>T</title>
<link rel="replies" href="https://example.com/c"/><link href="https://example.com/p"/><published>2023-01-01T00:00:00Z</published><updated>2024-01-01T00:00:00Z</updated></entry></feed>`, sitemap.KindFeed,
			[]sitemap.Entry{{URL: "https://example.com/p", Title: "T", Modified: "2024-01-01T00:00:00Z"}}},
		{"json feed", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/j","title":"J","date_published":"2024-02-03T04:05:06Z"}]}`, sitemap.KindFeed,
			[]sitemap.Entry{{URL: "https://example.com/j", Title: "J", Modified: "2024-02-03T04:05:06Z"}}},
		{"text", "\xef\xbb\xbfhttps://example.com/1\r\n\r\n# note\nHTTPS://example.com/2\nnot an address\n", sitemap.KindText,
			[]sitemap.Entry{{URL: "https://example.com/1"}, {URL: "https://example.com/2"}}},
		{"secrets in an address are dropped", "https://me:pw@example.com/1", sitemap.KindText, []sitemap.Entry{{URL: "https://example.com/1"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, kind, warning, err := read(tt.body)
			if err != nil || warning != "" || kind != tt.kind {
				t.Fatalf("kind %q, warning %q, error %v; want kind %q", kind, warning, err, tt.kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotSitemap(t *testing.T) {
	for _, body := range []string{"", " \n", "<!DOCTYPE html><html><body>404</body></html>", "Not found", "{}", "<", "<a/>", "<!-- x -->",
		"<urlset " + strings.Repeat("a='' ", 20000) + "/>"} {
		if _, _, _, err := read(body); !errors.Is(err, sitemap.ErrNotSitemap) {
			t.Errorf("Read(%.40q): %v, want ErrNotSitemap", body, err)
		}
	}
}

func TestBrokenFileKeepsItsBeginning(t *testing.T) {
	for _, tail := range []string{"<url><loc>https://example.com/2", "<url><loc>&<<<", "\x00\xff"} {
		got, _, warning, err := read("<urlset><url><loc>https://example.com/1</loc></url>" + tail)
		if err != nil || len(got) != 1 || !strings.Contains(warning, "broken") {
			t.Errorf("tail %q: %v entries, warning %q, %v; want one entry and a warning", tail, got, warning, err)
		}
	}
}

func TestBounds(t *testing.T) {
	many := "<urlset>" + strings.Repeat("<url><loc>/x</loc></url>", sitemap.MaxEntries+1) + "</urlset>"
	if got, _, warning, err := read(many); err != nil || len(got) != sitemap.MaxEntries || warning == "" {
		t.Errorf("%d entries, warning %q, %v; want %d and a warning", len(got), warning, err, sitemap.MaxEntries)
	}
	n := 0
	if _, _, err := sitemap.Read([]byte(many), base, func(sitemap.Kind, sitemap.Entry) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("stopped after %d entries, %v; want 3", n, err)
	}
	if _, _, warning, err := read("<urlset>" + strings.Repeat("<a>", 1<<12)); err != nil || !strings.Contains(warning, "deep") {
		t.Errorf("deep file: warning %q, %v", warning, err)
	}
	if got, _, _, _ := read("https://example.com/1\nhttps://example.com/" + strings.Repeat("x", 10000)); len(got) != 1 {
		t.Errorf("%d entries, want the long address left out", len(got))
	}
}

func TestUnpack(t *testing.T) {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	fmt.Fprint(z, strings.Repeat("a line of text\n", 1<<12))
	z.Close()
	if _, err := sitemap.UnpackAtMost(buf.Bytes(), 1000); !errors.Is(err, sitemap.ErrTooLarge) {
		t.Errorf("bomb: %v, want ErrTooLarge", err)
	}
	if _, err := sitemap.UnpackAtMost(make([]byte, 1001), 1000); !errors.Is(err, sitemap.ErrTooLarge) {
		t.Errorf("long file: %v, want ErrTooLarge", err)
	}
	got, err := sitemap.Unpack(buf.Bytes()[:buf.Len()/2])
	if err != nil || len(got) == 0 {
		t.Errorf("half a file: %d bytes, %v; want its beginning", len(got), err)
	}
	if got, err := sitemap.Unpack([]byte("plain")); err != nil || string(got) != "plain" {
		t.Errorf("plain file: %q, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("<urlset><url><loc>/a</loc></url></urlset>"))
	f.Add([]byte("<rss><channel><item><link>/a</link></item></url></rss>"))
	f.Add([]byte(`{"version":"jsonfeed.org","items":[{}]}`))
	f.Add([]byte("https://example.com/\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if b, err := sitemap.Unpack(body); err == nil {
			body = b
		}
		_, _, _ = sitemap.Read(body, base, func(_ sitemap.Kind, e sitemap.Entry) bool {
			u, err := url.Parse(e.URL)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				t.Errorf("entry %q is no address", e.URL)
			}
			if utf8.Valid(body) && !utf8.ValidString(e.Title) {
				t.Errorf("title %q is not UTF-8", e.Title)
			}
			return true
		})
	})
}
