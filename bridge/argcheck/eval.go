package argcheck

import (
	"encoding/json"
	"time"
)

// run is one check: the evaluator and what it has found.
type run struct {
	stepsLeft int
	depth     int
	deadline  time.Time

	// err ends the check. Once set, every verdict is void.
	err error

	// problems holds what did not fit, in the order of discovery; those of
	// alternatives are taken out again when one of them fits.
	problems []problem

	// mark is where the problems of the schema being evaluated begin.
	mark int

	// quiet is above 0 while only the verdict counts.
	quiet int
}

// place is where a value stands in the arguments; nil is the root.
type place struct {
	parent *place
	key    string
	index  int // the index into an array, -1 for a property
}

// step takes n steps off the budget and reports whether the check goes on.
func (r *run) step(n int) bool {
	if r.stepsLeft -= n; r.stepsLeft < 0 && r.err == nil {
		r.err = unsupported("the arguments are too large to hold against its schema in %d steps", MaxSteps)
	}
	return r.err == nil
}

// report notes a problem and returns false, the verdict. It is not inlined: a problem is
// large, and the stack of every rule would hold copies of it, for values that fit too.
//
//go:noinline
func (r *run) report(p *problem) bool {
	if r.quiet == 0 && len(r.problems) < maxProblems {
		r.problems = append(r.problems, *p)
		r.trim()
	}
	return false
}

// unfit reports a value that as a whole does not fit n.
//
//go:noinline
func (r *run) unfit(kind problemKind, at *place, v any, n *node) bool {
	return r.report(&problem{kind: kind, at: at, value: v, node: n})
}

// property reports a property by its name, and the names that would have fitted.
//
//go:noinline
func (r *run) property(kind problemKind, at *place, name string, known []string) bool {
	return r.report(&problem{kind: kind, at: at, name: name, known: known})
}

// trim cuts the problems noted since mark to maxKept, and counts the rest on
// the last one that stays.
func (r *run) trim() {
	end := r.mark + maxKept
	if len(r.problems) <= end {
		return
	}
	for _, p := range r.problems[end:] {
		r.problems[end-1].more += 1 + p.more
	}
	r.problems = r.problems[:end]
}

// alternative evaluates one of several subschemas, whose problems are kept
// apart from those of the others.
func (r *run) alternative(n *node, v any, at *place, m *marks) bool {
	outer := r.mark
	r.mark = len(r.problems)
	fits := r.sub(n, v, at, m)
	r.mark = outer
	return fits
}

// marks records which parts of one value some schema has evaluated, for
// unevaluatedProperties and unevaluatedItems. A nil *marks records nothing.
type marks struct {
	props map[string]bool
	upTo  int // items below are evaluated
	items map[int]bool
}

func (m *marks) prop(name string) {
	if m == nil {
		return
	}
	if m.props == nil {
		m.props = map[string]bool{}
	}
	m.props[name] = true
}

func (m *marks) itemsUpTo(n int) {
	if m != nil {
		m.upTo = max(m.upTo, n)
	}
}

func (m *marks) item(i int) {
	if m == nil {
		return
	}
	if m.items == nil {
		m.items = map[int]bool{}
	}
	m.items[i] = true
}

// sub evaluates an in-place subschema. Only one that fits leaves its marks.
func (r *run) sub(n *node, v any, at *place, m *marks) bool {
	if m == nil {
		return r.eval(n, v, at, nil)
	}
	var own marks
	if !r.eval(n, v, at, &own) {
		return false
	}
	if !r.step(len(own.props) + len(own.items)) {
		return false
	}
	m.itemsUpTo(own.upTo)
	for name := range own.props {
		m.prop(name)
	}
	for i := range own.items {
		m.item(i)
	}
	return true
}

// subQuiet is sub for the verdict alone.
func (r *run) subQuiet(n *node, v any, at *place, m *marks) bool {
	r.quiet++
	fits := r.sub(n, v, at, m)
	r.quiet--
	return fits
}

// eval reports whether v fits n. It notes problems unless quiet, and in m what
// parts of v were evaluated. After r.err is set its verdict is void.
func (r *run) eval(n *node, v any, at *place, m *marks) bool {
	if !r.step(1) {
		return false
	}
	if r.depth++; r.depth > maxEvalDepth {
		r.err = unsupported("the arguments and the references of its schema nest too deep")
		return false
	}
	outer := r.mark
	r.mark = len(r.problems)
	fits := r.evalNode(n, v, at, m)
	r.mark = outer
	r.trim()
	r.depth--
	return fits
}

func (r *run) evalNode(n *node, v any, at *place, m *marks) bool {
	if n.never {
		return r.unfit(kindNever, at, v, nil)
	}
	if n.types != 0 && !hasType(v, n.types) {
		return r.unfit(kindType, at, v, n)
	}
	if m == nil && (n.unevaluatedProps != nil || n.unevaluatedItems != nil) {
		m = &marks{}
	}
	fits := r.evalValue(n, v, at)
	fits = r.evalParts(n, v, at, m) && fits
	fits = r.evalInPlace(n, v, at, m) && fits
	return r.evalUnevaluated(n, v, at, m) && fits
}

