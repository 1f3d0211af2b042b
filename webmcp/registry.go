package webmcp

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"
)

// The tools of a page that is being reloaded stay listed, so that a reload which
// brings the same tools back changes nothing for clients: until StaleFor after the page
// has loaded and brought the last of them back, and for MaxStale at the most.
const (
	StaleFor = 500 * time.Millisecond
	MaxStale = 10 * time.Second
)

// Change is what one event of a page did to the registry.
type Change struct {
	Added   []*PageTool
	Removed []*PageTool
	// Reloading keeps the removed tools listed for a while, because the same document
	// is on its way back.
	Reloading bool
}

// Registry is the set of live page tools. Apply is its only writer. All methods may
// be called from any goroutine.
type Registry struct {
	mu      sync.Mutex
	names   namer
	tools   map[toolKey]*PageTool // live
	byName  map[string]*PageTool  // live and stale, by MCP name
	stale   map[string]*staleTab  // listed, but on their way out, by tab
	changed chan struct{}         // holds one token when something changed
	now     func() time.Time
	dropped int
}

// staleTab holds the tools of a tab whose page is being reloaded.
type staleTab struct {
	tools      map[toolKey]*PageTool
	until, max time.Time
	loaded     bool
}

func newRegistry() *Registry {
	return &Registry{
		tools: map[toolKey]*PageTool{}, byName: map[string]*PageTool{}, stale: map[string]*staleTab{},
		changed: make(chan struct{}, 1), now: time.Now,
	}
}

// Apply makes a change visible. Removals come before additions; a tool that is
// registered again under its key replaces the old one.
func (r *Registry) Apply(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for _, t := range c.Removed {
		if r.tools[t.key] != t {
			continue
		}
		delete(r.tools, t.key)
		if c.Reloading {
			r.keep(t, now)
			continue
		}
		delete(r.byName, t.Name)
		r.names.release(t.key, now)
	}
	for _, t := range c.Added {
		r.add(t, now)
	}
	r.signal()
}

func (r *Registry) add(t *PageTool, now time.Time) {
	if old := r.tools[t.key]; old != nil {
		t.Name = old.Name
	} else if s := r.stale[t.key.Target]; s != nil && s.tools[t.key] != nil {
		t.Name = s.tools[t.key].Name
		delete(s.tools, t.key)
		if s.loaded {
			s.until = now.Add(StaleFor)
		}
	} else {
		if len(r.byName) >= MaxTools {
			r.dropped++
			return
		}
		t.Name = r.names.assign(t.key, now)
	}
	r.tools[t.key] = t
	r.byName[t.Name] = t
}

// keep lists a tool on while its page is being reloaded.
func (r *Registry) keep(t *PageTool, now time.Time) {
	s := r.stale[t.key.Target]
	if s == nil {
		s = &staleTab{tools: map[toolKey]*PageTool{}}
		r.stale[t.key.Target] = s
	}
	s.tools[t.key] = t
	s.max, s.until, s.loaded = now.Add(MaxStale), now.Add(MaxStale), false
}

// dropTab takes the stale tools of a tab off the list.
func (r *Registry) dropTab(id string, now time.Time) {
	for key, t := range r.stale[id].tools {
		delete(r.byName, t.Name)
		r.names.release(key, now)
	}
	delete(r.stale, id)
}

// sweep drops stale tools whose time is up. It returns when the next are due; zero
// when none are left.
func (r *Registry) sweep() (next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for id, s := range r.stale {
		due := s.until
		if s.max.Before(due) {
			due = s.max
		}
		switch {
		case len(s.tools) == 0:
			delete(r.stale, id)
		case !due.After(now):
			r.dropTab(id, now)
			r.signal()
		case next.IsZero() || due.Before(next):
			next = due
		}
	}
	return next
}

// arrived drops a tab's stale tools when another page came than they were of.
func (r *Registry) arrived(tabID, url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stale[tabID]
	if s == nil {
		return
	}
	for _, t := range s.tools {
		if t.Main && t.URL != url {
			r.dropTab(tabID, r.now())
			r.signal()
			return
		}
	}
}

// loaded shortens the time of a tab's stale tools: its page has loaded.
func (r *Registry) loaded(tabID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.stale[tabID]; s != nil {
		s.loaded, s.until = true, r.now().Add(StaleFor)
		r.signal() // the syncer looks at the times anew
	}
}

// forgetTab lets the names of a closed tab go.
func (r *Registry) forgetTab(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.stale[id] != nil {
		r.dropTab(id, now)
	}
	r.names.forgetTarget(id)
	r.signal()
}

// renew forgets all names: another browser start is attached, whose tabs are new. The
// list was empty in between, so no client takes one tool for another.
func (r *Registry) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byName) == 0 {
		r.names = namer{}
	}
}

func (r *Registry) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Changed yields a value after each change; several changes may share one.
func (r *Registry) Changed() <-chan struct{} { return r.changed }

// Lookup finds a tool by its MCP name; nil when there is none. A tool whose page is
// being reloaded is found too: calling it says so.
func (r *Registry) Lookup(name string) *PageTool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name]
}

// Named lists the live tools whose page calls them name, sorted by MCP name.
func (r *Registry) Named(name string) []*PageTool {
	var found []*PageTool
	for _, t := range r.Tools() {
		if t.PageName == name {
			found = append(found, t)
		}
	}
	return found
}

// Tools lists all live tools, and those whose page is being reloaded, sorted by MCP name.
func (r *Registry) Tools() []*PageTool {
	r.mu.Lock()
	all := make([]*PageTool, 0, len(r.byName))
	for _, t := range r.byName {
		all = append(all, t)
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *PageTool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// same reports whether two tools look alike to a client.
func same(a, b *PageTool) bool {
	return a == b || a.Name == b.Name && a.key == b.key && a.Title == b.Title && a.Description == b.Description &&
		a.URL == b.URL && a.Declarative == b.Declarative && sameHints(a.Annotations, b.Annotations) &&
		a.SchemaNote == b.SchemaNote && bytes.Equal(a.InputSchema, b.InputSchema)
}

func sameHints(a, b *Annotations) bool {
	return a == b || a != nil && b != nil && *a == *b
}
