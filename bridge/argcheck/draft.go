package argcheck

import "strings"

// A draft is a version of JSON Schema.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf is the draft that the value of "$schema" names.
func draftOf(schema string) (d draft, known bool) {
	name, fragment, _ := strings.Cut(schema, "#")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "http://"), "https://")
	if fragment != "" {
		return 0, false
	}
	switch name {
	case "json-schema.org/schema", "json-schema.org/draft/2020-12/schema":
		return draft2020, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "json-schema.org/draft-07/schema":
		return draft7, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-04/schema":
		return draft4, true
	}
	return 0, false
}

// idKeyword is the keyword that names a resource.
func (d draft) idKeyword() string {
	if d == draft4 {
		return "id"
	}
	return "$id"
}

// A shape is what the value of a keyword has to be.
type shape int

const (
	shapeAny       shape = iota // no keyword of the draft, or one that does not matter here
	shapeSchema                 // a schema
	shapeSchemas                // a list of at least one schema
	shapeItems                  // a schema or a list of schemas
	shapeNamed                  // schemas by name
	shapeDependent              // schemas or lists of strings by name
	shapeText
	shapeNumber
	shapeStep  // a number above 0
	shapeCount // an integer of at least 0
	shapeFlag
	shapeStrings
	shapeNamedStrings // lists of strings by name
	shapeTypes        // a type or a list of types
	shapeList
)

// shapeOf is what the draft wants as the value of a keyword. It follows the
// draft's metaschema, but for annotations and for lists that should not be empty
// or hold nothing twice, where arguments can be checked all the same.
func (d draft) shapeOf(keyword string) shape {
	switch keyword {
	case "$ref", "$schema", "pattern":
		return shapeText
	case "not", "additionalProperties":
		return shapeSchema
	case "allOf", "anyOf", "oneOf":
		return shapeSchemas
	case "properties", "patternProperties", "definitions":
		return shapeNamed
	case "items":
		if d < draft2020 {
			return shapeItems
		}
		return shapeSchema
	case "dependencies":
		return shapeDependent
	case "maximum", "minimum":
		return shapeNumber
	case "exclusiveMaximum", "exclusiveMinimum":
		if d == draft4 {
			return shapeFlag
		}
		return shapeNumber
	case "multipleOf":
		return shapeStep
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return shapeCount
	case "uniqueItems":
		return shapeFlag
	case "required":
		return shapeStrings
	case "type":
		return shapeTypes
	case "enum":
		return shapeList
	case d.idKeyword():
		return shapeText
	}
	return d.laterShapeOf(keyword)
}

// laterShapeOf is shapeOf for keywords that not every draft has.
func (d draft) laterShapeOf(keyword string) shape {
	since, until, k := draft2019, draft2020, shapeAny
	switch keyword {
	case "additionalItems":
		since, until, k = draft4, draft2019, shapeSchema
	case "propertyNames", "contains":
		since, k = draft6, shapeSchema
	case "if", "then", "else":
		since, k = draft7, shapeSchema
	case "unevaluatedProperties", "unevaluatedItems", "contentSchema":
		k = shapeSchema
	case "$defs", "dependentSchemas":
		k = shapeNamed
	case "dependentRequired":
		k = shapeNamedStrings
	case "minContains", "maxContains":
		k = shapeCount
	case "$anchor":
		k = shapeText
	case "$recursiveRef": // 2020-12 has it for what was written before
		k = shapeText
	case "$dynamicRef", "$dynamicAnchor":
		since, k = draft2020, shapeText
	case "prefixItems":
		since, k = draft2020, shapeSchemas
	}
	if d < since || d > until {
		return shapeAny
	}
	return k
}
