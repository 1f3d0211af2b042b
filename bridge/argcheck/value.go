package argcheck

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// typeOf is the one type of v; a number without a fraction is an integer too.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case string:
		return typeString
	case []any:
		return typeArray
	case map[string]any:
		return typeObject
	case json.Number:
		if isInteger(v) {
			return typeInteger
		}
	}
	return typeNumber
}

func hasType(v any, want typeSet) bool {
	got := typeOf(v)
	if got == typeInteger {
		got |= typeNumber
	}
	return got&want != 0
}

func isInteger(n json.Number) bool {
	if !strings.ContainsAny(string(n), "eE") {
		_, fraction, _ := strings.Cut(string(n), ".")
		return strings.Trim(fraction, "0") == ""
	}
	v := rational(n)
	return v != nil && v.IsInt()
}

// rational is the exact value of n. The decoder has bounded its exponent.
func rational(n json.Number) *big.Rat {
	v, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil
	}
	return v
}

// limit is a number of the schema, exactly and nearly.
type limit struct {
	exact *big.Rat
	near  float64
}

func newLimit(n *big.Rat) *limit {
	if n == nil {
		return nil
	}
	near, _ := n.Float64()
	return &limit{n, near}
}

// compare is the sign of n less l. It computes exactly only where n and l are
// too close for doubles to tell, which saves most of the time.
func (l *limit) compare(n json.Number) int {
	const closeBy, tiny = 1e-12, 1e-290
	f, err := strconv.ParseFloat(string(n), 64)
	size := max(math.Abs(f), math.Abs(l.near))
	if diff := f - l.near; err == nil && size > tiny && math.Abs(diff) > closeBy*size {
		if diff < 0 {
			return -1
		}
		return 1
	}
	v := rational(n)
	if v == nil {
		return 0
	}
	return v.Cmp(l.exact)
}

// divides reports whether n is a multiple of l.
func (l *limit) divides(n json.Number) bool {
	if l.exact.Sign() == 0 {
		return false
	}
	v := rational(n)
	return v != nil && v.Quo(v, l.exact).IsInt()
}

// among reports whether v equals one of list.
func (r *run) among(v any, list []any) bool {
	for _, item := range list {
		if r.equal(v, item) {
			return true
		}
		if r.err != nil {
			return false
		}
	}
	return false
}

// equal compares as JSON Schema does: numbers by value, objects without order.
func (r *run) equal(a, b any) bool {
	if !r.step(1) {
		return false
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, va := range a {
			vb, ok := b[k]
			if !ok || !r.equal(va, vb) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !r.equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a, b))
	}
	return a == b
}

func sameNumber(a, b json.Number) bool {
	if plainInteger(string(a)) && plainInteger(string(b)) {
		return false // written in one way only, and not the same
	}
	ra, rb := rational(a), rational(b)
	return ra != nil && rb != nil && ra.Cmp(rb) == 0
}

// plainInteger reports whether no other plain integer has the same value.
func plainInteger(s string) bool {
	return s != "-0" && !strings.ContainsAny(s, ".eE")
}

// canonical writes v so that equal values, and only those, give equal text.
func (r *run) canonical(sb *strings.Builder, v any) {
	if !r.step(1) {
		return
	}
	switch v := v.(type) {
	case nil:
		sb.WriteString("null")
	case bool:
		sb.WriteString(strconv.FormatBool(v))
	case string:
		r.step(len(v) / 64)
		sb.WriteString(strconv.Quote(v))
	case json.Number:
		if plainInteger(string(v)) {
			sb.WriteString(string(v))
		} else if n := rational(v); n != nil {
			sb.WriteString(n.RatString())
		}
	case []any:
		sb.WriteByte('[')
		for _, item := range v {
			r.canonical(sb, item)
			sb.WriteByte(',')
		}
		sb.WriteByte(']')
	case map[string]any:
		sb.WriteByte('{')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			sb.WriteString(strconv.Quote(k))
			sb.WriteByte(':')
			r.canonical(sb, v[k])
			sb.WriteByte(',')
		}
		sb.WriteByte('}')
	}
}
