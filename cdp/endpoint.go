package cdp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
)

var (
	// ErrNoBrowser is the error of a search that found no browser to attach to. It
	// comes as a [*NotFoundError], which says what was tried and what to do.
	ErrNoBrowser = errors.New("no browser to attach to")
	// ErrRemote is the error of an address that is not on this machine and that
	// FinderOptions.AllowRemote does not name, and of a browser that points there.
	ErrRemote = errors.New("not on this machine")
	// ErrSpec is the error of text that is none of the forms of [NewFinder].
	ErrSpec = errors.New("not a browser's address")
	// ErrLaunch is the error of the form "launch": that browser is not to be found
	// but to be started, by [Launch].
	ErrLaunch = errors.New(`"launch" starts a browser and cannot be looked for`)
)

// Endpoint is where a running browser listens for DevTools connections. Two endpoints
// with an equal WS are the same start of the same browser: Chrome makes a new path
// for each. The exception is a WS that ends in /devtools/browser, which stands for
// whatever browser is there.
type Endpoint struct {
	// WS is the browser's websocket URL, its host an IP address where it is loopback.
	WS string
	// HTTP is its http://host:port, or "" where /json/version is not served.
	HTTP string
	// Host is the Host header for HTTP and WS alike; "" means that of the URL.
	Host string
	// Source says for people where the endpoint comes from, such as
	// "Chrome (stable), profile /home/u/.config/google-chrome".
	Source string
	// Browser names the product, such as "Chrome"; "" when nothing tells.
	Browser string
	// PortFile is the path of the DevToolsActivePort file that gave the endpoint, or "".
	PortFile string
	// Consent is true where the browser asks its user about each connection, as it
	// does with the toggle at chrome://inspect/#remote-debugging (Chrome 144 and later).
	Consent bool
}

// nameless reports whether WS does not tell one browser start from the next.
func (e Endpoint) nameless() bool { return strings.HasSuffix(e.WS, browserPath) }

// FinderOptions configures [NewFinder]. The zero value searches this machine only.
type FinderOptions struct {
	// AllowRemote names hosts other than this machine, each a host name or an IP
	// address without a port, that may be asked and connected to.
	AllowRemote []string
	// HTTPClient sends the requests for /json/version, never following a redirect.
	// Nil means a client without proxy and cookies; so does a nil Transport in it.
	HTTPClient *http.Client
	// GOOS, Home and Getenv stand for the system in tests. Empty means this one.
	GOOS   string
	Home   string
	Getenv func(string) string
}

// Finder looks for running browsers. It reads files and asks for /json/version, and
// never opens a websocket: in a browser that asks for consent each would be a dialog.
// Its methods may be called from any goroutine.
type Finder struct {
	spec   spec
	sys    system
	client *http.Client
	remedy func() string // computed once; the command for this system

	mu    sync.Mutex
	asked []string // websocket URLs that Await has seen refused or lost; guarded by mu, at most maxAsked
}

// NewFinder makes a Finder for one of these forms, with blanks around it ignored:
//
//	auto                    (or "") the known profiles of Chrome, Edge, Chromium and
//	                        Brave on this system, then 127.0.0.1:9222
//	http://host:port        the browser that /json/version there names
//	ws://host:port          the same, for a browser that need not serve /json/version
//	ws://host:port/devtools/browser/ID
//	                        this address as it is
//	profile:DIR             the browser running on the user data directory DIR, by its
//	                        DevToolsActivePort; ~, $VAR and %VAR% are expanded
//
// https and wss work as http and ws do. The form "launch" is refused with [ErrLaunch],
// a host elsewhere with [ErrRemote], anything else with [ErrSpec].
func NewFinder(text string, opts *FinderOptions) (*Finder, error) {
	var o FinderOptions
	if opts != nil {
		o = *opts
	}
	f := &Finder{sys: newSystem(o.GOOS, o.Home, o.Getenv), client: newVersionClient(o.HTTPClient)}
	allowed, err := parseHosts(o.AllowRemote)
	if err != nil {
		return nil, err
	}
	if f.spec, err = parseSpec(text, allowed, f.sys); err != nil {
		return nil, err
	}
	f.remedy = sync.OnceValue(func() string { return startCommand(f.sys) })
	return f, nil
}

// Find returns the first browser that answers and the others that do, in a fixed
// order. It takes two seconds and a little at most. Without a browser the error is a
// [*NotFoundError].
func (f *Finder) Find(ctx context.Context) (found Endpoint, others []Endpoint, err error) {
	var all []Endpoint
	var tried []Attempt
	switch f.spec.kind {
	case specAuto:
		all, tried = f.findAuto(ctx)
	case specProfile:
		all, tried = f.findProfile(ctx)
	default:
		all, tried = f.findAddress(ctx)
	}
	if err := ctx.Err(); err != nil {
		return Endpoint{}, nil, fmt.Errorf("looking for a browser: %w", err)
	}
	if len(all) == 0 {
		return Endpoint{}, nil, &NotFoundError{Tried: tried, Command: f.remedy(), windows: f.sys.goos == "windows"}
	}
	return all[0], all[1:], nil
}

// system is what the search knows of the machine, replaceable in tests.
type system struct {
	goos, home string
	getenv     func(string) string
}

func newSystem(goos, home string, getenv func(string) string) system {
	s := system{goos, home, getenv}
	if s.goos == "" {
		s.goos = runtime.GOOS
	}
	if s.home == "" {
		s.home, _ = os.UserHomeDir() // without one, only absolute places are searched
	}
	if s.getenv == nil {
		s.getenv = os.Getenv
	}
	return s
}
