package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// WebMCP are the settings of the server "webmcp", which attaches to the user's browser.
type WebMCP struct {
	Enabled         bool
	CDPURL          string // "auto", http://HOST:PORT, ws://…, profile:DIR or launch
	AllowRemote     []string
	Headless        bool     // of a browser that aster starts
	Origins         []string // globs; nil means every origin
	DenyOrigins     []string // globs; they win
	Expose          string   // "both", "fixed" or "tools"
	CallTimeout     time.Duration
	MaxResultTokens int
	Dialogs         string // "leave", "accept" or "dismiss"
	ActiveTab       bool
	Debugging       bool
	LegacyAPI       bool
	Compat          string // "auto", "156", "159" or "160"
}

func defaultWebMCP() WebMCP {
	return WebMCP{CDPURL: "auto", Expose: "both", CallTimeout: 60 * time.Second, MaxResultTokens: DefaultResultTokens, Dialogs: "leave", Compat: "auto"}
}

// Web are the settings of the server "web". Keys of providers are not among them: they
// come from the environment.
type Web struct {
	// Order says for an operation (search, extract, crawl, sitemap, screenshot) which
	// providers come first, by name; the others follow in their usual order.
	Order     map[string][]string
	Providers map[string]WebProvider // by name
	LocalOnly bool                   // nothing is sent to a remote provider

	UserAgent    string   // "" means aster's own
	Chromium     string   // path of the browser that renders pages; "" finds one, "off" uses none
	AllowPrivate []string // host, host:port or CIDR that may be private
	AllowDomains []string // only these and what is below them; nil means all
	DenyDomains  []string // never these and what is below them

	Limits WebLimits
	Cache  WebCache
}

// WebProvider are the settings of one provider.
type WebProvider struct {
	Disabled bool
	BaseURL  string // "" means the provider's own
}

// WebLimits bound the work of the server "web".
type WebLimits struct {
	Timeout       time.Duration // of one fetch
	CrawlTimeout  time.Duration // of one crawl
	MaxBodyBytes  int64         // of one page, decoded
	ResultTokens  int           // of a reply that names no other
	CrawlPages    int           // the most that a crawl may ask for
	HostRate      float64       // requests a second to one host
	MaxConcurrent int           // fetches at once
}

// WebCache says how fetched pages are kept.
type WebCache struct {
	Disabled bool
	MaxBytes int64
	MaxAge   time.Duration // where a page says nothing itself
}

func defaultWeb() Web {
	return Web{
		Limits: WebLimits{
			Timeout: 30 * time.Second, CrawlTimeout: 10 * time.Minute, MaxBodyBytes: 16 << 20,
			ResultTokens: 8_000, CrawlPages: 1_000, HostRate: 1, MaxConcurrent: 16,
		},
		Cache: WebCache{MaxBytes: 64 << 20, MaxAge: 5 * time.Minute},
	}
}

// WebOperations are the operations that mcp.web.order knows.
func WebOperations() []string { return []string{"search", "extract", "crawl", "sitemap", "screenshot"} }

// WebProviders are the names of the providers of an operation, "" for all, sorted.
func WebProviders(operation string) (names []string) {
	for name, does := range map[string]string{
		"exa": "search extract", "perplexity": "search", "contextdev": "search extract crawl sitemap screenshot", "firecrawl": "search extract crawl sitemap screenshot",
		"firecrawl-keyless": "search extract screenshot", "browserbase": "search extract", "cloudflare": "extract crawl screenshot", "jina": "extract screenshot",
		"duckduckgo": "search extract", "http": "extract", "local": "crawl sitemap", "chromium": "extract screenshot",
	} {
		if operation == "" || slices.Contains(strings.Fields(does), operation) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// checkProvider checks a name under mcp.web.providers. "duckduckgo-lite" is there for its
// address.
func checkProvider(name string) error {
	return checkKnown(name, append(WebProviders(""), "duckduckgo-lite"), "there is no provider %q")
}

// checkProviderOf checks a name in the order of an operation.
func checkProviderOf(operation string) func(string) error {
	return func(name string) error {
		return checkKnown(name, WebProviders(operation), "no provider %q does this")
	}
}

// checkKnown is an error with the nearest of the known names, or all of them.
func checkKnown(name string, known []string, format string) error {
	if slices.Contains(known, name) {
		return nil
	}
	hint := nearest(name, known)
	if hint == "" {
		hint = "choose among " + strings.Join(known, ", ")
	}
	return fmt.Errorf(format+"; %s", name, hint)
}
