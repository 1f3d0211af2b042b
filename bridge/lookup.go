package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// ambiguousAlias marks a spelling that two tools share.
const ambiguousAlias = -1

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
	n := len(c.entries)
	c.byID = make(map[ToolID]int, n)
	c.aliases = make(map[string]int, 2*n)
	c.bare = make(map[string][]int, n)
	for i := range c.entries {
		e := &c.entries[i]
		c.byID[e.id] = i
		c.addAlias(e.tool.Server+"__"+e.tool.Name, i)
		c.addAlias(e.tool.Server+":"+e.tool.Name, i)
		if e.shown != string(e.id) {
			c.addAlias(e.shown, i)
		}
		c.bare[e.tool.Name] = append(c.bare[e.tool.Name], i)
	}
}

func (c *Catalog) addAlias(s string, i int) {
	if old, ok := c.aliases[s]; ok && old != i {
		i = ambiguousAlias
	}
	c.aliases[s] = i
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
	name = strings.TrimSpace(name)
	if i, ok := c.byID[ToolID(name)]; ok {
		return i, nil
	}
	i, ok := c.aliases[name]
	if ok && i != ambiguousAlias {
		return i, nil
	}
	e := &LookupError{Given: oneLine(name, maxShownID)}
	switch {
	case ok:
		e.Kind = ErrAmbiguousName
		e.IDs = c.spelledLike(name)
	case len(c.bare[name]) > 0:
		e.Kind = ErrBareName
		for _, i := range c.bare[name][:min(len(c.bare[name]), maxAmbiguous)] {
			e.IDs = append(e.IDs, c.entries[i].id)
		}
	default:
		e.Kind = ErrUnknownTool
		e.IDs = c.near(name)
	}
	return 0, e
}

// spelledLike lists the tools that one alternate spelling fits.
func (c *Catalog) spelledLike(name string) []ToolID {
	var ids []ToolID
	for i := range c.entries {
		e := &c.entries[i]
		s, n := e.tool.Server, e.tool.Name
		if (name == s+"__"+n || name == s+":"+n || name == e.shown) && len(ids) < maxAmbiguous {
			ids = append(ids, e.id)
		}
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
