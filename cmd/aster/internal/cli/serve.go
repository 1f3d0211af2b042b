package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/webmcp"
)

const (
	// detachGrace is how long leaving the browser may take after the client has left.
	detachGrace = 250 * time.Millisecond
	// closeGrace is the same where the browser is ours and has to be closed.
	closeGrace = 6 * time.Second
)

// mcpCommand holds the MCP servers.
func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "mcp", Short: "MCP servers", Args: cobra.ArbitraryArgs, RunE: group}
	cmd.AddCommand(a.serveCommand())
	cmd.AddCommand(a.useCommands()...)
	cmd.AddCommand(a.recordCommands()...)
	cmd.AddCommand(a.approveCommand())
	cmd.AddCommand(a.loginCommands()...)
	return cmd
}

type serveWebMCPOptions struct {
	*app
	browserOptions
	frontOptions
	daemonOptions
	config  string
	bridge  webmcp.Options
	changed func(flag string) bool
}

func (a *app) serveWebMCPCommand() *cobra.Command {
	o := &serveWebMCPOptions{app: a}
	cmd := &cobra.Command{
		Use:   "webmcp",
		Short: "The tools of the web pages open in your browser",
		Long: `Serves the tools that the web pages open in your browser offer (WebMCP), with three
fixed tools beside them: webmcp_tabs, webmcp_tools and webmcp_call.

Your browser has to allow connections. Either turn on remote debugging at
chrome://inspect/#remote-debugging (Chrome 144 or later), or start a browser with a
profile of its own: --cdp-url launch. "aster doctor" shows what is missing.

A call can set its own time limit with "aster/timeoutMs" in the request's _meta.

Flags count more than what aster.yaml says below mcp.webmcp. A call through webmcp_call is
asked about, unless --approve or a rule of mcp.policy says otherwise; one under the page
tool's own name is left to your client's approval, which sees the name.`,
		Example: `  aster mcp serve webmcp
  aster mcp serve webmcp --cdp-url launch
  aster mcp serve webmcp --origin 'https://*.example.com' --expose fixed`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveWebMCPRun(cmd.Context(), o) },
	}
	f, b := cmd.Flags(), &o.bridge
	o.browserOptions.bind(cmd)
	o.daemonOptions.bind(cmd)
	o.frontOptions.bind(cmd)
	o.changed = f.Changed
	f.StringVar(&o.config, "config", "", "read this `file` in place of yours and the project's")
	cmd.MarkFlagFilename("config", "yaml", "yml")
	f.StringVar(&b.Expose, "expose", webmcp.ExposeBoth, "which tools to list: `both`, fixed or tools")
	f.DurationVar(&b.CallTimeout, "call-timeout", webmcp.DefaultCallTimeout, "how long a page may take to answer a call")
	f.IntVar(&b.MaxResultTokens, "max-result", webmcp.DefaultMaxResultTokens, "cut results longer than this many `tokens`; the rest is read page by page")
	f.StringVar(&b.Dialogs, "dialogs", webmcp.DialogsLeave, "what happens to a dialog that blocks a call: `leave` it to you, accept or dismiss")
	f.StringArrayVar(&b.Origins, "origin", nil, "serve only pages of origins that match this `glob`; may be repeated")
	f.StringArrayVar(&b.DenyOrigins, "deny-origin", nil, "leave pages of origins that match this `glob` alone; may be repeated")
	f.BoolVar(&b.ActiveTab, "active-tab", false, "serve only the visible tab that last had the focus")
	f.BoolVar(&b.Debugging, "debugging", false, "list tools that their page marks as meant for debugging")
	f.BoolVar(&b.LegacyAPI, "legacy-api", false, "give pages the names of older WebMCP drafts too, such as navigator.modelContext")
	f.StringVar(&b.Compat, "compat", webmcp.CompatAuto, "whose WebMCP pages see where the browser has none: `auto` is that of its own version, or Chromium 156, 159 or 160")
	complete := func(flag string, values ...string) {
		cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("expose", webmcp.ExposeBoth, webmcp.ExposeFixed, webmcp.ExposeTools)
	complete("compat", webmcp.CompatAuto, webmcp.Compat156, webmcp.Compat159, webmcp.Compat160)
	complete("dialogs", webmcp.DialogsLeave, webmcp.DialogsAccept, webmcp.DialogsDismiss)
	return cmd
}

