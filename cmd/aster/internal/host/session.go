package host

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/upstream"
)

// A Builtin is a server inside this process.
type Builtin struct {
	Name   string
	Server *mcp.Server
	// Effect is our own judgement of a tool; nil counts each as unknown.
	Effect func(tool string) guard.Effect
	// Origin is the origin of the page that registered a tool; false for a tool that is
	// the server's own. Nil is false for all.
	Origin func(tool string) (string, bool)
	// Hidden are tools that the bridge stands for itself.
	Hidden []string
	// Resolve says what a request of a client really calls, for a [Front]; nil means that
	// every tool is called under its own name, as the server lists it. Its error is
	// answered to the client, and nothing is called.
	Resolve func(context.Context, *mcp.CallToolRequest) (Target, error)
	// Close ends what the server holds; nil is nothing.
	Close func() error
}

// SessionOptions configure a [Session]. Config is needed.
type SessionOptions struct {
	Config  *config.Config
	Getenv  func(string) string // nil means that no variable is set
	Environ []string            // what children's allow-list is taken from; nil is this process's
	Logger  *slog.Logger        // nil discards
	Version string
	// StateDir is the user's directory; "" keeps nothing, which is an error where the
	// record of calls is on.
	StateDir string
	Builtins []Builtin
	// Only, if not nil, are the servers to start; others are as if not configured.
	Only []string
	// Legacy begins sessions with initialize, as the client of a server that is served by
	// itself did: a server's questions then come in a form that the client knows.
	Legacy bool
	// Approver asks where the client cannot be asked; nil refuses.
	Approver guard.Approver
	// Approve and ReadOnly say what their flags say.
	Approve  guard.Mode
	ReadOnly bool
	// ParkedWait is how long a call waits for a client that was asked something; 0 is
	// the constant ParkedWait.
	ParkedWait time.Duration
}

// A Session is the servers of one user's session behind one guard: their catalogue, and
// the only way to call them. It is safe for concurrent use.
type Session struct {
	opts     SessionOptions
	log      *slog.Logger
	set      *source.Set
	guard    *guard.Guard
	audit    *guard.Log // nil where none is kept
	pins     *guard.Pins
	redactor *guard.Redactor
	logins   *upstream.Options
	rounds   *rounds
	telling  chan struct{} // holds one for each thing that is being told to clients
	gateway  *Gateway      // guarded by mu; nil until there is one
	lists    *Lists        // what the servers listed last
	servers  map[string]*server
	problems []Problem // servers that could not even be tried

	mu        sync.Mutex
	starting  int // calls of Start under way: each ends in a mark
	dirty     bool
	catalog   *bridge.Catalog
	unfilled  map[bridge.ToolID]bridge.Tool // of configured servers; made with the catalogue
	held      []HeldBack
	listeners []func(*bridge.Catalog)
	logTo     func(*logMessage) // nil drops
	clients   func() iter.Seq[*mcp.ServerSession]
	changed   chan struct{}
	done      chan struct{}
	wg        sync.WaitGroup
}

// server is what the session knows of one server beside its source.
type server struct {
	name     string
	builtin  *Builtin
	trust    bool
	sampling bool
	identity string     // of a configured server
	about    string     // what it was for when it was last connected
	era      source.Era // that it spoke then
}

// A Problem is a server that could not be tried, and why.
type Problem struct {
	Server, Text string
}

// HeldBack is a tool that is not in the catalogue, and why.
type HeldBack struct {
	ID     bridge.ToolID
	Reason string
}

// ErrNoSuchServer is the error of a name that no configuration has.
var ErrNoSuchServer = errors.New("no such server")

