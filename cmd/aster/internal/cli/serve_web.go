package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type serveWebOptions struct {
	*app
	webOptions
}

func (a *app) serveWebCommand() *cobra.Command {
	o := &serveWebOptions{app: a}
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Search the web, and read pages, sites and sitemaps",
		Long: `Serves five tools: search, extract, crawl, sitemap and screenshot. All of them work
without a key. Keys of hosted providers come from the environment, see "aster help environment";
settings are below mcp.web in aster.yaml.

Pages of private hosts are read only where mcp.web.allow_private or --allow-private lists them,
and are never named to a hosted provider.`,
		Example: `  aster mcp serve web
  aster mcp serve web --local-only
  aster mcp serve web --allow-private localhost:3000`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveWebRun(cmd.Context(), o) },
	}
	o.webOptions.bind(cmd)
	return cmd
}

func serveWebRun(ctx context.Context, o *serveWebOptions) error {
	s, err := o.server(o.app)
	if err != nil {
		return err
	}
	defer s.Close()
	s.MCP().AddReceivingMiddleware(host.Recover(o.log))
	if o.env.Terminal {
		fmt.Fprintln(o.env.Stderr, `aster: waiting for an MCP client on stdin. To try the tools by hand, run "aster web"; to leave, press Ctrl-C.`)
	}
	return host.ServeStdio(ctx, s.MCP(), o.env.Stdin, o.env.Stdout, &host.StdioOptions{Logger: o.log})
}
