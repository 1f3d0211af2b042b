package websrv

// Names of the tools.
const (
	toolSearch     = "search"
	toolExtract    = "extract"
	toolCrawl      = "crawl"
	toolSitemap    = "sitemap"
	toolScreenshot = "screenshot"
)

// Bounds of crawl and sitemap.
const (
	defaultCrawlPages = 20
	maxCrawlPages     = 1_000
	defaultCrawlDepth = 2
	maxCrawlDepth     = 10
	maxCrawlPatterns  = 50
	defaultCrawlTime  = 60  // seconds
	maxCrawlTime      = 600 // seconds

	defaultSitemapURLs = 200
	maxSitemapURLs     = 5_000
)

// crawlArgs are the arguments of the tool crawl, checked and with their defaults filled in
// before a crawler sees them.
type crawlArgs struct {
	URL string `json:"url,omitempty"` // where to begin; "" only together with Cursor
	// MaxPages and MaxDepth bound the crawl; depth 0 is the first page alone.
	MaxPages int  `json:"maxPages,omitempty"`
	MaxDepth *int `json:"maxDepth,omitempty"` // nil before the defaults only
	// Include and Exclude are globs of paths such as "/docs/**"; a page must match one of
	// Include, if there is any, and none of Exclude.
	Include    []string `json:"include,omitempty"`
	Exclude    []string `json:"exclude,omitempty"`
	Subdomains bool     `json:"subdomains,omitempty"` // follow links to subdomains of the first page's host
	// TimeoutSeconds bounds the wall time; what is there by then is the result.
	TimeoutSeconds int    `json:"timeoutSeconds,omitempty"`
	MaxTokens      int    `json:"maxTokens,omitempty"` // of the reply; crawlers need not look at it
	Cursor         string `json:"cursor,omitempty"`    // the crawler's own crawlResult.Next, which continues it
	Render         string `json:"render,omitempty"`    // auto, never or always
}

// crawlPage is a page of a crawl, read or failed.
type crawlPage struct {
	URL         string `json:"url"`
	FinalURL    string `json:"finalUrl,omitempty"` // if another
	Title       string `json:"title,omitempty"`
	Status      int    `json:"status,omitempty"` // of HTTP; 0 if there was no answer
	Depth       int    `json:"depth"`
	ContentType string `json:"contentType,omitempty"`
	Tokens      int    `json:"tokens,omitempty"` // of Markdown, estimated
	Error       string `json:"error,omitempty"`  // why there is no text, in plain words
	Markdown    string `json:"-"`
}

// crawlResult is what a crawl came to. Pages are in a deterministic order.
type crawlResult struct {
	Pages    []crawlPage `json:"pages"`
	Skipped  int         `json:"skipped,omitempty"`  // pages left out by robots.txt or a bound
	Next     string      `json:"next,omitempty"`     // continues the crawl; "" when there is nothing left
	Stopped  string      `json:"stopped,omitempty"`  // why it ended before its end: "pages", "time", "bytes", "cancelled"
	Warnings []string    `json:"warnings,omitempty"` // in plain words
	Credits  float64     `json:"credits,omitempty"`  // what a remote crawler charged, if it told
}

// crawlProgress is told after each page and at least every 5 seconds. total is 0 while unknown.
type crawlProgress func(done, total int, message string)

// sitemapArgs are the arguments of the tool sitemap, checked and with their defaults.
type sitemapArgs struct {
	URL        string `json:"url,omitempty"`    // a site, or a sitemap itself
	Search     string `json:"search,omitempty"` // keep addresses that hold this text, in any case
	Limit      int    `json:"limit,omitempty"`  // addresses to give back
	Cursor     string `json:"cursor,omitempty"` // the reader's own sitemapResult.Next
	Subdomains bool   `json:"subdomains,omitempty"`
}

// sitemapEntry is an address of a sitemap.
type sitemapEntry struct {
	URL      string `json:"url"`
	Title    string `json:"title,omitempty"`
	Modified string `json:"modified,omitempty"` // as the site writes it, a date of RFC 3339 or a prefix of one
	Foreign  bool   `json:"foreign,omitempty"`  // of another host that the site's robots.txt does not vouch for
}

// sitemapResult is what a reader of sitemaps found.
type sitemapResult struct {
	Source   string         `json:"source"` // the files read, or "links of the home page"
	Entries  []sitemapEntry `json:"entries"`
	Total    int            `json:"total,omitempty"` // of all entries, if known
	Next     string         `json:"next,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}
