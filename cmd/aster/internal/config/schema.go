package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

// SchemaFile is the name of the JSON schema beside a user's file. The scaffold names it,
// so that editors complete and check the file.
const SchemaFile = "aster.schema.json"

// SchemaURL is where the schema of the newest version can be found, for files that are
// shared.
const SchemaURL = "https://raw.githubusercontent.com/aster-mcp/aster/main/cmd/aster/internal/config/" + SchemaFile

// Schema returns the JSON schema (2020-12) of the YAML files, the same bytes each time. It
// is a help for editors: [Load] checks more.
func Schema() []byte {
	t := &target{c: Default(), server: &entry{}, rule: &Rule{}, provider: &WebProvider{}}
	top := mapSchema(fileKeys(), t, "")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["$id"] = SchemaURL
	top["title"] = "The configuration of aster"
	top["patternProperties"] = map[string]any{"^x-": map[string]any{}}
	top["properties"].(map[string]any)["$schema"] = map[string]any{"type": "string"}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(top); err != nil { // maps of texts, numbers and lists cannot fail
		return nil
	}
	return b.Bytes()
}

// mapSchema is the schema of a map with fixed keys.
func mapSchema(keys []key, t *target, doc string) map[string]any {
	props := map[string]any{}
	for i := range keys {
		props[keys[i].name] = keySchema(&keys[i], t)
	}
	s := map[string]any{"type": []string{"object", "null"}, "properties": props, "additionalProperties": false}
	if doc != "" {
		s["description"] = doc
	}
	return s
}

// keySchema is the schema of one key's value.
func keySchema(k *key, t *target) map[string]any {
	var s map[string]any
	switch {
	case k.special == "servers":
		s = map[string]any{"type": []string{"object", "null"}, "additionalProperties": mapSchema(k.each.keys, t, "A server."),
			"propertyNames": map[string]any{"pattern": `^[A-Za-z0-9_][A-Za-z0-9_.-]*$`, "maxLength": maxServerName}}
	case k.special == "providers":
		s = map[string]any{"type": []string{"object", "null"}, "additionalProperties": mapSchema(k.each.keys, t, "A provider.")}
	case k.special == "patterns" && k.one:
		s = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, textListSchema(1)}}
	case k.special == "patterns":
		s = textListSchema(0)
	case k.special == "rules":
		rule := mapSchema(ruleKeys(), t, "A rule.")
		rule["type"] = "object"
		rule["oneOf"] = []any{map[string]any{"required": []string{"allow"}}, map[string]any{"required": []string{"ask"}}, map[string]any{"required": []string{"deny"}}}
		s = map[string]any{"type": []string{"array", "null"}, "items": rule}
	case k.keys != nil:
		return mapSchema(k.keys, t, k.doc)
	default:
		s = leafSchema(k, k.at(t))
	}
	s["description"] = k.doc
	return s
}

func textListSchema(least int) map[string]any {
	s := map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": []string{"string", "number", "boolean"}}}
	if least > 0 {
		s["type"], s["minItems"] = "array", least
	}
	return s
}

// leafSchema is the schema of a value by the type of what it goes to. What that holds is
// the default.
func leafSchema(k *key, at any) map[string]any {
	s := map[string]any{}
	switch at := at.(type) {
	case *bool:
		s["type"] = "boolean"
	case *string, *Transport:
		s["type"] = "string"
		if k.enum != nil {
			s["enum"] = k.enum
		}
	case *int, *int64:
		s["type"] = "integer"
		bounds(s, k)
	case *float64:
		s["type"] = "number"
		bounds(s, k)
	case *time.Duration:
		number := map[string]any{"type": "number"}
		bounds(number, k)
		s["anyOf"] = []any{number, map[string]any{"type": "string", "pattern": `^([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+$`}}
		if *at != 0 {
			s["default"] = at.String()
		}
		return s
	case *[]string, mapSlot:
		s = textListSchema(k.min)
		if k.one {
			s = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, s}}
		}
		return s
	case *map[string]string:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}}}
	}
	if v := reflect.ValueOf(at).Elem(); !v.IsZero() || v.Kind() == reflect.Bool {
		s["default"] = v.Interface()
	}
	return s
}

func bounds(s map[string]any, k *key) {
	if k.above {
		s["exclusiveMinimum"] = k.least
	} else {
		s["minimum"] = k.least
	}
	if k.most != 0 {
		s["maximum"] = k.most
	}
}
