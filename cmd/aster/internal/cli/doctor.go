package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

const (
	// consentTimeout is how long doctor waits for the user to allow the connection.
	consentTimeout = 2 * time.Minute
	// noticeAfter is how long a connection may take before the user is told what it waits for.
	noticeAfter = 500 * time.Millisecond
)

type doctorOptions struct {
	*app
	browserOptions
	file    string // --config, for a server
	json    bool
	timeout time.Duration
}

func (a *app) doctorCommand() *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:   "doctor [SERVER]",
		Short: "Check the way to your browser, or to a server, step by step",
		Long: `Checks the way to your browser step by step, and says what to do where it ends. It
connects once, for which the browser may ask you. It changes nothing in the browser.

A server of aster that was refused a connection asks again after this command.

With the name of a configured server it checks the way to that one, as "aster mcp doctor"
does; the flags about the browser then mean nothing.`,
		Args:              atMostOneArg,
		ValidArgsFunction: (&configSource{app: a}).completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return doctorRun(cmd.Context(), o)
			}
			so := &serverDoctorOptions{sessionOptions{configSource: configSource{app: a, file: o.file, json: o.json}}}
			return serverDoctorRun(cmd.Context(), so, args)
		},
	}
	o.browserOptions.bind(cmd)
	cmd.Flags().StringVar(&o.file, "config", "", "for a server: read this `file` in place of yours and the project's")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, errors too")
	cmd.Flags().DurationVar(&o.timeout, "timeout", consentTimeout, "how long to wait for you to allow the connection")
	return cmd
}

// Verdicts of a step.
const (
	verdictOK   = "ok"
	verdictWarn = "warn" // works, but worth knowing
	verdictFail = "fail" // the way ends here
	verdictWait = "wait" // the way ends here until the user has done something
	verdictSkip = "skip" // not looked at
)

// step is one thing that doctor checked.
type step struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"` // one line or more, for people
	Next    string `json:"next,omitempty"`
}

// newStep is a step without control characters.
func newStep(name, verdict, next, format string, args ...any) step {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(host.CleanText(l), " ")
	}
	return step{name, verdict, strings.Join(lines, "\n"), host.CleanText(next)}
}

// doctor collects steps and prints each as it is done.
type doctor struct {
	*doctorOptions
	Steps []step `json:"steps"`
}

func (d *doctor) say(name, verdict, format string, args ...any) {
	s := newStep(name, verdict, "", format, args...)
	d.Steps = append(d.Steps, s)
	if !d.json {
		printStep(d.env, s)
	}
}

// printStep prints a step on one line, or more with the rest indented.
func printStep(env *Env, s step) {
	color := map[string]string{verdictOK: green, verdictWarn: yellow, verdictWait: yellow, verdictFail: red}[s.Verdict]
	text := s.Text
	if s.Next != "" {
		text += "\nnext: " + s.Next
	}
	fmt.Fprintf(env.Stdout, "%s  %-11s %s\n", env.paint(color, fmt.Sprintf("%-4s", s.Verdict)), s.Name,
		strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 18)))
}

func doctorRun(ctx context.Context, o *doctorOptions) error {
	d := &doctor{doctorOptions: o}
	err := d.run(ctx)
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	if o.json {
		if err := printJSON(o.env, map[string]any{"ok": err == nil, "steps": d.Steps}); err != nil {
			return err
		}
	}
	if err != nil {
		return &codeError{code: exitCode(ctx, err)} // the steps have said it
	}
	return nil
}

func (d *doctor) run(ctx context.Context) error {
	if d.timeout <= 0 {
		return usagef("--timeout must be above 0")
	}
	finder, launch, err := d.resolve(d.env)
	if err != nil {
		return err
	}
	d.checkState()
	url, origin := d.address(d.env)
	d.say("endpoint", verdictOK, "%s (%s)", cutSecret(url), origin)
	var ep cdp.Endpoint
	if launch != nil {
		l, err := d.launch(ctx, launch)
		if err != nil {
			return err
		}
		defer l.Close()
		ep = l.Endpoint
	} else if ep, err = d.find(ctx, finder); err != nil {
		return err
	}
	diagnosis, err := d.connect(ctx, ep)
	if err == nil || !errors.Is(err, cdp.ErrRefused) { // asking again right after a no would be rude
		d.stamp()
	}
	if err != nil {
		return err
	}
	d.describe(diagnosis)
	return nil
}

// checkState looks at the place for aster's own files. It is never in the way.
func (d *doctor) checkState() {
	dir, err := d.env.stateDir()
	if err == nil && d.env.shimSecret(d.log) == "" {
		err = fmt.Errorf("%s cannot be written to", dir)
	}
	if err != nil {
		d.say("files", verdictWarn, "%v; aster works, but a new start cannot take over the pages of an earlier one", err)
		return
	}
	d.say("files", verdictOK, "%s", dir)
}

