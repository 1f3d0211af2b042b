package websrv

import (
	"log/slog"
	"strings"
)

// Keys are the keys of hosted providers; an empty one means that there is none. They are
// sent to their provider's base URL only, and never printed: String, LogValue and errors
// leave them out.
type Keys struct {
	Exa, Perplexity, ContextDev, Firecrawl, Browserbase string
	// CloudflareAccount and CloudflareToken count only together.
	CloudflareAccount, CloudflareToken string
	// Jina raises the limit of Jina Reader, which works without.
	Jina string
}

// trimmed is k without surrounding space, and without half of Cloudflare's pair.
func (k Keys) trimmed() Keys {
	for _, f := range []*string{&k.Exa, &k.Perplexity, &k.ContextDev, &k.Firecrawl, &k.Browserbase, &k.CloudflareAccount, &k.CloudflareToken, &k.Jina} {
		*f = strings.TrimSpace(*f)
	}
	if k.CloudflareAccount == "" || k.CloudflareToken == "" {
		k.CloudflareAccount, k.CloudflareToken = "", ""
	}
	return k
}

// secrets are the values that no text may hold.
func (k Keys) secrets() (list []string) {
	for _, s := range []string{k.Exa, k.Perplexity, k.ContextDev, k.Firecrawl, k.Browserbase, k.CloudflareToken, k.Jina} {
		if s != "" {
			list = append(list, s)
		}
	}
	return list
}

// String names the providers that have a key.
func (k Keys) String() string {
	var names []string
	for _, p := range []struct{ key, name string }{{k.Exa, "exa"}, {k.Perplexity, "perplexity"}, {k.ContextDev, "contextdev"}, {k.Firecrawl, "firecrawl"},
		{k.Browserbase, "browserbase"}, {k.CloudflareToken, "cloudflare"}, {k.Jina, "jina"}} {
		if p.key != "" {
			names = append(names, p.name)
		}
	}
	return "keys of [" + strings.Join(names, " ") + "]"
}

// GoString is String.
func (k Keys) GoString() string { return k.String() }

// LogValue is String.
func (k Keys) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String, so that no encoder writes the keys.
func (k Keys) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
