package robots_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/robots"
)

type cases struct {
	Cases []struct {
		Test, Robots, Agent, URL string
		Allowed                  bool
	}
	Paths    []struct{ URL, Path string }        `json:"path_params_query"`
	Patterns []struct{ Pattern, Escaped string } `json:"escape_pattern"`
}

func load(t *testing.T) (c cases) {
	t.Helper()
	b, err := os.ReadFile("testdata/google-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) != 140 || len(c.Paths) != 19 || len(c.Patterns) != 4 {
		t.Fatalf("read %d + %d + %d cases, want 140 + 19 + 4", len(c.Cases), len(c.Paths), len(c.Patterns))
	}
	return c
}

func TestGoogleCases(t *testing.T) {
	c := load(t)
	for i, x := range c.Cases {
		if got := robots.Parse([]byte(x.Robots)).Allowed(x.Agent, x.URL); got != x.Allowed {
			t.Errorf("%d %s: agent %q, url %q: allowed = %v, want %v, by\n%s", i, x.Test, x.Agent, x.URL, got, x.Allowed, x.Robots)
		}
	}
	for _, x := range c.Paths {
		if got := robots.PathParamsQuery(x.URL); got != x.Path {
			t.Errorf("path of %q = %q, want %q", x.URL, got, x.Path)
		}
	}
	for _, x := range c.Patterns {
		if got := robots.Escape(x.Pattern); got != x.Escaped {
			t.Errorf("pattern %q escaped = %q, want %q", x.Pattern, got, x.Escaped)
		}
	}
}

func TestLines(t *testing.T) {
	long := "/x/" + strings.Repeat("a", 16664)
	tests := []struct {
		name, robots, url string
		allowed           bool
	}{
		{"carriage returns", "user-agent: a\rdisallow: /x\rallow: /x/y", "/x", false},
		{"mixed line ends", "user-agent: a\r\ndisallow: /x\n\rallow: /x/y\r\n", "/x/y", true},
		{"no end of the last line", "user-agent: a\ndisallow: /x", "/x", false},
		{"byte order mark", "\xef\xbb\xbfuser-agent: a\ndisallow: /x", "/x", false},
		{"byte order mark cut short", "\xef\xbbuser-agent: a\ndisallow: /x", "/x", false},
		{"broken byte order mark spoils its line", "\xef\x11\xbfuser-agent: a\ndisallow: /x", "/x", true},
		{"rest of a long line is ignored", "user-agent: a\ndisallow: " + long + "/qux\n", "/x/" + strings.Repeat("a", 16664-len("disallow: /x/")), false},
		{"escapes in lower case in the address", "user-agent: a\ndisallow: /%E3%81", "http://h/%e3%81x", false},
		{"misspelt", "useragent: a\ndisalow: /x", "/x", false},
		{"crawl-delay parts no groups", "user-agent: a\ncrawl-delay: 5\nuser-agent: b\ndisallow: /x", "/x", false},
		{"star and words are everybody", "user-agent: * all\ndisallow: /x", "/x", false},
		{"dollar inside is a letter", "user-agent: a\ndisallow: /x$y", "/x$yz", false},
		{"star at the end", "user-agent: a\ndisallow: /x*", "/xyz", false},
		{"two stars", "user-agent: a\ndisallow: /**z$", "/xyz", false},
		{"part must not overlap the end", "user-agent: a\ndisallow: /ab*ba$", "/aba", true},
		{"longest wins over order", "user-agent: a\nallow: /x/yy\ndisallow: /x/*y", "/x/yy", true},
		{"equal weight allows", "user-agent: a\ndisallow: /x/*\nallow: /x/y", "/x/y", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := robots.Parse([]byte(tt.robots)).Allowed("a", tt.url); got != tt.allowed {
				t.Errorf("allowed = %v, want %v", got, tt.allowed)
			}
		})
	}
}

func TestForStatus(t *testing.T) {
	deny := []byte("user-agent: *\ndisallow: /")
	for status, want := range map[int]bool{200: false, 204: false, 301: true, 401: true, 403: true, 404: true, 410: true, 429: false, 500: false, 503: false, 0: false} {
		if got := robots.ForStatus(status, deny).Allowed("aster", "http://h/x"); got != want {
			t.Errorf("after status %d allowed = %v, want %v", status, got, want)
		}
	}
	if f := robots.Closed(); !f.Allowed("aster", "http://h/robots.txt") || !f.Rules("aster").Closed() {
		t.Error("robots.txt itself is not allowed, or the file does not say that it is closed")
	}
	var none *robots.File
	if !none.Allowed("aster", "/") || none.Sitemaps() != nil {
		t.Error("no file does not allow")
	}
}

func TestSitemapsAndDelay(t *testing.T) {
	f := robots.Parse([]byte("Sitemap: http://h/1.xml\nUser-agent: *\nCrawl-delay: 2.5\nsite-map: /2.xml # here\nDisallow:\nUser-agent: aster\nCrawl-delay: soon\nCrawl-delay: 1e300\nUser-agent: x\nCrawl-delay: -1\n"))
	if got := f.Sitemaps(); !slices.Equal(got, []string{"http://h/1.xml", "/2.xml"}) {
		t.Errorf("sitemaps = %q", got)
	}
	if got := f.Rules("other").Delay(); got != 2500*time.Millisecond {
		t.Errorf("delay for everybody = %v, want 2.5 s", got)
	}
	if got := f.Rules("Aster").Delay(); got != 24*time.Hour {
		t.Errorf("delay for aster = %v, want the cap of a day", got)
	}
}

// reference matches one pattern at a time, by the rules' own words.
func reference(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		for i := 0; i <= len(path); i++ {
			if reference(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return path != "" && path[0] == pattern[0] && reference(pattern[1:], path[1:])
}

func FuzzAllowed(f *testing.F) {
	f.Add("user-agent: a\ndisallow: /x*y$\n", "/xay", "/a*b")
	f.Add("\xef\xbb\xbfuser-agent a\nallow:/\n", "http://h/?q", "*$")
	f.Fuzz(func(t *testing.T, text, url, pattern string) {
		file := robots.Parse([]byte(text))
		file.Allowed("a", url)
		file.Sitemaps()
		if len(pattern) > 12 || len(url) > 40 || strings.ContainsAny(pattern, "#\r\n%") || strings.TrimSpace(pattern) != pattern || strings.Contains(pattern, "/index.htm") || pattern == "" {
			return
		}
		path, escaped := robots.PathParamsQuery(url), robots.Escape(pattern)
		if strings.Contains(path, "%") || strings.Count(escaped, "*") > 4 {
			return
		}
		got := robots.Parse([]byte("user-agent: a\ndisallow: "+pattern)).Allowed("a", url)
		if want := !reference(escaped, path); got != want {
			t.Errorf("pattern %q, path %q: allowed = %v, want %v", escaped, path, got, want)
		}
	})
}

// largest is a file of 500 KiB with plain rules and wildcards.
func largest() []byte {
	var b strings.Builder
	b.WriteString("user-agent: *\n")
	for i := 0; b.Len() < robots.MaxBytes; i++ {
		fmt.Fprintf(&b, "disallow: /folder/%d/page\nallow: /other/%d/*/x$\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkAllowed(b *testing.B) {
	rules := robots.Parse(largest()).Rules("aster")
	b.ReportAllocs()
	for b.Loop() {
		rules.Allowed("https://example.com/other/4711/some/path/to/a/page/x?and=query")
	}
}

func BenchmarkParse(b *testing.B) {
	body := largest()
	b.ReportAllocs()
	for b.Loop() {
		robots.Parse(body).Rules("aster")
	}
}
