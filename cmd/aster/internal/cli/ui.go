package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

type uiOptions struct {
	sessionOptions
	port   uint16
	noTabs bool
}

// uiCommand shows what is there on a page.
func (a *app) uiCommand() *cobra.Command {
	o := &uiOptions{sessionOptions: sessionOptions{configSource: configSource{app: a}}}
	cmd := &cobra.Command{
		Use: "ui", Short: "Show servers, tools, calls and policy on a local page, and answer questions there", Args: noArgs,
		Long: `Serves a page to your browser, on this machine only, until you press Ctrl-C. It shows, as
it changes: your tabs and the tools that they offer, the servers and how they stand, what a
model is given and how many tokens that takes, the calls of all your aster processes with
decision and duration, and the rules of the policy with the line that each is written in.

What your aster processes have to ask you about a call can be answered there, beside where
your client asks: the first answer counts. Where a client cannot ask, the page is the only
place; with a client of MCP 2026-07-28 that asks by itself the question stays there.

Open the address that it prints: the token in it lets your browser in, and nothing else.
The page calls no tool.`,
		Example: "  aster ui\n  aster ui --port 8809",
		RunE:    func(cmd *cobra.Command, _ []string) error { return uiRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.file, "config", "", "read this `file` in place of yours and the project's")
	cmd.Flags().Uint16Var(&o.port, "port", 0, "listen on this `port` of 127.0.0.1 (default: a free one)")
	cmd.Flags().BoolVar(&o.noTabs, "no-tabs", false, "leave the browser alone, and show no tabs")
	o.daemonOptions.bind(cmd)
	return cmd
}

func uiRun(ctx context.Context, o *uiOptions) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	l, err := host.ListenHTTP(ctx, fmt.Sprintf("127.0.0.1:%d", o.port), nil)
	if err != nil {
		return usagef("--port: %w", err)
	}
	defer l.Close()
	s, pages, err := o.sessions(c)
	if err != nil {
		return err
	}
	defer s.Close()
	if pages != nil {
		defer pages.Close()
	}
	o.warn(c, s)
	wait, cancel := context.WithTimeout(ctx, host.StartWait)
	if pages != nil {
		pages.Start(wait) // inside this process, so it is quick
	}
	s.Start(wait)
	cancel()
	show := &ui.Options{Session: s, Config: c, Pages: pages, Token: host.NewToken(), Logger: o.log}
	if c.Audit.Enabled {
		show.Audit = host.AuditPath(c, opts.UserDir)
	}
	if show.Questions, err = o.questions(ctx); err != nil {
		o.log.Warn("questions about calls are not put to the page", "err", err)
	}
	fmt.Fprintf(o.env.Stdout, "http://%s/#token=%s\n", l.Addr(), show.Token)
	return ui.Serve(ctx, l, show)
}

// sessions are what is shown: the servers that a gateway has, and the tabs' server by
// itself where the gateway has none (mcp.webmcp.enabled). The second is nil otherwise.
func (o *uiOptions) sessions(c *config.Config) (s, pages *host.Session, err error) {
	of := *c
	on, _ := c.Builtin(config.ServerWebMCP)
	of.WebMCP.Enabled = of.WebMCP.Enabled && !o.noTabs
	if s, err = o.open(&of, nil, nil); err != nil || on || o.noTabs {
		return s, nil, err
	}
	of = *c
	of.WebMCP.Enabled = true
	if pages, err = o.open(&of, []string{config.ServerWebMCP}, nil); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, pages, nil
}

// questions is where other processes put theirs.
func (o *uiOptions) questions(ctx context.Context) (net.Listener, error) {
	paths, err := o.env.answerPaths()
	if err != nil {
		return nil, err
	}
	return daemon.ListenAnswers(ctx, paths)
}
