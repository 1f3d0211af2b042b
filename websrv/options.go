package websrv

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// IDs of providers, as the configuration names them.
const (
	idExa              = "exa"
	idPerplexity       = "perplexity"
	idContextDev       = "contextdev"
	idFirecrawl        = "firecrawl"
	idFirecrawlKeyless = "firecrawl-keyless"
	idBrowserbase      = "browserbase"
	idCloudflare       = "cloudflare"
	idJina             = "jina"
	idDuckDuckGo       = "duckduckgo"      // the search, and the fetch like a browser's that goes by its name
	idDuckDuckGoLite   = "duckduckgo-lite" // a base URL only
	idHTTP             = "http"
	idLocal            = "local"
	idChromium         = "chromium"
)

// defaultOrder is the order of providers for each kind of work: one table for all. A
// provider without its key is left out.
func defaultOrder(op Op) []string {
	switch op {
	case OpSearch:
		return []string{idExa, idPerplexity, idContextDev, idFirecrawl, idBrowserbase, idFirecrawlKeyless, idDuckDuckGo}
	case OpExtract:
		return []string{idContextDev, idFirecrawl, idCloudflare, idBrowserbase, idExa, idFirecrawlKeyless, idJina, idDuckDuckGo, idHTTP, idChromium}
	case OpCrawl:
		return []string{idContextDev, idFirecrawl, idCloudflare, idLocal}
	case OpSitemap:
		return []string{idContextDev, idFirecrawl, idLocal}
	case OpScreenshot:
		return []string{idContextDev, idFirecrawl, idCloudflare, idFirecrawlKeyless, idJina, idChromium}
	}
	return nil
}

// defaultBaseURL is where a hosted provider is, "" for an unknown ID.
func defaultBaseURL(id string) string {
	switch id {
	case idExa:
		return "https://api.exa.ai"
	case idPerplexity:
		return "https://api.perplexity.ai"
	case idContextDev:
		return "https://api.context.dev/v1"
	case idFirecrawl, idFirecrawlKeyless:
		return "https://api.firecrawl.dev"
	case idBrowserbase:
		return "https://api.browserbase.com"
	case idCloudflare:
		return "https://api.cloudflare.com/client/v4"
	case idJina:
		return "https://r.jina.ai"
	case idDuckDuckGo:
		return "https://html.duckduckgo.com/html/"
	case idDuckDuckGoLite:
		return "https://lite.duckduckgo.com/lite/"
	}
	return ""
}

// ProviderIDs are the names that Options takes for providers, in no order of rank.
func ProviderIDs() []string {
	return []string{idExa, idPerplexity, idContextDev, idFirecrawl, idFirecrawlKeyless, idBrowserbase, idCloudflare, idJina, idDuckDuckGo, idHTTP, idLocal, idChromium}
}

// DefaultOrder are the providers of one kind of work by ID, in the order in which they are
// asked; nil for an unknown kind.
func DefaultOrder(op Op) []string { return defaultOrder(op) }

// Defaults and bounds of replies, in estimated tokens.
const (
	DefaultMaxTokens = 8_000
	TopMaxTokens     = 25_000
	MinMaxTokens     = 500
)

// Options configures [NewServer]. The zero value is a server that needs no key: every field's
// zero is its default. The server keeps a copy.
type Options struct {
	// Keys of hosted providers. One that is set brings its provider into the chains.
	Keys Keys
	// BaseURLs replace the addresses of hosted providers, by ID; "duckduckgo-lite" is the
	// second of DuckDuckGo's pages, and "firecrawl-keyless" is where "firecrawl" is unless it
	// is named. Keys are sent there and nowhere else.
	BaseURLs map[string]string
	// Order names providers by ID that come first in the chain of a tool, in this order; the
	// rest follows in its default order. The key is the tool's name.
	Order map[string][]string
	// Off names providers, by ID, that are not used.
	Off []string
	// LocalOnly leaves out every hosted provider: pages are read by this process alone, and
	// search, which nothing local can do, says so.
	LocalOnly bool

	// AllowPrivate lists hosts, host:port pairs and CIDRs that may be read although they are
	// not public. They are never named to a hosted provider.
	AllowPrivate []string
	// AllowDomains, if not empty, are the only domains that are read; DenyDomains are never.
	AllowDomains, DenyDomains []string
	// HighPorts allows the ports from 1024 up of public hosts.
	HighPorts bool

	// MaxTokens is a reply's length when the caller asks for none; 0 means DefaultMaxTokens.
	MaxTokens int
	// Timeout bounds a call of search, extract, sitemap or screenshot; 0 means 45 s.
	Timeout time.Duration
	// UserAgent names this program to sites; "" means aster with its version.
	UserAgent string
	// NoCache keeps no copies of answers. CacheDir is where copies outlive the process, "" keeps
	// them in memory; CacheBytes bounds the memory, 0 means 64 MiB.
	NoCache    bool
	CacheDir   string
	CacheBytes int64
	// Chromium is the browser for pages that need JavaScript, and for pictures: a path, "" to
	// look for one, or "off".
	Chromium string
	// FetchTimeout bounds one request to a site; 0 means 30 s. MaxBodyBytes bounds its body,
	// decoded; 0 means 10 MiB.
	FetchTimeout time.Duration
	MaxBodyBytes int64
	// MaxCrawlPages is the most that a crawl may ask for, and MaxCrawlTime the longest it may
	// take; 0 means 1,000 and 10 minutes, which are the most.
	MaxCrawlPages int
	MaxCrawlTime  time.Duration
	// MaxConcurrent is how many requests to sites are under way at once; 0 means 16.
	MaxConcurrent int
	// CacheMaxAge is how long a page is kept that says nothing of it; 0 asks for it again.
	CacheMaxAge time.Duration
	// PaceInterval is between two requests of a crawl to one host; 0 means 1 s, negative none.
	PaceInterval time.Duration

	// Client lends its TLS settings to all requests; nil means the defaults.
	Client *http.Client
	// Logger is told what goes wrong; nil discards.
	Logger *slog.Logger
	// Version is told to MCP clients and in the user agent.
	Version string

	network networkOptions // what tests replace beyond the fields above
}

