package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/websrv"
)

// webOptions are the flags of every command that uses the web tools.
type webOptions struct {
	config       string
	localOnly    bool
	allowPrivate []string
	chromium     string
}

func (o *webOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "read this `file` in place of the user's and the project's configuration")
	f.BoolVar(&o.localOnly, "local-only", false, "send nothing to a hosted provider")
	f.StringArrayVar(&o.allowPrivate, "allow-private", nil, "`host`, host:port or CIDR that may be read although it is not public; may be repeated")
	f.StringVar(&o.chromium, "chromium", "", "`path` of the browser for pages that need JavaScript; off uses none")
	cmd.MarkFlagFilename("config", "yaml", "yml")
}

// webKeys are the keys of hosted providers in the environment.
func (e *Env) webKeys() websrv.Keys {
	get := e.Getenv
	k := websrv.Keys{Exa: get("EXA_API_KEY"), Perplexity: get("PERPLEXITY_API_KEY"), ContextDev: get("CONTEXT_DEV_API_KEY"), Firecrawl: get("FIRECRAWL_API_KEY"), Browserbase: get("BROWSERBASE_API_KEY"),
		CloudflareAccount: get("CLOUDFLARE_BR_ACCOUNT_ID"), CloudflareToken: get("CLOUDFLARE_BR_API_TOKEN"), Jina: get("JINA_API_KEY")}
	if k.ContextDev == "" {
		k.ContextDev = get("CONTEXT_API_KEY")
	}
	return k
}

// resolve makes the options of a server from flags, configuration and environment.
func (o *webOptions) resolve(a *app) (*websrv.Options, error) {
	source := &configSource{app: a, file: o.config}
	c, _, err := source.load()
	if err != nil {
		return nil, &codeError{ExitUsage, fmt.Errorf("configuration: %w", err)}
	}
	opts := webServerOptions(&c.Web)
	opts.Keys, opts.Logger, opts.Version = a.env.webKeys(), a.log, thisBuild().Version
	opts.LocalOnly = opts.LocalOnly || o.localOnly
	opts.AllowPrivate = slices.Concat(opts.AllowPrivate, o.allowPrivate)
	if o.chromium != "" {
		opts.Chromium = o.chromium
	}
	if half := (opts.Keys.CloudflareAccount == "") != (opts.Keys.CloudflareToken == ""); half {
		a.log.Warn("Cloudflare is not used: CLOUDFLARE_BR_ACCOUNT_ID and CLOUDFLARE_BR_API_TOKEN count only together")
	}
	return opts, nil
}

// webServerOptions are the settings of mcp.web as the server takes them.
func webServerOptions(w *config.Web) *websrv.Options {
	o := &websrv.Options{Order: w.Order, LocalOnly: w.LocalOnly, UserAgent: w.UserAgent, Chromium: w.Chromium,
		AllowPrivate: w.AllowPrivate, AllowDomains: w.AllowDomains, DenyDomains: w.DenyDomains,
		FetchTimeout: w.Limits.Timeout, MaxBodyBytes: w.Limits.MaxBodyBytes, MaxTokens: min(max(w.Limits.ResultTokens, websrv.MinMaxTokens), websrv.TopMaxTokens),
		MaxCrawlPages: w.Limits.CrawlPages, MaxCrawlTime: w.Limits.CrawlTimeout, MaxConcurrent: w.Limits.MaxConcurrent, CacheMaxAge: w.Cache.MaxAge, NoCache: w.Cache.Disabled, CacheBytes: w.Cache.MaxBytes, BaseURLs: map[string]string{}}
	if w.Limits.HostRate > 0 {
		o.PaceInterval = time.Duration(float64(time.Second) / w.Limits.HostRate)
	}
	for name, p := range w.Providers {
		if p.Disabled {
			o.Off = append(o.Off, name)
		}
		if p.BaseURL != "" {
			o.BaseURLs[name] = p.BaseURL
		}
	}
	slices.Sort(o.Off)
	return o
}

// server makes the server of a command; the caller closes it.
func (o *webOptions) server(a *app) (*websrv.Server, error) {
	opts, err := o.resolve(a)
	if err != nil {
		return nil, err
	}
	s, err := websrv.NewServer(opts)
	if err != nil {
		return nil, &codeError{ExitUsage, fmt.Errorf("mcp.web: %w", err)}
	}
	return s, nil
}
