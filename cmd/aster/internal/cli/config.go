package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// configSource says which files a command reads and edits.
type configSource struct {
	*app
	file    string // --config
	global  bool   // --global
	project bool   // --project
	json    bool   // --json
}

// bindRead adds the flags of a command that only reads.
func (o *configSource) bindRead(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "config", "", "read this `file` in place of yours and the project's")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, errors too")
}

// bindEdit adds the flags of a command that edits.
func (o *configSource) bindEdit(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "config", "", "edit this `file`")
	cmd.Flags().BoolVar(&o.global, "global", false, "edit your own aster.yaml")
	cmd.Flags().BoolVar(&o.project, "project", false, "edit the project's aster.yaml")
	cmd.MarkFlagsMutuallyExclusive("global", "project", "config")
}

// options are where the configuration is looked for.
func (o *configSource) options() (*config.Options, error) {
	dir, err := o.env.stateDir()
	if err != nil && !errors.Is(err, errNoState) {
		return nil, err
	}
	opts := &config.Options{UserDir: dir, Dir: ".", File: o.file, Home: o.env.Home, Getenv: o.env.Getenv}
	if dir != "" {
		if opts.Consents, err = config.OpenConsents(dir); err != nil {
			return nil, err
		}
	}
	return opts, nil
}

// load reads the configuration.
func (o *configSource) load() (*config.Config, *config.Options, error) {
	opts, err := o.options()
	if err != nil {
		return nil, nil, err
	}
	c, err := config.Load(opts)
	return c, opts, err
}

// target is the file that an edit goes to, where no place decides it: the project's with
// --project, else the user's own.
func (o *configSource) target(opts *config.Options) (string, config.Scope, error) {
	paths, err := config.Locate(opts)
	switch {
	case err != nil:
		return "", 0, err
	case o.file != "":
		path, err := filepath.Abs(o.file)
		return path, config.ScopeFlag, err
	case o.project && paths.Project != "":
		return paths.Project, config.ScopeProject, nil
	case o.project:
		return filepath.Join(paths.ProjectDir, config.UserFile), config.ScopeProject, nil
	case paths.User == "":
		return "", 0, errNoState
	}
	return paths.User, config.ScopeGlobal, nil
}

// document opens the file that an edit goes to.
func (o *configSource) document(opts *config.Options) (*config.Document, error) {
	path, scope, err := o.target(opts)
	if err != nil {
		return nil, err
	}
	return config.OpenDocument(path, scope)
}

// addConfigCommands adds the commands that only need the configuration.
func (a *app) addConfigCommands(root *cobra.Command) {
	root.AddCommand(a.configCommand(), a.initCommand(), a.daemonCommand())
	for _, cmd := range root.Commands() {
		if cmd.Name() == "mcp" {
			cmd.AddCommand(a.listCommand(), a.getCommand(), a.enableCommand(true), a.enableCommand(false), a.addCommand(), a.removeCommand(), a.importCommand())
		}
	}
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "The configuration: where it is and whether it is right", Args: cobra.ArbitraryArgs, RunE: group,
	}
	schema := &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of aster.yaml", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { _, err := a.env.Stdout.Write(config.Schema()); return err },
	}
	cmd.AddCommand(schema, a.configPathCommand(), a.configCheckCommand(), a.configConsentCommand())
	return cmd
}

func (a *app) configPathCommand() *cobra.Command {
	o := &configSource{app: a}
	cmd := &cobra.Command{
		Use: "path", Short: "Print the files that are read, the one that counts most last", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return configPathRun(o) },
	}
	o.bindRead(cmd)
	return cmd
}

// pathEntry is a file as printed.
type pathEntry struct {
	Path  string `json:"path"`
	Scope string `json:"scope"`
	Found bool   `json:"found"`
}

// configPathRun prints where the files are, whether they can be read or not.
func configPathRun(o *configSource) error {
	opts, err := o.options()
	if err != nil {
		return err
	}
	p, err := config.Locate(opts)
	if err != nil {
		return err
	}
	list := []pathEntry{}
	add := func(path, scope string) {
		if path != "" {
			_, err := os.Stat(path)
			list = append(list, pathEntry{path, scope, err == nil})
		}
	}
	if o.file != "" {
		path, err := filepath.Abs(o.file)
		if err != nil {
			return err
		}
		add(path, "flag")
	} else {
		add(p.UserServers, "global")
		add(p.ProjectServers, "project")
		add(p.User, "global")
		add(p.Project, "project")
	}
	if o.json {
		return printJSON(o.env, list)
	}
	for _, e := range list {
		note := ""
		if !e.Found {
			note = "  (not there)"
		}
		fmt.Fprintf(o.env.Stdout, "%-7s  %s%s\n", e.Scope, host.CleanText(e.Path), note)
	}
	return nil
}

