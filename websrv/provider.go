package websrv

import (
	"context"
	"strings"
	"time"
)

// Op is a kind of work, named as its tool.
type Op string

// The kinds of work.
const (
	OpSearch     Op = toolSearch
	OpExtract    Op = toolExtract
	OpCrawl      Op = toolCrawl
	OpSitemap    Op = toolSitemap
	OpScreenshot Op = toolScreenshot
)

// Provider is a service, or a part of this process, that can do some kinds of work. It
// implements one or more of [Searcher], [Extractor], [Crawler], [Mapper] and [Shooter].
// It knows neither the other providers nor their order. Its methods may be called
// from several goroutines at once, and fail with a [*Failure].
type Provider interface {
	// Name is what users call it, such as "Firecrawl (keyless)".
	Name() string
	// Local says that it runs in this process: no other service learns what is asked for.
	Local() bool
}

// Searcher searches the web.
type Searcher interface {
	Provider
	Search(ctx context.Context, q *Query) (*Hits, error)
}

// Extractor reads a page.
type Extractor interface {
	Provider
	Extract(ctx context.Context, r *PageRequest) (*Page, error)
}

// Crawler reads the pages of a site. The progress function is not nil.
type Crawler interface {
	Provider
	crawl(ctx context.Context, args *crawlArgs, progress crawlProgress) (*crawlResult, error)
}

// Mapper lists the addresses of a site.
type Mapper interface {
	Provider
	sitemap(ctx context.Context, args *sitemapArgs) (*sitemapResult, error)
}

// Shooter takes a picture of a page.
type Shooter interface {
	Provider
	screenshot(ctx context.Context, args *screenshotArgs) (*picture, error)
}

// picky is a provider that cannot do everything asked of its kind. unable says what it
// cannot do about this request, "" if nothing: it is then passed over without a call.
type picky interface {
	unable(request any) string
}

// Query is a search.
type Query struct {
	// Text is what to search for, at most 500 bytes.
	Text string
	// Limit is the most hits wanted, 1 to 20.
	Limit int
	// Domains and ExcludeDomains bound the hosts; a domain covers its subdomains.
	Domains, ExcludeDomains []string
	// Since and Until bound the day of publication, zero means open.
	Since, Until time.Time
	// Recency is "day", "week", "month", "year" or "".
	Recency string
	// Region is a country by its two letters, such as "de"; Language likewise.
	Region, Language string
	// Safe is "strict", "moderate", "off" or "".
	Safe string
}

// Hit is a result of a search.
type Hit struct {
	Title     string  `json:"title"`
	URL       string  `json:"url"`
	Snippet   string  `json:"snippet,omitempty"`
	Published string  `json:"published,omitempty"` // as the provider writes it
	Score     float64 `json:"score,omitempty"`     // the provider's own, comparable within one answer only
}

// Hits is the answer to a [Query].
type Hits struct {
	List []Hit
	// Applied names the filters that the provider has applied itself, by the argument's
	// name, such as "domains". The rest is applied to the answer or told as ignored.
	Applied []string
	Note    string // of the provider, "" mostly
}

// PageRequest asks for a page.
type PageRequest struct {
	URL string
	// HTML asks for the page's HTML beside its text.
	HTML bool
	// Include and Exclude are CSS selectors of what to keep and to leave out.
	Include, Exclude []string
	// Render is "auto", "never" or "always": whether the page's scripts are run.
	Render string
	// MaxAge is how old a stored copy may be; 0 leaves it to the provider, below 0 wants none.
	MaxAge time.Duration
}

// Page is a page that was read.
type Page struct {
	URL         string // as asked for
	FinalURL    string // after redirects, "" if not known
	Title       string
	Byline      string
	Site        string
	Description string
	Published   string
	Language    string
	ContentType string // media type of what was read, "" if not known
	Status      int    // of HTTP, 0 if not known
	Markdown    string
	HTML        string   // only if asked for
	Links       []string // absolute; nil lets them be read from Markdown
	Warnings    []string // in plain words
	Rendered    bool     // the page's scripts were run
	Credits     float64  // what the provider charged, if it told
}

// usable reports whether a page has enough text to be an answer: a page of HTML with
// fewer than minWords words has none.
func (p *Page) usable() bool {
	if p.ContentType != "" && p.ContentType != "text/html" && p.ContentType != "application/xhtml+xml" {
		return p.Markdown != ""
	}
	return countWords(p.Markdown, minWords) >= minWords
}

// minWords is the least number of words that a page of HTML must have.
const minWords = 20

// countWords counts words up to max. Characters of scripts that have no spaces count
// for half a word.
func countWords(s string, max int) int {
	words, wide, in := 0, 0, false
	for _, r := range s {
		switch {
		case r >= 0x2e80:
			wide++
			in = false
		case r == ' ' || r == '\n' || r == '\t' || r == '\r':
			in = false
		case !in:
			words++
			in = true
		}
		if words+wide/2 >= max {
			return max
		}
	}
	return words + wide/2
}

// challengeText reports whether a page that a provider gave is a wall against robots
// instead of the page.
func challengeText(p *Page) (string, bool) {
	title := strings.ToLower(p.Title)
	for _, mark := range []string{"just a moment", "attention required", "access denied", "are you a robot", "security check", "verify you are human", "ddos-guard"} {
		if strings.Contains(title, mark) && countWords(p.Markdown, 150) < 150 {
			return "the site shows a check against robots instead of the page (" + plain(p.Title, 60) + ")", true
		}
	}
	return "", false
}