// stamp lets running servers try a refused connection again.
func (d *doctor) stamp() {
	if err := d.env.touchStamp(); err != nil {
		d.log.Info("running servers are not told", "err", err)
	}
}

// launch starts the browser of --cdp-url launch, or takes the one that a server has started.
func (d *doctor) launch(ctx context.Context, opts *cdp.LaunchOptions) (*cdp.Launched, error) {
	name, path, err := cdp.FindExecutable(opts)
	if err != nil {
		d.say("browser", verdictFail, "%v", err)
		return nil, err
	}
	d.say("browser", verdictOK, "%s, %s", name, path)
	l, err := cdp.Launch(ctx, opts)
	if err != nil {
		d.say("start", verdictFail, "%v", err)
		return nil, err
	}
	if l.Reused() {
		d.say("start", verdictOK, "it runs already, profile %s", opts.ProfileDir)
	} else {
		d.say("start", verdictOK, "profile %s; it is closed again after this check", opts.ProfileDir)
	}
	return l, nil
}

// find looks for a running browser.
func (d *doctor) find(ctx context.Context, finder *cdp.Finder) (cdp.Endpoint, error) {
	ep, others, err := finder.Find(ctx)
	if err != nil {
		d.say("browser", verdictFail, "%v", err)
		return ep, err
	}
	d.say("browser", verdictOK, "%s", ep.Source)
	for _, other := range others {
		d.say("", verdictOK, "also %s", other.Source)
	}
	where := hostPort(ep.WS)
	switch {
	case ep.HTTP == "" && ep.PortFile != "":
		d.say("port", verdictOK, "%s, by %s; /json/version is not served, as is usual with the switch at chrome://inspect", where, ep.PortFile)
	case ep.PortFile != "":
		d.say("port", verdictOK, "%s, by %s", where, ep.PortFile)
	case ep.HTTP != "":
		d.say("port", verdictOK, "%s, by /json/version", where)
	default:
		d.say("port", verdictOK, "%s", where)
	}
	return ep, nil
}

// connect opens the one connection, and says what it waits for.
func (d *doctor) connect(ctx context.Context, ep cdp.Endpoint) (*host.Diagnosis, error) {
	dialCtx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var diagnosis *host.Diagnosis
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		diagnosis, err = host.Diagnose(dialCtx, ep, d.log)
	}()
	select {
	case <-done:
	case <-time.After(noticeAfter):
		if ep.Consent {
			fmt.Fprintln(d.env.Stderr, "waiting for you: allow the connection in the dialog of your browser …")
		}
		<-done
	}
	switch {
	case err == nil:
		d.say("connection", verdictOK, "made")
		return diagnosis, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case dialCtx.Err() != nil && ep.Consent:
		d.say("connection", verdictFail, "not allowed within %v; run aster doctor again and allow it in the browser's dialog", d.timeout)
		return nil, fmt.Errorf("%w: %w", cdp.ErrRefused, err)
	case errors.Is(err, cdp.ErrRefused):
		d.say("connection", verdictFail, "%v; run aster doctor again and allow it in the browser's dialog", err)
	default:
		d.say("connection", verdictFail, "%v", err)
	}
	return nil, err
}

// describe tells what the connection showed.
func (d *doctor) describe(g *host.Diagnosis) {
	d.say("version", verdictOK, "%s", g.Product)
	switch {
	case g.Silent > 0:
		d.say("tabs", verdictWarn, "%d, of which %d do not answer (stopped, discarded or busy); aster works without them", g.Tabs, g.Silent)
	default:
		d.say("tabs", verdictOK, "%d", g.Tabs)
	}
	switch {
	case g.Asked == 0:
		d.say("WebMCP", verdictOK, "no page to look at: open one over https or on localhost")
	case g.Native == 0:
		d.say("WebMCP", verdictOK, "not built in here; aster brings its own into the pages")
	case g.Native < g.Asked:
		d.say("WebMCP", verdictOK, "built in for %d of %d pages; aster brings its own into the others", g.Native, g.Asked)
	default:
		d.say("WebMCP", verdictOK, "built in")
	}
}

// hostPort is the part of an address that is no secret.
func hostPort(ws string) string {
	_, rest, _ := strings.Cut(ws, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return rest
}

// cutSecret takes the path out of a websocket's address: who knows it may connect.
func cutSecret(url string) string {
	if strings.HasPrefix(url, "ws:") || strings.HasPrefix(url, "wss:") {
		scheme, _, _ := strings.Cut(url, "://")
		return scheme + "://" + hostPort(url)
	}
	return url
}

// Colours, as the parameters of ECMA-48 SGR.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	bold   = "1"
)

// paint colours text where Stdout takes colour.
func (e *Env) paint(color, text string) string {
	if !e.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