func (a *app) configCheckCommand() *cobra.Command {
	o := &configSource{app: a}
	cmd := &cobra.Command{
		Use: "check", Short: "Check the configuration and start nothing", Args: noArgs,
		Long: `Checks all files and variables and starts nothing. A fault ends it with exit code 1.
What holds but is left out, such as a rule that cannot be read, is printed as a warning.`,
		RunE: func(*cobra.Command, []string) error { return configCheckRun(o) },
	}
	o.bindRead(cmd)
	return cmd
}

func configCheckRun(o *configSource) error {
	c, _, err := o.load()
	if err != nil {
		return err
	}
	var warnings, faults []string
	for _, p := range c.Problems {
		warnings = append(warnings, p.String())
	}
	for _, s := range c.Servers {
		if s.Disabled {
			continue
		}
		if _, _, err := s.Expand(o.env.Getenv); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				faults = append(faults, fmt.Sprintf("%s: %s", s.Place, line))
			}
		}
	}
	if o.json {
		out := struct {
			OK       bool     `json:"ok"`
			Faults   []string `json:"faults"`
			Warnings []string `json:"warnings"`
		}{len(faults) == 0, append([]string{}, faults...), append([]string{}, warnings...)}
		if err := printJSON(o.env, out); err != nil {
			return err
		}
	} else {
		for _, p := range c.Problems {
			for i, line := range p.Lines() {
				fmt.Fprintf(o.env.Stdout, "%-7s  %s\n", []string{"warning", ""}[min(i, 1)], strings.TrimRight(host.CleanText(line), " "))
			}
		}
		for _, f := range faults {
			fmt.Fprintf(o.env.Stdout, "fault    %s\n", host.CleanText(f))
		}
	}
	if len(faults) > 0 {
		return &codeError{code: ExitFailed}
	}
	if !o.json {
		fmt.Fprintf(o.env.Stdout, "ok       %s, %s\n", number(len(c.Servers), "server"), number(len(warnings), "warning"))
	}
	return nil
}

type consentOptions struct {
	configSource
	yes, revoke bool
}

func (a *app) configConsentCommand() *cobra.Command {
	o := &consentOptions{configSource: configSource{app: a}}
	cmd := &cobra.Command{
		Use: "consent [SERVER…]", Short: "Agree to what the project's files would run",
		Long: `Shows what the project's files would run or widen and waits for your consent, and asks
you about each. Consent is for exactly what is shown: after a change you are asked again.
The settings of the project's aster.yaml go by the name "settings".`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return consentRun(o, args) },
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "agree to all without asking")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "take consent back for the servers named")
	return cmd
}

// settingsName stands for the settings of a project's file on the command line.
const settingsName = "settings"

func consentRun(o *consentOptions, names []string) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	if opts.Consents == nil {
		return errNoState
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
		if o.revoke {
			if err := opts.Consents.Revoke(c.Project, strings.TrimPrefix(n, settingsName)); err != nil {
				return err
			}
			fmt.Fprintf(o.env.Stdout, "took back the consent to %s\n", host.CleanText(n))
		}
	}
	if o.revoke {
		if len(names) == 0 {
			return usagef("--revoke needs the names of servers")
		}
		return nil
	}
	in := bufio.NewScanner(o.env.Stdin)
	asked := false
	for _, r := range c.Pending {
		name := r.Name
		if name == "" {
			name = settingsName
		}
		if len(names) > 0 && !wanted[name] {
			continue
		}
		asked = true
		fmt.Fprintf(o.env.Stdout, "%s (%s)\n", name, host.CleanText(r.Place.String()))
		for _, line := range r.Lines {
			fmt.Fprintf(o.env.Stdout, "  %s\n", line)
		}
		if !o.yes {
			if !o.env.Terminal {
				continue
			}
			fmt.Fprint(o.env.Stdout, "Agree? [y/N] ")
			if !in.Scan() || !strings.EqualFold(strings.TrimSpace(in.Text()), "y") {
				fmt.Fprintln(o.env.Stdout, "not agreed")
				continue
			}
		}
		if err := opts.Consents.Grant(r, time.Now()); err != nil {
			return err
		}
		fmt.Fprintln(o.env.Stdout, "agreed")
	}
	if asked && !o.yes && !o.env.Terminal {
		return usagef("nobody to ask: run it on a terminal, or add --yes")
	}
	if !asked {
		fmt.Fprintln(o.env.Stdout, "nothing waits for consent")
	}
	return nil
}