func serveWebMCPRun(ctx context.Context, o *serveWebMCPOptions) error {
	c, err := o.loadForServe(o.config)
	if err != nil {
		return err
	}
	front, err := o.frontOptions.session(o.app, c)
	if err != nil {
		return err
	}
	opts, browser, err := o.resolveBridge(c)
	if err != nil {
		return err
	}
	const hint = `To see it work, run "aster demo"`
	if dc, err := o.joinDaemon(ctx, &o.daemonOptions, browser, opts, &c.Tools); err != nil {
		return err
	} else if dc != nil {
		b := daemonBuiltin(dc)
		b.Resolve = host.ResolveDaemon(dc)
		return o.serveFront(ctx, &o.frontOptions, front, b, hint)
	}
	bridge, err := webmcp.New(opts)
	if err != nil {
		return &usageError{err, "aster help mcp serve webmcp"}
	}
	b := host.Builtin{
		Name: config.ServerWebMCP, Server: bridge.Server(), Resolve: host.ResolvePages(bridge),
		Effect: func(string) guard.Effect { return guard.EffectRead }, // of the fixed tools; page tools have a class of their own
		Close:  o.runBridge(ctx, bridge, opts.Launch != nil),
	}
	return o.serveFront(ctx, &o.frontOptions, front, b, hint)
}

// runBridge attaches to the browser in the background: one that is not there is a state
// of the server, which webmcp_tabs tells the client. The func that it returns leaves the
// browser, and closes it where it was launched.
func (a *app) runBridge(ctx context.Context, b *webmcp.Bridge, launched bool) (leave func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := b.Run(ctx); err != nil {
			a.log.Error("no browser", "err", err)
		}
	}()
	grace := detachGrace
	if launched {
		grace = closeGrace
	}
	return func() error {
		cancel()
		select {
		case <-ended:
		case <-time.After(grace):
			a.log.Debug("the browser is busy: left it without its answer") // it sees the connection end all the same
		}
		return nil
	}
}

// resolveBridge makes the options of the server: flags count more than the environment,
// and that more than the configuration.
func (o *serveWebMCPOptions) resolveBridge(c *config.Config) (*webmcp.Options, *browserOptions, error) {
	opts, w := o.bridge, &c.WebMCP
	orConfig(o, "expose", &opts.Expose, w.Expose)
	orConfig(o, "call-timeout", &opts.CallTimeout, w.CallTimeout)
	orConfig(o, "max-result", &opts.MaxResultTokens, w.MaxResultTokens)
	orConfig(o, "dialogs", &opts.Dialogs, w.Dialogs)
	orConfig(o, "origin", &opts.Origins, w.Origins)
	orConfig(o, "deny-origin", &opts.DenyOrigins, w.DenyOrigins)
	orConfig(o, "active-tab", &opts.ActiveTab, w.ActiveTab)
	orConfig(o, "debugging", &opts.Debugging, w.Debugging)
	orConfig(o, "legacy-api", &opts.LegacyAPI, w.LegacyAPI)
	orConfig(o, "compat", &opts.Compat, w.Compat)
	browser := o.browserOptions
	if _, by := browser.address(o.env); by == "the default" {
		browser.cdpURL = w.CDPURL
		orConfig(o, "headless", &browser.headless, w.Headless)
	}
	orConfig(o, "allow-remote-cdp", &browser.allowRemote, w.AllowRemote)
	var err error
	if opts.Finder, opts.Launch, err = browser.resolve(o.env); err != nil {
		return nil, nil, err
	}
	opts.Logger, opts.Version = o.log, thisBuild().Version
	opts.Secret, opts.RetryStamp = o.env.shimSecret(o.log), o.env.stampPath()
	opts.Hide = func(name string) bool { return !c.Tools.Filter(config.ServerWebMCP + "/" + name).Allowed }
	switch { // 0 is a default below, but an answer here
	case opts.CallTimeout <= 0:
		return nil, nil, usagef("--call-timeout %v: it must be above 0", opts.CallTimeout)
	case opts.MaxResultTokens <= 0:
		return nil, nil, usagef("--max-result %d: it must be above 0", opts.MaxResultTokens)
	}
	return &opts, &browser, nil
}

// orConfig takes the configuration's value where the flag was not given.
func orConfig[T any](o *serveWebMCPOptions, flag string, value *T, configured T) {
	if !o.changed(flag) {
		*value = configured
	}
}
