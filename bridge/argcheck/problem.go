package argcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// problemKind says what does not fit.
type problemKind uint8

const (
	kindNever problemKind = iota
	kindType
	kindConst
	kindEnum
	kindNot
	kindOneOf
	kindMerged
	kindMissing
	kindDependent
	kindUnexpected
	kindName
	kindMinProps
	kindMaxProps
	kindMinItems
	kindMaxItems
	kindMinContains
	kindMaxContains
	kindUnique
	kindMinLength
	kindMaxLength
	kindPattern
	kindMin
	kindMax
	kindAbove
	kindBelow
	kindMultiple
)

// problem is a part of the arguments that does not fit, not yet in words: most
// problems are dropped again because another alternative fits.
type problem struct {
	kind  problemKind
	at    *place
	value any
	node  *node

	name, because string   // of properties
	known         []string // property names that would have fitted
	limit, size   int
	number        *big.Rat
	pattern       *jsRegexp
	first, second int      // of items or alternatives
	wants         []string // of kindMerged

	of   int // more than 1: this is from the closest of so many alternatives
	more int // problems dropped after this one
}

// mergeAlternatives replaces the problems of alternatives none of which fits,
// the i-th beginning at groups[i], by what is most telling: one problem that
// names all alternatives, or the problems of the closest one.
func (r *run) mergeAlternatives(groups []int, v any, at *place) {
	if r.quiet > 0 || r.err != nil {
		return
	}
	start, best, bestScore := groups[0], []problem(nil), 0
	var wants []string
	named := 0
	for i, from := range groups {
		to := len(r.problems)
		if i+1 < len(groups) {
			to = groups[i+1]
		}
		group := r.problems[from:to]
		if len(group) == 1 && group[0].at == at && group[0].more == 0 && group[0].wantsValue() {
			wants = append(wants, group[0].alternatives()...)
			named++
		}
		if score := closeness(group, at); len(group) > 0 && (best == nil || score < bestScore) {
			best, bestScore = group, score
		}
	}
	if named == len(groups) {
		r.problems = append(r.problems[:start], problem{kind: kindMerged, at: at, value: v, wants: unique(wants)})
		return
	}
	if len(best) > 0 && len(groups) > 1 {
		best[0].of = len(groups)
	}
	r.problems = append(r.problems[:start], best...)
}

// closeness ranks an alternative by how far it is from fitting, lower being
// closer: a wrong type counts most, then a constant that tells alternatives
// apart, then the number of problems.
func closeness(group []problem, at *place) int {
	score := 0
	for _, p := range group {
		score += 1 + p.more
		switch {
		case p.at == at && (p.kind == kindType || p.kind == kindNever || p.kind == kindConst || p.kind == kindEnum):
			score += 10_000
		case p.at != nil && p.at.parent == at && (p.kind == kindConst || p.kind == kindEnum || p.kind == kindMerged):
			score += 1000
		}
	}
	return score
}

func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// place puts p into words.
func (p *problem) place() Place {
	place := placeAt(p.at.path(), p.got(), p.want())
	if p.of > 1 {
		note := fmt.Sprintf(" (closest of %d alternatives)", p.of)
		if place.Got == "" {
			place.Want += note
		} else {
			place.Got += note
		}
	}
	return place
}

// wantsValue reports whether want is a description of a value, rather than a
// whole sentence.
func (p *problem) wantsValue() bool {
	switch p.kind {
	case kindMissing, kindDependent, kindUnexpected, kindName:
		return false
	}
	return true
}

func (p *problem) want() string {
	switch p.kind {
	case kindNever:
		return "nothing here"
	case kindType:
		return typeList(p.node.types)
	case kindConst:
		return valueText(*p.node.constant)
	case kindEnum:
		return "one of " + valueList(p.node.enum)
	case kindNot:
		return `a value other than what its schema excludes by "not"`
	case kindOneOf:
		return fmt.Sprintf("exactly one of %d alternatives to fit", len(p.node.oneOf))
	case kindMerged:
		return listed(p.wants, " or ")
	case kindPattern:
		return "a string that matches /" + clean(p.pattern.String(), maxValueRunes) + "/"
	case kindUnique:
		return "items that differ"
	case kindMissing, kindDependent, kindUnexpected, kindName:
		return p.sentence()
	}
	return p.limitText()
}

