package guard

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aster-mcp/aster/bridge"
)

// Bounds on what is pinned.
const (
	maxPinnedServers = 256   // the one not seen for longest goes
	maxPinnedTools   = 2_000 // of one server; more are not usable
	// maxPinnedBytes is the size of a definition above which only its hash is kept, so
	// that a change of it is seen but cannot be shown.
	maxPinnedBytes = 64 << 10
)

// ErrNotPinned is the reason why a tool that Pins holds back cannot be approved: it was
// not offered.
var ErrNotPinned = errors.New("no such tool waits for approval")

// A PinStatus says whether a tool may be used. It is the same for search, describe and
// execute.
type PinStatus int

// The statuses. Only PinApproved tools are listed, found, described and called.
const (
	PinUnknown  PinStatus = iota // its server was not observed with it
	PinApproved                  // the definition is the approved one
	PinNew                       // added since the first list: waits for approval
	PinChanged                   // the definition is not the approved one: blocked
)

var pinWords = [...]string{"unknown", "approved", "new", "changed"}

// String is the status in a word.
func (s PinStatus) String() string {
	if s < 0 || int(s) >= len(pinWords) {
		return pinWords[0]
	}
	return pinWords[s]
}

// An Observation is what a configured server offers at one time: a whole list.
type Observation struct {
	Server string
	// Identity tells apart what the user declared under one name at different times or in
	// different projects: a hash of what would be run. Each has a baseline of its own.
	Identity string
	// Instructions are the server's. They are part of the definition of each of its tools,
	// so leave them empty if they are shown to nobody.
	Instructions string
	Tools        []bridge.Tool
}

// A Change is a tool that is held back, and why.
type Change struct {
	Server   string      `json:"server"`
	Identity string      `json:"identity,omitempty"`
	Tool     string      `json:"tool"`
	Status   PinStatus   `json:"-"`
	State    string      `json:"status"` // Status in a word
	Digest   string      `json:"digest"` // of the definition that waits
	Seen     time.Time   `json:"seen"`   // when it was first seen
	Fields   []FieldDiff `json:"fields,omitempty"`
	Warnings []Warning   `json:"warnings,omitempty"`
}

// A Review is what [Pins.Observe] made of a list.
type Review struct {
	Usable  []bridge.Tool // in the order of the observation
	Held    []Change      // sorted by tool
	Removed []string      // approved tools that the list lacks, sorted
	First   bool          // this list is the baseline
}

// Pins remember the definition of each tool of the configured servers as the user
// approved it. The first list of a server is its baseline: it is approved, but for tools
// with a hard [Warning]. A tool that comes later waits, and one whose definition changes
// is blocked, until [Pins.Approve]. What a tool that went and came back was approved for
// stays. Several processes may share the file.
type Pins struct {
	store pinStore
	now   func() time.Time
	mem   atomic.Pointer[pinFile] // as last read or written; never changed, only replaced

	updating sync.Mutex // held while the file is read, changed and written
}

// PinsOptions are options of Pins; zero values are the defaults.
type PinsOptions struct {
	Now func() time.Time // nil is time.Now
}

// OpenPins reads the file at path, which need not exist; "" keeps them in memory only. A
// file that cannot be understood is an error, not an empty one: to begin anew would
// approve all that servers offer now. opts may be nil.
func OpenPins(path string, opts *PinsOptions) (*Pins, error) {
	p := &Pins{store: pinStore{path}, now: time.Now}
	if opts != nil && opts.Now != nil {
		p.now = opts.Now
	}
	f, err := p.store.load()
	p.mem.Store(f)
	return p, err
}

// update changes what is pinned and writes it if change says so. The change holds in
// this process even if it cannot be written.
func (p *Pins) update(change func(*pinFile) (dirty bool, err error)) error {
	p.updating.Lock()
	defer p.updating.Unlock()
	f, err := p.store.update(p.mem.Load(), change)
	if f != nil {
		p.mem.Store(f)
	}
	return err
}

// Reload takes over what other processes wrote, such as an approval.
func (p *Pins) Reload() error { return p.update(func(*pinFile) (bool, error) { return false, nil }) }

