package source

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aster-mcp/aster/bridge"
)

// SetOptions configure a Set. Nil means the zero SetOptions.
type SetOptions struct {
	// Source is for every source of the set. Its OnChange is called as well.
	Source Options
	// Filter says which tools the catalogue holds. Nil is all. Others cannot be called
	// through the set. It must be safe for concurrent use.
	Filter func(bridge.Tool) bool
	// NewRanker is given to every catalogue.
	NewRanker func([]bridge.Tool) bridge.Ranker
	// OnCatalog is called with every new catalogue, one at a time, in order,
	// from a goroutine of the set; the first time after the first change. It must not call Close.
	OnCatalog func(*bridge.Catalog)
}

// A Set is the servers of a session: a catalogue of their tools and the invoker
// that calls them. The zero Set is not usable.
type Set struct {
	opts    SetOptions
	sources []*Source // sorted by name
	dirty   chan struct{}
	done    chan struct{}
	wg      sync.WaitGroup
	close   sync.Once

	mu       sync.Mutex // guards what follows, and the making of a catalogue
	stale    bool
	catalog  *bridge.Catalog
	problems []bridge.Problem // of the catalogue
}

// NewSet makes a set and starts nothing. Every name may come once. opts may be nil.
func NewSet(specs []Spec, opts *SetOptions) (*Set, error) {
	t := &Set{dirty: make(chan struct{}, 1), done: make(chan struct{}), stale: true}
	if opts != nil {
		t.opts = *opts
	}
	each := t.opts.Source
	each.OnChange = func(s *Source) {
		t.mark()
		if f := t.opts.Source.OnChange; f != nil {
			f(s)
		}
	}
	for _, spec := range specs {
		s, err := New(spec, &each)
		if err != nil {
			return nil, err
		}
		t.sources = append(t.sources, s)
	}
	slices.SortFunc(t.sources, func(a, b *Source) int { return strings.Compare(a.Name(), b.Name()) })
	for i := 1; i < len(t.sources); i++ {
		if t.sources[i].Name() == t.sources[i-1].Name() {
			return nil, fmt.Errorf("two servers are named %q", t.sources[i].Name())
		}
	}
	t.wg.Go(t.follow)
	return t, nil
}

// Start starts all servers at once and returns when each is connected, has
// failed or waits for its user, or when ctx ends; those under way go on. What
// became of them is in their Status. It takes as long as the slowest.
func (t *Set) Start(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range t.sources {
		wg.Go(func() { s.Start(ctx) }) // its error is in Status
	}
	wg.Wait()
}

// KeepTrying is [Source.KeepTrying] of all servers.
func (t *Set) KeepTrying() {
	for _, s := range t.Sources() {
		s.KeepTrying()
	}
}

// Sources are the set's sources, sorted by name.
func (t *Set) Sources() []*Source { return slices.Clone(t.sources) }

// Source is the one of that name, nil if there is none.
func (t *Set) Source(name string) *Source {
	i, ok := slices.BinarySearchFunc(t.sources, name, func(s *Source, name string) int { return strings.Compare(s.Name(), name) })
	if !ok {
		return nil
	}
	return t.sources[i]
}

// mark notes that the catalogue is out of date.
func (t *Set) mark() {
	t.mu.Lock()
	t.stale = true
	t.mu.Unlock()
	select {
	case t.dirty <- struct{}{}:
	default:
	}
}

// follow makes a catalogue after every change and hands it on.
func (t *Set) follow() {
	var last *bridge.Catalog
	for {
		select {
		case <-t.done:
			return
		case <-t.dirty:
		}
		if t.opts.OnCatalog == nil {
			continue // it is made when it is asked for
		}
		if c := t.Catalog(); c != last {
			last = c
			t.opts.OnCatalog(c)
		}
	}
}

// Catalog is the catalogue of all tools that are listed, or known, at this
// moment and pass the filter. Without a change it is the same one. A server that
// died keeps its tools: a call of one starts it again.
func (t *Set) Catalog() *bridge.Catalog {
	c, _ := t.build()
	return c
}

// Problems are what is wrong with tools and lists, of the servers and of the
// catalogue, sorted by ID.
func (t *Set) Problems() []bridge.Problem {
	_, all := t.build()
	for _, s := range t.sources {
		all = append(all, s.Status().Problems...)
	}
	slices.SortStableFunc(all, func(a, b bridge.Problem) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

func (t *Set) build() (*bridge.Catalog, []bridge.Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stale || t.catalog == nil {
		t.stale = false
		t.rebuild()
	}
	return t.catalog, slices.Clone(t.problems)
}

// rebuild makes the catalogue, unless it would hold the same. mu is held.
func (t *Set) rebuild() {
	var tools []bridge.Tool
	about := map[string]string{}
	for _, s := range t.sources {
		if first := aboutLine(s.Status().Instructions); first != "" {
			about[s.Name()] = first
		}
		for _, tool := range s.Tools() {
			if t.opts.Filter == nil || t.opts.Filter(tool) {
				tools = append(tools, tool)
			}
		}
	}
	c, problems := bridge.NewLenientCatalog(tools, &bridge.CatalogOptions{About: about, NewRanker: t.opts.NewRanker})
	if t.catalog != nil && slices.Equal(t.catalog.Servers(), c.Servers()) {
		if changes := bridge.Diff(t.catalog, c); !changes.Any() {
			c = t.catalog
		}
	}
	t.catalog, t.problems = c, problems
}

// aboutLine is the first line of a server's instructions.
func aboutLine(instructions string) string {
	for line := range strings.Lines(instructions) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return line
		}
	}
	return ""
}

// Invoke calls a tool on its server; see [Source.Call]. It is the bridge's
// Invoker. It passes on what the bridge resolved: a tool that the filter keeps out is refused as unknown.
func (t *Set) Invoke(ctx context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	s := t.Source(tool.Server)
	if s == nil || t.opts.Filter != nil && !t.opts.Filter(tool) {
		return nil, fmt.Errorf("%q: %w", oneLine(tool.Server, maxShownName), ErrNoServer)
	}
	return s.Invoke(ctx, tool, arguments)
}

// Close closes all sources at once and returns when no goroutine and no process
// is left.
func (t *Set) Close() error {
	t.close.Do(func() { close(t.done) })
	var wg sync.WaitGroup
	for _, s := range t.sources {
		wg.Go(func() { s.Close() }) // never fails
	}
	wg.Wait()
	t.wg.Wait()
	return nil
}
