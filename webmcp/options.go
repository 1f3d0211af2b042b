package webmcp

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// Values of Options.Expose.
const (
	ExposeBoth  = "both"  // page tools and the three fixed tools
	ExposeFixed = "fixed" // webmcp_tabs, webmcp_tools and webmcp_call only
	ExposeTools = "tools" // page tools only
)

// Values of Options.Dialogs.
const (
	DialogsLeave   = "leave"   // the user answers
	DialogsAccept  = "accept"  // a dialog that blocks a call is accepted
	DialogsDismiss = "dismiss" // a dialog that blocks a call is dismissed
)

// Defaults and bounds of Options.
const (
	DefaultCallTimeout     = 60 * time.Second
	MaxCallTimeout         = 24 * time.Hour
	DefaultMaxResultTokens = 25_000
	MinMaxResultTokens     = 100
)

// Options configures [New]. The zero value of a field is its default.
type Options struct {
	Logger *slog.Logger // nil discards
	// Finder finds the browser; required unless Launch is set.
	Finder *cdp.Finder
	// Launch, when set, starts a browser of our own instead. It is closed when Run ends.
	Launch *cdp.LaunchOptions
	// Expose says which tools are served: ExposeBoth ("" too), ExposeFixed or ExposeTools.
	Expose string
	// CallTimeout ends a call that the page does not answer. A caller can set another
	// by the request's _meta key "aster/timeoutMs". 0 means DefaultCallTimeout.
	CallTimeout time.Duration
	// MaxResultTokens cuts longer results, by the estimate of bridge.EstimateTokens;
	// the rest is read page by page. 0 means DefaultMaxResultTokens.
	MaxResultTokens int
	// Dialogs says what happens to a JavaScript dialog that opens during a call.
	Dialogs string
	// Origins and DenyOrigins are globs such as "https://*.example.com". A denied origin,
	// and every frame inside its pages, is left alone. Empty Origins means every origin.
	Origins, DenyOrigins []string
	// ActiveTab serves only the visible tab that last had the focus.
	ActiveTab bool
	// Debugging shows tools that their page marks as meant for debugging.
	Debugging bool
	// LegacyAPI gives pages under the shim the names of older drafts too.
	LegacyAPI bool
	// Secret lets this process take over the shims of an earlier one that had the same
	// secret. Empty means a random one: shims of earlier processes are not adopted.
	Secret string
	// Version is told to MCP clients.
	Version string
	// RetryStamp is a file whose change means that a refused connection may be tried again.
	RetryStamp string
}

func (o *Options) normalise() error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Finder == nil && o.Launch == nil {
		return errors.New("no browser: Options.Finder or Options.Launch is needed")
	}
	if err := choice("expose", &o.Expose, ExposeBoth, ExposeFixed, ExposeTools); err != nil {
		return err
	}
	if err := choice("dialogs", &o.Dialogs, DialogsLeave, DialogsAccept, DialogsDismiss); err != nil {
		return err
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	if o.CallTimeout < 0 || o.CallTimeout > MaxCallTimeout {
		return fmt.Errorf("call timeout %v: it must be positive and at most %v", o.CallTimeout, MaxCallTimeout)
	}
	if o.MaxResultTokens == 0 {
		o.MaxResultTokens = DefaultMaxResultTokens
	}
	if o.MaxResultTokens < MinMaxResultTokens {
		return fmt.Errorf("max result of %d tokens: it must be at least %d", o.MaxResultTokens, MinMaxResultTokens)
	}
	for _, list := range [][]string{o.Origins, o.DenyOrigins} {
		for _, glob := range list {
			if err := shim.ValidOriginGlob(glob); err != nil {
				return err
			}
		}
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return nil
}

// choice checks an option with a fixed set of values, the first of which is the default.
func choice(name string, value *string, allowed ...string) error {
	if *value == "" {
		*value = allowed[0]
	}
	for _, a := range allowed {
		if *value == a {
			return nil
		}
	}
	return fmt.Errorf("%s %q: choose one of %q", name, *value, allowed)
}
