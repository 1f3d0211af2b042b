package cli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// maxDoctors is how many servers are looked at at the same time.
const maxDoctors = 8

type serverDoctorOptions struct{ sessionOptions }

// addServerCommands adds the commands that look after single servers.
func (a *app) addServerCommands(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "mcp" {
			cmd.AddCommand(a.serverDoctorCommand(), a.restartCommand())
		}
	}
}

func (a *app) serverDoctorCommand() *cobra.Command {
	o := &serverDoctorOptions{sessionOptions{configSource: configSource{app: a}}}
	cmd := &cobra.Command{
		Use: "doctor [SERVER]", Short: "Check the way to a server, or to all, step by step", Args: atMostOneArg,
		Long: `Checks the way to a server step by step: where it is declared and whether you agreed to it,
its variables, its command or its address, whether it starts, speaks MCP and lists tools,
what is wrong with those, and whether it ends in time. A step that ends the way says what to
do next. Without a name all servers are checked; disabled ones are only named.

The exit code is 0 where all is ready, 10 where a server waits for you, 11 where one cannot
be used, and 12 for a name that no file declares. A remote server gets one request without
your headers or login before it is connected to.`,
		ValidArgsFunction: o.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			return serverDoctorRun(cmd.Context(), o, args)
		},
	}
	o.bindRead(cmd)
	return cmd
}

// Verdicts of a server.
const (
	serverReady    = "ready"
	serverDisabled = "disabled" // by the user, which is no fault
	serverWaits    = "waits"    // for the user
	serverBlocked  = "blocked"
	serverUnknown  = "unknown"
)

var verdictCodes = map[string]int{serverReady: ExitOK, serverDisabled: ExitOK, serverWaits: ExitWaits, serverBlocked: ExitBlocked, serverUnknown: ExitUnknown}

// A ladder is the steps on the way to one server.
type ladder struct {
	Server  string     `json:"server"`
	Verdict string     `json:"verdict"`
	Steps   []step     `json:"steps"`
	print   func(step) // nil prints nothing yet
}

func (l *ladder) add(s step) {
	l.Steps = append(l.Steps, s)
	if l.print != nil {
		l.print(s)
	}
}

func (l *ladder) ok(name, format string, args ...any) {
	l.add(newStep(name, verdictOK, "", format, args...))
}

func (l *ladder) warn(name, next, format string, args ...any) {
	l.add(newStep(name, verdictWarn, next, format, args...))
}

// fail ends the way.
func (l *ladder) fail(name, next, format string, args ...any) {
	l.Verdict = serverBlocked
	l.add(newStep(name, verdictFail, next, format, args...))
}

// wait ends the way until the user has done what next says.
func (l *ladder) wait(name, next, format string, args ...any) {
	l.Verdict = serverWaits
	l.add(newStep(name, verdictWait, next, format, args...))
}

func serverDoctorRun(ctx context.Context, o *serverDoctorOptions, args []string) error {
	c, _, err := o.load()
	if err != nil {
		return o.badConfig(err)
	}
	names, single := serverNames(c), len(args) == 1
	if single {
		names = args
	}
	ladders := make([]*ladder, len(names))
	done := make([]chan struct{}, len(names))
	slots := make(chan struct{}, maxDoctors)
	var wg sync.WaitGroup
	for i, name := range names {
		l := &ladder{Server: name, Verdict: serverReady, Steps: []step{}}
		if single && !o.json {
			l.print = func(s step) { printStep(o.env, s) }
		}
		ladders[i], done[i] = l, make(chan struct{})
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots; close(done[i]) }()
			o.climb(ctx, c, l, single)
		})
	}
	for i, l := range ladders {
		<-done[i]
		if !single && !o.json {
			o.printLadder(l, i > 0)
		}
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return o.conclude(ladders, c)
}

// badConfig is the first step where it ends the way to all servers.
func (o *serverDoctorOptions) badConfig(err error) error {
	if o.json {
		return err // as of all commands
	}
	printStep(o.env, newStep("config", verdictFail, "correct the file, and see aster config check", "%v", err))
	return &codeError{code: ExitBlocked}
}

func (o *serverDoctorOptions) printLadder(l *ladder, gap bool) {
	lead := ""
	if gap {
		lead = "\n"
	}
	o.env.Stdout.Write([]byte(lead + o.env.paint(bold, host.CleanText(l.Server)) + "\n"))
	for _, s := range l.Steps {
		printStep(o.env, s)
	}
}

// conclude prints what is asked of programs, and makes the exit code.
func (o *serverDoctorOptions) conclude(ladders []*ladder, c *config.Config) error {
	code := ExitOK
	for _, l := range ladders {
		code = max(code, verdictCodes[l.Verdict])
	}
	if o.json {
		problems := []string{}
		for _, p := range c.Problems {
			problems = append(problems, p.String())
		}
		err := printJSON(o.env, struct {
			OK       bool      `json:"ok"`
			Servers  []*ladder `json:"servers"`
			Problems []string  `json:"problems"` // of the configuration
		}{code == ExitOK, ladders, problems})
		if err != nil {
			return err
		}
	} else {
		for i, p := range c.Problems {
			if i == 0 && len(ladders) > 0 {
				o.env.Stdout.Write([]byte("\n"))
			}
			printStep(o.env, newStep("config", verdictWarn, "", "%s", strings.Join(p.Lines(), "\n")))
		}
	}
	if code != ExitOK {
		return &codeError{code: code} // the steps have said it
	}
	return nil
}

// serverNames are all servers, those inside aster and those that wait for consent too.
func serverNames(c *config.Config) []string {
	names := builtinNames()
	for _, s := range c.Servers {
		names = append(names, s.Name)
	}
	for _, r := range c.Pending {
		if r.Name != "" {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
