package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type serveGatewayOptions struct {
	sessionOptions
	expose string
	http   httpOptions
}

// serveCommand serves the gateway, or one server.
func (a *app) serveCommand() *cobra.Command {
	o := &serveGatewayOptions{sessionOptions: sessionOptions{configSource: configSource{app: a}}}
	cmd := &cobra.Command{
		Use: "serve [SERVER]", Short: "Serve MCP servers on stdin and stdout, or over HTTP: all of them, or one", Args: cobra.ArbitraryArgs,
		Long: `Without a name: the gateway. All servers of the configuration stand behind one tool,
aster_mcp, with which a model searches tools, reads the schema of one and calls it; what
there is stands in the server's instructions, as much of it as mcp.inventory_percent allows.

With the name of a configured server: that server alone, under its own tool names, with the
same policy, approval and record of calls in front.

Servers that are not up within a second join later.`,
		Example: `  aster mcp serve
  aster mcp serve --expose both
  aster mcp serve github
  aster mcp serve --http 127.0.0.1:8808`,
		RunE:              func(cmd *cobra.Command, args []string) error { return serveGatewayRun(cmd.Context(), o, args) },
		ValidArgsFunction: o.completeServers,
	}
	cmd.Flags().StringVar(&o.file, "config", "", "read this `file` in place of yours and the project's")
	cmd.Flags().StringVar(&o.expose, "expose", host.ExposeBridge, "what to list without a name: `bridge`, tools or both")
	cmd.RegisterFlagCompletionFunc("expose", cobra.FixedCompletions([]string{host.ExposeBridge, host.ExposeTools, host.ExposeBoth}, cobra.ShellCompDirectiveNoFileComp))
	o.bindSession(cmd)
	o.http.bind(cmd)
	cmd.AddCommand(a.serveWebMCPCommand(), a.serveWebCommand())
	return cmd
}

func serveGatewayRun(ctx context.Context, o *serveGatewayOptions, args []string) error {
	if len(args) > 1 {
		return usagef("aster mcp serve takes one server or none, but got %q", args)
	}
	c, _, err := o.load()
	if err != nil {
		return err
	}
	var only []string
	gateway := &host.GatewayOptions{Expose: o.expose}
	if len(args) == 1 {
		if err := o.servable(c, args[0]); err != nil {
			return err
		}
		if args[0] == config.ServerShortcuts {
			return serveShortcutsRun(ctx, o, c)
		}
		only = args
		gateway = &host.GatewayOptions{Expose: host.ExposeTools, Own: true}
	}
	l, serving, err := o.http.listen(ctx, o.app)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(o.env.Stdin, peekBytes)
	if l != nil {
		defer l.Close()
	} else {
		o.legacy = len(args) == 1 && beginsWithInitialize(in)
	}
	memory := host.NewSettler()
	defer memory.Stop()
	s, err := o.open(c, only, o.asker())
	if err != nil {
		return err
	}
	defer s.Close()
	o.warn(c, s)
	if o.env.Terminal && l == nil {
		fmt.Fprintln(o.env.Stderr, `aster: waiting for an MCP client on stdin. To see the servers, run "aster mcp list"; to leave, press Ctrl-C.`)
	}
	wait, cancel := context.WithTimeout(ctx, host.StartWait)
	s.Start(wait)
	cancel()
	g, err := host.NewGateway(s, gateway)
	if err != nil {
		return usagef("--%w", err)
	}
	g.Server().AddReceivingMiddleware(memory.Middleware)
	if l != nil {
		return host.ServeHTTP(ctx, g.Server(), l, serving)
	}
	return host.ServeStdio(ctx, g.Server(), in, o.env.Stdout, &host.StdioOptions{Logger: o.log})
}

// serveShortcutsRun serves the Mac's shortcuts by themselves.
func serveShortcutsRun(ctx context.Context, o *serveGatewayOptions, c *config.Config) error {
	front := &frontOptions{approve: o.approve, readOnly: o.readOnly, http: o.http}
	opts, err := front.session(o.app, c)
	if err != nil {
		return err
	}
	b, err := o.shortcutsBuiltin(c)
	if err != nil {
		return err
	}
	return o.serveFront(ctx, front, opts, b, `To see them, run "aster shortcuts list"`)
}

// peekBytes is how much of the first message is looked at.
const peekBytes = 64 << 10

// beginsWithInitialize waits for the client's first message and reports whether it is
// initialize, with which revisions before 2026-07-28 begin. Nothing is consumed.
func beginsWithInitialize(in *bufio.Reader) bool {
	for n := 1; n <= peekBytes; {
		b, err := in.Peek(n)
		if i := bytes.IndexByte(b, '\n'); i >= 0 || err != nil {
			var m struct{ Method string }
			return json.Unmarshal(bytes.TrimSpace(b[:max(i, 0)]), &m) == nil && m.Method == "initialize"
		}
		n = max(n+1, min(in.Buffered(), peekBytes))
	}
	return false
}

// servable says why a server cannot be served by itself.
func (o *sessionOptions) servable(c *config.Config, name string) error {
	if name == config.ServerShortcuts {
		if _, err := o.env.ShortcutsRunner(); err != nil {
			return usagef("the server shortcuts cannot be served here: %w", err)
		}
	}
	if on, by := c.Builtin(name); !on && slices.Contains(builtinNames(), name) {
		where := "by default"
		if !by.IsZero() {
			where = "by " + by.String()
		}
		return usagef("the server %s is disabled %s: aster mcp enable %s", name, where, name)
	}
	if s := c.Server(name); s != nil && s.Disabled {
		return usagef("the server %s is disabled by %s: aster mcp enable %s", name, s.DisabledBy, name)
	}
	for _, r := range c.Pending {
		if r.Name == name && c.Server(name) == nil {
			return usagef("the server %s of the project waits for your consent: aster config consent %s", name, name)
		}
	}
	if c.Server(name) == nil && !slices.Contains(builtinNames(), name) {
		return unknownServer(c, name)
	}
	return nil
}

// warn logs what does not hold of the configuration.
func (o *sessionOptions) warn(c *config.Config, s *host.Session) {
	for _, p := range c.Problems {
		o.log.Warn("configuration: left out", "what", p.String())
	}
	for _, r := range c.Pending {
		o.log.Warn("configuration: waits for your consent, run aster config consent", "name", strings.TrimSpace(r.Name+" "+r.Place.String()))
	}
	for _, p := range s.Problems() {
		o.log.Warn("server left out", "server", p.Server, "why", p.Text)
	}
}
