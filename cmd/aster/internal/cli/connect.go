package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type connectOptions struct {
	*app
	server, name, command string
	project, print, yes   bool
}

// connectServers are the servers that a client can be given: the name that it has there and
// the arguments of aster.
func connectServers() map[string][]string {
	return map[string][]string{
		"webmcp":    {serverName, "mcp", "serve", "webmcp"},
		"web":       {"web", "mcp", "serve", "web"},
		"shortcuts": {"shortcuts", "mcp", "serve", "shortcuts"},
		"gateway":   {"aster", "mcp", "serve"},
	}
}

var connectNames = []string{"webmcp", "web", "shortcuts", "gateway"}

func (a *app) connectCommand() *cobra.Command {
	o := &connectOptions{app: a}
	cmd := &cobra.Command{
		Use: "connect [CLIENT] [flags] [-- ARG…]", Short: "Give a server of aster to an AI client",
		Long: `Writes a server of aster into the configuration of an AI client, after it has shown the
change and you agreed. All else in that file stays as it is, byte for byte; an entry that an
older aster left gets the new command. Without a client it shows how each stands.

Clients: ` + strings.Join(config.ConnectClients(), ", ") + `.

Arguments behind "--" go to "aster mcp serve" as they are.`,
		Example: `  aster mcp connect claude
  aster mcp connect cursor --server gateway
  aster mcp connect zed -- --cdp-url launch
  aster mcp connect vscode --project --print`,
		ValidArgs: config.ConnectClients(),
		Args: func(cmd *cobra.Command, args []string) error {
			n := len(args)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				n = at
			}
			if n > 1 || n == 0 && len(args) > 0 {
				return &usageError{fmt.Errorf("%s takes one client; arguments for the server go behind --", cmd.CommandPath()), "aster help mcp connect"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return connectListRun(o)
			}
			return connectRun(o, args[0], args[1:])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.command, "command", "", "the aster that the client runs (default: this program; with --project \"aster\")")
	f.BoolVar(&o.project, "project", false, "write the project's file instead of your own")
	o.flags(cmd)
	return cmd
}

// flags are those that connect and disconnect share.
func (o *connectOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.server, "server", "webmcp", "which server: `webmcp`, web, shortcuts, or gateway for all that are configured")
	f.StringVar(&o.name, "name", "", "what the client calls it (default: the server's name, aster for the gateway)")
	f.BoolVar(&o.print, "print", false, "show the change, and write nothing")
	f.BoolVar(&o.yes, "yes", false, "write without asking")
	cmd.RegisterFlagCompletionFunc("server", cobra.FixedCompletions(connectNames, cobra.ShellCompDirectiveNoFileComp))
}

// addConnect adds both commands below "mcp".
func (a *app) addConnect(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "mcp" {
			cmd.AddCommand(a.connectCommand(), a.disconnectCommand())
		}
	}
}

// entry is the server that the client gets.
func (o *connectOptions) entry(args []string) (*config.Server, error) {
	words, ok := connectServers()[o.server]
	if !ok {
		return nil, usagef("--server %q: it must be one of %s", o.server, strings.Join(connectNames, ", "))
	}
	s := &config.Server{Name: words[0], Args: append(slices.Clone(words[1:]), args...), Command: o.command}
	if o.name != "" {
		s.Name = o.name
	}
	switch {
	case s.Command != "":
	case o.project: // others have it elsewhere
		s.Command = "aster"
	default:
		s.Command = o.env.stableExecutable()
	}
	return s, nil
}

func (o *connectOptions) places() *config.ImportOptions {
	return &config.ImportOptions{Home: o.env.Home, Dir: ".", Getenv: o.env.Getenv}
}

func connectRun(o *connectOptions, client string, args []string) error {
	s, err := o.entry(args)
	if err != nil {
		return err
	}
	if temporary(s.Command) && !o.print {
		return usagef("this program was built for one run and will be gone: install it with \"go install ./cmd/aster\", or name one with --command")
	}
	c, err := config.Connect(client, s, o.project, o.places())
	switch {
	case errors.Is(err, config.ErrTaken):
		return fmt.Errorf("%w with --name", err)
	case err != nil && !slices.Contains(config.ConnectClients(), client):
		return &usageError{err, "aster help mcp connect"}
	case err != nil:
		return err
	case !c.Changed():
		_, err := fmt.Fprintf(o.env.Stdout, "%s has %s already: %s\n", client, s.Name, host.CleanText(c.Path))
		return err
	}
	if wrote, err := o.write(c); err != nil || !wrote {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stdout, "wrote %s\n%s\n", host.CleanText(c.Path), connectNext(client, s.Name))
	return err
}

