package webmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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
// other keywords stay as they are, in their order, but for these: x-mcp-header
// is taken out, a regular expression in "format", which is where Chromium
// puts those of form controls, is given as "pattern" too, and "title",
// "description" and "$comment" lose characters that hide text. The note says what
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

// normalizeOutput turns what a page gave as schema of its results into one for
// structuredContent, which is an object: nil, with the reason, where that is not what
// the page describes. The tool itself is as good without.
func normalizeOutput(raw json.RawMessage) (schema json.RawMessage, note string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, ""
	}
	schema, note = normalizeSchema(raw)
	var top struct{ Type, Properties json.RawMessage }
	switch err := json.Unmarshal(raw, &top); {
	case note != "":
		if _, why, ok := strings.Cut(note, "left out: "); ok {
			return nil, noOutput + why
		}
		fallthrough
	case err != nil, string(top.Type) != `"object"` && (top.Type != nil || top.Properties == nil):
		return nil, noOutput + "its type is not \"object\""
	}
	return schema, ""
}

const noOutput = "the page's output schema is left out: "

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// schemaMaps are the keywords whose value holds schemas by name.
var schemaMaps = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true,
	"dependentSchemas": true, "dependencies": true,
}

// schemaData are the keywords whose value is data, not schemas.
var schemaData = map[string]bool{"const": true, "enum": true, "default": true, "examples": true, "example": true}

// schemaWords are the keywords whose value is for people and models to read.
var schemaWords = map[string]bool{"title": true, "description": true, "$comment": true}

// cleanSchema takes x-mcp-header out of v and the schemas in it, copies regular
// expressions from "format" to "pattern", and makes the words visible.
func cleanSchema(v *jsonValue) {
	for _, item := range v.items {
		cleanSchema(item)
	}
	v.members = slices.DeleteFunc(v.members, func(m jsonMember) bool { return m.key == headerKeyword })
	for _, m := range v.members {
		switch {
		case schemaData[m.key]:
		case schemaWords[m.key] && m.value.kind == jsonString:
			m.value.text = visibleText(m.value.text)
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