// evalValue checks what concerns v as a whole.
func (r *run) evalValue(n *node, v any, at *place) bool {
	if n.constant != nil && !r.equal(v, *n.constant) {
		return r.unfit(kindConst, at, v, n)
	}
	if n.hasEnum && !r.among(v, n.enum) {
		return r.unfit(kindEnum, at, v, n)
	}
	return true
}

// evalParts checks v by its own type.
func (r *run) evalParts(n *node, v any, at *place, m *marks) bool {
	switch v := v.(type) {
	case map[string]any:
		return n.object == nil || r.evalObject(n.object, v, at, m)
	case []any:
		return n.array == nil || r.evalArray(n.array, v, at, m)
	case string:
		return n.text == nil || r.evalText(n.text, v, at)
	case json.Number:
		return n.number == nil || r.evalNumber(n.number, v, at)
	}
	return true
}

func (r *run) evalInPlace(n *node, v any, at *place, m *marks) bool {
	fits := true
	for _, sub := range n.refs {
		fits = r.sub(sub, v, at, m) && fits
	}
	for _, sub := range n.allOf {
		fits = r.sub(sub, v, at, m) && fits
	}
	if n.anyOf != nil {
		fits = r.evalAnyOf(n, v, at, m) && fits
	}
	if n.oneOf != nil {
		fits = r.evalOneOf(n, v, at, m) && fits
	}
	if n.not != nil && r.subQuiet(n.not, v, at, nil) {
		fits = r.unfit(kindNot, at, v, nil)
	}
	if n.cond != nil {
		next := n.els
		if r.subQuiet(n.cond, v, at, m) {
			next = n.then
		}
		fits = (next == nil || r.sub(next, v, at, m)) && fits
	}
	if obj, ok := v.(map[string]any); ok && n.dependents != nil {
		fits = r.evalDependents(n.dependents, obj, at, m) && fits
	}
	return fits
}

func (r *run) evalAnyOf(n *node, v any, at *place, m *marks) bool {
	before, fits := len(r.problems), false
	groups := make([]int, 0, len(n.anyOf))
	for _, sub := range n.anyOf {
		groups = append(groups, len(r.problems))
		if r.alternative(sub, v, at, m) {
			fits = true
			if m == nil {
				break // with marks, every alternative that fits leaves its own
			}
		}
	}
	if fits {
		r.problems = r.problems[:before]
		return true
	}
	r.mergeAlternatives(groups, v, at)
	return false
}

func (r *run) evalOneOf(n *node, v any, at *place, m *marks) bool {
	before, first := len(r.problems), -1
	groups := make([]int, 0, len(n.oneOf))
	for i, sub := range n.oneOf {
		groups = append(groups, len(r.problems))
		if !r.alternative(sub, v, at, m) {
			continue
		}
		if first >= 0 {
			r.problems = r.problems[:before]
			return r.report(&problem{kind: kindOneOf, at: at, value: v, node: n, first: first, second: i})
		}
		first = i
	}
	if first >= 0 {
		r.problems = r.problems[:before]
		return true
	}
	r.mergeAlternatives(groups, v, at)
	return false
}

func (r *run) evalDependents(deps []dependent, obj map[string]any, at *place, m *marks) bool {
	fits := true
	for _, d := range deps {
		if !r.step(1 + len(d.required)) {
			return false
		}
		if _, present := obj[d.prop]; !present {
			continue
		}
		for _, name := range d.required {
			if _, ok := obj[name]; !ok {
				fits = r.report(&problem{kind: kindDependent, at: at, name: name, because: d.prop})
			}
		}
		if d.schema != nil {
			fits = r.sub(d.schema, obj, at, m) && fits
		}
	}
	return fits
}

func (r *run) evalUnevaluated(n *node, v any, at *place, m *marks) bool {
	fits := true
	if obj, ok := v.(map[string]any); ok && n.unevaluatedProps != nil {
		for _, name := range r.sortedKeys(obj) {
			if m.props[name] {
				continue
			}
			m.prop(name)
			if n.unevaluatedProps.never {
				fits = r.report(&problem{kind: kindUnexpected, at: at, name: name, node: n})
				continue
			}
			fits = r.eval(n.unevaluatedProps, obj[name], &place{at, name, -1}, nil) && fits
		}
	}
	if arr, ok := v.([]any); ok && n.unevaluatedItems != nil {
		for i := m.upTo; i < len(arr) && r.step(1); i++ {
			if !m.items[i] {
				fits = r.eval(n.unevaluatedItems, arr[i], &place{at, "", i}, nil) && fits
			}
		}
		m.itemsUpTo(len(arr))
	}
	return fits
}
