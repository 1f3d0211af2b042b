package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/webmcp"
)

// daemonOptions say whether to share the daemon's attachment to the browser.
type daemonOptions struct{ on, off bool }

func (o *daemonOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "daemon", false, "share one connection to the browser with your other aster processes, kept by a daemon; the default (ASTER_DAEMON=on)")
	f.BoolVar(&o.off, "no-daemon", false, "connect to the browser in this process (ASTER_DAEMON=off)")
	cmd.MarkFlagsMutuallyExclusive("daemon", "no-daemon")
}

// wanted reports whether the daemon is to be used: unless it is off, or this program is
// part of another one that could not be started as a daemon.
func (o *daemonOptions) wanted(env *Env) (bool, error) {
	switch value := env.Getenv("ASTER_DAEMON"); {
	case o.on || o.off:
		return o.on, nil
	case value == "":
		return env.Executable != "", nil
	case value == "on" || value == "off":
		return value == "on", nil
	default:
		return false, usagef("ASTER_DAEMON %q: choose on or off", value)
	}
}

// daemonPaths are where the daemon of this state directory is.
func (e *Env) daemonPaths() (*daemon.Paths, error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, err
	}
	return daemon.PathsFor(dir, e.Getenv("XDG_RUNTIME_DIR"), os.TempDir())
}

// joinDaemon joins the daemon, where that is wanted, with the options of a bridge and the
// configuration's rules about tools. Nil without an error means that this process attaches
// by itself; the user was told why.
func (a *app) joinDaemon(ctx context.Context, use *daemonOptions, browser *browserOptions, opts *webmcp.Options, tools *config.Tools) (*daemon.Client, error) {
	if wanted, err := use.wanted(a.env); err != nil || !wanted {
		return nil, err
	}
	alone := func(err error) (*daemon.Client, error) {
		fmt.Fprintf(a.env.Stderr, "aster: no shared daemon, attaching to the browser alone: %s\n", host.CleanText(strings.ReplaceAll(err.Error(), "\n", "; ")))
		return nil, nil
	}
	paths, err := a.env.daemonPaths()
	if err != nil {
		return alone(err)
	}
	state, err := a.env.stateDir()
	if err != nil {
		return alone(err)
	}
	address, _ := browser.address(a.env)
	if dir, ok := strings.CutPrefix(address, "profile:"); ok { // the daemon works elsewhere
		if abs, err := filepath.Abs(dir); err == nil {
			address = "profile:" + abs
		}
	}
	c, err := daemon.Join(ctx, &daemon.JoinOptions{
		Paths: paths, Version: thisBuild().Version, Logger: a.log, Client: *opts.Client(), Rules: rulesOf(tools),
		Attach: daemon.Attach{
			Browser: address, AllowRemote: browser.allowRemote, Headless: browser.headless,
			Dialogs: opts.Dialogs, Origins: opts.Origins, DenyOrigins: opts.DenyOrigins, LegacyAPI: opts.LegacyAPI,
			Compat: opts.Compat,
		},
		Command: []string{a.env.Executable, "daemon", "run", "--dir", paths.Dir},
		Environ: append(os.Environ(), "ASTER_HOME="+state),
		Note: func(text string) {
			fmt.Fprintf(a.env.Stderr, "aster: %s\n", host.CleanText(text))
		},
	})
	var usage *daemon.UsageError
	if errors.As(err, &usage) {
		return nil, usagef("%s", usage.Text)
	}
	if err != nil {
		return alone(err)
	}
	c.Server().AddReceivingMiddleware(host.Recover(a.log))
	return c, nil
}

// rulesOf are the configuration's rules in the words of the daemon; nil where there are none.
func rulesOf(tools *config.Tools) *daemon.Rules {
	none := tools.Filter(config.ServerWebMCP + "/no tool has this name")
	r := &daemon.Rules{None: len(tools.Allow) == 0 && !none.Allowed && none.By == nil}
	for _, p := range tools.Allow {
		r.Allow = append(r.Allow, p.Text)
	}
	for _, p := range tools.Deny {
		r.Deny = append(r.Deny, p.Text)
	}
	if len(r.Allow)+len(r.Deny) == 0 && !r.None {
		return nil
	}
	return r
}

// hideByRules is what rulesOf means, in the daemon.
func hideByRules(r *daemon.Rules) (func(name string) bool, error) {
	if r.None {
		return func(string) bool { return true }, nil
	}
	var tools config.Tools
	for _, list := range []struct {
		from []string
		to   *[]config.Pattern
	}{{r.Allow, &tools.Allow}, {r.Deny, &tools.Deny}} {
		for _, text := range list.from {
			p, err := config.NewPattern(text, config.Place{})
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, p)
		}
	}
	return func(name string) bool { return !tools.Filter(config.ServerWebMCP + "/" + name).Allowed }, nil
}

// daemonBuiltin is the server of page tools that the daemon keeps.
func daemonBuiltin(c *daemon.Client) host.Builtin {
	return host.Builtin{
		Name: config.ServerWebMCP, Server: c.Server(), Hidden: []string{"webmcp_call", "webmcp_tools"},
		Effect: func(string) guard.Effect { return guard.EffectRead }, // of webmcp_tabs; page tools have an origin
		Origin: func(tool string) (string, bool) {
			if origin := c.Origin(tool); origin != "" {
				return origin, true
			}
			return "", tool != "webmcp_tabs"
		},
		Close: c.Close,
	}
}

// firstLine is the first line of a state, which may go on with advice.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return host.CleanText(s)
}

