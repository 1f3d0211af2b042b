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
	return usagef("no file declares a server %q; known: %s", name, strings.Join(serverNames(c), ", "))
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
		if err := o.said(d, "denied %s in", pattern); err != nil {
			return err
		}
		o.warnIdle(c, pattern)
		return nil
	}
	return enableTool(o, c, opts, pattern)
}

// warnIdle says that a rule which was just written is about no server that any file
// declares. It may still be right: for a server that is declared later.
func (o *configSource) warnIdle(c *config.Config, pattern string) {
	p, err := config.NewPattern(pattern, config.Place{})
	servers := serverNames(c)
	if err != nil || slices.ContainsFunc(servers, p.MatchServer) {
		return
	}
	hint := p.Suggest(nil, servers)
	if hint == "" {
		hint = "known: " + strings.Join(servers, ", ")
	}
	fmt.Fprintf(o.env.Stderr, "aster: no file declares a server for %s, so the rule does nothing yet; %s\n", host.CleanText(pattern), host.CleanText(hint))
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
