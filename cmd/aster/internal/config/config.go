package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Defaults of keys that other packages need by name.
const (
	DefaultContextTokens    = 100_000
	DefaultInventoryPercent = 1.5
	DefaultSearchLimit      = 5
	DefaultStartTimeout     = 10 * time.Second
	DefaultCallTimeout      = 30 * time.Second
	DefaultResultTokens     = 25_000
	DefaultDaemonIdle       = 10 * time.Minute
)

// Names of the servers that run inside aster. No other server can have them; an entry
// under mcp.servers with one of them may only hold disabled and timeouts.
const (
	ServerWeb       = "web"
	ServerShortcuts = "shortcuts"
	ServerWebMCP    = "webmcp"
)

// A Config is the union of all layers, checked. It is not changed after [Load] returned
// it, and so is safe for concurrent use.
type Config struct {
	// Servers holds all that some layer declares, disabled ones too, sorted by name. The
	// servers inside aster are not among them: see [Config.Builtin].
	Servers []*Server
	Tools   Tools

	ContextTokens    int           // tokens that the model has left for a turn; above 0
	InventoryPercent float64       // share of ContextTokens that the manifest may take; in (0, 100]
	SearchLimit      int           // results of a search that names no limit; 1 to 20
	StartTimeout     time.Duration // how long a server may take to start, where it says nothing itself
	CallTimeout      time.Duration // how long a call may take, where the server says nothing itself
	ResultTokens     int           // longer results of the gateway are paged
	ShowDisabled     bool          // tell the model which servers are disabled; never which tools are denied
	DaemonIdle       time.Duration // an unused daemon ends after this

	WebMCP    WebMCP
	Web       Web
	Shortcuts Shortcuts
	Policy    Policy
	Audit     Audit

	Home     string            // the user's directory, absolute; "" if there is none
	Project  string            // the directory of the project's files, absolute; "" outside of one
	Files    []File            // in the order in which they were read; later ones count more
	Problems []Problem         // what was left out, and why; the rest holds
	Pending  []*ConsentRequest // what waits for the user, sorted by name; not part of the rest
	builtin  map[string]builtin
	places   map[string]Place // by key, such as "mcp.web.user_agent"; keys that no file sets are absent
}

// Default returns the configuration of a user without files.
func Default() *Config {
	return &Config{
		ContextTokens:    DefaultContextTokens,
		InventoryPercent: DefaultInventoryPercent,
		SearchLimit:      DefaultSearchLimit,
		StartTimeout:     DefaultStartTimeout,
		CallTimeout:      DefaultCallTimeout,
		ResultTokens:     DefaultResultTokens,
		DaemonIdle:       DefaultDaemonIdle,
		WebMCP:           defaultWebMCP(),
		Web:              defaultWeb(),
		Shortcuts:        Shortcuts{Timeout: 120 * time.Second},
		Audit:            Audit{Enabled: true, MaxBytes: 10 << 20, Keep: 5, MaxArgumentBytes: 4 << 10},
		builtin:          map[string]builtin{},
		places:           map[string]Place{},
	}
}