// daemonCommand holds what a user can do about the daemon.
func (a *app) daemonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "daemon", Short: "The process that shares one browser connection", Args: cobra.ArbitraryArgs, RunE: group,
		Long: `All your "aster mcp serve webmcp" and gateway processes share one connection to the
browser, so that the browser asks you once. The first of them starts the daemon in the
background; it ends ten minutes after the last has left, or at once where the browser is one
that aster started. What pages can see follows the flags of the client that came first.

When a newer aster takes over, or after the daemon was stopped or ended unexpectedly, the
connection is made anew: clients go on, and the browser may ask you once more. With
--no-daemon, or ASTER_DAEMON=off, a process connects by itself.`,
	}
	cmd.AddCommand(a.daemonRunCommand(), a.daemonStatusCommand(), a.daemonStopCommand(), a.daemonLogsCommand())
	return cmd
}

func (a *app) daemonRunCommand() *cobra.Command {
	var dir string
	var idle time.Duration
	cmd := &cobra.Command{
		Use: "run", Short: "Be the daemon", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemonRun(cmd.Context(), dir, idle) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where its socket is")
	cmd.Flags().DurationVar(&idle, "idle", daemon.DefaultIdle, "how long it lives without clients")
	return cmd
}

// daemonRun is the daemon. Nobody reads its streams: it logs to a file.
func (a *app) daemonRun(ctx context.Context, dir string, idle time.Duration) error {
	state, err := a.env.stateDir()
	if err != nil {
		return err
	}
	paths, err := a.env.daemonPaths()
	if dir != "" {
		paths, err = daemon.PathsIn(dir, state), nil
	}
	if err != nil {
		return err
	}
	file := daemon.OpenLog(paths.Log)
	defer file.Close()
	level := a.env.Getenv("ASTER_LOG")
	if level == "" {
		level = "info"
	}
	log, err := newLogger(file, a.logLevel, level)
	if err != nil {
		return err
	}
	memory := host.NewSettler()
	defer memory.Stop()
	err = daemon.Run(ctx, &daemon.Options{
		Paths: paths, Version: thisBuild().Version, Logger: log, Idle: idle, Hide: hideByRules, Middleware: memory.Around(host.Recover(log)),
		Open: func(want *daemon.Attach) (*webmcp.BrowserOptions, error) {
			browser := browserOptions{cdpURL: want.Browser, allowRemote: want.AllowRemote, headless: want.Headless}
			finder, launch, err := browser.resolve(a.env)
			return &webmcp.BrowserOptions{
				Logger: log, Finder: finder, Launch: launch, Secret: a.env.shimSecret(log), RetryStamp: a.env.stampPath(),
				Dialogs: want.Dialogs, Origins: want.Origins, DenyOrigins: want.DenyOrigins, LegacyAPI: want.LegacyAPI,
				Compat: want.Compat,
			}, err
		},
	})
	if err != nil {
		log.Error("not started", "err", err)
	}
	return err
}

// noDaemon tells that there is nothing to ask.
func (a *app) noDaemon(asJSON bool) error {
	if asJSON {
		return printJSON(a.env, map[string]bool{"running": false})
	}
	fmt.Fprintln(a.env.Stdout, "No daemon runs.")
	return nil
}

func (a *app) daemonStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show who shares which browser", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := a.env.daemonPaths()
			if err != nil {
				return err
			}
			s, err := daemon.Ask(cmd.Context(), paths)
			if errors.Is(err, daemon.ErrNone) {
				return a.noDaemon(asJSON)
			}
			if err != nil {
				return fmt.Errorf("the daemon does not answer: %w", err)
			}
			if asJSON {
				return printJSON(a.env, struct {
					Running bool `json:"running"`
					*daemon.Status
				}{true, s})
			}
			fmt.Fprintf(a.env.Stdout, "aster %s, process %d, up %s, %s\n", host.CleanText(s.Aster), s.PID, s.Uptime, number(s.Clients, "client"))
			if s.Began != "" {
				fmt.Fprintf(a.env.Stdout, "It was started when %s: the connection to the browser is new since then.\n", host.CleanText(s.Began))
			}
			w := tabwriter.NewWriter(a.env.Stdout, 0, 0, 2, ' ', 0)
			for _, b := range s.Browsers {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", host.CleanText(b.Browser), number(b.Clients, "client"), number(b.Tools, "tool"), strings.TrimSuffix(firstLine(b.State), ". Tried:"))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, errors too")
	return cmd
}

func (a *app) daemonStopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "End the daemon; clients that run start another when they need it", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := a.env.daemonPaths()
			if err != nil {
				return err
			}
			err = daemon.Stop(cmd.Context(), paths)
			if errors.Is(err, daemon.ErrNone) {
				return a.noDaemon(false)
			}
			if err == nil {
				fmt.Fprintln(a.env.Stdout, "The daemon has ended.")
			}
			return err
		},
	}
}

// shownLog is how much of the log is shown.
const shownLog = 64 << 10

func (a *app) daemonLogsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logs", Short: "Show the end of the daemon's log", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			paths, err := a.env.daemonPaths()
			if err != nil {
				return err
			}
			text, err := daemon.ReadLog(paths, shownLog)
			if errors.Is(err, os.ErrNotExist) {
				fmt.Fprintf(a.env.Stdout, "There is no log yet; it would be %s\n", paths.Log)
				return nil
			}
			if err != nil {
				return err
			}
			_, err = a.env.Stdout.Write(text)
			return err
		},
	}
}
