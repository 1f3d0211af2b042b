package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// frontOptions are the flags of a command that serves one of aster's own servers by
// itself, with the guard in front of it.
type frontOptions struct {
	approve  string
	readOnly bool
	http     httpOptions
}

func (o *frontOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.approve, "approve", "", "who asks you about a call: `client`, aster or never (default: aster where the client cannot see the real tool, else the client)")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every call that is not known to only read")
	o.http.bind(cmd)
	cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions([]string{"client", "aster", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

// session are the options of the guard.
func (o *frontOptions) session(a *app, c *config.Config) (*host.SessionOptions, error) {
	mode, err := approveMode(o.approve)
	if err != nil {
		return nil, err
	}
	dir, err := a.env.stateDir()
	if err != nil {
		dir = "" // what has to be kept says so
	}
	return &host.SessionOptions{Config: c, Logger: a.log, StateDir: dir, Approver: a.asker(), Approve: mode, ReadOnly: o.readOnly}, nil
}

// loadForServe reads the configuration; a fault in it is wrong use, so that the exit code
// says that nothing was started.
func (a *app) loadForServe(file string) (*config.Config, error) {
	source := &configSource{app: a, file: file}
	c, _, err := source.load()
	if err != nil {
		return nil, &codeError{ExitUsage, fmt.Errorf("configuration: %w", err)}
	}
	for _, p := range c.Problems {
		a.log.Warn("configuration: left out", "what", p.String())
	}
	return c, nil
}

// serveFront serves a server by itself until its client leaves, or over HTTP until ctx
// ends. b is closed then.
func (a *app) serveFront(ctx context.Context, fo *frontOptions, o *host.SessionOptions, b host.Builtin, hint string) error {
	memory := host.NewSettler()
	defer memory.Stop()
	f, err := host.NewFront(o, b)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Server().AddReceivingMiddleware(memory.Middleware)
	l, serving, err := fo.http.listen(ctx, a)
	if err != nil {
		return err
	}
	if l != nil {
		return host.ServeHTTP(ctx, f.Server(), l, serving)
	}
	if a.env.Terminal {
		fmt.Fprintln(a.env.Stderr, "aster: waiting for an MCP client on stdin. "+hint+"; to leave, press Ctrl-C.")
	}
	return host.ServeStdio(ctx, f.Server(), a.env.Stdin, a.env.Stdout, &host.StdioOptions{Logger: a.log})
}