// defaultTimeout bounds a call, all its attempts together: many MCP clients give up after a minute.
const defaultTimeout = 45 * time.Second

// normalise checks the options and fills in defaults.
func (o *Options) normalise() error {
	o.Keys = o.Keys.trimmed()
	for _, k := range o.Keys.named() {
		if strings.ContainsFunc(k.key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return fmt.Errorf("the key of %s holds a character that no key has", k.name)
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.UserAgent == "" {
		o.UserAgent = "aster/" + o.Version + " (+https://github.com/aster-mcp/aster)"
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if o.MaxTokens < MinMaxTokens || o.MaxTokens > TopMaxTokens {
		return fmt.Errorf("max tokens %d: it must be from %d to %d", o.MaxTokens, MinMaxTokens, TopMaxTokens)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxCrawlPages == 0 {
		o.MaxCrawlPages = maxCrawlPages
	}
	o.MaxCrawlTime = orDefault(o.MaxCrawlTime, maxCrawlTime*time.Second)
	if o.MaxCrawlPages < 0 || o.MaxBodyBytes < 0 || o.FetchTimeout < 0 || o.MaxConcurrent < 0 || o.CacheMaxAge < 0 {
		return errors.New("crawl pages, body bytes, fetch timeout, requests at once and the cache's age must not be negative")
	}
	if o.MaxCrawlPages > maxCrawlPages || o.MaxCrawlTime < time.Second || o.MaxCrawlTime > maxCrawlTime*time.Second {
		return fmt.Errorf("a crawl may have at most %d pages, and from 1s to %ds", maxCrawlPages, maxCrawlTime)
	}
	if o.Timeout < time.Second || o.Timeout > time.Hour {
		return fmt.Errorf("timeout %v: it must be from 1s to 1h", o.Timeout)
	}
	for _, id := range o.Off {
		if !slices.Contains(ProviderIDs(), id) {
			return unknownProvider(id)
		}
	}
	for tool, ids := range o.Order {
		if defaultOrder(Op(tool)) == nil {
			return fmt.Errorf("order of %q: there is no such tool", tool)
		}
		for _, id := range ids {
			if !slices.Contains(defaultOrder(Op(tool)), id) {
				return fmt.Errorf("order of %s: %q does not do that; choose among %s", tool, id, strings.Join(defaultOrder(Op(tool)), ", "))
			}
		}
	}
	for id, base := range o.BaseURLs {
		if defaultBaseURL(id) == "" && slices.Contains(ProviderIDs(), id) {
			return fmt.Errorf("base URL of %s: it has none, it runs on this machine", id)
		}
		if defaultBaseURL(id) == "" {
			return fmt.Errorf("base URL: %w", unknownProvider(id))
		}
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("base URL of %s: it must be http or https with a host, and no user, query or fragment", id)
		}
	}
	return nil
}

func unknownProvider(id string) error {
	return fmt.Errorf("no provider %q: choose among %s", id, strings.Join(ProviderIDs(), ", "))
}

// baseURL is where a provider is, without a slash at its end.
func (o *Options) baseURL(id string) string {
	base := o.BaseURLs[id]
	if base == "" && id == idFirecrawlKeyless { // the same service, without the key
		base = o.BaseURLs[idFirecrawl]
	}
	if base == "" {
		base = defaultBaseURL(id)
	}
	if id == idDuckDuckGo || id == idDuckDuckGoLite {
		return base // a page, not the root of an API
	}
	return strings.TrimRight(base, "/")
}

// order is the chain of a tool by ID, switches applied.
func (o *Options) order(op Op) (ids []string) {
	first := o.Order[string(op)]
	for _, id := range slices.Concat(first, defaultOrder(op)) {
		if !slices.Contains(ids, id) && !slices.Contains(o.Off, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// chromiumOff is the value of Options.Chromium that uses none.
const chromiumOff = "off"

func (o *Options) usesChromium() bool { return o.Chromium != chromiumOff }
