package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type enableOptions struct {
	configSource
	on bool
}

// enableCommand is "aster mcp enable" or, with on false, "disable".
func (a *app) enableCommand(on bool) *cobra.Command {
	o := &enableOptions{configSource{app: a}, on}
	verb, short := "disable", "Turn a server or a tool off"
	if on {
		verb, short = "enable", "Turn a server or a tool on"
	}
	cmd := &cobra.Command{
		Use: verb + " SERVER | SERVER/TOOL", Short: short, Args: oneArg,
		Long: short + `. A name with a "/" is a tool's, and may be a glob: it is put into the
deny list or taken out of it. A name without one is a server's. All else in the file stays
as it is, byte for byte.`,
		Example: fmt.Sprintf("  aster mcp %s browser\n  aster mcp %s web/crawl\n  aster mcp %s 'browser/*'", verb, verb, verb),
		RunE: func(_ *cobra.Command, args []string) error {
			if strings.Contains(args[0], "/") {
				return toolRun(o, args[0])
			}
			return serverRun(o, args[0])
		},
		ValidArgsFunction: o.completeEdits,
	}
	o.bindEdit(cmd)
	return cmd
}

// oneArg wants one argument.
func oneArg(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return &usageError{fmt.Errorf("%s takes one name", cmd.CommandPath()), "aster help" + strings.TrimPrefix(cmd.CommandPath(), "aster")}
}

func builtinNames() []string {
	return []string{config.ServerShortcuts, config.ServerWeb, config.ServerWebMCP}
}

// said is what an edit says about itself.
func (o *configSource) said(d *config.Document, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if !d.Changed() {
		text = "nothing to change in"
	}
	if err := d.Save(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.env.Stdout, "%s %s\n", host.CleanText(text), host.CleanText(d.Path()))
	return err
}

// serverRun turns a server on or off.
func serverRun(o *enableOptions, name string) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	s := c.Server(name)
	waits := slices.ContainsFunc(c.Pending, func(r *config.ConsentRequest) bool { return r.Name == name })
	if s == nil && !waits && !slices.Contains(builtinNames(), name) {
		return unknownServer(c, name)
	}
	d, err := o.serverDocument(opts, c, s, name)
	if err != nil {
		return err
	}
	if name == config.ServerWebMCP {
		if o.on && d.Has("mcp", "servers", name) {
			err = d.SetBool(false, "mcp", "servers", name, "disabled")
		}
		err = errors.Join(err, d.SetBool(o.on, "mcp", "webmcp", "enabled"))
	} else {
		err = d.SetBool(!o.on, "mcp", "servers", name, "disabled")
	}
	if err != nil {
		return err
	}
	verb := map[bool]string{true: "enabled", false: "disabled"}[o.on]
	if err := o.said(d, "%s %s in", verb, name); err != nil {
		return err
	}
	return o.checkServer(name)
}

// serverDocument is the file in which a server is turned on or off: where its state is
// said, else where it is declared, else the usual one.
func (o *enableOptions) serverDocument(opts *config.Options, c *config.Config, s *config.Server, name string) (*config.Document, error) {
	if o.global || o.project || o.file != "" {
		return o.document(opts)
	}
	_, by := c.Builtin(name)
	places := []config.Place{by}
	if s != nil {
		places = []config.Place{s.DisabledBy, s.Place}
	}
	for _, p := range places {
		if (p.Scope == config.ScopeGlobal || p.Scope == config.ScopeProject) && isYAML(p.File) {
			return config.OpenDocument(p.File, p.Scope)
		}
	}
	return o.document(opts)
}

func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// checkServer says when the edit did not bring about what was wished.
func (o *enableOptions) checkServer(name string) error {
	c, _, err := o.load()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.Pending, func(r *config.ConsentRequest) bool { return r.Name == name }) {
		fmt.Fprintf(o.env.Stdout, "it waits for your consent: aster config consent %s\n", name)
		return nil
	}
	on, by := c.Builtin(name)
	if s := c.Server(name); s != nil {
		on, by = !s.Disabled, s.DisabledBy
	}
	switch {
	case on && !o.on:
		return fmt.Errorf("%s is still on: %s says so", name, by)
	case !on && o.on:
		return fmt.Errorf("%s is still off: %s says so", name, by)
	}
	return nil
}

// unknownServer is the usage error of a name that no file declares.
func unknownServer(c *config.Config, name string) error {
	known := builtinNames()
	for _, s := range c.Servers {
		known = append(known, s.Name)
	}
	slices.Sort(known)
	return usagef("no file declares a server %q; known: %s", name, strings.Join(known, ", "))
}

// toolRun puts a pattern into the deny list or takes it out.
func toolRun(o *enableOptions, pattern string) error {
	if _, err := config.NewPattern(pattern, config.Place{}); err != nil {
		return &usageError{err: err}
	}
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	if !o.on {
		d, err := o.document(opts)
		if err != nil {
			return err
		}
		if _, err := d.Append(pattern, "mcp", "tools", "deny"); err != nil {
			return err
		}
		return o.said(d, "denied %s in", pattern)
	}
	return enableTool(o, c, opts, pattern)
}

// enableTool takes a pattern out of every deny list that has it, or out of the one of the
// file that a flag names, and adds it to an allow list that leaves it out.
func enableTool(o *enableOptions, c *config.Config, opts *config.Options, pattern string) error {
	done := false
	for _, rule := range c.Tools.Deny {
		if rule.Text != pattern || !o.mayEdit(opts, rule.Place) {
			continue
		}
		d, err := config.OpenDocument(rule.Place.File, rule.Place.Scope)
		if err != nil {
			return err
		}
		if found, err := d.Drop(pattern, "mcp", "tools", "deny"); err != nil || !found {
			if err != nil {
				return err
			}
			continue // doubled in one file, and gone already
		}
		if err := o.said(d, "took %s out of the deny list of", pattern); err != nil {
			return err
		}
		done = true
	}
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	v := c.Tools.Filter(pattern)
	if !v.Allowed && v.By == nil { // some allow list leaves it out
		d, err := o.document(opts)
		if err != nil {
			return err
		}
		if _, err := d.Append(pattern, "mcp", "tools", "allow"); err != nil {
			return err
		}
		if err := o.said(d, "allowed %s in", pattern); err != nil {
			return err
		}
		return nil
	}
	if !v.Allowed {
		return fmt.Errorf("%s is still held back: deny %q in %s", pattern, v.By.Text, v.By.Place)
	}
	if !done {
		_, err = fmt.Fprintf(o.env.Stdout, "no deny list has %s\n", host.CleanText(pattern))
	}
	return err
}

// mayEdit reports whether a rule's file is one that the flags leave to this command.
func (o *enableOptions) mayEdit(opts *config.Options, p config.Place) bool {
	if !o.global && !o.project && o.file == "" {
		return p.Scope == config.ScopeGlobal || p.Scope == config.ScopeProject
	}
	path, _, err := o.target(opts)
	return err == nil && path == p.File
}

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
