package argcheck

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// namedSchemas are the keywords whose value holds schemas by name: such an
// object is not a schema itself.
var namedSchemas = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true,
	"dependentSchemas": true, "dependencies": true,
}

// precheck reads a schema and holds it against the bounds that keep the
// compiler's work small.
func precheck(schema json.RawMessage) (any, error) {
	if len(schema) > MaxSchemaBytes {
		return nil, unsupported("its schema has %d bytes, more than %d", len(schema), MaxSchemaBytes)
	}
	if problem := validJSON(schema); problem != "" {
		return nil, unsupported("its schema is not JSON: %s", problem)
	}
	d := decoder{data: string(schema), maxDepth: MaxSchemaDepth, maxValues: MaxSchemaBytes}
	doc, err := d.decode()
	if err != nil {
		return nil, unsupported("its schema has %v", err)
	}
	var s survey
	s.walk(doc, 0, false)
	switch {
	case s.objects > MaxSubschemas:
		return nil, unsupported("its schema has more than %d subschemas", MaxSubschemas)
	case s.pointerBytes > maxPointerBytes:
		return nil, unsupported("its schema has too long property names for its %d subschemas", s.objects)
	case s.strayObjects(doc) > maxStrayObjects:
		return nil, unsupported("its schema has too many references to places outside $defs")
	}
	return doc, nil
}

// survey counts what makes a schema dear to compile.
type survey struct {
	objects      int
	pointerBytes int
	refs         map[string]bool
}

// walk counts v and what is in it. prefix is the length of the pointer to v;
// named says that v is the value of a keyword that holds schemas by name.
func (s *survey) walk(v any, prefix int, named bool) {
	switch v := v.(type) {
	case map[string]any:
		if !named {
			s.objects++
			s.note(v)
			clampCounts(v)
		}
		s.pointerBytes += prefix
		for k, child := range v {
			s.walk(child, prefix+1+len(k), !named && namedSchemas[k])
		}
	case []any:
		for _, child := range v {
			s.walk(child, prefix+4, false)
		}
	case bool:
		s.pointerBytes += prefix
	}
}

// countKeywords limit a length, which the compiler takes modulo 2^64: it makes
// 0 of Number.MAX_VALUE.
var countKeywords = []string{
	"minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties",
}

// clampCounts lowers limits that no arguments reach to one that none reach
// either.
func clampCounts(obj map[string]any) {
	const unreachable = 1 << 30
	for _, kw := range countKeywords {
		n, ok := obj[kw].(json.Number)
		if !ok {
			continue
		}
		if v := rational(n); v != nil && v.IsInt() && v.Cmp(big.NewRat(unreachable, 1)) > 0 {
			obj[kw] = json.Number(strconv.Itoa(unreachable))
		}
	}
}

func (s *survey) note(obj map[string]any) {
	if ref, ok := obj["$ref"].(string); ok {
		if s.refs == nil {
			s.refs = map[string]bool{}
		}
		s.refs[ref] = true
	}
}

// strayObjects counts the objects behind the references into the document that
// do not lead through keywords alone, each as often as it is referred to. It
// need not be exact: anchors, and pointers behind an "$id", are left to the
// compiler, which finds them only where keywords lead.
func (s *survey) strayObjects(doc any) int {
	total := 0
	for ref := range s.refs {
		_, ptr, ok := strings.Cut(ref, "#")
		if !ok || !strings.HasPrefix(ptr, "/") {
			continue
		}
		if plain, err := url.PathUnescape(ptr); err == nil {
			ptr = plain
		}
		tokens := strings.Split(ptr[1:], "/")
		if keywordPath(tokens) {
			continue
		}
		var behind survey
		behind.walk(lookup(doc, tokens), 0, false)
		total += 1 + behind.objects
		if total > maxStrayObjects {
			break
		}
	}
	return total
}

// keywordPath reports whether the tokens of a pointer alternate as schemas and
// their keywords do.
func keywordPath(tokens []string) bool {
	for i := 0; i < len(tokens); i++ {
		kw, more := tokens[i], i+1 < len(tokens)
		switch {
		case namedSchemas[kw] && more:
			i++ // the name
		case listSchemas[kw] && more && isIndex(tokens[i+1]):
			i++
		case kw != "items" && !singleSchemas[kw]:
			return false
		}
	}
	return true
}

var (
	// listSchemas hold a list of schemas; "items" a single one as well.
	listSchemas = map[string]bool{"allOf": true, "anyOf": true, "oneOf": true, "prefixItems": true, "items": true}

	singleSchemas = map[string]bool{
		"not": true, "if": true, "then": true, "else": true, "additionalProperties": true,
		"additionalItems": true, "contains": true, "propertyNames": true,
		"unevaluatedProperties": true, "unevaluatedItems": true, "contentSchema": true,
	}
)

func isIndex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
