package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// recordOptions are those of commands that read the record of calls.
type recordOptions struct {
	configSource
	follow bool
	last   int
	since  time.Duration
}

// recordCommands are aster mcp log and stats.
func (a *app) recordCommands() []*cobra.Command {
	o := &recordOptions{configSource: configSource{app: a}}
	log := &cobra.Command{
		Use: "log", Short: "Show the record of calls", Args: noArgs,
		Long: "Shows the calls that were made or refused, the newest last: when, what, who decided, and how it ended.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return logRun(cmd.Context(), o)
		},
	}
	o.bindRead(log)
	log.Flags().BoolVar(&o.follow, "follow", false, "go on with what happens from now on, until Ctrl-C")
	log.Flags().IntVar(&o.last, "last", 50, "how many calls to show; 0 shows all")
	so := &recordOptions{configSource: configSource{app: a}}
	stats := &cobra.Command{
		Use: "stats", Short: "Count calls, refusals, searches and the prompt's tokens", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return statsRun(so) },
	}
	so.bindRead(stats)
	stats.Flags().DurationVar(&so.since, "since", 0, "only the last `duration`, such as 24h; 0 is all")
	return []*cobra.Command{log, stats}
}

// path is the file of the record.
func (o *recordOptions) path() (string, error) {
	c, opts, err := o.load()
	if err != nil {
		return "", err
	}
	path := host.AuditPath(c, opts.UserDir)
	if path == "" {
		return "", host.ErrNoAuditFile
	}
	return path, nil
}

func logRun(ctx context.Context, o *recordOptions) error {
	if o.last < 0 {
		return usagef("--last %d: it must not be negative", o.last)
	}
	path, err := o.path()
	if err != nil {
		return err
	}
	var read guard.ReadResult
	var records []*guard.Record
	for r, err := range guard.Records(guard.ReadLog(path, &read)) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if r == nil {
			continue
		}
		if records = append(records, r); o.last > 0 && len(records) > o.last {
			records = records[1:]
		}
	}
	for _, r := range records {
		if err := o.printRecord(r); err != nil {
			return err
		}
	}
	if read.Torn > 0 {
		o.log.Warn("lines of the record that are none", "lines", read.Torn)
	}
	if !o.follow {
		return nil
	}
	begun := map[string]*guard.Entry{}
	err = guard.FollowLog(ctx, path, func(e *guard.Entry) error {
		switch e.Event {
		case "begin":
			if len(begun) < maxBegun {
				begun[e.ID] = e
			}
		case "end":
			r := &guard.Record{Entry: *e, Ended: true}
			if b := begun[e.ID]; b != nil {
				r.Entry = *b
				r.Outcome, r.DurationMS, r.ResultBytes, r.Error = e.Outcome, e.DurationMS, e.ResultBytes, e.Error
				delete(begun, e.ID)
			}
			return o.printRecord(r)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// maxBegun bounds the calls under way that --follow remembers.
const maxBegun = 10_000

func (o *recordOptions) printRecord(r *guard.Record) error {
	if o.json {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.env.Stdout, "%s\n", b)
		return err
	}
	outcome := string(r.Outcome)
	if !r.Ended {
		outcome = "not ended"
	}
	line := fmt.Sprintf("%s  %-9s  %s (%s by %s)", r.Time.Local().Format("2006-01-02 15:04:05"), outcome, r.Tool, r.Decision, r.By)
	if r.Origin != "" {
		line += "  " + r.Origin
	}
	if r.Ended {
		line += fmt.Sprintf("  %.0f ms", r.DurationMS)
	}
	if r.Client != nil && r.Client.Name != "" {
		line += "  for " + r.Client.Name
	}
	if len(r.Arguments) > 0 {
		line += "  " + string(r.Arguments)
	}
	if r.Error != "" {
		line += "  error: " + r.Error
	}
	return o.env.printLines(guard.Clean(line, maxRecordLine) + "\n")
}

// maxRecordLine bounds one call's line, in characters.
const maxRecordLine = 1_000

func statsRun(o *recordOptions) error {
	path, err := o.path()
	if err != nil {
		return err
	}
	var since time.Time
	if o.since > 0 {
		since = time.Now().Add(-o.since)
	}
	st, err := guard.Summarize(guard.ReadLog(path, nil), since)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.json {
		return printJSON(o.env, st)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "calls      %d%s\n", st.Calls, counted(st.Outcomes))
	fmt.Fprintf(&b, "asked      %d, refused by you %d\n", st.Asked, st.Refused)
	if len(st.DeniedBy) > 0 {
		fmt.Fprintf(&b, "denied by %s\n", counted(st.DeniedBy))
	}
	fmt.Fprintf(&b, "searches   %d, empty %d\n", st.Searches, st.EmptySearches)
	fmt.Fprintf(&b, "described  %d, called after it %d\n", st.Described, st.DescribedCalls)
	fmt.Fprintf(&b, "prompt     %d of %d tokens; all descriptions would take %d\n", st.PromptTokens, st.BudgetTokens, st.ManifestTokens)
	for _, t := range st.Tools {
		fmt.Fprintf(&b, "%6d  %s  p50 %.0f ms  p95 %.0f ms%s\n", t.Calls, t.ID, t.P50MS, t.P95MS, counted(t.Outcomes))
	}
	return o.env.printLines(b.String())
}

func counted[K ~string](m map[K]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "  %s %d", string(k), m[k])
	}
	return b.String()
}

