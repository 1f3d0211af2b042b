package webmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on a page's schema as clients see it. One beyond them is left out.
const (
	// maxListedSchemaBytes is about 60,000 tokens, more than any model wants.
	maxListedSchemaBytes = 256 << 10

	// maxListedSchemaDepth leaves room below the limits of JSON readers, the
	// lowest of which are near 128, for what a tools/list result wraps around.
	maxListedSchemaDepth = 100

	// maxSchemaNoteRunes cuts what a note quotes.
	maxSchemaNoteRunes = 80
)

// anySchema is the schema of a tool whose page gave none that serves.
const anySchema = `{"type":"object"}`

// headerKeyword maps an argument to an HTTP header (MCP 2026-07-28). It is not
// a page's to say, and the SDK panics on some of its values.
const headerKeyword = "x-mcp-header"

// normalizeSchema turns what a page gave as input schema into one that MCP
// allows: an object with "type": "object" that go-sdk's AddTool accepts. All
// other keywords stay as they are, in their order, but for two: x-mcp-header
// is taken out, and a regular expression in "format", which is where Chromium
// puts those of form controls, is given as "pattern" too. The note says what
// of the page's schema was refused or given another meaning, and is empty when
// nothing was.
func normalizeSchema(raw json.RawMessage) (schema json.RawMessage, note string) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage(anySchema), ""
	case len(raw) > maxListedSchemaBytes:
		return json.RawMessage(anySchema), fmt.Sprintf("the page's schema is left out: it has %d bytes, more than %d", len(raw), maxListedSchemaBytes)
	case !utf8.Valid(raw) || !json.Valid(raw):
		return json.RawMessage(anySchema), "the page's schema is left out: it is not JSON"
	}
	p := jsonParser{data: string(raw), maxDepth: maxListedSchemaDepth}
	root, err := p.parse()
	if err != nil {
		return json.RawMessage(anySchema), "the page's schema is left out: " + err.Error()
	}
	switch {
	case root.text == "true":
		return json.RawMessage(anySchema), ""
	case root.kind != jsonObject:
		return json.RawMessage(anySchema), "the page's schema is left out: it is " + root.describe() + ", not an object"
	}
	cleanSchema(root)
	note, refused := objectType(root)
	if refused {
		return json.RawMessage(anySchema), note
	}
	return root.append(nil), note
}

// schemaMaps are the keywords whose value holds schemas by name.
var schemaMaps = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true,
	"dependentSchemas": true, "dependencies": true,
}

// schemaData are the keywords whose value is data, not schemas.
var schemaData = map[string]bool{"const": true, "enum": true, "default": true, "examples": true, "example": true}

// cleanSchema takes x-mcp-header out of v and the schemas in it, and copies
// regular expressions from "format" to "pattern".
func cleanSchema(v *jsonValue) {
	for _, item := range v.items {
		cleanSchema(item)
	}
	v.members = slices.DeleteFunc(v.members, func(m jsonMember) bool { return m.key == headerKeyword })
	for _, m := range v.members {
		switch {
		case schemaData[m.key]:
		case schemaMaps[m.key] && m.value.kind == jsonObject:
			for _, named := range m.value.members {
				cleanSchema(named.value)
			}
		default:
			cleanSchema(m.value)
		}
	}
	format := v.index("format")
	if format < 0 || v.index("pattern") >= 0 {
		return
	}
	if f := v.members[format].value; f.kind == jsonString && strings.HasPrefix(f.text, "^") {
		v.members = slices.Insert(v.members, format+1, jsonMember{"pattern", f})
	}
}

// jsonTypes are the types that a schema may name beside "object".
var jsonTypes = map[string]bool{
	"string": true, "number": true, "integer": true, "boolean": true, "null": true, "array": true,
}

// objectType makes "object" the type of root, or says why root cannot serve.
func objectType(root *jsonValue) (note string, refused bool) {
	object := &jsonValue{kind: jsonString, text: "object"}
	i := root.index("type")
	if i < 0 {
		root.members = slices.Insert(root.members, 0, jsonMember{"type", object})
		return "", false
	}
	typ := root.members[i].value
	isType := func(v *jsonValue, ok func(string) bool) bool { return v.kind == jsonString && ok(v.text) }
	isObject := func(v *jsonValue) bool { return isType(v, func(s string) bool { return s == "object" }) }
	isOther := func(v *jsonValue) bool { return isType(v, func(s string) bool { return jsonTypes[s] }) }
	root.members[i].value = object
	if isObject(typ) || slices.ContainsFunc(typ.items, isObject) {
		return "", false
	}
	quoted := clipText(string(typ.append(nil)), maxSchemaNoteRunes)
	if root.index("properties") < 0 && (isOther(typ) || slices.ContainsFunc(typ.items, isOther)) {
		return "the page's schema is left out: its type is " + quoted + ", and arguments are an object", true
	}
	return "the page's schema has the type " + quoted + ", taken as \"object\"", false
}

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
	start, escaped := p.pos, false
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			escaped = true
			p.pos++
		}
	}
	p.pos++
	if !escaped {
		return p.data[start+1 : p.pos-1]
	}
	var s string
	_ = json.Unmarshal([]byte(p.data[start:p.pos]), &s) // valid, so it cannot fail
	return s
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
