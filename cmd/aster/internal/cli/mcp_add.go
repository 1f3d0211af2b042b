package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type addOptions struct {
	configSource
	kind, cwd       string
	vars, headers   []string
	timeout         time.Duration
	disabled, trust bool
}

func (a *app) addCommand() *cobra.Command {
	o := &addOptions{configSource: configSource{app: a}}
	cmd := &cobra.Command{
		Use: "add NAME [flags] [--] COMMAND [ARG…] | add NAME [flags] URL", Short: "Declare a server",
		Long: `Declares a server: a command to run, or the address of a remote one. Flags of the
command go behind "--". Credentials belong into variables: --env 'TOKEN=${TOKEN}'.`,
		Example: `  aster mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  aster mcp add wiki https://mcp.deepwiki.com/mcp
  aster mcp add crm --header 'Authorization: Bearer ${CRM_TOKEN}' https://crm.example/mcp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return &usageError{fmt.Errorf("%s takes a name, and a command or an address", cmd.CommandPath()), "aster help mcp add"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return addRun(o, args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.vars, "env", nil, "a variable for the command, as `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&o.headers, "header", nil, "a header for a remote server, as `'Name: value'`; may be repeated")
	f.StringVar(&o.kind, "type", "", "the transport of a remote server: http or sse")
	f.StringVar(&o.cwd, "cwd", "", "the `directory` of the command")
	f.DurationVar(&o.timeout, "timeout", 0, "how long a call may take")
	f.BoolVar(&o.disabled, "disabled", false, "declare it, but do not turn it on")
	f.BoolVar(&o.trust, "trust", false, "its tools need no approval")
	o.bindEdit(cmd)
	return cmd
}

func addRun(o *addOptions, name string, what []string) error {
	s := &config.Server{Name: name, Cwd: o.cwd, Timeout: o.timeout, Disabled: o.disabled, Trust: o.trust}
	remote := len(what) == 1 && (strings.HasPrefix(what[0], "https://") || strings.HasPrefix(what[0], "http://"))
	switch {
	case o.kind != "" && o.kind != "http" && o.kind != string(config.SSE) && o.kind != string(config.StreamableHTTP):
		return usagef("--type is http or sse, not %q", o.kind)
	case remote && (len(o.vars) > 0 || o.cwd != ""):
		return usagef("--env and --cwd are for a command, and %s is an address", what[0])
	case !remote && (len(o.headers) > 0 || o.kind != ""):
		return usagef("--header and --type are for an address that begins with https://, and %q is a command", what[0])
	case remote:
		s.Transport, s.URL = config.StreamableHTTP, what[0]
		if o.kind == string(config.SSE) {
			s.Transport = config.SSE
		}
	default:
		s.Transport, s.Command, s.Args = config.Stdio, what[0], what[1:]
	}
	var err error
	if s.Env, err = pairs(o.vars, "=", "--env NAME=VALUE"); err != nil {
		return err
	}
	if s.Headers, err = pairs(o.headers, ":", "--header 'Name: value'"); err != nil {
		return err
	}
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	d, err := o.document(opts)
	if err != nil {
		return err
	}
	if err := d.AddServer(s); err != nil {
		return &usageError{err: err}
	}
	if err := o.said(d, "added %s to", name); err != nil {
		return err
	}
	if old := c.Server(name); old != nil {
		fmt.Fprintf(o.env.Stdout, "another %s is declared in %s\n", name, host.CleanText(old.Place.String()))
	}
	return nil
}

// pairs splits "name=value" flags.
func pairs(list []string, sep, form string) (map[string]string, error) {
	var out map[string]string
	for _, p := range list {
		name, value, ok := strings.Cut(p, sep)
		if !ok || name == "" {
			return nil, usagef("%q is not of the form %s", p, form)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[strings.TrimSpace(name)] = strings.TrimLeft(value, map[string]string{":": " "}[sep])
	}
	return out, nil
}

type removeOptions struct{ configSource }

func (a *app) removeCommand() *cobra.Command {
	o := &removeOptions{configSource{app: a}}
	cmd := &cobra.Command{
		Use: "remove SERVER", Short: "Take a server out of its file", Args: oneArg,
		RunE:              func(_ *cobra.Command, args []string) error { return removeRun(o, args[0]) },
		ValidArgsFunction: o.completeServers,
	}
	o.bindEdit(cmd)
	return cmd
}

func removeRun(o *removeOptions, name string) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	place := config.Place{}
	if s := c.Server(name); s != nil {
		place = s.Place
	}
	for _, r := range c.Pending {
		if r.Name == name && name != "" {
			place = r.Place
		}
	}
	if o.global || o.project || o.file != "" {
		if place.File, place.Scope, err = o.target(opts); err != nil {
			return err
		}
	}
	switch {
	case slices.Contains(builtinNames(), name):
		return usagef("%q is a server inside aster: disable it instead", name)
	case place.File == "":
		return unknownServer(c, name)
	case !isYAML(place.File):
		return fmt.Errorf("%s is declared in %s, which belongs to other clients too: remove it there, or disable it", name, place)
	}
	d, err := config.OpenDocument(place.File, place.Scope)
	if err != nil {
		return err
	}
	found, err := d.Remove("mcp", "servers", name)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s has no server %q", d.Path(), name)
	}
	return o.said(d, "removed %s from", name)
}
