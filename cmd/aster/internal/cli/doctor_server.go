package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// slowEnd is how long a child may take to end before that is worth a word: a source gives
// it a second after the end of its input.
const slowEnd = 900 * time.Millisecond

// climb takes the steps to one server, as far as the way goes. named says that the user
// asked for this one.
func (o *serverDoctorOptions) climb(ctx context.Context, c *config.Config, l *ladder, named bool) {
	if slices.Contains(builtinNames(), l.Server) {
		o.climbBuiltin(ctx, c, l, named)
		return
	}
	s := o.declared(c, l, named)
	if s == nil {
		return
	}
	run, _, err := s.Expand(o.env.Getenv)
	if err != nil {
		var names, texts []string
		for _, v := range variableErrors(err) {
			names = append(names, v.Variable)
			texts = append(texts, strings.TrimPrefix(v.Error(), fmt.Sprintf("server %q: ", s.Name)))
		}
		l.wait("variables", fmt.Sprintf("set %s where aster is started, or give a default: ${NAME:-value}", strings.Join(names, ", ")), "%s", strings.Join(texts, "\n"))
		return
	}
	if n := countVariables(s); n > 0 {
		l.ok("variables", "%d, all set", n)
	}
	asks := false
	if s.Transport == config.Stdio {
		if !o.commandFound(l, s, run) {
			return
		}
	} else {
		reached := false
		if asks, reached = o.reach(ctx, l, s, run.URL); !reached {
			return
		}
	}
	o.connectTo(ctx, c, l, s, asks)
}

// climbBuiltin takes the steps to a server inside aster.
func (o *serverDoctorOptions) climbBuiltin(ctx context.Context, c *config.Config, l *ladder, named bool) {
	if on, by := c.Builtin(l.Server); !on {
		where := "by default"
		if !by.IsZero() {
			where = "by " + by.String()
		}
		l.off(named, "aster mcp enable "+l.Server, "disabled %s", where)
		return
	}
	if l.Server == config.ServerShortcuts && !o.env.hasShortcuts() {
		l.off(named, "", "only there on a Mac")
		return
	}
	l.ok("config", "inside aster, and on")
	if l.Server != config.ServerWebMCP {
		o.connectTo(ctx, c, l, nil, false)
		return
	}
	w := &c.WebMCP
	d := &doctor{doctorOptions: &doctorOptions{app: o.app, json: true, timeout: consentTimeout,
		browserOptions: browserOptions{cdpURL: w.CDPURL, allowRemote: w.AllowRemote, headless: w.Headless}}}
	err := d.run(ctx)
	for _, s := range d.Steps {
		l.add(s)
	}
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		l.fail("browser", "", "%v", err)
	case errors.Is(err, cdp.ErrRefused):
		l.Verdict = serverWaits
	case err != nil:
		l.Verdict = serverBlocked
	}
}

// off says that a server is not used, which only is a fault where the user asked for it.
func (l *ladder) off(named bool, next, format string, args ...any) {
	if named {
		l.fail("config", next, format, args...)
		return
	}
	l.Verdict = serverDisabled
	l.add(newStep("config", verdictSkip, "", format, args...))
}

// declared finds the declaration that is in force, nil where none is.
func (o *serverDoctorOptions) declared(c *config.Config, l *ladder, named bool) *config.Server {
	s := c.Server(l.Server)
	i := slices.IndexFunc(c.Pending, func(r *config.ConsentRequest) bool { return r.Name == l.Server })
	switch {
	case s == nil && i >= 0:
		r := c.Pending[i]
		l.ok("config", "%s, declared in %s", strings.TrimPrefix(r.Lines[0], "type: "), r.Place)
		l.wait("consent", "aster config consent "+shellWord(l.Server), "the project's file would run it, and you have not agreed:\n%s", strings.Join(r.Lines[1:], "\n"))
		return nil
	case s == nil:
		l.Verdict = serverUnknown
		l.add(newStep("config", verdictFail, "aster mcp add "+shellWord(l.Server)+" -- COMMAND, or aster mcp import", "%v", unknownServer(c, l.Server)))
		return nil
	case s.Disabled:
		l.off(named, "aster mcp enable "+shellWord(s.Name), "disabled by %s", s.DisabledBy)
		return nil
	}
	text := fmt.Sprintf("%s, declared in %s", s.Transport, s.Place)
	for _, p := range s.Shadows {
		text += fmt.Sprintf("\nit stands before the one in %s", p)
	}
	l.ok("config", "%s", text)
	switch {
	case i >= 0:
		l.warn("consent", "aster config consent "+shellWord(s.Name), "the project declares it too (%s) and waits for your consent; yours is used", c.Pending[i].Place)
	case s.Place.Scope == config.ScopeProject:
		l.ok("consent", "you agreed to what the project's file runs")
	}
	return s
}

