package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/webmcp"
	"github.com/aster-mcp/aster/websrv"
)

// sessionOptions are the flags of commands that connect to servers.
type sessionOptions struct {
	configSource
	daemonOptions
	approve  string
	readOnly bool
	legacy   bool // of the client
}

func (o *sessionOptions) bindSession(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.approve, "approve", "", "who asks you about a call: `client`, aster or never (default: aster for calls through aster_mcp, else the client)")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every call that is not known to only read")
	o.daemonOptions.bind(cmd)
	cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions([]string{"client", "aster", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

// open makes a session over the servers that are on, or only over those named. The
// caller starts and closes it.
func (o *sessionOptions) open(c *config.Config, only []string, approver guard.Approver) (*host.Session, error) {
	mode, err := approveMode(o.approve)
	if err != nil {
		return nil, err
	}
	dir, err := o.env.stateDir()
	if err != nil {
		dir = "" // what has to be kept says so
	}
	builtins, err := o.builtins(c, only)
	if err != nil {
		return nil, err
	}
	return host.NewSession(&host.SessionOptions{
		Config: c, Getenv: o.env.Getenv, Environ: os.Environ(), Logger: o.log, Version: thisBuild().Version, StateDir: dir,
		Builtins: builtins, Only: only, Approver: approver, Approve: mode, ReadOnly: o.readOnly, Legacy: o.legacy,
	})
}

// approveMode reads the value of --approve.
func approveMode(text string) (guard.Mode, error) {
	mode := guard.Mode(text)
	if !slices.Contains([]guard.Mode{guard.ModeAuto, guard.ModeClient, guard.ModeAster, guard.ModeNever}, mode) {
		return "", usagef("--approve %q: choose client, aster or never", text)
	}
	return mode, nil
}

// approver asks on the terminal, where a person is at it, and on aster ui.
func (o *sessionOptions) approver() guard.Approver {
	if !o.env.Terminal {
		return o.asker()
	}
	return guard.FirstAnswer(guard.NewTerminal(o.env.Stdin, o.env.Stderr), o.asker())
}

// builtins are the servers inside aster that are on and wanted.
func (o *sessionOptions) builtins(c *config.Config, only []string) (list []host.Builtin, err error) {
	wanted := func(name string) bool {
		on, _ := c.Builtin(name)
		return on && (only == nil || slices.Contains(only, name))
	}
	if wanted(config.ServerWeb) {
		b, err := o.webBuiltin(c)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	if wanted(config.ServerShortcuts) && o.env.hasShortcuts() {
		b, err := o.shortcutsBuiltin(c)
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, b)
	}
	if wanted(config.ServerWebMCP) {
		b, err := o.webMCPBuiltin(c)
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

func closeAll(list []host.Builtin) {
	for _, b := range list {
		b.Close()
	}
}

func (o *sessionOptions) webBuiltin(c *config.Config) (host.Builtin, error) {
	opts := webServerOptions(&c.Web)
	opts.Keys, opts.Logger, opts.Version = o.env.webKeys(), o.log, thisBuild().Version
	s, err := websrv.NewServer(opts)
	if err != nil {
		return host.Builtin{}, usagef("mcp.web: %w", err)
	}
	s.MCP().AddReceivingMiddleware(host.Recover(o.log))
	return host.Builtin{
		Name: config.ServerWeb, Server: s.MCP(), Close: func() error { s.Close(); return nil },
		Effect: func(string) guard.Effect { return guard.EffectRead },
	}, nil
}

// webMCPBuiltin attaches to the browser in the background: one that is not there is a
// state of the server, not a failed start.
func (o *sessionOptions) webMCPBuiltin(c *config.Config) (host.Builtin, error) {
	w := &c.WebMCP
	browser := browserOptions{cdpURL: w.CDPURL, allowRemote: w.AllowRemote, headless: w.Headless}
	opts := webmcp.Options{
		Logger: o.log, Version: thisBuild().Version, Secret: o.env.shimSecret(o.log), RetryStamp: o.env.stampPath(),
		Expose: webmcp.ExposeBoth, CallTimeout: w.CallTimeout, MaxResultTokens: wholeResults,
		Dialogs: w.Dialogs, Origins: w.Origins, DenyOrigins: w.DenyOrigins, ActiveTab: w.ActiveTab, Debugging: w.Debugging, LegacyAPI: w.LegacyAPI, Compat: w.Compat,
		Hide: func(name string) bool { return !c.Tools.Filter(config.ServerWebMCP + "/" + name).Allowed },
	}
	var err error
	if opts.Finder, opts.Launch, err = browser.resolve(o.env); err != nil {
		return host.Builtin{}, err
	}
	if dc, err := o.joinDaemon(context.Background(), &o.daemonOptions, &browser, &opts, &c.Tools); err != nil {
		return host.Builtin{}, err
	} else if dc != nil {
		return daemonBuiltin(dc), nil
	}
	b, err := webmcp.New(&opts)
	if err != nil {
		return host.Builtin{}, usagef("mcp.webmcp: %w", err)
	}
	b.Server().AddReceivingMiddleware(host.Recover(o.log))
	return host.Builtin{
		Name: config.ServerWebMCP, Server: b.Server(), Hidden: []string{"webmcp_call", "webmcp_tools"},
		Effect: func(string) guard.Effect { return guard.EffectRead }, // of webmcp_tabs; page tools have an origin
		Origin: func(tool string) (string, bool) {
			if t := b.Lookup(tool); t != nil {
				return t.Origin, true
			}
			return "", tool != "webmcp_tabs"
		},
		Close: o.runBridge(context.Background(), b, opts.Launch != nil),
	}, nil
}

// wholeResults leaves the cutting of long results to the gateway.
const wholeResults = 1 << 30

// toolsOf are the tools of a session's catalogue.
func toolsOf(s *host.Session) []bridge.Tool { return slices.Collect(s.Catalog().All()) }