// Observe compares a list with what was approved and remembers what is new in it. The
// review holds even with an error, which says that it could not be written: then it is
// good for this process only. A list that holds nothing new takes no lock, and the file is
// read again only where another process has written it: each rebuild of a catalogue
// observes every server.
func (p *Pins) Observe(o Observation) (r Review, err error) {
	f := p.mem.Load()
	if known := p.store.current(f) && p.review(f, &o, &r); !known {
		err = p.update(func(f *pinFile) (bool, error) {
			first, dirty := p.note(f, &o)
			r = Review{First: first}
			p.review(f, &o, &r)
			return dirty, nil
		})
	}
	slices.SortFunc(r.Held, func(a, b Change) int { return cmp.Compare(a.Tool, b.Tool) })
	slices.Sort(r.Removed)
	return r, err
}

// note remembers what is new in a list. It reports whether the server itself was, and
// whether there is something to be written.
func (p *Pins) note(f *pinFile, o *Observation) (first, dirty bool) {
	s := f.server(o.Server, o.Identity)
	if first = s == nil; first {
		s = &pinnedServer{Name: o.Server, Identity: o.Identity, Tools: map[string]*pinnedTool{}}
		f.add(s)
		dirty = true
	}
	now := p.now().UTC().Truncate(time.Second)
	if s.due(now) {
		s.Seen, dirty = now, true
	}
	here := map[string]bool{}
	for t := range o.pinnable(here) {
		if s.see(t, o.Instructions, now, first) {
			dirty = true
		}
	}
	for name, pin := range s.Tools {
		if here[name] {
			continue
		}
		if pin.Pending != nil { // what is no longer offered no longer waits
			pin.Pending, dirty = nil, true
		}
		if pin.Approved == nil {
			delete(s.Tools, name)
		}
	}
	return first, dirty
}

// due reports whether the time at which a server was last seen, which decides whose turn
// it is to go, is worth a write.
func (s *pinnedServer) due(now time.Time) bool { return now.Sub(s.Seen) > time.Hour }

// pinnable are the tools of a list that can be used at all: doubled names and floods never
// are. Their names are put into here, which must be empty.
func (o *Observation) pinnable(here map[string]bool) iter.Seq[bridge.Tool] {
	return func(yield func(bridge.Tool) bool) {
		for _, t := range o.Tools {
			if here[t.Name] || len(here) >= maxPinnedTools {
				continue
			}
			here[t.Name] = true
			if !yield(t) {
				return
			}
		}
	}
}

// review judges a list by what is pinned, of which it changes nothing. It is false, and r
// of no use, if the list holds what was not noted.
func (p *Pins) review(f *pinFile, o *Observation, r *Review) (known bool) {
	s := f.server(o.Server, o.Identity)
	if s == nil || s.due(p.now().UTC().Truncate(time.Second)) {
		return false
	}
	here := map[string]bool{}
	for t := range o.pinnable(here) {
		pin, digest := s.Tools[t.Name], digests.of(t, o.Instructions)
		switch {
		case pin == nil:
			return false
		case pin.Pending == nil && pin.Approved.Digest == digest:
			r.Usable = append(r.Usable, t)
		case pin.Pending != nil && pin.Pending.Digest == digest:
			r.Held = append(r.Held, pin.change(s, t.Name))
		default:
			return false
		}
	}
	for name, pin := range s.Tools {
		switch {
		case here[name]:
		case pin.Pending != nil:
			return false
		default:
			r.Removed = append(r.Removed, name)
		}
	}
	return true
}

// see notes the definition that a tool has now, and reports whether it was another one.
func (s *pinnedServer) see(t bridge.Tool, instructions string, now time.Time, first bool) (changed bool) {
	pin := s.Tools[t.Name]
	if pin == nil {
		pin = &pinnedTool{}
		s.Tools[t.Name] = pin
		changed = true
	}
	digest := digests.of(t, instructions)
	switch {
	case pin.Approved != nil && pin.Approved.Digest == digest:
		changed = changed || pin.Pending != nil
		pin.Pending = nil
		return changed
	case pin.Pending != nil && pin.Pending.Digest == digest:
		return changed
	}
	d := definitionOf(t)
	d[len(d)-1] = instructions
	if first && !anyHard(scanDefinition(d)) {
		pin.Approved = newPinned(d, digest, now)
	} else {
		pin.Pending = newPinned(d, digest, now)
	}
	return true
}

