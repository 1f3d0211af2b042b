package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// loginCommands are aster mcp login and logout.
func (a *app) loginCommands() []*cobra.Command {
	command := func(use, short, long string, run func(context.Context, *configSource, string) error) *cobra.Command {
		o := &configSource{app: a}
		cmd := &cobra.Command{
			Use: use, Short: short, Long: long, Args: oneArg, ValidArgsFunction: o.completeServers,
			RunE: func(cmd *cobra.Command, args []string) error {
				return run(cmd.Context(), o, args[0])
			},
		}
		o.bindRead(cmd)
		return cmd
	}
	return []*cobra.Command{
		command("login SERVER", "Sign in to a remote server", `Signs you in to a remote server with OAuth: prints the address of the page to open, and waits
until you are done there. The login is kept in the system's keychain, or, where there is
none, in a file that only you can read.`, loginRun),
		command("logout SERVER", "Forget the login of a remote server", "", logoutRun),
	}
}

// remote is a configured server with a URL.
func (o *configSource) remote(name string) (*config.Config, *config.Server, string, error) {
	c, opts, err := o.load()
	if err != nil {
		return nil, nil, "", err
	}
	s := c.Server(name)
	switch {
	case s == nil:
		return nil, nil, "", unknownServer(c, name)
	case s.Transport == config.Stdio:
		return nil, nil, "", usagef("the server %s is a command, which has no login of ours", name)
	}
	return c, s, opts.UserDir, nil
}

func loginRun(ctx context.Context, o *configSource, name string) error {
	c, s, dir, err := o.remote(name)
	if err != nil {
		return err
	}
	asked, err := host.Login(ctx, c, s, o.env.Getenv, dir, func(_ context.Context, page string) error {
		_, err := fmt.Fprintf(o.env.Stderr, "Open this page to sign in to %s:\n\n  %s\n\n", host.CleanText(name), host.CleanText(page))
		return err
	})
	if err != nil {
		return err
	}
	text := "signed in to"
	if !asked {
		text = "no login is needed for"
	}
	_, err = fmt.Fprintf(o.env.Stdout, "%s %s\n", text, host.CleanText(name))
	return err
}

func logoutRun(ctx context.Context, o *configSource, name string) error {
	_, s, dir, err := o.remote(name)
	if err != nil {
		return err
	}
	had, err := host.Logout(ctx, s, o.env.Getenv, dir)
	if err != nil {
		return err
	}
	text := "forgot the login of"
	if !had {
		text = "there was no login of"
	}
	_, err = fmt.Fprintf(o.env.Stdout, "%s %s\n", text, host.CleanText(name))
	return err
}
