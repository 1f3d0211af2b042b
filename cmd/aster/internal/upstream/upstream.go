package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// Options configure [Specs] and [Spec]. Nil means the zero Options.
type Options struct {
	// Getenv looks up the variables that files name. Nil means that all are unset.
	Getenv func(string) string
	// Store holds logins. Nil means that there are none.
	Store *Store
}

// Spec returns the spec of one server, disabled or not.
func Spec(cfg *config.Config, server *config.Server, opts *Options) (source.Spec, error) {
	if opts == nil {
		opts = &Options{}
	}
	s, secrets, err := server.Expand(getenv(opts.Getenv))
	if err != nil {
		return source.Spec{}, err
	}
	spec := source.Spec{
		Name:         s.Name,
		StartTimeout: pick(s.StartTimeout, cfg.StartTimeout),
		CallTimeout:  pick(s.Timeout, cfg.CallTimeout),
		Secrets:      secrets,
	}
	switch s.Transport {
	case config.Stdio:
		spec.Command, spec.Args, spec.Env, spec.Dir = s.Command, s.Args, s.Env, s.Cwd
	case config.StreamableHTTP, config.SSE:
		spec.URL, spec.Headers, spec.SSE = s.URL, s.Headers, s.Transport == config.SSE
		if opts.Store != nil {
			spec.Bearer = (&bearer{store: opts.Store, server: s.Name, url: s.URL}).token
		}
	default:
		return source.Spec{}, fmt.Errorf("mcp.servers.%s: unknown transport %q", s.Name, s.Transport)
	}
	return spec, nil
}

func getenv(f func(string) string) func(string) string {
	if f == nil {
		return func(string) string { return "" }
	}
	return f
}

func pick(d, standard time.Duration) time.Duration {
	if d != 0 {
		return d
	}
	return standard
}

// remote returns the expanded server if it can be signed in to.
func remote(server *config.Server, opts *Options) (*config.Server, error) {
	if opts == nil || opts.Store == nil {
		return nil, fmt.Errorf("%s: there is nowhere to keep a login", server.Name)
	}
	s, _, err := server.Expand(getenv(opts.Getenv))
	if err != nil {
		return nil, err
	}
	if s.Transport == config.Stdio {
		return nil, fmt.Errorf("%s is a command: only remote servers have a login here", s.Name)
	}
	return s, nil
}

// Logout forgets the login of a server and reports whether there was one.
func Logout(ctx context.Context, server *config.Server, opts *Options) (bool, error) {
	s, err := remote(server, opts)
	if err != nil {
		return false, err
	}
	return opts.Store.Delete(ctx, s.Name, s.URL)
}