// approveOptions are those of aster mcp approve.
type approveOptions struct {
	configSource
	yes, forget bool
}

func (a *app) approveCommand() *cobra.Command {
	o := &approveOptions{configSource: configSource{app: a}}
	cmd := &cobra.Command{
		Use: "approve SERVER[/TOOL]", Short: "Approve tools whose definition is new or has changed", Args: oneArg,
		Long: `Shows what is different about the tools that are held back, and approves them once you
agree. What you agree to is exactly what is shown. --forget drops what was approved for a
server, so that its next list is taken as it is.`,
		RunE: func(_ *cobra.Command, args []string) error {
			return approveRun(o, args[0])
		},
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "agree without being asked")
	cmd.Flags().BoolVar(&o.forget, "forget", false, "forget what was approved for the server")
	return cmd
}

func (o *configSource) pins() (*guard.Pins, error) {
	dir, err := o.env.stateDir()
	if err != nil {
		return nil, err
	}
	return guard.OpenPins(host.PinsPath(dir), nil)
}

func approveRun(o *approveOptions, pattern string) error {
	pins, err := o.pins()
	if err != nil {
		return err
	}
	if o.forget {
		n, err := pins.Forget(pattern)
		if err == nil {
			fmt.Fprintf(o.env.Stdout, "forgot %s\n", number(n, "server"))
		}
		return err
	}
	server, _, _ := strings.Cut(pattern, "/")
	var seen []guard.Change
	for _, c := range pins.Changes() {
		if c.Server == server {
			seen = append(seen, c)
		}
	}
	if err := o.printChanges(seen); err != nil {
		return err
	}
	if len(seen) > 0 && !o.yes && !confirm(o.env, "Approve?") {
		return &codeError{ExitFailed, errors.New("not approved")}
	}
	approved, err := pins.Approve(pattern, append([]guard.Change{}, seen...))
	if err != nil {
		return err
	}
	for _, id := range approved {
		fmt.Fprintf(o.env.Stdout, "approved %s\n", host.CleanText(string(id)))
	}
	return nil
}

// confirm asks for a yes; without a terminal the answer is no.
func confirm(env *Env, question string) bool {
	if !env.Terminal {
		fmt.Fprintln(env.Stderr, "aster: nobody to ask: run it on a terminal, or add --yes")
		return false
	}
	fmt.Fprint(env.Stdout, question+" [y/N] ")
	var answer string
	fmt.Fscanln(env.Stdin, &answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// printChanges shows the tools that are held back, line by line.
func (o *configSource) printChanges(changes []guard.Change) error {
	var b strings.Builder
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(&b, "%s  %s\n", bridge.NewToolID(c.Server, c.Tool), c.State)
		for j := range c.Fields {
			fmt.Fprintf(&b, "  %s\n", c.Fields[j].Field)
			for _, line := range c.Fields[j].Lines() {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(&b, "  warning: %s\n", w.Text)
		}
	}
	return o.env.printLines(b.String())
}
