package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

func (a *app) disconnectCommand() *cobra.Command {
	o := &connectOptions{app: a}
	cmd := &cobra.Command{
		Use: "disconnect CLIENT", Short: "Take a server of aster out of an AI client",
		Long: `Takes a server of aster out of the configuration of an AI client, after it has shown the
change and you agreed. All else in that file stays as it is, byte for byte; an entry of
another program is left alone.

Clients: ` + strings.Join(config.ConnectClients(), ", ") + `.`,
		Example: `  aster mcp disconnect claude
  aster mcp disconnect cursor --server gateway --print`,
		ValidArgs: config.ConnectClients(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{fmt.Errorf("%s takes one client", cmd.CommandPath()), "aster help mcp disconnect"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return disconnectRun(o, args[0]) },
	}
	cmd.Flags().BoolVar(&o.project, "project", false, "change the project's file instead of your own")
	o.flags(cmd)
	return cmd
}

func disconnectRun(o *connectOptions, client string) error {
	s, err := o.entry(nil)
	if err != nil {
		return err
	}
	c, err := config.Disconnect(client, s, o.project, o.places())
	switch {
	case errors.Is(err, config.ErrTaken):
		return fmt.Errorf("%w with --name, or edit it by hand", err)
	case err != nil && !slices.Contains(config.ConnectClients(), client):
		return &usageError{err, "aster help mcp disconnect"}
	case err != nil:
		return err
	case !c.Changed():
		_, err := fmt.Fprintf(o.env.Stdout, "%s has no %s: %s\n", client, s.Name, host.CleanText(c.Path))
		return err
	}
	if wrote, err := o.write(c); err != nil || !wrote {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stdout, "wrote %s\nA session of %s that runs keeps %s until it ends.\n", host.CleanText(c.Path), client, s.Name)
	return err
}