// Status says whether a tool may be used, with the definition that the request holds.
// instructions are those of its server, as in the Observation.
func (p *Pins) Status(identity, instructions string, t bridge.Tool) PinStatus {
	s := p.mem.Load().server(t.Server, identity)
	if s == nil || s.Tools[t.Name] == nil {
		return PinUnknown
	}
	return s.Tools[t.Name].statusOf(digests.of(t, instructions))
}

// statusOf is the status of a definition with that digest.
func (t *pinnedTool) statusOf(digest string) PinStatus {
	switch {
	case t.Approved == nil:
		return PinNew
	case t.Pending != nil || t.Approved.Digest != digest:
		return PinChanged
	}
	return PinApproved
}

// check is Status for a call, whose request does not carry the instructions: those of the
// latest observation count, and whether they changed is in Pending.
func (p *Pins) check(req *Request) PinStatus {
	s := p.mem.Load().server(req.Tool.Server, req.Identity)
	if s == nil || s.Tools[req.Tool.Name] == nil {
		return PinUnknown
	}
	pin := s.Tools[req.Tool.Name]
	if pin.Approved == nil || pin.Approved.Instructions == "" {
		return pin.statusOf(req.definition())
	}
	return p.Status(req.Identity, pin.Approved.Instructions, req.Tool)
}

// Changes are all tools that are held back, sorted by server and tool, each with what is
// different about it.
func (p *Pins) Changes() []Change {
	var out []Change
	for _, s := range p.mem.Load().Servers {
		for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
			if pin := s.Tools[name]; pin.status() != PinApproved {
				out = append(out, pin.change(s, name))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

// Approve takes the definitions that wait as the approved ones: of the tools that match
// the pattern server/tool, globs as in [Rule], or of a whole server. If seen is not nil
// only definitions that it holds are approved, so that what the user agreed to is what
// was shown: take it from the Changes that were. It returns the tools that were approved,
// sorted, or [ErrNotPinned] if there is none.
func (p *Pins) Approve(pattern string, seen []Change) (approved []bridge.ToolID, err error) {
	g, err := compileIDGlob(pattern)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, c := range seen {
		shown[c.key()] = true
	}
	now := p.now().UTC().Truncate(time.Second)
	err = p.update(func(f *pinFile) (bool, error) {
		approved = nil
		for _, s := range f.Servers {
			for name, pin := range s.Tools {
				if pin.Pending == nil || !g.match(s.Name, name) || seen != nil && !shown[pin.change(s, name).key()] {
					continue
				}
				pin.Approved, pin.Pending = pin.Pending, nil
				pin.Approved.At = now
				approved = append(approved, bridge.NewToolID(s.Name, name))
			}
		}
		return len(approved) > 0, nil
	})
	slices.Sort(approved)
	if err == nil && len(approved) == 0 {
		err = fmt.Errorf("%s: %w", Clean(pattern, maxShownName), ErrNotPinned)
	}
	return slices.Compact(approved), err
}

// Forget drops all that is known of the servers that match the glob, so that their next
// list is a baseline. It returns how many there were.
func (p *Pins) Forget(server string) (n int, err error) {
	g, err := compileGlob(server)
	if err != nil {
		return 0, err
	}
	err = p.update(func(f *pinFile) (bool, error) {
		before := len(f.Servers)
		f.Servers = slices.DeleteFunc(f.Servers, func(s *pinnedServer) bool { return g.match(s.Name) })
		n = before - len(f.Servers)
		return n > 0, nil
	})
	return n, err
}

func (t *pinnedTool) status() PinStatus {
	switch {
	case t.Pending == nil && t.Approved != nil:
		return PinApproved
	case t.Approved == nil:
		return PinNew
	}
	return PinChanged
}

// change describes a tool that is held back.
func (t *pinnedTool) change(s *pinnedServer, name string) Change {
	c := Change{Server: s.Name, Identity: s.Identity, Tool: name, Status: t.status(), State: t.status().String()}
	if t.Pending == nil {
		return c
	}
	c.Digest, c.Seen = t.Pending.Digest, t.Pending.At
	c.Fields = diffDefinitions(t.Approved, t.Pending)
	if d, ok := t.Pending.definition(); ok {
		c.Warnings = scanDefinition(d)
	}
	return c
}

func (c Change) key() string {
	return strings.Join([]string{c.Server, c.Identity, c.Tool, c.Digest}, "\x00")
}
