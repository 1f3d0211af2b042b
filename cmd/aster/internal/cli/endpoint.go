package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cdp"
)

// browserOptions say which browser a command is about.
type browserOptions struct {
	cdpURL      string
	allowRemote []string
	headless    bool
}

// launchURL is the value of --cdp-url that starts a browser.
const launchURL = "launch"

func (o *browserOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.cdpURL, "cdp-url", "", "the `browser`: auto, http://HOST:PORT, ws://…, profile:DIR or launch (ASTER_WEBMCP_CDP_URL; default auto)")
	cmd.RegisterFlagCompletionFunc("cdp-url", cobra.FixedCompletions([]string{"auto", "http://127.0.0.1:9222", "profile:", launchURL}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	f.StringArrayVar(&o.allowRemote, "allow-remote-cdp", nil, "a `host` other than this machine that may be connected to; may be repeated")
	f.BoolVar(&o.headless, "headless", false, "start the browser of --cdp-url launch without a window")
}

// address is the browser's address and what gave it.
func (o *browserOptions) address(env *Env) (url, origin string) {
	if u := strings.TrimSpace(o.cdpURL); u != "" {
		return u, "--cdp-url"
	}
	if u := strings.TrimSpace(env.Getenv("ASTER_WEBMCP_CDP_URL")); u != "" {
		return u, "ASTER_WEBMCP_CDP_URL"
	}
	return "auto", "the default"
}

// resolve returns a finder, or the options for a start: one of the two is nil. Errors are
// usage errors.
func (o *browserOptions) resolve(env *Env) (*cdp.Finder, *cdp.LaunchOptions, error) {
	url, origin := o.address(env)
	if url == launchURL {
		dir, err := env.stateDir()
		if err != nil {
			return nil, nil, usagef("%s launch: %w", origin, err)
		}
		return nil, &cdp.LaunchOptions{
			ProfileDir: filepath.Join(dir, launchProfile), Headless: o.headless, Home: env.Home, Getenv: env.Getenv,
		}, nil
	}
	if o.headless {
		return nil, nil, usagef("--headless is for a browser that aster starts: add --cdp-url launch")
	}
	f, err := cdp.NewFinder(url, &cdp.FinderOptions{AllowRemote: o.allowRemote, Home: env.Home, Getenv: env.Getenv})
	if errors.Is(err, cdp.ErrSpec) || errors.Is(err, cdp.ErrRemote) {
		return nil, nil, usagef("%s: %w", origin, err)
	}
	return f, nil, err
}
