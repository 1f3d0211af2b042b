package argcheck

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// sortedKeys lists the properties of obj so that problems come in one order.
func (r *run) sortedKeys(obj map[string]any) []string {
	if !r.step(len(obj)) {
		return nil
	}
	return slices.Sorted(maps.Keys(obj))
}

func (r *run) evalObject(o *objectRules, obj map[string]any, at *place, m *marks) bool {
	fits := r.evalSize(kindMinProps, kindMaxProps, o.min, o.max, len(obj), obj, at)
	if o.props != nil || o.patterns != nil || o.additional != nil || o.names != nil {
		for _, name := range r.sortedKeys(obj) {
			fits = r.evalProperty(o, name, obj[name], at, m) && fits
			if r.err != nil {
				return false
			}
		}
	}
	if !r.step(len(o.required)) {
		return false
	}
	for _, name := range o.required {
		if _, ok := obj[name]; !ok {
			fits = r.property(kindMissing, at, name, nil)
		}
	}
	return fits
}

func (r *run) evalProperty(o *objectRules, name string, v any, at *place, m *marks) bool {
	fits, known := true, false
	if o.names != nil && !r.subQuiet(o.names, name, at, nil) {
		fits = r.property(kindName, at, name, nil)
	}
	if sub, ok := o.props[name]; ok {
		known = true
		fits = r.eval(sub, v, &place{at, name, -1}, nil) && fits
	}
	for _, p := range o.patterns {
		if r.matches(p.re, name) {
			known = true
			fits = r.eval(p.schema, v, &place{at, name, -1}, nil) && fits
		}
	}
	if !known && o.additional != nil {
		known = true
		if o.additional.never {
			fits = r.property(kindUnexpected, at, name, o.propNames)
		} else {
			fits = r.eval(o.additional, v, &place{at, name, -1}, nil) && fits
		}
	}
	if known {
		m.prop(name)
	}
	return fits
}

// evalSize checks a length against its limits.
func (r *run) evalSize(least, most problemKind, lo, hi *int, n int, v any, at *place) bool {
	limit, kind := lo, least
	if lo == nil || n >= *lo {
		if hi == nil || n <= *hi {
			return true
		}
		limit, kind = hi, most
	}
	return r.report(&problem{kind: kind, at: at, value: v, limit: *limit, size: n})
}

func (r *run) evalArray(a *arrayRules, arr []any, at *place, m *marks) bool {
	fits := r.evalSize(kindMinItems, kindMaxItems, a.min, a.max, len(arr), arr, at)
	if a.unique && len(arr) > 1 {
		fits = r.evalUnique(arr, at) && fits
	}
	for i, v := range arr {
		sub := a.rest
		if i < len(a.prefix) {
			sub = a.prefix[i]
		}
		if sub == nil {
			break
		}
		fits = r.eval(sub, v, &place{at, "", i}, nil) && fits
		if r.err != nil {
			return false
		}
	}
	if a.rest != nil {
		m.itemsUpTo(len(arr))
	} else {
		m.itemsUpTo(min(len(a.prefix), len(arr)))
	}
	return (a.contains == nil || r.evalContains(a, arr, at, m)) && fits
}

func (r *run) evalContains(a *arrayRules, arr []any, at *place, m *marks) bool {
	n := 0
	for i, v := range arr {
		if r.subQuiet(a.contains, v, at, nil) {
			n++
			if a.containsMarks {
				m.item(i)
			}
		}
		if r.err != nil {
			return false
		}
	}
	least := 1
	if a.minContains != nil {
		least = *a.minContains
	}
	return r.evalSize(kindMinContains, kindMaxContains, &least, a.maxContains, n, arr, at)
}

func (r *run) evalUnique(arr []any, at *place) bool {
	seen := make(map[string]int, len(arr))
	for i, v := range arr {
		var sb strings.Builder
		r.canonical(&sb, v)
		if r.err != nil {
			return false
		}
		key := sb.String()
		if j, twice := seen[key]; twice {
			return r.report(&problem{kind: kindUnique, at: at, value: v, first: j, second: i})
		}
		seen[key] = i
	}
	return true
}

func (r *run) evalText(t *textRules, s string, at *place) bool {
	fits := true
	if t.min != nil || t.max != nil {
		fits = r.evalSize(kindMinLength, kindMaxLength, t.min, t.max, utf8.RuneCountInString(s), s, at)
	}
	if t.pattern != nil && !r.matches(t.pattern, s) {
		fits = r.report(&problem{kind: kindPattern, at: at, value: s, pattern: t.pattern})
	}
	return fits
}

// matches reports whether s has a match, and ends the check when matching
// takes too long.
func (r *run) matches(re *jsRegexp, s string) bool {
	if !r.step(1+len(s)/64) || r.err != nil {
		return false
	}
	if time.Now().After(r.deadline) {
		r.err = unsupported("the patterns of its schema take longer than %v to match", MaxCheckTime)
		return false
	}
	ok, err := re.match(s)
	if err != nil {
		r.err = err
		return false
	}
	return ok
}

func (r *run) evalNumber(n *numberRules, v json.Number, at *place) bool {
	if !r.step(2 + len(v)/16) {
		return false
	}
	fits := true
	bound := func(kind problemKind, l *limit, ok bool) {
		if !ok {
			fits = r.report(&problem{kind: kind, at: at, value: v, number: l.exact})
		}
	}
	bound(kindMin, n.min, n.min == nil || n.min.compare(v) >= 0)
	bound(kindMax, n.max, n.max == nil || n.max.compare(v) <= 0)
	bound(kindAbove, n.above, n.above == nil || n.above.compare(v) > 0)
	bound(kindBelow, n.below, n.below == nil || n.below.compare(v) < 0)
	bound(kindMultiple, n.multiple, n.multiple == nil || n.multiple.divides(v))
	return fits
}
