package webmcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// jsonKind is the kind of a jsonValue.
type jsonKind uint8

const (
	jsonLiteral jsonKind = iota // null, true, false or a number, as written
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is JSON that keeps the order of properties.
type jsonValue struct {
	kind    jsonKind
	text    string // of a literal as written, of a string its value
	items   []*jsonValue
	members []jsonMember
}

type jsonMember struct {
	key   string
	value *jsonValue
}

// index is where the property key is, or -1.
func (v *jsonValue) index(key string) int {
	return slices.IndexFunc(v.members, func(m jsonMember) bool { return m.key == key })
}

func (v *jsonValue) describe() string {
	switch {
	case v.kind == jsonString:
		return "a string"
	case v.kind == jsonArray:
		return "an array"
	case v.kind == jsonLiteral && strings.ContainsAny(v.text[:1], "-0123456789"):
		return "a number"
	}
	return v.text
}

// append writes v without spaces.
func (v *jsonValue) append(dst []byte) []byte {
	switch v.kind {
	case jsonString:
		return appendJSONString(dst, v.text)
	case jsonArray:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.append(dst)
		}
		return append(dst, ']')
	case jsonObject:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, m.key), ':')
			dst = m.value.append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, v.text...)
}

// appendJSONString writes s quoted. s is valid UTF-8.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if dst == nil {
		dst = make([]byte, 0, len(s)+len(s)/16+2)
	}
	dst = append(dst, '"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// jsonParser reads a jsonValue from valid JSON in valid UTF-8. It refuses what
// other readers of JSON would choke on: deep nesting and numbers beyond a
// double. Halves of surrogate pairs become U+FFFD; of properties with one name
// the last value counts, in the first one's place, as in JavaScript.
type jsonParser struct {
	data     string
	pos      int
	maxDepth int
}

func (p *jsonParser) parse() (*jsonValue, error) {
	p.space()
	return p.value(0)
}

func (p *jsonParser) space() {
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n", p.data[p.pos]) >= 0 {
		p.pos++
	}
}

// next skips a comma and reports whether another element follows.
func (p *jsonParser) next(end byte) bool {
	p.space()
	if p.data[p.pos] == ',' {
		p.pos++
		p.space()
	}
	if p.data[p.pos] == end {
		p.pos++
		return false
	}
	return true
}

func (p *jsonParser) value(depth int) (*jsonValue, error) {
	if depth > p.maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", p.maxDepth)
	}
	switch p.data[p.pos] {
	case '{':
		return p.object(depth)
	case '[':
		v := &jsonValue{kind: jsonArray}
		for p.pos++; p.next(']'); {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		return v, nil
	case '"':
		return &jsonValue{kind: jsonString, text: p.str()}, nil
	}
	start := p.pos
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n,]}", p.data[p.pos]) < 0 {
		p.pos++
	}
	v := &jsonValue{text: p.data[start:p.pos]}
	if v.describe() == "a number" {
		if _, err := strconv.ParseFloat(v.text, 64); err != nil {
			return nil, fmt.Errorf("it has the number %s, which is beyond the range of a double", clipText(v.text, maxSchemaNoteRunes))
		}
	}
	return v, nil
}

func (p *jsonParser) object(depth int) (*jsonValue, error) {
	v := &jsonValue{kind: jsonObject}
	seen := map[string]int{}
	for p.pos++; p.next('}'); {
		key := p.str()
		p.space()
		p.pos++ // the colon
		p.space()
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if i, twice := seen[key]; twice {
			v.members[i].value = value
			continue
		}
		seen[key] = len(v.members)
		v.members = append(v.members, jsonMember{key, value})
	}
	return v, nil
}

func (p *jsonParser) str() string {
	start := p.pos
	if escaped := p.skipString(); !escaped {
		return p.data[start+1 : p.pos-1]
	}
	var s string
	_ = json.Unmarshal([]byte(p.data[start:p.pos]), &s) // valid, so it cannot fail
	return s
}

// skipString passes over a string and reports whether it has escapes.
func (p *jsonParser) skipString() (escaped bool) {
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			escaped = true
			p.pos++
		}
	}
	p.pos++
	return escaped
}

// splitObject picks members of a valid JSON object without reading what is in
// them, and reports whether there are others.
func splitObject(raw json.RawMessage, wanted map[string]bool) (members map[string]json.RawMessage, others bool) {
	members = map[string]json.RawMessage{}
	p := jsonParser{data: string(raw)}
	for p.pos++; p.next('}'); {
		key := p.str()
		p.space()
		p.pos++ // the colon
		p.space()
		start := p.pos
		p.skip()
		if wanted[key] {
			members[key] = raw[start:p.pos]
		} else {
			others = true
		}
	}
	return members, others
}

// splitArray lists the elements of a valid JSON array. Those beyond the first
// n come as one array.
func splitArray(raw json.RawMessage, n int) []json.RawMessage {
	var items []json.RawMessage
	p := jsonParser{data: string(raw)}
	for p.pos++; p.next(']'); {
		start := p.pos
		if len(items) == n {
			return append(items, append(json.RawMessage{'['}, raw[start:]...))
		}
		p.skip()
		items = append(items, raw[start:p.pos])
	}
	return items
}

// skip passes over one value.
func (p *jsonParser) skip() {
	for depth := 0; p.pos < len(p.data); {
		switch p.data[p.pos] {
		case '{', '[':
			depth++
			p.pos++
		case '}', ']':
			depth--
			p.pos++
		case '"':
			p.skipString()
		case ',', ':', ' ', '\t', '\r', '\n':
			p.pos++
			continue
		default:
			for p.pos < len(p.data) && strings.IndexByte(" \t\r\n,]}", p.data[p.pos]) < 0 {
				p.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// jsonDepth is how deep valid JSON nests.
func jsonDepth(s string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}

// clipText makes one printable line of s, of at most n characters.
func clipText(s string, n int) string {
	var out strings.Builder
	for _, r := range s {
		if n == 0 {
			out.WriteString("…")
			break
		}
		if !strconv.IsPrint(r) {
			r = ' '
		}
		out.WriteRune(r)
		n--
	}
	return out.String()
}
