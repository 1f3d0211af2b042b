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

// namedKey is a key, or half of one, and the name of its provider.
type namedKey struct{ key, name string }

// named lists the keys that there are, Cloudflare's account after its token.
func (k Keys) named() (list []namedKey) {
	for _, n := range []namedKey{{k.Exa, "exa"}, {k.Perplexity, "perplexity"}, {k.ContextDev, "contextdev"}, {k.Firecrawl, "firecrawl"},
		{k.Browserbase, "browserbase"}, {k.CloudflareToken, "cloudflare"}, {k.CloudflareAccount, "cloudflare"}, {k.Jina, "jina"}} {
		if n.key != "" {
			list = append(list, n)
		}
	}
	return list
}

// secrets are the values that no text may hold. Cloudflare's account is none.
func (k Keys) secrets() (list []string) {
	k.CloudflareAccount = ""
	for _, n := range k.named() {
		list = append(list, n.key)
	}
	return list
}

// String names the providers that have a key.
func (k Keys) String() string {
	k.CloudflareAccount = ""
	var names []string
	for _, n := range k.named() {
		names = append(names, n.name)
	}
	return "keys of [" + strings.Join(names, " ") + "]"
}

// GoString is String.
func (k Keys) GoString() string { return k.String() }

// LogValue is String.
func (k Keys) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String, so that no encoder writes the keys.
func (k Keys) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
