package readable_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

const article = `<!doctype html><html lang="en"><head><title>On Rivers - The Daily</title>
<meta property="og:site_name" content="The Daily"><meta name="author" content="Ann Lee">
<meta property="article:published_time" content="2026-01-02T03:04:05Z">
<meta name="description" content="How rivers move."><link rel="canonical" href="/rivers">
<link rel="next" href="?page=2"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/sport">Sport</a></li></ul></nav>
<article><h1>On Rivers</h1>
<p>Rivers carry water, and with it sand, gravel and silt, from the hills to the sea; over a thousand years they move
sideways by more than their own width, as <a href="maps.html#old">old maps</a> show.</p>
<h2>Why they bend</h2>
<p>Water runs faster on the outside of a bend, where it cuts the bank; on the inside it is slow, and drops what it carries.
So each bend grows, until in a flood the river takes a shorter way and leaves a lake behind.</p>
<pre><code class="language-go">func main() {
	println("flow")
}</code></pre>
<table><tr><th>River</th><th>Length</th></tr><tr><td>Rhine</td><td>1,230 km</td></tr><tr><td>Elbe</td><td>1,094 km</td></tr></table>
<p>Measured over fifty years the rate is about two metres a year, less where trees hold the bank, more where cattle
drink from it, and hardly anything where engineers have laid stone.</p>
</article>
<aside><h3>More stories</h3><ul><li><a href="/a">A first story</a></li><li><a href="/b">A second story</a></li></ul></aside>
<footer><p>© 2026 The Daily. All rights reserved.</p></footer></body></html>`

func TestExtractArticle(t *testing.T) {
	d, err := readable.Extract([]byte(article), "https://example.com/x/rivers?utm=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"title", d.Title, "On Rivers"},
		{"byline", d.Byline, "Ann Lee"},
		{"site", d.Site, "The Daily"},
		{"language", d.Language, "en"},
		{"published", d.Published, "2026-01-02T03:04:05Z"},
		{"description", d.Description, "How rivers move."},
		{"URL", d.URL, "https://example.com/rivers"},
		{"next", d.Next, "https://example.com/x/rivers?page=2"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.what, c.got, c.want)
		}
	}
	for _, want := range []string{
		"Rivers carry water", "[old maps](https://example.com/x/maps.html#old)", "## Why they bend",
		"```go\nfunc main() {\n\tprintln(\"flow\")\n}\n```", "| River | Length |", "| Rhine | 1,230 km |",
	} {
		if !strings.Contains(d.Markdown, want) {
			t.Errorf("Markdown lacks %q:\n%s", want, d.Markdown)
		}
	}
	for _, not := range []string{"Sport", "second story", "rights reserved", "\\"} {
		if strings.Contains(d.Markdown, not) {
			t.Errorf("Markdown has %q:\n%s", not, d.Markdown)
		}
	}
}

func TestTooLarge(t *testing.T) {
	_, err := readable.Extract(make([]byte, readable.MaxInputBytes+1), "", nil)
	if !errors.Is(err, readable.ErrTooLarge) {
		t.Errorf("error is %v, want ErrTooLarge", err)
	}
}

func TestNoNeedlessEscapes(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"underscores in a word", `<p>call max_open_files now`, "call max_open_files now"},
		{"brackets", `<p>take a[i] and [b], not`, "take a[i] and [b], not"},
		{"brackets before a link", `<p>take [b]<a href="/a">c</a> and [d](e) and [f]: g`, `take \[b][c](https://example.com/a) and \[d](e) and \[f]: g`},
		{"a box that is none", `<ul><li>[ ] x</ul>`, `- \[ ] x`},
		{"emphasis that is not", `<p>see _this_ here`, `see \_this_ here`},
		{"code keeps its bytes", "<p>a_b <code>c\\_d</code> e_f", "a_b `c\\_d` e_f"},
		{"code block keeps its bytes", "<pre>a\\_b</pre>", "```\na\\_b\n```"},
		{"plain punctuation", `<p>It's 3.5 (or so) - more: $4 + 5 = 9!`, `It's 3.5 (or so) - more: $4 + 5 = 9!`},
		{"links side by side", `<p><a href="/a">One</a><a href="/b">Two</a>`, "[One](https://example.com/a) [Two](https://example.com/b)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := readable.Extract([]byte("<body>"+c.page), "https://example.com/", &readable.Options{Whole: true})
			if err != nil {
				t.Fatal(err)
			}
			if d.Markdown != c.want {
				t.Errorf("Markdown is %q, want %q", d.Markdown, c.want)
			}
		})
	}
}

// TestTablesAreWhole checks that a table or list of which a good part is content is given whole:
// a cell of one letter says little for itself.
func TestTablesAreWhole(t *testing.T) {
	page := `<title>A</title><article><h1>Article A</h1><p>` + strings.Repeat("Words about lamps and light in the house at night. ", 10) +
		`</p><h2>Table</h2><table><tr><th>Name<th>Value<tr><td>x<td>1<tr><td>y|z<td>2</table>
<table><tr><td><a href="/1">Left</a><td><a href="/2">Right</a></table></article>`
	d, err := readable.Extract([]byte(page), "https://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| Name | Value |", "| x | 1 |", `| y\|z | 2 |`} {
		if !strings.Contains(d.Markdown, want) {
			t.Errorf("no %q in\n%s", want, d.Markdown)
		}
	}
}

// A guide's last step, its last command and its title of one word say little for themselves, and
// are what its reader came for.
func TestShortParts(t *testing.T) {
	text := "<p>This paragraph has a decent number of words so that it is taken for real content, and it keeps going for some while with commas, clauses and other things.</p>" +
		"<p>Another text of the page explains in plain words how the program is set up, what it needs and why one would want to use it at all in daily work.</p>"
	for _, c := range []struct{ name, html, want string }{
		{"command", `<h2>Run</h2><p>Start it with this command:</p><pre><code class="language-sh">aster mcp serve web</code></pre>`, "```sh\naster mcp serve web\n```"},
		{"two commands", "<p>Run this:</p><pre><code>go install example.com/x@latest\nx --version</code></pre><p>Then:</p><div class=code><pre>./x --serve</pre></div>", "./x --serve"},
		{"steps", "<h2>Steps</h2><ol><li>Open the lid</li><li>Press the red button</li><li>Close the lid</li></ol>", "3. Close the lid"},
		{"two steps", "<h2>Steps</h2><ol><li>Open the lid</li><li>Close the lid</li></ol>", "2. Close the lid"},
		{"title", "<h2>Steps</h2><ol><li>Open the lid</li><li>Press the red button</li><li>Close the lid</li></ol>", "# Guide"},
	} {
		d, err := readable.Extract([]byte("<!doctype html><title>T</title><body><main><h1>Guide</h1>"+text+c.html+"</main>"), "https://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.Markdown, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, d.Markdown)
		}
	}
}
