package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// compiledRule is a rule with its patterns ready.
type compiledRule struct {
	Rule
	tools   []idGlob
	origins []*glob
	args    []argCondition // sorted by path
}

type argCondition struct {
	path []string
	glob *glob
}

func compileRule(r *Rule) (c compiledRule, err error) {
	c.Rule = *r
	switch r.Action {
	case Deny, Ask, Allow:
	default:
		return c, errors.New("unknown action")
	}
	if len(r.Tools) == 0 {
		return c, errors.New("it names no tools")
	}
	for _, t := range r.Tools {
		g, err := compileIDGlob(t)
		if err != nil {
			return c, err
		}
		c.tools = append(c.tools, g)
	}
	for _, o := range r.Origins {
		g, err := compileGlob(strings.ToLower(o))
		if err != nil {
			return c, fmt.Errorf("origin: %w", err)
		}
		c.origins = append(c.origins, g)
	}
	for path, pattern := range r.Args {
		g, err := compileGlob(pattern)
		if err != nil {
			return c, fmt.Errorf("argument %s: %w", Clean(path, maxShownName), err)
		}
		c.args = append(c.args, argCondition{strings.Split(path, "."), g})
	}
	slices.SortFunc(c.args, func(a, b argCondition) int { return slices.Compare(a.path, b.path) })
	return c, nil
}

// callFacts are what rules look at.
type callFacts struct {
	req    *Request
	origin string
	args   map[string]any
}

func (r *compiledRule) holds(c *callFacts) bool {
	if !slices.ContainsFunc(r.tools, func(g idGlob) bool { return g.match(c.req.Tool.Server, c.req.Tool.Name) }) {
		return false
	}
	if len(r.origins) > 0 && (c.origin == "" || !slices.ContainsFunc(r.origins, func(g *glob) bool { return g.match(c.origin) })) {
		return false
	}
	for _, a := range r.args {
		if !a.holds(c.args, r.Action == Allow) {
			return false
		}
	}
	return r.Definition == "" || r.Definition == c.req.definition()
}

// holds applies the condition; all is the reading of an Allow.
func (a argCondition) holds(args map[string]any, all bool) bool {
	w := walk{fold: !all}
	w.down(args, a.path)
	if w.unclear || len(w.texts) == 0 {
		return false
	}
	if all {
		return !slices.ContainsFunc(w.texts, func(s string) bool { return !a.glob.match(s) })
	}
	return slices.ContainsFunc(w.texts, a.glob.match)
}

// A walk gathers the scalars at and below a path.
type walk struct {
	fold    bool // keys count whatever their case
	texts   []string
	unclear bool // something would be another value for a reader that ignores case
}

func (w *walk) down(v any, path []string) {
	if len(path) == 0 {
		w.scalars(v)
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			w.down(item, path)
		}
	case map[string]any:
		// A key may itself hold dots, so every way to join the first parts is tried.
		for n := 1; n <= len(path); n++ {
			w.keyed(v, strings.Join(path[:n], "."), path[n:])
		}
	default:
		w.unclear = w.unclear || !w.fold
	}
}

func (w *walk) keyed(object map[string]any, key string, rest []string) {
	for k, v := range object {
		switch {
		case k == key, w.fold && strings.EqualFold(k, key):
			w.down(v, rest)
		case strings.EqualFold(k, key):
			w.unclear = true
		}
	}
}

func (w *walk) scalars(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			w.scalars(item)
		}
	case []any:
		for _, item := range v {
			w.scalars(item)
		}
	case string:
		w.texts = append(w.texts, v)
	case bool:
		w.texts = append(w.texts, strconv.FormatBool(v))
	case nil:
		w.texts = append(w.texts, "null")
	case json.Number:
		w.texts = append(w.texts, v.String())
		if plain := plainNumber(v.String()); plain != v.String() {
			w.texts = append(w.texts, plain)
		}
	}
}

// Bounds on numbers that are put in their plain form.
const (
	maxPlainNumber   = 40 // bytes
	maxPlainExponent = 40
)

// plainNumber writes 1e3 as 1000 and 5.0 as 5; what would be too long stays as it is.
func plainNumber(s string) string {
	if len(s) > maxPlainNumber {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+")); err != nil || n > maxPlainExponent || n < -maxPlainExponent {
			return s
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	if r.IsInt() {
		return r.Num().String()
	}
	prec, exact := r.FloatPrec()
	if !exact {
		return s
	}
	return r.FloatString(prec)
}
