package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits that hold where a Spec or Options names none.
const (
	DefaultStartTimeout = 10 * time.Second // until the server's tools are listed
	DefaultCallTimeout  = 30 * time.Second // of one call, without an answer or progress
	// DiscoverTimeout is how long a server may leave server/discover unanswered.
	DiscoverTimeout = 2 * time.Second
	// SignInTimeout is how long a start may wait for the user to sign in, once
	// the server has asked for it.
	SignInTimeout = 5 * time.Minute
	// CallFactor bounds a call that reports progress: it ends at this many times
	// its limit, whatever it reports.
	CallFactor = 20
)

// Bounds on what a server may send and be asked.
const (
	MaxMessageBytes = 32 << 20 // one message
	MaxPages        = 64       // pages of one list
	MaxTools        = 2000     // tools of one server
	MaxCalls        = 64       // calls of one server at a time; further ones wait
	maxNameBytes    = 128      // of a server's name
)

// An Era is a generation of the protocol: how a session begins.
type Era string

// The eras.
const (
	EraUnknown Era = ""
	EraModern  Era = "2026-07-28" // server/discover, no sessions
	EraLegacy  Era = "2025-11-25" // initialize; this revision or an older one
)

// A Spec says how one server is reached. Exactly one of Command, URL, Server
// and Dial is set.
type Spec struct {
	// Name is the server's name in tool IDs: not empty, without "/", at most 128 bytes.
	Name string

	// Command is run with Args, in Dir ("" is the process's own). A name without
	// a slash is looked for in PATH. The child's environment is the allow-list
	// of [BaseEnv] and Env, which wins.
	Command string
	Args    []string
	Dir     string
	Env     map[string]string

	// URL is an http or https endpoint of Streamable HTTP, or, with SSE, of the
	// older HTTP+SSE transport. Headers go to its origin only.
	URL     string
	SSE     bool
	Headers map[string]string

	// OAuth and Bearer authorize requests, where no header of the name
	// Authorization does; set one of them at most. OAuth may ask the user in the
	// middle of a request. Bearer returns the token to send, "" for none, and is
	// asked once more with the token that the server refused by a status of 401, or
	// [NoToken] where it wants one.
	OAuth  auth.OAuthHandler
	Bearer func(ctx context.Context, refused string) (token string, err error)

	// Secrets are texts that must not be shown, beside the values of Env and
	// Headers: they are masked in failures, errors and logs.
	Secrets []string

	// Server runs in this process. A panic in its handlers is the process's: give it a
	// receiving middleware that recovers.
	Server *mcp.Server

	// Dial opens a stream of JSON lines, such as a socket. Close of the stream must end a Read.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)

	// StartTimeout and CallTimeout: 0 means the default, a negative one none.
	// The call's clock stands while the server has a question to the user, and
	// starts afresh with every progress report, up to CallFactor times the limit.
	StartTimeout, CallTimeout time.Duration

	// Era is what an earlier Source found out; see [Source.Status].
	Era Era

	// Known are tools that an earlier Source listed. They stand in until the
	// first list.
	Known []bridge.Tool
}

// Options configure sources. Nil means the zero Options.
type Options struct {
	// Client names this program to servers. Nil means "aster".
	Client *mcp.Implementation
	// Logger gets what servers write to standard error, at debug level, and
	// dropped lines. Nil discards. Declared secrets are masked.
	Logger *slog.Logger
	// Environ is the environment that children's allow-list is taken from, in
	// the form of os.Environ. Nil means this process's own, as in os/exec.
	Environ []string
	// HTTP carries requests to remote servers. Nil means a transport of
	// the connection's own, with the proxy of the environment.
	HTTP http.RoundTripper
	// Handlers answer servers; see there.
	Handlers Handlers
	// OnChange is called after a source's state or tools changed, from one of
	// its goroutines and without locks held. It must not call Close.
	OnChange func(*Source)
	// DiscoverTimeout, CloseGrace (of end of input, and again of TERM): 0 means
	// the constants DiscoverTimeout and 1 s.
	DiscoverTimeout, CloseGrace time.Duration
}

const defaultCloseGrace = time.Second

// validate reports what is wrong with the spec.
func (s *Spec) validate() error {
	switch {
	case s.Name == "" || strings.TrimSpace(s.Name) != s.Name:
		return fmt.Errorf("server %q: the name is empty or has spaces around it", s.Name)
	case strings.Contains(s.Name, "/"):
		return fmt.Errorf(`server %q: the name holds "/"`, s.Name)
	case len(s.Name) > maxNameBytes:
		return fmt.Errorf("server %.20q…: the name is over %d bytes", s.Name, maxNameBytes)
	}
	ways := 0
	for _, set := range []bool{s.Command != "", s.URL != "", s.Server != nil, s.Dial != nil} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		return fmt.Errorf("server %q: needs exactly one of command, url, server and dial", s.Name)
	}
	if s.URL != "" {
		if err := checkURL(s.URL); err != nil {
			return fmt.Errorf("server %q: %w", s.Name, err)
		}
	}
	for k, v := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(v, "\x00") {
			return fmt.Errorf("server %q: env %q is not a variable", s.Name, k)
		}
	}
	if s.OAuth != nil && s.Bearer != nil {
		return fmt.Errorf("server %q: has two ways to authorize", s.Name)
	}
	for k, v := range s.Headers {
		if !validHeader(k, v) {
			return fmt.Errorf("server %q: header %q is not a header", s.Name, k)
		}
	}
	return nil
}

// checkURL never repeats the URL: it may hold a secret.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("url: cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("url: needs http or https")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("url: names no host")
	case u.User != nil:
		return errors.New("url: holds a user name; use a header")
	}
	return nil
}

func validHeader(name, value string) bool {
	if name == "" || strings.ContainsAny(value, "\r\n\x00") {
		return false
	}
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return false
		}
	}
	return true
}

// limit resolves a timeout of a Spec; 0 is none.
func limit(d, standard time.Duration) time.Duration {
	switch {
	case d == 0:
		return standard
	case d < 0:
		return 0
	}
	return d
}
