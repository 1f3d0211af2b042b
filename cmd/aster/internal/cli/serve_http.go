package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// httpOptions say whether to serve over HTTP in place of stdin and stdout.
type httpOptions struct {
	address   string
	tokenFile string
	noToken   bool
	hosts     []string
}

func (o *httpOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "", "serve several clients over HTTP at `HOST:PORT`, such as 127.0.0.1:8808, in place of one on stdin and stdout")
	f.StringVar(&o.tokenFile, "token-file", "", "with --http: the `file` with the bearer token; it is made where there is none (default: a new token, printed once)")
	f.BoolVar(&o.noToken, "no-token", false, "with --http: let every program of this machine in")
	f.StringArrayVar(&o.hosts, "http-host", nil, "with --http: a `name` under which other machines reach this one, needed to listen on other than a loopback address; may be repeated")
	cmd.MarkFlagsMutuallyExclusive("token-file", "no-token")
	cmd.MarkFlagFilename("token-file")
}

// listen opens the endpoint and tells the user where it is; nil without --http. Errors are
// usage errors where nothing can be listened on.
func (o *httpOptions) listen(ctx context.Context, a *app) (net.Listener, *host.HTTPOptions, error) {
	opts := &host.HTTPOptions{Logger: a.log, Hosts: o.hosts}
	switch {
	case o.address == "" && (o.tokenFile != "" || o.noToken || len(o.hosts) > 0):
		return nil, nil, usagef("--token-file, --no-token and --http-host are for --http HOST:PORT")
	case o.address == "":
		return nil, nil, nil
	case o.noToken && len(o.hosts) > 0:
		return nil, nil, usagef("--no-token would let every other machine in: leave out --http-host")
	}
	var note string
	switch {
	case o.noToken:
		note = "no token is asked for: every program of this machine can use it"
	case o.tokenFile != "":
		token, err := host.TokenFile(o.tokenFile)
		if err != nil {
			return nil, nil, usagef("--token-file: %w", err)
		}
		opts.Token, note = token, "the bearer token is in "+host.CleanText(o.tokenFile)
	default:
		opts.Token = host.NewToken()
		note = "bearer token: " + opts.Token
	}
	l, err := host.ListenHTTP(ctx, o.address, o.hosts)
	if errors.Is(err, host.ErrNotLoopback) {
		return nil, nil, usagef("--http %w: use 127.0.0.1, or say under which name with --http-host", err)
	}
	if err != nil {
		return nil, nil, usagef("--http: %w", err)
	}
	fmt.Fprintf(a.env.Stderr, "aster: serving http://%s%s\naster: %s\n", l.Addr(), host.HTTPPath, note)
	return l, opts, nil
}
