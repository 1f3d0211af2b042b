package webmcp

import (
	"bytes"
	"cmp"
	"context"
	"maps"
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
	tools   map[toolKey]*PageTool // live
	listed  map[toolKey]listing   // live and stale
	stale   map[string]*staleTab  // listed, but on their way out, by tab
	views   []*view               // what clients see, each for itself
	seq     int64                 // of the last listing
	resweep chan struct{}         // holds one token when the times of stale tools changed
	now     func() time.Time
	dropped int
}

// listing is a tool that is live or whose page is being reloaded, and when it came.
type listing struct {
	tool *PageTool
	seq  int64
}

// staleTab holds the tools of a tab whose page is being reloaded.
type staleTab struct {
	tools      map[toolKey]*PageTool
	until, max time.Time
	loaded     bool
}

func newRegistry() *Registry {
	return &Registry{
		tools: map[toolKey]*PageTool{}, listed: map[toolKey]listing{}, stale: map[string]*staleTab{},
		resweep: make(chan struct{}, 1), now: time.Now,
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
		r.unlist(t.key, now)
	}
	for _, t := range c.Added {
		r.add(t, now)
	}
	r.signalLocked()
}

// unlist takes a tool off the list, with r.mu held.
func (r *Registry) unlist(k toolKey, now time.Time) {
	delete(r.listed, k)
	for _, v := range r.views {
		v.remove(k, now)
	}
}

func (r *Registry) add(t *PageTool, now time.Time) {
	old, known := r.listed[t.key]
	if s := r.stale[t.key.Target]; s != nil && s.tools[t.key] != nil && r.tools[t.key] == nil {
		delete(s.tools, t.key)
		if s.loaded {
			s.until = now.Add(StaleFor)
		}
	}
	if !known {
		if len(r.listed) >= MaxTools {
			r.dropped++
			return
		}
		r.seq++
		old.seq = r.seq
	}
	r.tools[t.key] = t
	r.listed[t.key] = listing{t, old.seq}
	for _, v := range r.views {
		v.add(t, now)
	}
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
	for key := range r.stale[id].tools {
		r.unlist(key, now)
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
			r.signalLocked()
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
			r.signalLocked()
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
		r.signalLocked()
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
	for _, v := range r.views {
		v.names.forgetTarget(id)
	}
	r.signalLocked()
}

// renew forgets all names: another browser start is attached, whose tabs are new. The
// list was empty in between, so no client takes one tool for another.
func (r *Registry) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listed) == 0 {
		for _, v := range r.views {
			v.names = namer{}
		}
	}
}

// signal tells every client's server that something changed.
func (r *Registry) signal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signalLocked()
}

func (r *Registry) signalLocked() {
	token(r.resweep)
	for _, v := range r.views {
		token(v.changed)
	}
}

// token leaves a token in a channel that holds one.
func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// runSweeps drops stale tools in time until ctx ends.
func (r *Registry) runSweeps(ctx context.Context) {
	wait := time.NewTimer(time.Hour)
	defer wait.Stop()
	for {
		next := r.sweep()
		if next.IsZero() {
			next = time.Now().Add(time.Hour)
		}
		wait.Reset(time.Until(next) + time.Millisecond)
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		case <-r.resweep:
		}
	}
}

// live is the present tool under a key; nil when it is gone. A tool whose page is being
// reloaded counts: calling it says so.
func (r *Registry) live(k toolKey) *PageTool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed[k].tool
}

// Tools lists all live tools, and those whose page is being reloaded, in the order in
// which they came.
func (r *Registry) Tools() []*PageTool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.inOrder()
	tools := make([]*PageTool, len(all))
	for i, l := range all {
		tools[i] = l.tool
	}
	return tools
}

// inOrder lists what is listed by age, with r.mu held.
func (r *Registry) inOrder() []listing {
	return slices.SortedFunc(maps.Values(r.listed), func(a, b listing) int { return cmp.Compare(a.seq, b.seq) })
}

// same reports whether two tools look alike to a client.
func same(a, b *PageTool) bool {
	return a == b || a.key == b.key && a.Title == b.Title && a.Description == b.Description &&
		a.URL == b.URL && a.Declarative == b.Declarative && sameHints(a.Annotations, b.Annotations) &&
		a.SchemaNote == b.SchemaNote && bytes.Equal(a.InputSchema, b.InputSchema) && bytes.Equal(a.OutputSchema, b.OutputSchema)
}

func sameHints(a, b *Annotations) bool {
	return a == b || a != nil && b != nil && *a == *b
}
