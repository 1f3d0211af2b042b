package webmcp

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Rules of MCP names. See the decision on tool names.
const (
	// maxNameLength leaves 13 of the 64 characters that model APIs allow to what
	// clients put in front, such as "mcp__webmcp__".
	maxNameLength = 51

	// nameHashLength is the number of hexadecimal digits of SHA-256 in a name.
	nameHashLength = 8

	// maxSlugLength bounds the host's part of a longer name.
	maxSlugLength = 16

	// nameHold is how long a name that was let go is kept from all other tools,
	// so that no client takes the next holder for the last one.
	nameHold = 10 * time.Second
)

// Bounds on the names that are kept without a live holder. Beyond them the
// oldest ones whose hold is over are forgotten; while there are none, new tools
// get names that need not be kept.
const (
	maxKeptNamesPerTarget = 2_000
	maxKeptNames          = 20_000
)

// reservedNames belong to the fixed tools.
var reservedNames = map[string]bool{"webmcp_tabs": true, "webmcp_tools": true, "webmcp_call": true}

// toolKey is what makes a page tool the same one over reloads. No two live
// tools may have the same key.
type toolKey struct {
	Target string // the tab, by the browser's identifier
	Origin string
	Path   string
	Frame  string // "" for the main frame, else a descriptor that reloads do not change
	Name   string // as the page has it
}

// namer gives page tools their MCP names: legal, unique, and never another
// tool's without a pause. Its zero value is ready. It is not safe for
// concurrent use.
type namer struct {
	byKey  map[toolKey]*nameEntry // live, or remembered
	byName map[string]*nameEntry  // the present or last holder

	// kept lists the entries without a live holder, oldest first, for all tabs
	// and for each.
	kept list.List
	tabs map[string]*list.List

	// closed lists the entries of closed tabs until their hold is over; closing
	// says that for some it has not begun.
	closed    []*nameEntry
	closing   bool
	nextSweep time.Time
}

// nameEntry is a name and the tool that has or had it.
type nameEntry struct {
	key  toolKey
	name string
	live bool

	// heldUntil is when others may have the name; it counts while not live.
	heldUntil time.Time

	// lone says that the name follows from the whole key, the tab included, so
	// that no other tool would ask for it: it is not kept when there is no room.
	lone bool

	inAll, inTab *list.Element // while kept
	inClosed     bool
}

// assign returns the MCP name of k, which becomes live. A live tool keeps its
// name; one that was live before gets it again if it is still free.
func (n *namer) assign(k toolKey, now time.Time) string {
	n.tick(now)
	if e := n.byKey[k]; e != nil {
		if e.live {
			return e.name
		}
		if n.free(e.name, k, now) {
			n.unkeep(e)
			return n.take(e)
		}
		n.forget(e)
	}
	e := &nameEntry{key: k}
	e.name, e.lone = n.choose(k, now)
	return n.take(e)
}

// release lets the name of k go. It stays with k for nameHold, and after that
// until another tool asks for it.
func (n *namer) release(k toolKey, now time.Time) {
	n.tick(now)
	e := n.byKey[k]
	if e == nil || !e.live {
		return
	}
	e.live = false
	n.shrink(k.Target, now)
	if e.lone && n.full(k.Target) {
		n.forget(e)
		return
	}
	e.heldUntil = now.Add(nameHold)
	n.keep(e)
}

// forgetTarget lets all names of a closed tab go. Those that were live are kept
// from others for nameHold from the next assign or release.
func (n *namer) forgetTarget(target string) {
	for k, e := range n.byKey {
		if k.Target != target {
			continue
		}
		if e.live {
			e.live, e.heldUntil = false, time.Time{}
		}
		n.unkeep(e)
		if !e.inClosed {
			e.inClosed, n.closing = true, true
			n.closed = append(n.closed, e)
		}
	}
}

// tick begins the hold of names whose tab was closed since the last time, and
// now and then forgets those whose hold is over.
func (n *namer) tick(now time.Time) {
	if n.byKey == nil {
		n.byKey, n.byName, n.tabs = map[toolKey]*nameEntry{}, map[string]*nameEntry{}, map[string]*list.List{}
	}
	if !n.closing && now.Before(n.nextSweep) {
		return
	}
	n.closing, n.nextSweep = false, now.Add(time.Second)
	still := n.closed[:0]
	for _, e := range n.closed {
		if !e.inClosed {
			continue // live again
		}
		if e.heldUntil.IsZero() {
			e.heldUntil = now.Add(nameHold)
		}
		if now.Before(e.heldUntil) {
			still = append(still, e)
			continue
		}
		e.inClosed = false
		n.forget(e)
	}
	clear(n.closed[len(still):])
	n.closed = still
}

// take makes e live under its name.
func (n *namer) take(e *nameEntry) string {
	e.live, e.inClosed = true, false
	n.byKey[e.key], n.byName[e.name] = e, e
	return e.name
}

