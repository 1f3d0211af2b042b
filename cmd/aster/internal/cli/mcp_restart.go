package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

func (a *app) restartCommand() *cobra.Command {
	o := &configSource{app: a}
	cmd := &cobra.Command{
		Use: "restart SERVER", Short: "Start a server anew wherever it runs, and forget its last list", Args: oneArg,
		Long: `Forgets what aster kept of a server, which is the list of its tools and the revision of MCP
that it spoke, and asks every running "aster mcp serve" of yours to end the server and start
it anew. They do so within a second, and a call that is under way there fails. Where none
runs there is nothing more to do: each command starts its servers by itself. What you
approved stays approved, and a login is kept.

For webmcp it has running servers of aster try a refused browser again, as "aster doctor" does.`,
		ValidArgsFunction: o.completeServers,
		RunE: func(_ *cobra.Command, args []string) error {
			return restartRun(o, args[0])
		},
	}
	o.bindRead(cmd)
	return cmd
}

func restartRun(o *configSource, name string) error {
	c, opts, err := o.load()
	if err != nil {
		return err
	}
	switch s := c.Server(name); {
	case name == config.ServerWebMCP:
		if err := o.env.touchStamp(); err != nil {
			return err
		}
		return o.restarted(name, false)
	case slices.Contains(builtinNames(), name):
		return usagef("%s runs inside aster, and keeps nothing to start anew: restart the client", name)
	case s == nil:
		return unknownServer(c, name)
	case s.Disabled:
		return usagef("the server %s is disabled by %s: aster mcp enable %s", name, s.DisabledBy, name)
	}
	kept, err := host.Restart(opts.UserDir, name)
	if err != nil {
		return err
	}
	return o.restarted(name, kept)
}

func (o *configSource) restarted(name string, kept bool) error {
	if o.json {
		return printJSON(o.env, struct {
			Server string `json:"server"`
			Forgot bool   `json:"forgot"` // there was a kept list
		}{name, kept})
	}
	name = host.CleanText(name)
	text := "nothing was kept of " + name
	if kept {
		text = "forgot the last list of " + name
	}
	_, err := fmt.Fprintf(o.env.Stdout, "%s; servers of aster that run now start %s anew within a second\n", text, name)
	return err
}
