package websrv

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// factsRows are all rows of the tables that this package keeps to, as the facts number them:
// words of the row there, and the row of rowTests that holds it. The list stands on its own, so
// that a row that is left out of rowTests is noticed.
var factsRows = map[string][]struct{ words, row string }{
	"classes": {
		{"RateLimited", "class: rate limited"}, {"NoCredit", "class: no credit"}, {"BadKey", "class: bad key"}, {"Refused", "class: refused"}, {"TargetFailed", "class: target failed"},
		{"Timeout", "class: timeout"}, {"Upstream", "class: upstream"}, {"BadInput", "class: bad input"}, {"Cancelled", "class: cancelled"},
	},
	"mistakes": {
		{"Firecrawl crawl sends", "mistake: Firecrawl crawl with maxPages and maxDepth, and without next"}, {"Firecrawl search reads", "mistake: Firecrawl search reads data as an array"},
		{"Browserbase sends", "mistake: Browserbase with x-api-key, bare text and result"}, {"scrape ignores", "mistake: scrape without success and the target's status"},
		{"DuckDuckGo answers", "mistake: an empty list for a challenge"}, {"Cloudflare crawl knows", "mistake: Cloudflare crawl without its three ends and cursor"},
		{"Context.dev search asks", "mistake: Context.dev search for less than 10"}, {"crawl jobs are never", "mistake: crawl jobs that are never taken back"},
	},
	"fakes": {
		{"happy path", "fake: happy path"}, {"every row", "fake: every class"}, {"slow body", "fake: slow body"}, {"truncated JSON", "fake: truncated JSON"}, {"a 200", "fake: a 200 that is a failure"},
		{"a redirect", "fake: a redirect to another origin"}, {"cancellation", "fake: cancelled while polling"}, {"a 3-page", "fake: three pages of next and cursor"}, {"Retry-After", "fake: Retry-After as seconds and as a date"},
		{"For DuckDuckGo", "fake: DuckDuckGo's pages"}, {"For keyless Firecrawl", "fake: Firecrawl without a key"},
	},
}

// factsSSRF are the ranges and spellings of what must not be reached, by the names that ssrfRows
// has for them, in the order of the facts.
var factsSSRF = []string{
	"127.0.0.0/8", "0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255", "::", "::1", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32",
	"::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
	"2130706433", "0177.0.0.1", "0x7f.1", "127.1", "[::ffff:a9fe:a9fe]", "localhost.", "a name of loopback", "http://public@127.0.0.1/", "0.0.0.0", "[::]", "zone ids", "full-width digits", "schemes", "ports",
}

// TestFactsRows checks that each row of the facts is held by a test.
func TestFactsRows(t *testing.T) {
	for table, rows := range factsRows {
		for i, r := range rows {
			if !slices.ContainsFunc(rowTests, func(have struct{ row, tests string }) bool { return have.row == r.row }) {
				t.Errorf("%s %d, %s: rowTests has no row %q", table, i+1, r.words, r.row)
			}
		}
	}
	for _, name := range factsSSRF {
		if !slices.ContainsFunc(ssrfRows, func(r ssrfRow) bool { return r.name == name }) {
			t.Errorf("ssrfRows has no row %q", name)
		}
	}
}

// factsText returns the text of a file of the facts between two marks.
func factsText(t *testing.T, file, from, to string) string {
	t.Helper()
	b, err := os.ReadFile("../../shared/facts/" + file)
	if os.IsNotExist(err) {
		t.Skip("LEFT OUT: there are no facts beside this repository, in ../shared/facts")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), from)
	text, _, end := strings.Cut(text, to)
	if !ok || !end {
		t.Fatalf("%s has nothing between %q and %q", file, from, to)
	}
	return text
}

// shortRange is a range of IPv4 as the facts write it.
var shortRange = regexp.MustCompile("(?:^|[ `])([0-9]+(?:\\.[0-9]+)*/[0-9]+)")

// TestFactsRowsAreAll checks the lists above against the facts, where these are.
func TestFactsRowsAreAll(t *testing.T) {
	var classes []string
	for _, line := range strings.Split(factsText(t, "providers.md", "| class | signs", "A success with no usable text"), "\n") {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			classes = append(classes, name)
		}
	}
	fakes := strings.Split(factsText(t, "providers.md", "each client test runs: ", "; assert that no"), ";")
	last := fakes[len(fakes)-1] // the lists of two providers stand behind it
	fakes = append(fakes[:len(fakes)-1], strings.SplitAfter(strings.ReplaceAll(last, ". For", ".\x00For"), "\x00")...)
	for table, got := range map[string][]string{
		"classes":  classes,
		"mistakes": strings.Split(factsText(t, "providers.md", "Do not repeat these:", "\n## 13"), ";"),
		"fakes":    fakes,
	} {
		want := factsRows[table]
		if len(got) != len(want) {
			t.Errorf("%s: the facts have %d rows, the list %d: %q", table, len(got), len(want), got)
			continue
		}
		for i, text := range got {
			if !strings.HasPrefix(strings.TrimSpace(text), want[i].words) {
				t.Errorf("%s %d: the facts say %q, the list %q", table, i+1, text, want[i].words)
			}
		}
	}
	for _, m := range shortRange.FindAllStringSubmatch(factsText(t, "web-tools.md", "### 6.5 SSRF", "Spellings to try"), -1) {
		addr, bits, _ := strings.Cut(m[1], "/")
		addr += strings.Repeat(".0", 3-strings.Count(addr, "."))
		if !slices.Contains(factsSSRF, addr+"/"+bits) {
			t.Errorf("the facts have the range %s, the list has not", m[1])
		}
	}
}