// Server returns the server of that name, nil if no layer declares one.
func (c *Config) Server(name string) *Server {
	for _, s := range c.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// builtin is what files say about a server inside aster.
type builtin struct {
	disabled bool
	place    Place // where disabled was said
}

// Builtin reports whether one of the servers inside aster is on, and the place that
// decided so. The place of a default is the zero Place.
func (c *Config) Builtin(name string) (on bool, by Place) {
	if b := c.builtin[name]; b.disabled {
		return false, b.place
	}
	if name == ServerWebMCP {
		return c.WebMCP.Enabled, c.Place("mcp.webmcp.enabled")
	}
	return name == ServerWeb || name == ServerShortcuts, Place{}
}

// Place returns where the value of a key such as "mcp.search_limit" comes from; the zero
// Place means that it is the default.
func (c *Config) Place(key string) Place { return c.places[key] }

// A Transport is how a server's messages move.
type Transport string

// Transports. The names are those of the file.
const (
	Stdio          Transport = "stdio"
	StreamableHTTP Transport = "streamable-http"
	SSE            Transport = "sse" // the old HTTP+SSE binding; only when a file names it
)

// A Server is one configured MCP server. Its texts are as the file has them, with ${VAR}
// in place: [Server.Expand] gives the ones to run. So a Server holds no secret but those
// that the file itself holds: print Env and Headers by name, never by value.
type Server struct {
	Name      string
	Transport Transport // never empty
	Place     Place     // of the declaration

	// For Stdio.
	Command string
	Args    []string
	Env     map[string]string // added to the allow-list that every child gets
	Cwd     string            // "" or absolute: a relative one is below the directory of its file

	// For StreamableHTTP and SSE.
	URL     string
	Headers map[string]string // names as written
	OAuth   OAuth

	Disabled     bool
	DisabledBy   Place         // where that was said; zero unless Disabled
	Timeout      time.Duration // of a call; 0 means [Config.CallTimeout]
	StartTimeout time.Duration // 0 means [Config.StartTimeout]
	Trust        bool          // its tools need no approval
	Sampling     bool          // it may ask the client's model, and for its roots

	// Shadows are the declarations of the same name that this one replaced.
	Shadows []Place
}

// OAuth are the settings of a remote server's login that discovery cannot find. The zero
// value leaves everything to discovery.
type OAuth struct {
	ClientID     string
	ClientSecret string // as written: name a variable, as in ${SECRET}
	Scopes       []string
	CallbackPort int // 0 is any free one
}

// A Scope is a layer of the configuration. A greater one counts more.
type Scope int

// Scopes.
const (
	ScopeDefault Scope = iota
	ScopeGlobal        // the user's files
	ScopeProject       // the project's files
	ScopeEnv           // a variable
	ScopeFlag          // the file of --config
)

// String is the scope in words.
func (s Scope) String() string {
	switch s {
	case ScopeGlobal:
		return "global"
	case ScopeProject:
		return "project"
	case ScopeEnv:
		return "environment"
	case ScopeFlag:
		return "flag"
	}
	return "default"
}

// A Place says where something was written. The zero Place is the defaults.
type Place struct {
	Scope  Scope
	File   string // absolute path, or the name of a variable under ScopeEnv
	Line   int    // from 1; 0 when not known
	Column int    // from 1, in characters; 0 when not known
}

// IsZero reports whether nothing wrote it.
func (p Place) IsZero() bool { return p == Place{} }

// String is "file:line:column", as compilers have it, or "default".
func (p Place) String() string {
	if p.File == "" {
		return p.Scope.String()
	}
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// A File is a file or variable that was looked for.
type File struct {
	Path  string // absolute, or the name of a variable
	Scope Scope
	Found bool
}

// A Problem is something that a layer says and that does not hold.
type Problem struct {
	Place  Place
	Server string // the server that it costs, "" when none
	Text   string // one line
	// Excerpt is the line of the file and below it a caret, "" where there is nothing to show.
	Excerpt string
}

// Lines are the problem as String has it, and below it the excerpt where there is one.
func (p Problem) Lines() []string {
	lines := []string{p.String()}
	if p.Excerpt != "" {
		lines = append(lines, strings.Split(p.Excerpt, "\n")...)
	}
	return lines
}

// String is the problem in one line, with its place first.
func (p Problem) String() string {
	if p.Place.IsZero() {
		return p.Text
	}
	return fmt.Sprintf("%s: %s", p.Place, p.Text)
}

// Shortcuts are the settings of the server "shortcuts".
type Shortcuts struct {
	Folders []string      // only these folders; nil means all
	AsTools bool          // each shortcut as a tool of its own
	Timeout time.Duration // of a run
}

// Audit says what is kept of each call.
type Audit struct {
	Enabled          bool
	File             string // absolute; "" means audit.jsonl in the user's directory
	MaxBytes         int64  // a longer file is rotated
	Keep             int    // how many rotated files stay
	MaxArgumentBytes int    // longer arguments are cut; 0 keeps none
}
