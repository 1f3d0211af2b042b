package readable_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// check holds for every document.
func check(t *testing.T, d *readable.Document) {
	t.Helper()
	for name, s := range map[string]string{"Text": d.Text, "Markdown": d.Markdown, "Title": d.Title, "Byline": d.Byline, "Description": d.Description} {
		if !utf8.ValidString(s) {
			t.Errorf("%s is not UTF-8", name)
		}
	}
	if len(d.Links) > readable.MaxLinks || len(d.Outline) > readable.MaxOutline || len(d.Metadata) > readable.MaxMetadata {
		t.Errorf("%d links, %d headings, %d metadata: over the bounds", len(d.Links), len(d.Outline), len(d.Metadata))
	}
	for _, l := range d.Links {
		if !strings.HasPrefix(l.URL, "http://") && !strings.HasPrefix(l.URL, "https://") {
			t.Errorf("link to %.80q", l.URL)
		}
	}
	for _, h := range d.Outline {
		if h.Offset < 0 || h.Offset >= len(d.Markdown) || d.Markdown[h.Offset] != '#' {
			t.Errorf("heading %q is not at %d", h.Text, h.Offset)
		}
	}
	if strings.Contains(strings.ToLower(d.Markdown), "](javascript:") {
		t.Error("Markdown links to a script")
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte(article), "https://example.com/")
	f.Add([]byte("<table><tr><td>a<td>b<pre><code class=language-go>x\n</code></pre>"), "")
	f.Add([]byte(`<script type="application/ld+json">{"@type":"Product","offers":{"price":1}}</script><noscript><p>x</noscript>`), "https://example.com/%zz")
	f.Add([]byte("<ul><li><a href=?b>c</a><ol><li><h2>d\n=="), "http://[::1]/")
	f.Fuzz(func(t *testing.T, page []byte, at string) {
		d, err := readable.Extract(page, at, nil)
		if err != nil {
			t.Skip(err)
		}
		check(t, d)
		again, err := readable.Extract(page, at, nil)
		if err != nil || again.Markdown != d.Markdown || again.Text != d.Text {
			t.Error("the same page gives two answers")
		}
	})
}