// write shows a change and makes it, where that is wanted.
func (o *connectOptions) write(c *config.Connection) (wrote bool, err error) {
	if err := o.env.printLines(host.CleanText(c.Path) + "\n" + lineDiff(c.Before, c.After)); err != nil || o.print {
		return false, err
	}
	if ok, err := o.agreed(); err != nil || !ok {
		return false, err
	}
	return true, c.Save()
}

// agreed asks, where nobody agreed by a flag.
func (o *connectOptions) agreed() (bool, error) {
	if o.yes {
		return true, nil
	}
	if !o.env.Terminal {
		return false, usagef("nobody to ask: run it on a terminal, or add --yes")
	}
	fmt.Fprint(o.env.Stdout, "Write it? [y/N] ")
	in := bufio.NewScanner(o.env.Stdin)
	if !in.Scan() || !strings.EqualFold(strings.TrimSpace(in.Text()), "y") {
		fmt.Fprintln(o.env.Stdout, "nothing written")
		return false, &codeError{code: ExitFailed}
	}
	return true, nil
}

// connectNext is what to do in the client.
func connectNext(client, name string) string {
	switch client {
	case "claude":
		return fmt.Sprintf("In Claude Code, /mcp shows %s in the next session.", name)
	case "codex", "gemini", "opencode":
		return fmt.Sprintf("The next session of %s has it; in one that runs, /mcp shows the servers.", client)
	case "claude-desktop":
		return "Quit Claude Desktop and start it again."
	case "vscode":
		return fmt.Sprintf("In VS Code, the command \"MCP: List Servers\" starts %s.", name)
	}
	return fmt.Sprintf("If %s runs, its MCP settings show %s; else start it.", client, name)
}

// connectListRun shows how each client stands.
func connectListRun(o *connectOptions) error {
	clients := config.ConnectClients()
	states, paths := make([]string, len(clients)), make([]string, len(clients))
	width := 0
	for i, client := range clients {
		names, c, err := o.connected(client)
		switch {
		case err != nil:
			states[i], _, _ = strings.Cut(err.Error(), "\n")
		case len(names) > 0:
			states[i], paths[i] = "has "+strings.Join(names, ", "), c.Path
		case c.Found:
			states[i], paths[i] = "not connected", c.Path
		default:
			states[i], paths[i] = "no file yet", c.Path
		}
		if err == nil {
			width = max(width, len(states[i]))
		}
	}
	var b strings.Builder
	for i, client := range clients {
		fmt.Fprintf(&b, "%-15s %-*s  %s\n", client, width, states[i], paths[i])
	}
	return o.env.printLines(b.String())
}

// connected are the names of the servers of aster that a client has, whatever arguments they
// were given, with its file.
func (o *connectOptions) connected(client string) (names []string, c *config.Connection, err error) {
	for _, server := range connectNames {
		p := *o
		p.server = server
		if server != o.server {
			p.name = ""
		}
		s, err := p.entry(nil)
		if err != nil {
			return nil, nil, err
		}
		var without *config.Connection
		without, err = config.Disconnect(client, s, o.project, o.places())
		switch {
		case errors.Is(err, config.ErrTaken): // the name is another program's
			continue
		case err != nil:
			return nil, nil, err
		case without.Changed():
			names = append(names, s.Name)
		}
		c = without
	}
	return names, c, nil
}

// stableExecutable is this program, by a path that an upgrade keeps where there is one: a
// package manager's link on the PATH leads to it, and os.Executable may have followed that.
func (e *Env) stableExecutable() string {
	exe := e.Executable
	if temporary(exe) {
		if p := installPath(e); isFile(p) {
			return p
		}
		return exe
	}
	own, err := os.Stat(exe)
	if err != nil {
		return exe
	}
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		p := filepath.Join(dir, filepath.Base(exe))
		if fi, err := os.Stat(p); err == nil && filepath.IsAbs(dir) && os.SameFile(own, fi) {
			return p
		}
	}
	return exe
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}
