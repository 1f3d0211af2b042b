package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
	bridge webmcp.Options
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

A call can set its own time limit with "aster/timeoutMs" in the request's _meta.`,
		Example: `  aster mcp serve webmcp
  aster mcp serve webmcp --cdp-url launch
  aster mcp serve webmcp --origin 'https://*.example.com' --expose fixed`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveWebMCPRun(cmd.Context(), o) },
	}
	f, b := cmd.Flags(), &o.bridge
	o.browserOptions.bind(cmd)
	f.StringVar(&b.Expose, "expose", webmcp.ExposeBoth, "which tools to list: `both`, fixed or tools")
	f.DurationVar(&b.CallTimeout, "call-timeout", webmcp.DefaultCallTimeout, "how long a page may take to answer a call")
	f.IntVar(&b.MaxResultTokens, "max-result", webmcp.DefaultMaxResultTokens, "cut results longer than this many `tokens`; the rest is read page by page")
	f.StringVar(&b.Dialogs, "dialogs", webmcp.DialogsLeave, "what happens to a dialog that blocks a call: `leave` it to you, accept or dismiss")
	f.StringArrayVar(&b.Origins, "origin", nil, "serve only pages of origins that match this `glob`; may be repeated")
	f.StringArrayVar(&b.DenyOrigins, "deny-origin", nil, "leave pages of origins that match this `glob` alone; may be repeated")
	f.BoolVar(&b.ActiveTab, "active-tab", false, "serve only the visible tab that last had the focus")
	f.BoolVar(&b.Debugging, "debugging", false, "list tools that their page marks as meant for debugging")
	f.BoolVar(&b.LegacyAPI, "legacy-api", false, "give pages the names of older WebMCP drafts too, such as navigator.modelContext")
	complete := func(flag string, values ...string) {
		cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("expose", webmcp.ExposeBoth, webmcp.ExposeFixed, webmcp.ExposeTools)
	complete("dialogs", webmcp.DialogsLeave, webmcp.DialogsAccept, webmcp.DialogsDismiss)
	return cmd
}

func serveWebMCPRun(ctx context.Context, o *serveWebMCPOptions) (err error) {
	opts := o.bridge
	if opts.Finder, opts.Launch, err = o.resolve(o.env); err != nil {
		return err
	}
	opts.Logger, opts.Version = o.log, thisBuild().Version
	opts.Secret, opts.RetryStamp = o.env.shimSecret(o.log), o.env.stampPath()
	switch { // 0 is a default below, but an answer here
	case opts.CallTimeout <= 0:
		return usagef("--call-timeout %v: it must be above 0", opts.CallTimeout)
	case opts.MaxResultTokens <= 0:
		return usagef("--max-result %d: it must be above 0", opts.MaxResultTokens)
	}
	bridge, err := webmcp.New(&opts)
	if err != nil {
		return &usageError{err, "aster help mcp serve webmcp"}
	}
	bridge.Server().AddReceivingMiddleware(host.Recover(o.log))
	if o.env.Terminal {
		fmt.Fprintln(o.env.Stderr, "aster: waiting for an MCP client on stdin. To see it work, run \"aster demo\"; to leave, press Ctrl-C.")
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := bridge.Run(ctx); err != nil {
			// The session lives on: webmcp_tabs tells the client the same.
			o.log.Error("no browser", "err", err)
		}
	}()
	err = host.ServeStdio(ctx, bridge.Server(), o.env.Stdin, o.env.Stdout, &host.StdioOptions{Logger: o.log})
	cancel()
	grace := detachGrace
	if opts.Launch != nil {
		grace = closeGrace
	}
	select {
	case <-ended:
	case <-time.After(grace):
		o.log.Warn("leaving the browser took too long")
	}
	return err
}
