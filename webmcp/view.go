package webmcp

import (
	"cmp"
	"slices"
	"time"
)

// NamedTool is a page tool as one client sees it.
type NamedTool struct {
	Name string // unique among the tools that the client may see
	*PageTool
}

// view is what one client may see of the registry, under names of its own: a page that
// it may not see must not be noticed by the name of another one's tool. The registry's
// lock guards it.
type view struct {
	registry *Registry
	sees     func(*PageTool) bool // nil is everything
	names    namer
	byName   map[string]*PageTool
	nameOf   map[toolKey]string
	changed  chan struct{} // holds one token when something changed
}

// view makes a view that follows the registry until its close.
func (r *Registry) view(sees func(*PageTool) bool) *view {
	v := &view{registry: r, sees: sees, byName: map[string]*PageTool{}, nameOf: map[toolKey]string{}, changed: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views = append(r.views, v)
	now := r.now()
	for _, l := range r.inOrder() {
		v.add(l.tool, now)
	}
	token(v.changed)
	return v
}

func (v *view) close() {
	v.registry.mu.Lock()
	defer v.registry.mu.Unlock()
	v.registry.views = slices.DeleteFunc(v.registry.views, func(o *view) bool { return o == v })
}

// add shows a tool, or puts it in the place of the one with its key.
func (v *view) add(t *PageTool, now time.Time) {
	if v.sees != nil && !v.sees(t) {
		v.remove(t.key, now)
		return
	}
	name, ok := v.nameOf[t.key]
	if !ok {
		name = v.names.assign(t.key, now)
		v.nameOf[t.key] = name
	}
	v.byName[name] = t
}

func (v *view) remove(k toolKey, now time.Time) {
	name, ok := v.nameOf[k]
	if !ok {
		return
	}
	delete(v.nameOf, k)
	delete(v.byName, name)
	v.names.release(k, now)
}

// lookup finds a tool by its name; nil when there is none.
func (v *view) lookup(name string) *PageTool {
	v.registry.mu.Lock()
	defer v.registry.mu.Unlock()
	return v.byName[name]
}

// tools lists the tools that are live and those whose page is being reloaded, sorted by
// name.
func (v *view) tools() []NamedTool {
	v.registry.mu.Lock()
	all := make([]NamedTool, 0, len(v.byName))
	for name, t := range v.byName {
		all = append(all, NamedTool{name, t})
	}
	v.registry.mu.Unlock()
	slices.SortFunc(all, func(a, b NamedTool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
