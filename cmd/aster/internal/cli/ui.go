package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

type uiOptions struct {
	sessionOptions
	port uint16
}

// uiCommand shows what is there on a page.
func (a *app) uiCommand() *cobra.Command {
	o := &uiOptions{sessionOptions: sessionOptions{configSource: configSource{app: a}}}
	cmd := &cobra.Command{
		Use: "ui", Short: "Show servers, tools, calls and policy on a local page", Args: noArgs,
		Long: `Serves a page to your browser, on this machine only, until you press Ctrl-C. It shows, as
it changes: the pages that offer tools, the servers and how they stand, what a model is
given and how many tokens that takes, the calls of all your aster processes with decision
and duration, and the rules of the policy with the line that each is written in.

Open the address that it prints: the token in it lets your browser in, and nothing else.
The page changes nothing and calls no tool.`,
		Example: "  aster ui\n  aster ui --port 8809",
		RunE:    func(cmd *cobra.Command, _ []string) error { return uiRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.file, "config", "", "read this `file` in place of yours and the project's")
	cmd.Flags().Uint16Var(&o.port, "port", 0, "listen on this `port` of 127.0.0.1 (default: a free one)")
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
	s, err := o.open(c, nil, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	o.warn(c, s)
	wait, cancel := context.WithTimeout(ctx, host.StartWait)
	s.Start(wait)
	cancel()
	show := &ui.Options{Session: s, Config: c, Token: host.NewToken(), Logger: o.log}
	if c.Audit.Enabled {
		show.Audit = host.AuditPath(c, opts.UserDir)
	}
	fmt.Fprintf(o.env.Stdout, "http://%s/?token=%s\n", l.Addr(), show.Token)
	return ui.Serve(ctx, l, show)
}
