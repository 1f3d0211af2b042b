package webmcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// Values of ClientOptions.Expose.
const (
	ExposeBoth  = "both"  // page tools and the three fixed tools
	ExposeFixed = "fixed" // webmcp_tabs, webmcp_tools and webmcp_call only
	ExposeTools = "tools" // page tools only
)

// Values of BrowserOptions.Dialogs.
const (
	DialogsLeave   = "leave"   // the user answers
	DialogsAccept  = "accept"  // a dialog that blocks a call is accepted
	DialogsDismiss = "dismiss" // a dialog that blocks a call is dismissed
)

// Values of BrowserOptions.Compat.
const (
	CompatAuto = "auto" // as the browser's own version
	Compat156  = "156"
	Compat159  = "159" // tools tell the schema of their results
	Compat160  = "160" // and getTools gives Tool objects
)

// Defaults and bounds of ClientOptions.
const (
	DefaultCallTimeout     = 60 * time.Second
	MaxCallTimeout         = 24 * time.Hour
	DefaultMaxResultTokens = 25_000
	MinMaxResultTokens     = 100
)

// BrowserOptions configures [NewBrowser]: the connection, and all that pages can see of
// us. The zero value of a field is its default.
type BrowserOptions struct {
	Logger *slog.Logger // nil discards
	// Finder finds the browser; required unless Launch is set.
	Finder *cdp.Finder
	// Launch, when set, starts a browser of our own instead. It is closed when Run ends.
	Launch *cdp.LaunchOptions
	// Dialogs says what happens to a JavaScript dialog that opens during a call.
	Dialogs string
	// Origins and DenyOrigins are globs such as "https://*.example.com". A denied origin,
	// and every frame inside its pages, is left alone. Empty Origins means every origin.
	Origins, DenyOrigins []string
	// LegacyAPI gives pages under the shim the names of older drafts too.
	LegacyAPI bool
	// Compat is the Chromium version whose WebMCP the shim plays: CompatAuto ("" too), or
	// one of the others.
	Compat string
	// Secret lets this process take over the shims of an earlier one that had the same
	// secret. Empty means a random one: shims of earlier processes are not adopted.
	Secret string
	// RetryStamp is a file whose change means that a refused connection may be tried again.
	RetryStamp string
}

// ClientOptions configures [Browser.NewServer]: what one client is served, and how. The
// zero value of a field is its default. Its JSON is what package daemon sends.
type ClientOptions struct {
	Logger *slog.Logger `json:"-"` // nil discards
	// Expose says which tools are served: ExposeBoth ("" too), ExposeFixed or ExposeTools.
	Expose string `json:"expose,omitempty"`
	// CallTimeout ends a call that the page does not answer. A caller can set another
	// by the request's _meta key "aster/timeoutMs". 0 means DefaultCallTimeout.
	CallTimeout time.Duration `json:"callTimeout,omitempty"`
	// MaxResultTokens cuts longer results, by the estimate of bridge.EstimateTokens;
	// the rest is read page by page. 0 means DefaultMaxResultTokens.
	MaxResultTokens int `json:"maxResultTokens,omitempty"`
	// Origins and DenyOrigins narrow what the client sees, by the same rules as those of
	// BrowserOptions. They do not widen what the browser's have left alone.
	Origins     []string `json:"origins,omitempty"`
	DenyOrigins []string `json:"denyOrigins,omitempty"`
	// Hide, if not nil, names tools that are as if no page offered them. It must be quick,
	// and give the same answer for a name each time.
	Hide func(name string) bool `json:"-"`
	// ActiveTab serves only the visible tab that last had the focus.
	ActiveTab bool `json:"activeTab,omitempty"`
	// Debugging shows tools that their page marks as meant for debugging.
	Debugging bool `json:"debugging,omitempty"`
	// Version is told to MCP clients.
	Version string `json:"version,omitempty"`
}

// Options configures [New]: a browser for one client. The fields are those of
// [BrowserOptions] and [ClientOptions].
type Options struct {
	Logger               *slog.Logger
	Finder               *cdp.Finder
	Launch               *cdp.LaunchOptions
	Expose               string
	CallTimeout          time.Duration
	MaxResultTokens      int
	Dialogs              string
	Origins, DenyOrigins []string
	Hide                 func(name string) bool
	ActiveTab            bool
	Debugging            bool
	LegacyAPI            bool
	Compat               string
	Secret               string
	Version              string
	RetryStamp           string
}

// Browser is the part of the options that pages can see.
func (o *Options) Browser() *BrowserOptions {
	return &BrowserOptions{
		Logger: o.Logger, Finder: o.Finder, Launch: o.Launch, Dialogs: o.Dialogs, Origins: o.Origins, DenyOrigins: o.DenyOrigins,
		LegacyAPI: o.LegacyAPI, Compat: o.Compat, Secret: o.Secret, RetryStamp: o.RetryStamp,
	}
}

// Client is the part of the options that only the client sees.
func (o *Options) Client() *ClientOptions {
	return &ClientOptions{
		Logger: o.Logger, Expose: o.Expose, CallTimeout: o.CallTimeout, MaxResultTokens: o.MaxResultTokens, Origins: o.Origins, DenyOrigins: o.DenyOrigins, Hide: o.Hide,
		ActiveTab: o.ActiveTab, Debugging: o.Debugging, Version: o.Version,
	}
}

func (o *BrowserOptions) normalise() error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Finder == nil && o.Launch == nil {
		return errors.New("no browser: Options.Finder or Options.Launch is needed")
	}
	if err := choice("dialogs", &o.Dialogs, DialogsLeave, DialogsAccept, DialogsDismiss); err != nil {
		return err
	}
	if err := choice("compat", &o.Compat, CompatAuto, Compat156, Compat159, Compat160); err != nil {
		return err
	}
	if o.Secret == "" {
		o.Secret = rand.Text()
	}
	return validGlobs(o.Origins, o.DenyOrigins)
}

func validGlobs(lists ...[]string) error {
	for _, list := range lists {
		for _, glob := range list {
			if err := shim.ValidOriginGlob(glob); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *ClientOptions) normalise() error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := choice("expose", &o.Expose, ExposeBoth, ExposeFixed, ExposeTools); err != nil {
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
	if o.Version == "" {
		o.Version = "dev"
	}
	return validGlobs(o.Origins, o.DenyOrigins)
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
