package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob.
const (
	maxPattern      = 512 // bytes
	maxAlternatives = 64  // patterns that its braces stand for
)

// ErrBadPattern is the error of a glob that cannot be read.
var ErrBadPattern = errors.New("bad pattern")

// A Pattern is a glob over tool ids, "server/tool". The part before the first "/" is
// matched against the server's name, the rest against the tool's, where "*" and "?" cross
// "/" as well, because the names of real tools hold it. A pattern without "/" is a
// server's: "browser" means "browser/*", and "*" is everything. {a,b}, [a-z], [!a] and \
// are as in doublestar; case counts. The zero Pattern matches nothing.
type Pattern struct {
	Text  string // as written
	Place Place
	alts  [][2]string // globs of server and tool, without braces
}

// NewPattern reads a glob. The error wraps [ErrBadPattern].
func NewPattern(text string, place Place) (Pattern, error) {
	p := Pattern{Text: text, Place: place}
	alts, err := alternatives(text)
	if err != nil {
		return p, err
	}
	for _, alt := range alts {
		server, tool, ok := cutPattern(alt)
		if !ok {
			tool = "*"
		}
		if server == "" || tool == "" {
			return p, fmt.Errorf("%w %q: write SERVER/TOOL", ErrBadPattern, text)
		}
		server, tool = flatten(server), flatten(tool)
		if !doublestar.ValidatePattern(server) || !doublestar.ValidatePattern(tool) {
			return p, fmt.Errorf("%w %q: a bracket or a backslash is not closed", ErrBadPattern, text)
		}
		p.alts = append(p.alts, [2]string{server, tool})
	}
	return p, nil
}

// Match reports whether the pattern matches a tool's id.
func (p Pattern) Match(id string) bool {
	server, tool, ok := strings.Cut(id, "/")
	if !ok {
		return false
	}
	tool = flatten(tool)
	for _, a := range p.alts {
		if doublestar.MatchUnvalidated(a[0], server) && doublestar.MatchUnvalidated(a[1], tool) {
			return true
		}
	}
	return false
}

// MatchServer reports whether the pattern can match a tool of that server.
func (p Pattern) MatchServer(server string) bool {
	for _, a := range p.alts {
		if doublestar.MatchUnvalidated(a[0], server) {
			return true
		}
	}
	return false
}

// WholeServer reports whether the pattern matches every tool of that server.
func (p Pattern) WholeServer(server string) bool {
	for _, a := range p.alts {
		if strings.Trim(a[1], "*") == "" && doublestar.MatchUnvalidated(a[0], server) {
			return true
		}
	}
	return false
}

// MatchText reports whether a glob matches a text as a whole. "*" crosses "/". A glob that
// cannot be read matches nothing.
func MatchText(glob, text string) bool {
	alts, err := alternatives(glob)
	if err != nil {
		return false
	}
	text = flatten(text)
	for _, alt := range alts {
		if ok, err := doublestar.Match(flatten(alt), text); ok && err == nil {
			return true
		}
	}
	return false
}

// checkGlob says what is wrong with a glob for [MatchText].
func checkGlob(glob string) error {
	alts, err := alternatives(glob)
	if err != nil {
		return err
	}
	for _, alt := range alts {
		if !doublestar.ValidatePattern(flatten(alt)) {
			return fmt.Errorf("%w %q: a bracket or a backslash is not closed", ErrBadPattern, glob)
		}
	}
	return nil
}

// slash stands for "/" where it is a character like others. No pattern holds it.
const slash = "\x1f"

func flatten(s string) string { return strings.ReplaceAll(s, "/", slash) }

// cutPattern cuts at the first "/". An escaped one counts too: server names hold none.
func cutPattern(s string) (server, tool string, ok bool) {
	server, tool, ok = strings.Cut(s, "/")
	return strings.TrimSuffix(server, `\`), tool, ok
}

// alternatives checks a glob's bounds and writes out its braces, so that matching takes
// time in proportion to the glob and the text, whatever both hold.
func alternatives(glob string) ([]string, error) {
	switch {
	case strings.TrimSpace(glob) == "":
		return nil, fmt.Errorf("%w: it is empty", ErrBadPattern)
	case len(glob) > maxPattern:
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrBadPattern, maxPattern)
	case strings.ContainsFunc(glob, unicode.IsControl):
		return nil, fmt.Errorf("%w %q: it holds a control character", ErrBadPattern, glob)
	}
	done, todo := []string(nil), []string{glob}
	for len(todo) > 0 {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from, to, commas, ok := firstBraces(g)
		switch {
		case !ok:
			return nil, fmt.Errorf("%w %q: a brace is not closed", ErrBadPattern, glob)
		case from < 0:
			done = append(done, g)
			continue
		}
		cuts := append(append([]int{from}, commas...), to)
		for i := len(cuts) - 1; i > 0; i-- {
			todo = append(todo, g[:from]+g[cuts[i-1]+1:cuts[i]]+g[to+1:])
		}
		if len(todo)+len(done) > maxAlternatives {
			return nil, fmt.Errorf("%w %q: its braces stand for more than %d patterns", ErrBadPattern, glob, maxAlternatives)
		}
	}
	return done, nil
}

// firstBraces finds the first group of braces and the commas between its alternatives.
// from is -1 when there is none; ok is false when it is not closed.
func firstBraces(g string) (from, to int, commas []int, ok bool) {
	from, depth, class := -1, 0, false
	for i := 0; i < len(g); i++ {
		switch c := g[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				from = i
			}
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return from, i, commas, true
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		}
	}
	return from, -1, nil, from < 0
}
