package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Reasons why a name does not lead to a tool; see [LookupError].
var (
	ErrUnknownTool   = errors.New("no such tool in this session")
	ErrBareName      = errors.New("the server is missing")
	ErrAmbiguousName = errors.New("the name fits several tools")
)

// Bounds on suggestions.
const (
	maxNear      = 3  // near IDs named for an unknown one
	maxAmbiguous = 10 // IDs named for a name that fits several tools
)

// A LookupError says why a name was refused. Unwrap gives ErrUnknownTool,
// ErrBareName or ErrAmbiguousName.
type LookupError struct {
	Given string   // the name, as one clean line
	Kind  error    // one of the three above
	IDs   []ToolID // what may have been meant: near or fitting IDs, at most ten
}

// Error names the IDs to use instead.
func (e *LookupError) Error() string {
	ids := make([]string, len(e.IDs))
	for i, id := range e.IDs {
		ids[i] = oneLine(string(id), 2*MaxNameBytes)
	}
	list := strings.Join(ids, ", ")
	switch {
	case e.Kind == ErrBareName && len(ids) == 1:
		return fmt.Sprintf("%q lacks its server: use %s", e.Given, list)
	case e.Kind == ErrBareName:
		return fmt.Sprintf("%q lacks its server: use one of %s", e.Given, list)
	case e.Kind == ErrAmbiguousName:
		return fmt.Sprintf("%q fits several tools: use one of %s", e.Given, list)
	case len(ids) > 0:
		return fmt.Sprintf("no tool %q in this session; near: %s", e.Given, list)
	}
	return fmt.Sprintf("no tool %q in this session", e.Given)
}

// Unwrap returns the kind.
func (e *LookupError) Unwrap() error { return e.Kind }

// indexIDs fills the tables that names are resolved by.
func (c *Catalog) indexIDs() {
	c.byID = make(map[ToolID]int, len(c.entries))
	c.byShown = make(map[string]int)
	for i := range c.entries {
		e := &c.entries[i]
		c.byID[e.id] = i
		if e.shown != string(e.id) {
			c.byShown[e.shown] = i
		}
	}
}

// Resolve finds the tool that a model's name means: its whole ID, or one of
// the spellings server__tool and server:tool. The canonical ID wins over
// another tool's alternate spelling. A bare tool name, a spelling that fits
// two tools and an unknown name are refused with a *LookupError.
func (c *Catalog) Resolve(name string) (Tool, error) {
	i, err := c.resolve(name)
	if err != nil {
		return Tool{}, err
	}
	return c.at(i), nil
}

func (c *Catalog) resolve(name string) (int, error) {
	if i, ok := c.byID[ToolID(name)]; ok {
		return i, nil
	}
	name = strings.TrimSpace(name)
	if i, ok := c.byID[ToolID(name)]; ok {
		return i, nil
	}
	if i, ok := c.byShown[name]; ok {
		return i, nil
	}
	if plain := unquoted(name); plain != name {
		if i, ok := c.byID[ToolID(plain)]; ok {
			return i, nil
		}
		if i, ok := c.byShown[plain]; ok {
			return i, nil
		}
		name = plain
	}
	e := &LookupError{Given: oneLine(name, maxShownID)}
	spelled := c.spelled(name)
	if len(spelled) == 1 {
		return spelled[0], nil
	}
	if len(spelled) > 1 {
		e.Kind, e.IDs = ErrAmbiguousName, c.ids(spelled)
		return 0, e
	}
	if e.IDs = c.ids(c.bare(name)); len(e.IDs) > 0 {
		e.Kind = ErrBareName
		return 0, e
	}
	e.Kind, e.IDs = ErrUnknownTool, c.near(name)
	return 0, e
}

// unquoted takes away the quotes or backticks that a model put around an ID, or that
// the manifest shows around a tool's name.
func unquoted(name string) string {
	if n := len(name); n > 1 && name[0] == '`' && name[n-1] == '`' {
		return strings.TrimSpace(name[1 : n-1])
	}
	if s, err := strconv.Unquote(name); err == nil {
		return s
	}
	server, tool, _ := strings.Cut(name, "/")
	if s, err := strconv.Unquote(tool); err == nil {
		return server + "/" + s
	}
	return name
}

// spelled lists the tools that name spells with "__" or ":" between server and
// tool, in order. Every place where it may be cut is tried.
func (c *Catalog) spelled(name string) []int {
	var out []int
	if len(name) > 2*MaxNameBytes+2 {
		return nil
	}
	for _, separator := range []string{"__", ":"} {
		for at := 0; at < len(name); at++ {
			if !strings.HasPrefix(name[at:], separator) {
				continue
			}
			i, ok := c.byID[NewToolID(name[:at], name[at+len(separator):])]
			if ok && len(out) < maxAmbiguous {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}

// bare lists the tools whose own name is name. Only refusals need it, so there
// is no table.
func (c *Catalog) bare(name string) []int {
	var out []int
	for i := range c.entries {
		if c.entries[i].tool.Name == name && len(out) < maxAmbiguous {
			out = append(out, i)
		}
	}
	return out
}

func (c *Catalog) ids(tools []int) []ToolID {
	var ids []ToolID
	for _, i := range tools {
		ids = append(ids, c.entries[i].id)
	}
	return ids
}

// near returns up to three IDs that look like name, best first. It reads the
// whole catalogue, a millisecond for some thousand tools.
func (c *Catalog) near(name string) []ToolID {
	type hit struct{ score, i int }
	var hits []hit
	want := newGrams(cutString(name, MaxNameBytes))
	for i := range c.entries {
		e := &c.entries[i]
		score := max(want.likeness(string(e.id)), want.likeness(e.tool.Name))
		if score >= leastLikeness {
			hits = append(hits, hit{score, i})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.score-a.score, a.i-b.i)
	})
	var ids []ToolID
	for _, h := range hits[:min(len(hits), maxNear)] {
		ids = append(ids, c.entries[h.i].id)
	}
	return ids
}

const leastLikeness = 350 // of 1000: shared pairs of letters

// grams holds the pairs of letters of a name, without case and separators.
type grams struct {
	pairs [1 << 12]uint8
	n     int
}

func newGrams(s string) *grams {
	g := new(grams)
	eachPair(s, func(p int) {
		if g.pairs[p] < 255 {
			g.pairs[p]++
		}
		g.n++
	})
	return g
}

// likeness is Dice's coefficient of s and g in thousandths.
func (g *grams) likeness(s string) int {
	var used [64]int
	shared, n := 0, 0
	eachPair(s, func(p int) {
		n++
		if g.pairs[p] > 0 && shared < len(used) {
			g.pairs[p]--
			used[shared] = p
			shared++
		}
	})
	for _, p := range used[:shared] {
		g.pairs[p]++
	}
	if n+g.n == 0 {
		return 0
	}
	return 2000 * shared / (n + g.n)
}

// eachPair hashes the pairs of neighbouring letters and digits of s.
func eachPair(s string, f func(pair int)) {
	prev := -1
	for _, r := range s {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r < '0', '9' < r && r < 'a', 'z' < r && r < 0x80:
			continue
		}
		if prev >= 0 {
			f((prev*33 ^ int(r)) & (1<<12 - 1))
		}
		prev = int(r)
	}
}
