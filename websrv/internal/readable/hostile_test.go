//go:build !race

// The race detector makes a page of entities a hundred times slower, and there is nothing for it
// to see here: one page is read by one goroutine.

package readable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// limit is far above what any of these pages takes, for machines that are busy.
const limit = 60 * time.Second

func TestHostilePages(t *testing.T) {
	wide := func(n int, s string) string { return strings.Repeat(s, n) }
	prose := "<p>Some words, and then more of them, so that it reads like a sentence of a page. "
	for _, c := range []struct{ name, page, want string }{
		{"empty", "", ""},
		{"nothing but bytes", "\x00\xff\xfe<\x80>", ""},
		{"deep divs", wide(20000, "<div>") + prose, "Some words"},
		{"deep formatting", wide(20000, "<b><i>") + prose, "Some words"},
		{"deep below the parser's limit", wide(500, "<div>") + wide(50, prose), "Some words"},
		{"deep lists", wide(300, "<ul><li>x") + prose, ""},
		{"deep quotes", wide(250, "<blockquote>") + prose, ""},
		{"many blocks", "<body>" + wide(60000, "<p>a b"), ""},
		{"many links", "<body>" + wide(30000, "<a href=/x>y</a> "), ""},
		{"many attributes", "<div " + wide(50000, "a b=c ") + ">" + prose, "Some words"},
		{"long class", "<div class='" + wide(200000, "nav ") + "'>" + prose, "Some words"},
		{"one long word", "<p>" + wide(2<<20, "x"), ""},
		{"one long line", "<p>" + wide(200000, "word, "), "word, word"},
		{"tables in tables", wide(150, "<table><tr><td>") + prose, ""},
		{"wide table", "<table>" + wide(200, "<tr>"+wide(50, "<td>x")) + "</table>" + prose, ""},
		{"rows that span", "<table><tr><td colspan=100000000 rowspan=100000000>x<td>y</table>" + prose, ""},
		{"broken nesting", wide(2000, "<p><a href=x><table><b><div></a></p></i>") + prose, ""},
		{"data", `<script type="application/ld+json">` + wide(9000, `{"@graph":[`) + "</script>" + prose, "Some words"},
		{"deep data", `<script type="application/ld+json">` + wide(9000, `[`) + wide(9000, `]`) + "</script>" + prose, "Some words"},
		{"unended", wide(100000, "<script><style><!-- <svg>"), ""},
		{"noscript in noscript", wide(300, "<noscript>"+wide(20, prose)), ""},
		{"entities", "<p>" + wide(100000, "&amp;&lt;&#x1F600;&nosuch;"), ""},
		{"escapes", "<p>" + wide(50000, "*_[]()`#"), ""},
		{"line breaks", "<body>text" + wide(50000, "<br>"), ""},
		{"base of another scheme", "<base href='javascript:alert(1)'><a href='javascript:x'>y</a>" + prose, "Some words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			d, err := readable.Extract([]byte(c.page), "https://example.com/a", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(d.Text, c.want) {
				t.Errorf("text lacks %q: %.200q", c.want, d.Text)
			}
			if took := time.Since(start); took > limit {
				t.Errorf("took %v", took)
			}
			t.Logf("%d bytes in %v", len(c.page), time.Since(start).Round(time.Millisecond))
			check(t, d)
		})
	}
}