// NewSession makes a session and starts nothing. The builtins are the session's from now
// on, also where it returns an error.
func NewSession(o *SessionOptions) (s *Session, err error) {
	s = &Session{opts: *o, log: o.Logger, servers: map[string]*server{}, dirty: true, changed: make(chan struct{}, 1), done: make(chan struct{}), redactor: guard.NewRedactor(), lists: OpenLists(o.StateDir), rounds: newRounds(), telling: make(chan struct{}, maxTelling)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Getenv == nil {
		s.opts.Getenv = func(string) string { return "" }
	}
	s.logins = loginOptions(s.opts.Getenv, s.opts.StateDir)
	failed := s // s is nil after "return nil, err"
	defer func() {
		if err != nil {
			failed.closeBuiltins()
		}
	}()
	made, err := newGuard(&s.opts, s.redactor)
	if err != nil {
		return nil, err
	}
	s.guard, s.audit, s.pins = made.guard, made.audit, made.pins
	s.set, err = source.NewSet(s.specs(), &source.SetOptions{Source: source.Options{
		Client: &mcp.Implementation{Name: "aster", Version: o.Version}, Logger: s.log, Environ: o.Environ,
		Handlers: s.handlers(), OnChange: func(src *source.Source) { s.mark(); s.keepList(src) },
	}})
	if err != nil {
		s.guard.Close()
		return nil, err
	}
	s.wg.Go(s.follow)
	s.wg.Go(s.heedRestarts)
	return s, nil
}

// specs are the servers that are on, in the form that sources have.
func (s *Session) specs() (specs []source.Spec) {
	c := s.opts.Config
	wanted := func(name string) bool { return s.opts.Only == nil || slices.Contains(s.opts.Only, name) }
	for i := range s.opts.Builtins {
		b := &s.opts.Builtins[i]
		if !wanted(b.Name) {
			continue
		}
		s.servers[b.Name] = &server{name: b.Name, builtin: b}
		specs = append(specs, source.Spec{Name: b.Name, Server: b.Server, CallTimeout: -1}) // they have limits of their own
	}
	for _, cs := range c.Servers {
		if cs.Disabled || !wanted(cs.Name) {
			continue
		}
		spec, err := s.spec(cs)
		if err != nil {
			s.problems = append(s.problems, Problem{cs.Name, err.Error()})
			continue
		}
		s.servers[cs.Name] = &server{name: cs.Name, trust: cs.Trust, sampling: cs.Sampling, identity: cs.Fingerprint()}
		s.recall(&spec, cs, s.servers[cs.Name])
		if s.opts.Legacy {
			spec.Era = source.EraLegacy
		}
		specs = append(specs, spec)
	}
	return specs
}

func (s *Session) spec(cs *config.Server) (source.Spec, error) {
	spec, err := upstream.Spec(s.opts.Config, cs, s.logins)
	if err != nil {
		return spec, err
	}
	s.redactor.Add(spec.Secrets...)
	for _, values := range []map[string]string{spec.Env, spec.Headers} {
		for _, v := range values {
			s.redactor.Add(v)
		}
	}
	return spec, nil
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// Start starts all servers at once and waits until each is connected or has failed, or
// ctx ends; those under way go on.
func (s *Session) Start(ctx context.Context) {
	s.mu.Lock()
	s.starting++
	s.mu.Unlock()
	s.set.Start(ctx)
	s.mu.Lock()
	s.starting--
	s.mu.Unlock()
	s.mark() // a source says that it is up a moment before it tells of the change
}

// Close ends all servers and the record. It returns when no process and no goroutine of
// the session is left.
func (s *Session) Close() error {
	err := s.set.Close()
	close(s.done)
	s.wg.Wait()
	return errors.Join(err, s.closeBuiltins(), s.guard.Close())
}

func (s *Session) closeBuiltins() (err error) {
	for i := range s.opts.Builtins {
		err = errors.Join(err, s.opts.Builtins[i].close())
	}
	return err
}

func (b *Builtin) close() error {
	if b.Close == nil {
		return nil
	}
	return b.Close()
}

// mark says that the catalogue may have changed.
func (s *Session) mark() {
	s.mu.Lock()
	s.dirty = true
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// follow tells the listeners of new catalogues.
func (s *Session) follow() {
	for {
		select {
		case <-s.done:
			return
		case <-s.changed:
		}
		s.mu.Lock()
		listeners, starting := slices.Clone(s.listeners), s.starting > 0
		s.mu.Unlock()
		if starting && len(listeners) == 0 {
			continue // one catalogue at its end, not one for each server that comes up
		}
		c := s.Catalog()
		for _, f := range listeners {
			f(c)
		}
	}
}

// OnCatalog calls f with each new catalogue, one at a time, from a goroutine of the
// session. f must not call Close.
func (s *Session) OnCatalog(f func(*bridge.Catalog)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

// Catalog is the catalogue of this moment: what the servers list, without what the
// configuration filters out, what waits for approval, and what cannot be used.
func (s *Session) Catalog() *bridge.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty || s.catalog == nil {
		s.dirty = false
		s.build()
	}
	return s.catalog
}

// build makes the catalogue, with s.mu held. The sources' locks are below it.
func (s *Session) build() {
	var tools, foreign []bridge.Tool
	s.held = nil
	about := map[string]string{}
	for _, src := range s.set.Sources() {
		sv := s.servers[src.Name()]
		status := src.Status()
		about[sv.name] = aboutOf(&status, sv.about)
		list := src.Tools()
		if sv.builtin == nil {
			s.holdDoubled(list)
			list = s.usable(sv, &status, about[sv.name], list)
			foreign = append(foreign, list...)
		}
		for _, t := range list {
			verdict := s.opts.Config.Tools.Filter(string(t.ID()))
			switch {
			case sv.builtin != nil && slices.Contains(sv.builtin.Hidden, t.Name):
			case !verdict.Allowed && verdict.By != nil:
				s.hold(t.ID(), fmt.Sprintf("by %q in %s", verdict.By.Text, verdict.By.Place))
			case !verdict.Allowed:
				s.hold(t.ID(), "no rule of mcp.tools.allow lets it in")
			default:
				tools = append(tools, t)
			}
		}
	}
	catalog, problems := bridge.NewLenientCatalog(tools, &bridge.CatalogOptions{About: about})
	for _, p := range problems {
		if p.Dropped {
			s.hold(p.ID, p.Reason)
		}
	}
	s.catalog, s.unfilled = catalog, unfilled(foreign, catalog)
}

func (s *Session) hold(id bridge.ToolID, reason string) {
	s.held = append(s.held, HeldBack{id, reason})
}

// reviewed is a list without the tools whose definition is not the approved one. Of the
// server's instructions only about is shown to models.
func (s *Session) reviewed(sv *server, about string, list []bridge.Tool) []bridge.Tool {
	review, err := s.pins.Observe(guard.Observation{Server: sv.name, Identity: sv.identity, Instructions: about, Tools: list})
	if err != nil {
		s.log.Warn("approved definitions not kept", "server", sv.name, "err", err)
	}
	for i := range review.Held {
		h := &review.Held[i]
		s.hold(bridge.NewToolID(h.Server, h.Tool), h.State+": see aster mcp list --changes, then aster mcp approve "+string(bridge.NewToolID(h.Server, h.Tool)))
	}
	return review.Usable
}

// HeldBack are the tools that the catalogue leaves out, sorted by server.
func (s *Session) HeldBack() []HeldBack {
	s.Catalog()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.held)
}

// ServerState is how one server stands.
type ServerState struct {
	Name   string
	Status source.Status
	Tools  int // in the catalogue
}

// Servers are the servers of the session, sorted by name.
func (s *Session) Servers() (out []ServerState) {
	tools := map[string]int{}
	for _, sv := range s.Catalog().Servers() {
		tools[sv.Name] = sv.Tools
	}
	for _, src := range s.set.Sources() {
		out = append(out, ServerState{src.Name(), src.Status(), tools[src.Name()]})
	}
	return out
}

// Origin is the origin of the page that registered a tool, "" for a tool of no page.
func (s *Session) Origin(tool bridge.Tool) string {
	if sv := s.servers[tool.Server]; sv != nil && sv.builtin != nil && sv.builtin.Origin != nil {
		origin, _ := sv.builtin.Origin(tool.Name)
		return origin
	}
	return ""
}

// Problems are the servers that could not be tried.
func (s *Session) Problems() []Problem { return slices.Clone(s.problems) }

// Audit is the record of calls, nil where none is kept.
func (s *Session) Audit() *guard.Log { return s.audit }
