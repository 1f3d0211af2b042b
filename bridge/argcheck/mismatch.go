package argcheck

import (
	"fmt"
	"strconv"
	"strings"
)

// A Mismatch says where arguments do not fit a schema. It is an error whose
// text is meant for the model that wrote the arguments. Text taken from the
// schema or the arguments is cut, and control characters are escaped.
type Mismatch struct {
	// Places are the first places that do not fit, at least one and at most
	// MaxPlaces, always in the same order.
	Places []Place

	// More counts the problems beyond Places. Of alternatives (anyOf, oneOf)
	// only the closest one counts.
	More int
}

// A Place is one part of the arguments that does not fit.
type Place struct {
	// Pointer is the JSON pointer of the value, "" for the whole arguments.
	Pointer string

	// Path is the same as a JavaScript programmer writes it: "" for the whole
	// arguments, else for example items[3].name or ["odd name"].
	Path string

	// Want is what was expected, for example "integer"; or the whole problem,
	// for example `missing property "title"`, where Got is empty.
	Want string

	// Got is what was found, for example `string "x"`.
	Got string
}

// Error names the places, for example: arguments do not fit the tool's schema:
// at /count: want integer, got string "x"; at (root): missing property "title".
func (m *Mismatch) Error() string {
	var sb strings.Builder
	sb.WriteString("arguments do not fit the tool's schema: ")
	for i, p := range m.Places {
		if i > 0 {
			sb.WriteString("; ")
		}
		sb.WriteString(p.String())
	}
	if m.More > 0 {
		fmt.Fprintf(&sb, "; and %d more", m.More)
	}
	return sb.String()
}

// String is the place and what is wrong there.
func (p Place) String() string {
	at := p.Pointer
	if at == "" {
		at = "(root)"
	}
	if p.Got == "" {
		return "at " + at + ": " + p.Want
	}
	return "at " + at + ": want " + p.Want + ", got " + p.Got
}

// placeAt makes a Place from a path of property names and indexes.
func placeAt(path []any, got, want string) Place {
	return Place{Pointer: pointerOf(path), Path: scriptPath(path), Want: want, Got: got}
}

// mismatch turns the problems into what the caller sees.
func (r *run) mismatch() *Mismatch {
	type key struct {
		at *place
		Place
	}
	m := &Mismatch{}
	seen := map[key]bool{}
	for i := range r.problems {
		p := &r.problems[i]
		m.More += p.more
		if len(m.Places) == MaxPlaces {
			m.More++
			continue
		}
		k := key{p.at, p.place()}
		if !seen[k] {
			seen[k] = true
			m.Places = append(m.Places, k.Place)
		}
	}
	if len(m.Places) == 0 {
		m.Places = []Place{{Want: "they do not fit"}}
	}
	return m
}

// path is the way from the root to p: names and indexes.
func (p *place) path() []any {
	var path []any
	for ; p != nil; p = p.parent {
		if p.index >= 0 {
			path = append(path, p.index)
		} else {
			path = append(path, p.key)
		}
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointerOf is a JSON pointer (RFC 6901), cut where it gets long.
func pointerOf(path []any) string {
	var sb strings.Builder
	for _, tok := range path {
		sb.WriteByte('/')
		switch tok := tok.(type) {
		case int:
			sb.WriteString(strconv.Itoa(tok))
		case string:
			sb.WriteString(pointerEscaper.Replace(tok))
		}
		if sb.Len() > 4*maxPathRunes {
			break
		}
	}
	return clean(sb.String(), maxPathRunes)
}

// scriptPath is path as JavaScript has it.
func scriptPath(path []any) string {
	var sb strings.Builder
	for _, tok := range path {
		switch tok := tok.(type) {
		case int:
			sb.WriteString("[" + strconv.Itoa(tok) + "]")
		case string:
			switch {
			case !isIdentifier(tok):
				sb.WriteString("[" + quote(tok) + "]")
			case sb.Len() > 0:
				sb.WriteString("." + tok)
			default:
				sb.WriteString(tok)
			}
		}
		if sb.Len() > 4*maxPathRunes {
			break
		}
	}
	return clip(sb.String(), maxPathRunes)
}

func isIdentifier(s string) bool {
	for i, c := range s {
		switch {
		case c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxValueRunes
}

// clip cuts s to n characters and shows that it did.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// clean is clip with unprintable characters escaped.
func clean(s string, n int) string {
	q := strconv.Quote(clip(s, n))
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	return strings.ReplaceAll(q, `\\`, `\`)
}

// quote is s in quotes, cut and with unprintable characters escaped.
func quote(s string) string {
	return strconv.Quote(clip(s, maxValueRunes))
}
