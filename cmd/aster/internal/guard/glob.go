package guard

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds on one pattern.
const (
	maxGlobBytes        = 4096
	maxGlobAlternatives = 256
)

var errGlob = errors.New("bad pattern")

// A glob is a compiled pattern: * is any text, ? one character, [a-z] and [!a-z] one of a
// class, {a,b} one of several, \ takes the meaning from the next character. "/" is an
// ordinary character, since names of tools and values of arguments hold it; ** is *.
// Matching takes time linear in the text for each alternative and star.
type glob struct{ alternatives [][]globToken }

type globToken struct {
	kind globKind
	char rune
	not  bool
	set  [][2]rune
}

type globKind uint8

const (
	globChar globKind = iota
	globAny
	globOne
	globSet
)

func compileGlob(pattern string) (*glob, error) {
	if len(pattern) > maxGlobBytes || !utf8.ValidString(pattern) {
		return nil, fmt.Errorf("%w: over %d bytes or not UTF-8", errGlob, maxGlobBytes)
	}
	parts, err := braces(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %v", errGlob, Clean(pattern, maxShownName), err)
	}
	g := &glob{}
	for _, p := range parts {
		tokens, err := globTokens(p)
		if err != nil {
			return nil, fmt.Errorf("%w %q: %v", errGlob, Clean(pattern, maxShownName), err)
		}
		g.alternatives = append(g.alternatives, tokens)
	}
	return g, nil
}

// braces expands {a,b} into its alternatives; they may nest.
func braces(p string) ([]string, error) {
	open, depth, inClass, cuts := -1, 0, false, []int(nil)
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
			if i+1 < len(p) && (p[i+1] == '!' || p[i+1] == '^') {
				i++
			}
			if i+1 < len(p) && p[i+1] == ']' { // a class may begin with it
				i++
			}
		case c == '{':
			if depth++; depth == 1 {
				open, cuts = i, []int{i}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth == 0:
			return nil, errors.New("} without {")
		case c == '}':
			if depth--; depth == 0 {
				return expand(p, open, append(cuts, i))
			}
		}
	}
	if depth > 0 {
		return nil, errors.New("{ without }")
	}
	return []string{p}, nil
}

// expand puts the pieces between the cuts in place of the braces and goes on with each.
func expand(p string, open int, cuts []int) (all []string, err error) {
	for i := 1; i < len(cuts); i++ {
		rest, err := braces(p[:open] + p[cuts[i-1]+1:cuts[i]] + p[cuts[len(cuts)-1]+1:])
		if err != nil {
			return nil, err
		}
		if all = append(all, rest...); len(all) > maxGlobAlternatives {
			return nil, fmt.Errorf("over %d alternatives", maxGlobAlternatives)
		}
	}
	return all, nil
}

func globTokens(p string) (tokens []globToken, err error) {
	r := []rune(p)
	for i := 0; i < len(r); i++ {
		switch r[i] {
		case '*':
			if n := len(tokens); n == 0 || tokens[n-1].kind != globAny {
				tokens = append(tokens, globToken{kind: globAny})
			}
		case '?':
			tokens = append(tokens, globToken{kind: globOne})
		case '\\':
			if i++; i == len(r) {
				return nil, errors.New("a backslash at the end")
			}
			tokens = append(tokens, globToken{char: r[i]})
		case '[':
			t, n, err := globClass(r[i:])
			if err != nil {
				return nil, err
			}
			tokens, i = append(tokens, t), i+n-1
		default:
			tokens = append(tokens, globToken{char: r[i]})
		}
	}
	return tokens, nil
}

// globClass reads a class at the start of r and returns how many characters it takes.
func globClass(r []rune) (t globToken, n int, err error) {
	t.kind = globSet
	i := 1
	if i < len(r) && (r[i] == '!' || r[i] == '^') {
		t.not = true
		i++
	}
	one := func() (rune, bool) {
		if i < len(r) && r[i] == '\\' {
			i++
		}
		if i >= len(r) {
			return 0, false
		}
		i++
		return r[i-1], true
	}
	for first := true; ; first = false {
		if i < len(r) && r[i] == ']' && !first {
			return t, i + 1, nil
		}
		lo, ok := one()
		if !ok {
			return t, 0, errors.New("[ without ]")
		}
		hi := lo
		if i+1 < len(r) && r[i] == '-' && r[i+1] != ']' {
			i++
			if hi, ok = one(); !ok || hi < lo {
				return t, 0, errors.New("a range that is not one")
			}
		}
		t.set = append(t.set, [2]rune{lo, hi})
	}
}

func (g *glob) match(s string) bool {
	for _, tokens := range g.alternatives {
		if matchTokens(tokens, s) {
			return true
		}
	}
	return false
}

// matchTokens is the two-pointer match: on a mismatch the last star takes one character
// more, which never needs an earlier star to be tried again.
func matchTokens(tokens []globToken, s string) bool {
	i, star, starAt, at := 0, -1, 0, 0
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case i < len(tokens) && tokens[i].kind == globAny:
			star, starAt = i, at
			i++
		case i < len(tokens) && tokens[i].matches(r):
			i++
			at += size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[starAt:])
			starAt += size
			i, at = star+1, starAt
		default:
			return false
		}
	}
	for i < len(tokens) && tokens[i].kind == globAny {
		i++
	}
	return i == len(tokens)
}

func (t globToken) matches(r rune) bool {
	switch t.kind {
	case globOne:
		return true
	case globSet:
		for _, x := range t.set {
			if x[0] <= r && r <= x[1] {
				return !t.not
			}
		}
		return t.not
	}
	return t.char == r
}

// An idGlob matches tool IDs: the server's part as one pattern, the tool's as another. A
// pattern without "/" is a server with all its tools.
type idGlob struct{ server, tool *glob }

func compileIDGlob(pattern string) (g idGlob, err error) {
	server, tool, ok := strings.Cut(pattern, "/")
	if !ok {
		tool = "*"
	}
	if server == "" || tool == "" {
		return g, fmt.Errorf("%w %q: want server/tool", errGlob, Clean(pattern, maxShownName))
	}
	if g.server, err = compileGlob(server); err != nil {
		return g, err
	}
	g.tool, err = compileGlob(tool)
	return g, err
}

func (g idGlob) match(server, tool string) bool { return g.server.match(server) && g.tool.match(tool) }
