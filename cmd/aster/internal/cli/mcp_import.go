package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type importOptions struct {
	configSource
	dryRun bool
}

func (a *app) importCommand() *cobra.Command {
	o := &importOptions{configSource: configSource{app: a}}
	cmd := &cobra.Command{
		Use: "import [CLIENT]", Short: "Take over the servers of another MCP client",
		Long: `Takes over the servers of another MCP client, or of all that are found:
` + strings.Join(config.ImportClients(), ", ") + `.

A server whose name is declared already is left as it is. Neither trust nor approvals are
taken over. --dry-run prints what would be written; values that may be secrets are hidden.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("%s takes one client", cmd.CommandPath()), "aster help mcp import"}
			}
			return nil
		},
		ValidArgs: config.ImportClients(),
		RunE: func(_ *cobra.Command, args []string) error {
			return importRun(o, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	o.bindEdit(cmd)
	return cmd
}

func importRun(o *importOptions, client string) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	all, readErr := config.Import(client, &config.ImportOptions{Home: o.env.Home, Dir: ".", Getenv: o.env.Getenv})
	if all == nil && readErr != nil {
		return &usageError{err: readErr}
	}
	d, err := o.document(opts)
	if err != nil {
		return err
	}
	var b strings.Builder
	taken := 0
	for _, i := range all {
		ok, err := o.take(&b, c, d, i)
		if err != nil {
			return err
		}
		if ok {
			taken++
		}
	}
	if err := o.env.printLines(b.String()); err != nil {
		return err
	}
	switch {
	case len(all) == 0:
		fmt.Fprintln(o.env.Stdout, "no servers of another client are found")
	case o.dryRun:
		fmt.Fprintf(o.env.Stdout, "%d of %d servers would be written to %s\n", taken, len(all), host.CleanText(d.Path()))
	default:
		if err := d.Save(); err != nil {
			return err
		}
		fmt.Fprintf(o.env.Stdout, "%d of %d servers written to %s\n", taken, len(all), host.CleanText(d.Path()))
	}
	return readErr
}

// take puts one server into the document and says so.
func (o *importOptions) take(b *strings.Builder, c *config.Config, d *config.Document, i config.Imported) (bool, error) {
	from := fmt.Sprintf("%s (%s, %s)", i.Name, i.Client, i.Place)
	if i.Err != nil {
		fmt.Fprintf(b, "skip  %s: %v\n", from, i.Err)
		return false, nil
	}
	if old := c.Server(i.Server.Name); old != nil {
		fmt.Fprintf(b, "skip  %s: %s declares it already\n", from, old.Place)
		return false, nil
	}
	if d.Has("mcp", "servers", i.Server.Name) {
		fmt.Fprintf(b, "skip  %s: another of that name was taken over\n", from)
		return false, nil
	}
	if err := d.AddServer(i.Server); err != nil {
		if errors.Is(err, config.ErrShape) {
			return false, err
		}
		fmt.Fprintf(b, "skip  %s: %v\n", from, err)
		return false, nil
	}
	for _, rule := range i.Deny {
		if _, err := d.Append(rule, "mcp", "tools", "deny"); err != nil {
			return false, err
		}
		i.Notes = append(i.Notes, "denied: "+rule)
	}
	fmt.Fprintf(b, "take  %s\n", from)
	for _, n := range i.Notes {
		fmt.Fprintf(b, "      %s\n", n)
	}
	if o.dryRun {
		b.WriteString(i.Server.Masked().YAML(6))
	}
	return true, nil
}
