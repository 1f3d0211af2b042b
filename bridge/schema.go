package bridge

import (
	"errors"
	"strings"
)

// Bounds on what is taken from one schema. Whatever lies beyond is still passed
// on unchanged by describe; it is only not searched for.
const (
	maxSchemaBytes  = 1 << 20
	maxSchemaParams = 200  // parameters remembered, at any depth
	maxSchemaText   = 8192 // bytes of parameter descriptions searched
	maxSchemaNest   = 8    // how deep parameters are looked for
)

var errNotObjectSchema = errors.New("input schema is not the schema of an object")

// A param is one property of a schema.
type param struct {
	name     string
	kind     string // JSON Schema type, "" where several or none are given
	items    string // the type of an array's items
	enum     []string
	required bool
}

// A schemaInfo is what the catalogue remembers of an input schema.
type schemaInfo struct {
	params []param  // of the top level, in the schema's order
	names  []string // of all parameters, at any depth
	texts  []string // descriptions of parameters, and the words of enumerations
}

// required reports whether any parameter must be given.
func (s *schemaInfo) required() bool {
	for i := range s.params {
		if s.params[i].required {
			return true
		}
	}
	return false
}

// parseSchema checks that raw is the schema of an object and takes its
// parameters from it.
func parseSchema(raw string) (schemaInfo, error) {
	if len(raw) > maxSchemaBytes {
		return schemaInfo{}, errors.New("input schema is over 1 MiB")
	}
	r := schemaReader{jsonScanner: jsonScanner{s: raw}}
	if r.peek() != '{' {
		if r.skip(); r.end() != nil {
			return schemaInfo{}, r.err
		}
		return schemaInfo{}, errNotObjectSchema
	}
	n := r.node(0)
	if err := r.end(); err != nil {
		return schemaInfo{}, err
	}
	if !n.maybeObject {
		return schemaInfo{}, errNotObjectSchema
	}
	r.info.params = n.params
	for _, name := range n.required {
		for i := range r.info.params {
			if r.info.params[i].name == name {
				r.info.params[i].required = true
			}
		}
	}
	return r.info, nil
}

// A schemaReader walks a schema once.
type schemaReader struct {
	jsonScanner
	info  schemaInfo
	bytes int // of texts so far
}

// A schemaNode is what one schema object says of itself.
type schemaNode struct {
	kind        string
	items       string
	maybeObject bool // the type is absent or allows an object
	enum        []string
	params      []param
	required    []string
}

// node reads the schema at the cursor.
func (r *schemaReader) node(nest int) schemaNode {
	n := schemaNode{maybeObject: true}
	r.object(func(key string) { r.keyword(&n, key, nest) })
	return n
}

func (r *schemaReader) keyword(n *schemaNode, key string, nest int) {
	c := r.peek()
	switch {
	case key == "type":
		r.types(n)
	case key == "description" && c == '"' && nest > 0:
		r.text(r.str())
	case key == "enum" && c == '[':
		r.enum(n, nest)
	case key == "required" && c == '[':
		r.array(func() {
			if r.peek() == '"' {
				n.required = append(n.required, r.str())
			} else {
				r.skip()
			}
		})
	case nest >= maxSchemaNest:
		r.skip()
	case key == "properties" && c == '{':
		r.properties(n, nest)
	case key == "items" && c == '{':
		n.items = r.node(nest + 1).kind
	case (key == "anyOf" || key == "oneOf" || key == "allOf") && c == '[':
		r.branches(n, nest)
	case (key == "$defs" || key == "definitions") && c == '{':
		r.object(func(string) { r.nodeOrSkip(nest + 1) })
	default:
		r.skip()
	}
}

func (r *schemaReader) nodeOrSkip(nest int) (schemaNode, bool) {
	if r.peek() != '{' {
		r.skip()
		return schemaNode{}, false
	}
	return r.node(nest), true
}

func (r *schemaReader) types(n *schemaNode) {
	switch r.peek() {
	case '"':
		n.kind = r.str()
		n.maybeObject = n.kind == "object"
	case '[':
		n.maybeObject = false
		r.array(func() {
			if r.peek() != '"' {
				r.skip()
				return
			}
			switch t := r.str(); {
			case t == "null":
			case n.kind == "":
				n.kind = t
				n.maybeObject = t == "object"
			default:
				n.maybeObject = n.maybeObject || t == "object"
			}
		})
	default:
		n.maybeObject = false
		r.skip()
	}
}

func (r *schemaReader) enum(n *schemaNode, nest int) {
	r.array(func() {
		if r.peek() != '"' {
			r.skip()
			return
		}
		s := r.str()
		if len(n.enum) < maxSchemaParams {
			n.enum = append(n.enum, s)
		}
		if nest > 0 {
			r.text(s)
		}
	})
}

func (r *schemaReader) properties(n *schemaNode, nest int) {
	r.object(func(name string) {
		p, ok := r.nodeOrSkip(nest + 1)
		if !ok || len(r.info.names) >= maxSchemaParams {
			return
		}
		r.info.names = append(r.info.names, name)
		n.params = append(n.params, param{name: name, kind: p.kind, items: p.items, enum: p.enum})
	})
}

// branches reads the alternatives of a composition: the first type that is not
// null counts as the node's, and parameters of all of them as its parameters.
func (r *schemaReader) branches(n *schemaNode, nest int) {
	r.array(func() {
		b, ok := r.nodeOrSkip(nest + 1)
		if !ok || b.kind == "null" {
			return
		}
		if n.kind == "" {
			n.kind, n.items, n.enum = b.kind, b.items, b.enum
		}
		n.params = append(n.params, b.params...)
	})
}

func (r *schemaReader) text(s string) {
	if s = strings.TrimSpace(s); s == "" || r.bytes >= maxSchemaText {
		return
	}
	s = cutString(s, maxSchemaText-r.bytes)
	r.bytes += len(s)
	r.info.texts = append(r.info.texts, s)
}