// free reports whether k may have a name.
func (n *namer) free(name string, k toolKey, now time.Time) bool {
	e := n.byName[name]
	switch {
	case reservedNames[name]:
		return false
	case e == nil || e.key == k && !e.live:
		return true
	}
	return !e.live && !now.Before(e.heldUntil)
}

// choose finds a name for a tool that has none. lone says that it is the kind
// that need not be kept.
func (n *namer) choose(k toolKey, now time.Time) (name string, lone bool) {
	n.shrink(k.Target, now)
	if !n.full(k.Target) {
		for _, name := range []string{plainName(k.Name), longName(k, "")} {
			if n.free(name, k, now) {
				return name, false
			}
		}
	}
	// The number is for a page that registers such names on purpose.
	for i := 0; ; i++ {
		salt := k.Target
		if i > 0 {
			salt += "#" + strconv.Itoa(i)
		}
		if name := longName(k, salt); n.free(name, k, now) {
			return name, true
		}
	}
}

// full reports whether no more names can be kept for a tab.
func (n *namer) full(target string) bool {
	tab := n.tabs[target]
	return n.kept.Len()+len(n.closed) >= maxKeptNames || tab != nil && tab.Len() >= maxKeptNamesPerTarget
}

func (n *namer) keep(e *nameEntry) {
	tab := n.tabs[e.key.Target]
	if tab == nil {
		tab = list.New()
		n.tabs[e.key.Target] = tab
	}
	e.inAll, e.inTab = n.kept.PushBack(e), tab.PushBack(e)
}

func (n *namer) unkeep(e *nameEntry) {
	if e.inAll == nil {
		return
	}
	tab := n.tabs[e.key.Target]
	n.kept.Remove(e.inAll)
	tab.Remove(e.inTab)
	e.inAll, e.inTab = nil, nil
	if tab.Len() == 0 {
		delete(n.tabs, e.key.Target)
	}
}

// forget drops e, which is not live, and its claim to its name.
func (n *namer) forget(e *nameEntry) {
	n.unkeep(e)
	if n.byKey[e.key] == e {
		delete(n.byKey, e.key)
	}
	if n.byName[e.name] == e {
		delete(n.byName, e.name)
	}
}

// shrink forgets the oldest kept names beyond the bounds whose hold is over.
func (n *namer) shrink(target string, now time.Time) {
	for tab := n.tabs[target]; tab != nil && tab.Len() >= maxKeptNamesPerTarget; {
		if e := tab.Front().Value.(*nameEntry); !n.drop(e, now) {
			break
		}
	}
	for n.kept.Len() >= maxKeptNames {
		if e := n.kept.Front().Value.(*nameEntry); !n.drop(e, now) {
			break
		}
	}
}

func (n *namer) drop(e *nameEntry, now time.Time) bool {
	if now.Before(e.heldUntil) {
		return false
	}
	n.forget(e)
	return true
}

// plainName is the page's name with the characters replaced that do not fit,
// and shortened if need be with a hash of the original.
func plainName(name string) string {
	s := slug(name, '_')
	switch {
	case s == "":
		return "tool"
	case len(s) > maxNameLength:
		return strings.TrimRight(s[:maxNameLength-nameHashLength-1], "_-") + "_" + nameHash(name)
	}
	return s
}

// longName is a name that says where the tool is: its own, the host's, and a
// hash of the whole key but for the tab, for which salt stands.
func longName(k toolKey, salt string) string {
	host := hostSlug(k.Origin)
	s := slug(k.Name, '_')
	if s == "" {
		s = "tool"
	}
	if most := maxNameLength - len(host) - nameHashLength - 2; len(s) > most {
		s = strings.TrimRight(s[:most], "_-")
	}
	parts := []string{k.Origin, k.Path, k.Frame, k.Name}
	if salt != "" {
		parts = append(parts, salt)
	}
	return s + "_" + host + "_" + nameHash(parts...)
}

// hostSlug is the telling end of an origin's host, with its port.
func hostSlug(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		if err == nil && u.Scheme == "file" {
			return "file"
		}
		return "page"
	}
	s := slug(strings.TrimPrefix(u.Host, "www."), '-')
	if len(s) > maxSlugLength {
		s = s[len(s)-maxSlugLength:]
		if _, rest, ok := strings.Cut(s, "-"); ok && len(rest) >= maxSlugLength*3/4 {
			s = rest // begin with a whole label
		}
	}
	if s = strings.Trim(s, "-_"); s == "" {
		return "page"
	}
	return s
}

// slug replaces every character that does not fit by sub.
func slug(s string, sub byte) string {
	out := make([]byte, 0, min(len(s), 4*maxNameLength))
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			out = append(out, byte(c))
		default:
			out = append(out, sub)
		}
		if len(out) == 4*maxNameLength {
			break
		}
	}
	return string(out)
}

// nameHash is the start of a SHA-256 over parts, each with its length.
func nameHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		if len(parts) > 1 {
			h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		}
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:nameHashLength]
}