// sentence is the whole problem, for kinds that have no value to show.
func (p *problem) sentence() string {
	switch p.kind {
	case kindMissing:
		return "missing property " + quote(p.name)
	case kindDependent:
		return "missing property " + quote(p.name) + ", which " + quote(p.because) + " asks for"
	case kindName:
		return "property name " + quote(p.name) + ` is not one that its schema's "propertyNames" allows`
	}
	text := "unexpected property " + quote(p.name)
	if len(p.known) > 0 {
		names := make([]string, len(p.known))
		for i, name := range p.known {
			names[i] = quote(name)
		}
		text += " (known: " + listed(names, ", ") + ")"
	}
	return text
}

func (p *problem) limitText() string {
	switch p.kind {
	case kindMinProps:
		return "at least " + count(p.limit, "property", "properties")
	case kindMaxProps:
		return "at most " + count(p.limit, "property", "properties")
	case kindMinItems:
		return "at least " + count(p.limit, "item", "items")
	case kindMaxItems:
		return "at most " + count(p.limit, "item", "items")
	case kindMinContains:
		return "at least " + count(p.limit, "item", "items") + ` of the kind under "contains"`
	case kindMaxContains:
		return "at most " + count(p.limit, "item", "items") + ` of the kind under "contains"`
	case kindMinLength:
		return "at least " + count(p.limit, "character", "characters")
	case kindMaxLength:
		return "at most " + count(p.limit, "character", "characters")
	case kindMin:
		return "at least " + numberText(p.number)
	case kindMax:
		return "at most " + numberText(p.number)
	case kindAbove:
		return "more than " + numberText(p.number)
	case kindBelow:
		return "less than " + numberText(p.number)
	}
	return "a multiple of " + numberText(p.number)
}

func (p *problem) got() string {
	switch p.kind {
	case kindMissing, kindDependent, kindUnexpected, kindName:
		return ""
	case kindOneOf:
		return fmt.Sprintf("a value that fits number %d and number %d", p.first+1, p.second+1)
	case kindUnique:
		return fmt.Sprintf("items %d and %d alike", p.first, p.second)
	case kindMinContains, kindMaxContains:
		return strconv.Itoa(p.size)
	case kindMinLength, kindMaxLength:
		return describe(p.value) + " of " + strconv.Itoa(p.size)
	}
	return describe(p.value)
}

// describe names a value by its type and, where it is short, itself.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean " + strconv.FormatBool(v)
	case string:
		return "string " + quote(v)
	case json.Number:
		return "number " + clip(string(v), maxValueRunes)
	case []any:
		return "array of " + count(len(v), "item", "items")
	case map[string]any:
		return "object with " + count(len(v), "property", "properties")
	}
	return "a value"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func typeList(set typeSet) string { return strings.Join(typeNamesOf(set), " or ") }

func typeNamesOf(set typeSet) (names []string) {
	for _, t := range typeNames {
		if set&t.set != 0 {
			names = append(names, t.name)
		}
	}
	return names
}

// alternatives is want in its parts, so that several can be joined without saying
// anything twice.
func (p *problem) alternatives() []string {
	switch p.kind {
	case kindMerged:
		return p.wants
	case kindType:
		return typeNamesOf(p.node.types)
	}
	return []string{p.want()}
}

func valueList(values []any) string {
	var texts []string
	for _, v := range values[:min(len(values), maxListed)] {
		texts = append(texts, valueText(v))
	}
	list := strings.Join(texts, ", ")
	if more := len(values) - maxListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// listed joins the first of list and counts the rest.
func listed(list []string, sep string) string {
	if len(list) <= maxListed {
		return strings.Join(list, sep)
	}
	return strings.Join(list[:maxListed], sep) + fmt.Sprintf(" and %d more", len(list)-maxListed)
}

// valueText is a value of the schema as JSON, cut.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return quote(s)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "a value"
	}
	return clean(strings.TrimSpace(buf.String()), maxValueRunes)
}

func numberText(n *big.Rat) string {
	if n.IsInt() {
		return clip(n.RatString(), maxValueRunes)
	}
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
