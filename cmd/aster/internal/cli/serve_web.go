package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

type serveWebOptions struct {
	*app
	webOptions
	frontOptions
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
and are never named to a hosted provider.

Policy and record of calls apply as in the gateway: see mcp.policy and mcp.audit in aster.yaml.`,
		Example: `  aster mcp serve web
  aster mcp serve web --local-only
  aster mcp serve web --allow-private localhost:3000`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveWebRun(cmd.Context(), o) },
	}
	o.webOptions.bind(cmd)
	o.frontOptions.bind(cmd)
	return cmd
}

func serveWebRun(ctx context.Context, o *serveWebOptions) error {
	c, err := o.loadForServe(o.config)
	if err != nil {
		return err
	}
	opts, err := o.frontOptions.session(o.app, c)
	if err != nil {
		return err
	}
	s, err := o.server(o.app)
	if err != nil {
		return err
	}
	b := host.Builtin{
		Name: config.ServerWeb, Server: s.MCP(), Close: func() error { s.Close(); return nil },
		Effect: func(string) guard.Effect { return guard.EffectRead },
	}
	return o.serveFront(ctx, &o.frontOptions, opts, b, `To try the tools by hand, run "aster web"`)
}