// variableErrors are the single errors of an Expand.
func variableErrors(err error) (out []*config.VariableError) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			out = append(out, variableErrors(e)...)
		}
		return out
	}
	if v, ok := errors.AsType[*config.VariableError](err); ok {
		out = append(out, v)
	}
	return out
}

// countVariables counts the variables that a declaration names.
func countVariables(s *config.Server) int {
	names := map[string]bool{}
	s.Expand(func(name string) string { names[name] = true; return "x" }) // its result does not matter
	return len(names)
}

// connectTo starts the server, lists its tools and ends it. s is nil for one inside
// aster; asks says that it refused a request without a login.
func (o *serverDoctorOptions) connectTo(ctx context.Context, c *config.Config, l *ladder, s *config.Server, asks bool) {
	session, err := o.open(c, []string{l.Server}, nil)
	if err != nil {
		l.fail("start", "", "%v", err)
		return
	}
	begun := time.Now()
	session.Start(ctx)
	took := time.Since(begun)
	for _, p := range session.Problems() {
		l.fail("start", "", "%s", p.Text)
	}
	for _, sv := range session.Servers() {
		if f := sv.Status.Failure; f != nil {
			l.failed(c, s, f, sv.Status.Stderr)
		} else if sv.Status.State == source.Connected {
			l.connected(s, &sv.Status, took, asks)
			o.tools(c, l, s, session, &sv)
		}
	}
	begun = time.Now()
	session.Close()
	if s == nil || s.Transport != config.Stdio || l.Verdict != serverReady {
		return
	}
	if took := time.Since(begun); took > slowEnd {
		l.warn("end", "", "it does not end with its input and had to be stopped by a signal, which takes %s each time", round(took))
		return
	}
	l.ok("end", "it ends with its input, in %s", round(time.Since(begun)))
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// maxShownStderr is how many of a failed server's last lines are shown.
const maxShownStderr = 5

// failed says on which step the way ended.
func (l *ladder) failed(c *config.Config, s *config.Server, f *source.Failure, stderr []string) {
	text := f.Error()
	if n := len(stderr); n > 0 {
		text += "\nits last words:\n  " + strings.Join(stderr[max(0, n-maxShownStderr):], "\n  ")
	}
	place, byHand := "", ""
	if s != nil {
		place = s.Place.String()
		byHand = "run it by hand: " + strings.Join(append([]string{shellWord(s.Command)}, shellWords(s.Args)...), " ")
	}
	switch f.Kind {
	case source.NotInstalled:
		l.fail("start", "correct the command in "+place, "%s", text)
	case source.Crashed:
		next := byHand
		if s == nil || s.Transport != config.Stdio {
			next = "try again; if it stays so, ask whoever runs the server"
		}
		l.fail("start", next, "%s", text)
	case source.NeedsSignIn:
		l.signIn(s, f, text)
	case source.NotMCP:
		next := "is the address that of an MCP endpoint? It often ends in /mcp: correct it in " + place
		if s != nil && s.Transport == config.Stdio {
			next = "is it an MCP server over stdio? Some need an argument for that. " + byHand
		}
		l.fail("protocol", next, "%s", text)
	case source.NotResponding:
		next := "try again; if it stays so, ask whoever runs the server"
		if s == nil || s.Transport == config.Stdio || errors.Is(f, context.DeadlineExceeded) {
			next = fmt.Sprintf("if it only is slow, give it more time: start_timeout under mcp.servers.%s", l.Server)
		}
		l.fail("protocol", next, "%s", text)
	default:
		next := "see what it says, and correct " + place
		if s != nil && s.Transport == config.StreamableHTTP {
			next = "an older server may need type: sse in " + place
		}
		l.fail("protocol", next, "%s", text)
	}
}

// signIn says how to sign in.
func (l *ladder) signIn(s *config.Server, f *source.Failure, text string) {
	next := "aster mcp login " + shellWord(l.Server)
	switch {
	case s != nil && s.Transport == config.Stdio && f.URL != "":
		next = "open " + f.URL
	case s != nil && s.Transport == config.Stdio:
		next = "sign in as the server's own text says"
	case s != nil && slices.ContainsFunc(headerNames(s), func(n string) bool { return strings.EqualFold(n, "Authorization") }):
		next = "the header Authorization in " + s.Place.String() + " is refused: renew what it holds"
	}
	l.wait("sign-in", next, "%s", text)
}

// connected tells of the way that was found.
func (l *ladder) connected(s *config.Server, st *source.Status, took time.Duration, asks bool) {
	if asks {
		l.ok("sign-in", "your login is taken")
	}
	if st.PID != 0 {
		l.ok("start", "process %d", st.PID)
	}
	text := "MCP " + st.Version
	if st.Server != nil {
		text += ", " + strings.TrimSpace(st.Server.Name+" "+st.Server.Version)
	}
	if s != nil {
		text += fmt.Sprintf(", ready in %s", round(took))
	}
	l.ok("protocol", "%s", text)
	if st.Dropped > 0 {
		l.warn("output", "have it write its log to standard error", "%d lines of its output were no messages; they were dropped", st.Dropped)
	}
}

// tools tells what was listed, and what of it a model can reach.
func (o *serverDoctorOptions) tools(c *config.Config, l *ladder, s *config.Server, session *host.Session, sv *host.ServerState) {
	st := &sv.Status
	if st.Tools == 0 {
		l.warn("tools", "", "it lists none")
	} else {
		l.ok("tools", "%d listed", st.Tools)
	}
	held := o.explainAll(c, session.HeldBack())
	var filtered, waiting, bad []heldEntry
	for _, h := range held {
		switch h.Why {
		case heldByFilter:
			filtered = append(filtered, h)
		case heldForApproval:
			waiting = append(waiting, h)
		default:
			bad = append(bad, h)
		}
	}
	var lines []string
	for _, p := range st.Problems {
		lines = append(lines, p.String())
	}
	for _, h := range bad {
		lines = append(lines, h.Tool+": "+h.Reason+" (left out)")
	}
	if n := len(lines); n > maxShownProblems {
		lines = append(lines[:maxShownProblems], fmt.Sprintf("and %d more", n-maxShownProblems))
	}
	if len(lines) > 0 {
		l.warn("definitions", "tell whoever makes the server; the other tools work", "%s", strings.Join(lines, "\n"))
	} else if st.Tools > 0 {
		l.ok("definitions", "schemas, names and hints are right")
	}
	if n := longNames(session); n > 0 {
		l.ok("names", "%d are longer than %d characters with the server's name before them: served on their own (--expose tools) they are cut", n, host.MaxWireName)
	}
	if n := len(filtered); n > 0 {
		l.ok("filter", "%d of %d held back by your rules: aster mcp list shows by which", n, st.Tools)
	}
	if n := len(waiting); n > 0 {
		l.warn("approval", "aster mcp list --changes, then aster mcp approve "+shellWord(l.Server), "%d wait for your approval: new, or changed since you approved them", n)
	}
}

// longNames counts the tools whose name does not fit on the wire.
func longNames(session *host.Session) (n int) {
	for _, t := range toolsOf(session) {
		if len(t.Server)+len(t.Name)+2 > host.MaxWireName {
			n++
		}
	}
	return n
}
