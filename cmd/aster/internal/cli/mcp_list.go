package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/shortcuts"
)

type listOptions struct {
	configSource
	noConnect bool
	changes   bool
}

func (a *app) listCommand() *cobra.Command {
	o := &listOptions{configSource: configSource{app: a}}
	cmd := &cobra.Command{
		Use: "list", Short: "List the servers, and the rules that hold tools back", Args: noArgs,
		Long: `Connects to all servers and shows how each stands, how many tools of it a model can reach,
what is held back by which rule in which file, and the command that would change it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listRun(cmd.Context(), o)
		},
	}
	o.bindRead(cmd)
	cmd.Flags().BoolVar(&o.noConnect, "no-connect", false, "say only what the files say, and start nothing")
	cmd.Flags().BoolVar(&o.changes, "changes", false, "show what is different about tools that wait for approval")
	return cmd
}

// serverEntry is a server as printed. It holds no value of a variable or a header.
type serverEntry struct {
	Name      string   `json:"name"`
	State     string   `json:"state"`            // "enabled", "disabled", "waits for consent", "variable not set"
	Reason    string   `json:"reason,omitempty"` // of a state that is not enabled
	Fix       string   `json:"fix,omitempty"`    // the command that would change it
	Transport string   `json:"transport"`
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	URL       string   `json:"url,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Env       []string `json:"env,omitempty"`     // names
	Headers   []string `json:"headers,omitempty"` // names
	Trust     bool     `json:"trust,omitempty"`
	Source    string   `json:"source"` // file:line:column, or "built in"
	Shadows   []string `json:"shadows,omitempty"`

	Live *liveEntry `json:"live,omitempty"` // only where it was connected to
}

// ruleEntry is a rule of the filter as printed.
type ruleEntry struct {
	List      string `json:"list"` // "allow" or "deny"
	Pattern   string `json:"pattern"`
	Source    string `json:"source"`              // file:line:column
	HoldsBack int    `json:"holdsBack,omitempty"` // tools, of a deny rule
	Unmatched bool   `json:"unmatched,omitempty"` // no tool and no server has such a name
	Hint      string `json:"hint,omitempty"`      // of one that is unmatched
	Fix       string `json:"fix,omitempty"`       // the command that takes it away
}

func listRun(ctx context.Context, o *listOptions) error {
	if o.changes {
		pins, err := o.pins()
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(o.env, append([]guard.Change{}, pins.Changes()...))
		}
		changes := pins.Changes()
		if len(changes) == 0 {
			return o.env.printLines("no tool waits for approval\n")
		}
		return o.printChanges(changes)
	}
	c, _, err := o.load()
	if err != nil {
		return err
	}
	report := &liveReport{}
	if !o.noConnect {
		if report, err = o.connectAll(ctx, c); err != nil {
			return err
		}
	}
	servers, rules := o.entries(c), o.ruleEntries(c, report)
	problems := []string{}
	for _, p := range c.Problems {
		problems = append(problems, p.String())
	}
	for i := range servers {
		if e, ok := report.servers[servers[i].Name]; ok {
			servers[i].Live = &e
		}
	}
	if o.json {
		return printJSON(o.env, struct {
			Servers  []serverEntry  `json:"servers"`
			Rules    []ruleEntry    `json:"rules"`
			Held     []heldEntry    `json:"held,omitempty"`
			Warnings []warningEntry `json:"warnings,omitempty"`
			Problems []string       `json:"problems"`
		}{servers, rules, report.held, report.warnings, problems})
	}
	width := 0
	for _, s := range servers {
		width = max(width, len(s.Name))
	}
	var b strings.Builder
	for _, s := range servers {
		state := s.State
		if s.Reason != "" {
			state += " (" + s.Reason + ")"
		}
		if s.Live != nil {
			state = s.Live.State
			if s.Live.Tools > 0 || state == "connected" {
				state += ", " + number(s.Live.Tools, "tool")
			}
		}
		fmt.Fprintf(&b, "%-*s  %-15s  %s\n", width, s.Name, s.Transport, state)
		if s.Fix != "" {
			fmt.Fprintf(&b, "%-*s  %-15s  %s\n", width, "", "", s.Fix)
		}
		if s.Live != nil {
			s.Live.print(&b, fmt.Sprintf("%-*s  %-15s", width, "", ""))
		}
	}
	printRules(&b, rules)
	printHeld(&b, report.held)
	printWarnings(&b, report.warnings)
	for i, p := range c.Problems {
		if i == 0 {
			b.WriteString("\nleft out\n")
		}
		for _, line := range p.Lines() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	return o.env.printLines(b.String())
}

// printLines prints text line by line without control characters.
func (e *Env) printLines(text string) error {
	for line := range strings.Lines(text) {
		if _, err := fmt.Fprintln(e.Stdout, strings.TrimRight(host.CleanText(strings.TrimSuffix(line, "\n")), " ")); err != nil {
			return err
		}
	}
	return nil
}

// entries are all servers, by name: those inside aster, the configured and the waiting.
func (o *configSource) entries(c *config.Config) []serverEntry {
	out := []serverEntry{}
	for _, name := range builtinNames() {
		e := serverEntry{Name: name, State: "enabled", Transport: "built in", Source: "built in"}
		if name == config.ServerShortcuts && !o.env.hasShortcuts() {
			e.State, e.Reason = "not here", shortcuts.ErrNotMac.Error()
		} else if on, by := c.Builtin(name); !on {
			e.State, e.Reason, e.Fix = "disabled", "by "+by.String(), "aster mcp enable "+name
			if by.IsZero() {
				e.Reason = "by default"
			}
		}
		out = append(out, e)
	}
	for _, s := range c.Servers {
		out = append(out, o.entry(s))
	}
	for _, r := range c.Pending {
		if r.Name != "" && c.Server(r.Name) == nil {
			out = append(out, serverEntry{Name: r.Name, State: "waits for consent", Transport: strings.TrimPrefix(r.Lines[0], "type: "),
				Fix: "aster config consent " + r.Name, Source: r.Place.String()})
		}
	}
	slices.SortStableFunc(out, func(a, b serverEntry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (o *configSource) entry(s *config.Server) serverEntry {
	e := serverEntry{Name: s.Name, State: "enabled", Transport: string(s.Transport), Command: s.Command, Args: s.Args, URL: s.URL, Cwd: s.Cwd,
		Env: slices.Sorted(maps.Keys(s.Env)), Headers: slices.Sorted(maps.Keys(s.Headers)), Trust: s.Trust, Source: s.Place.String()}
	for _, p := range s.Shadows {
		e.Shadows = append(e.Shadows, p.String())
	}
	if s.Disabled {
		e.State, e.Reason, e.Fix = "disabled", "by "+s.DisabledBy.String(), "aster mcp enable "+s.Name
	} else if _, _, err := s.Expand(o.env.Getenv); err != nil {
		e.State = "variable not set"
		e.Reason = strings.ReplaceAll(strings.ReplaceAll(err.Error(), fmt.Sprintf("server %q: ", s.Name), ""), "\n", "; ")
	}
	return e
}

func (a *app) getCommand() *cobra.Command {
	o := &configSource{app: a}
	cmd := &cobra.Command{
		Use: "get SERVER", Short: "Show how one server is configured", Args: oneArg,
		Long:              "Shows how one server is configured. Variables and headers are shown by name, never by value.",
		RunE:              func(_ *cobra.Command, args []string) error { return getRun(o, args[0]) },
		ValidArgsFunction: o.completeServers,
	}
	o.bindRead(cmd)
	return cmd
}

func getRun(o *configSource, name string) error {
	c, _, err := o.load()
	if err != nil {
		return err
	}
	all := o.entries(c)
	i := slices.IndexFunc(all, func(e serverEntry) bool { return e.Name == name })
	if i < 0 {
		return unknownServer(c, name)
	}
	e := all[i]
	if o.json {
		return printJSON(o.env, e)
	}
	var b strings.Builder
	line := func(key string, values ...string) {
		if text := strings.Join(values, " "); text != "" {
			fmt.Fprintf(&b, "%-10s %s\n", key, text)
		}
	}
	line("name", e.Name)
	line("state", e.State)
	line("reason", e.Reason)
	line("fix", e.Fix)
	line("transport", e.Transport)
	line("command", append([]string{e.Command}, quoteArgs(e.Args)...)...)
	line("url", e.URL)
	line("cwd", e.Cwd)
	line("env", e.Env...)
	line("headers", e.Headers...)
	if e.Trust {
		line("trust", "yes: its tools need no approval")
	}
	line("source", e.Source)
	line("shadows", e.Shadows...)
	return o.env.printLines(b.String())
}

// quoteArgs puts quotes around arguments that a reader could not tell apart.
func quoteArgs(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\") {
			out[i] = fmt.Sprintf("%q", a)
		}
	}
	return out
}
