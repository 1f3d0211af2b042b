package argcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// baseURL names the schema, for its references to start from.
const baseURL = "https://schema.invalid/"

// A spot is a place of the document that holds a schema.
type spot struct {
	at    string // its JSON pointer
	value any    // an object or a boolean
	res   *resource
	node  *node // nil until something leads here
}

// A resource is a part of the document with a name and a draft of its own.
type resource struct {
	at      string // where it begins
	url     string // without a fragment
	draft   draft
	anchors map[string]string // pointers by name
}

// A reader compiles one document.
type reader struct {
	doc       any
	spots     map[string]*spot     // by pointer
	resources map[string]*resource // by URL
	pending   []*spot              // whose nodes are to be filled
	dynamic   bool                 // a reference may depend on the caller
}

// read finds the schemas and the resources of a document.
func read(doc any) (*reader, error) {
	root := &resource{url: baseURL, draft: draft2020, anchors: map[string]string{}}
	r := &reader{doc: doc, spots: map[string]*spot{}, resources: map[string]*resource{baseURL: root}}
	return r, r.survey(doc, "", root)
}

// survey notes the schema v and all those in it, and holds their keywords
// against what the draft wants.
func (r *reader) survey(v any, at string, res *resource) error {
	if r.spots[at] != nil {
		return nil
	}
	obj, isObject := v.(map[string]any)
	if _, isBool := v.(bool); !isObject && !isBool {
		return invalid(at, wanted(v, "boolean or object"))
	}
	if isObject {
		var err error
		if res, err = r.enter(obj, at, res); err != nil {
			return err
		}
	}
	r.spots[at] = &spot{at: at, value: v, res: res}
	for _, keyword := range slices.Sorted(maps.Keys(obj)) {
		if err := r.keyword(res.draft.shapeOf(keyword), obj[keyword], at+"/"+escape(keyword), res); err != nil {
			return err
		}
	}
	return nil
}

// enter notes the names of a schema, and returns the resource that it is in: its
// own, if it has one.
func (r *reader) enter(obj map[string]any, at string, res *resource) (*resource, error) {
	d := res.draft
	if name, ok := obj["$schema"].(string); ok {
		known := false
		if d, known = draftOf(name); !known {
			return nil, outside(name)
		}
	}
	id, named := obj[d.idKeyword()].(string)
	if _, ref := obj["$ref"].(string); ref && d < draft2019 {
		named = false // these drafts ignore what stands beside $ref
	}
	id, anchor, _ := strings.Cut(id, "#")
	switch {
	case at == "":
		res.draft = d
		if named && id != "" {
			u, err := join(res.url, id)
			if err != nil {
				return nil, err
			}
			res.url, r.resources[u] = u, res
		}
	case named && id != "":
		u, err := join(res.url, id)
		if err != nil {
			return nil, err
		}
		if r.resources[u] != nil {
			return nil, unsupported("its schema cannot be compiled: two places have the id %s", quote(id))
		}
		res = &resource{at: at, url: u, draft: d, anchors: map[string]string{}}
		r.resources[u] = res
	}
	if res.draft < draft2019 {
		if named && anchor != "" {
			return res, res.name(anchor, at)
		}
		return res, nil
	}
	if named && anchor != "" {
		return nil, invalid(at+"/"+d.idKeyword(), "an id has no fragment")
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := obj[keyword].(string); ok && res.draft.shapeOf(keyword) == shapeText {
			if err := res.name(name, at); err != nil {
				return nil, err
			}
		}
	}
	return res, nil
}

// name gives a place a name within the resource.
func (res *resource) name(anchor, at string) error {
	if other, taken := res.anchors[anchor]; taken && other != at {
		return unsupported("its schema cannot be compiled: two places have the anchor %s", quote(anchor))
	}
	res.anchors[anchor] = at
	return nil
}

// keyword holds the value of a keyword against its shape, and surveys the schemas
// in it.
func (r *reader) keyword(k shape, v any, at string, res *resource) error {
	list, isList := v.([]any)
	named, isNamed := v.(map[string]any)
	switch k {
	case shapeSchema:
		return r.survey(v, at, res)
	case shapeItems:
		if !isList {
			return r.survey(v, at, res)
		}
		return r.list(list, at, res)
	case shapeSchemas:
		if !isList {
			return invalid(at, wanted(v, "array"))
		}
		if len(list) == 0 {
			return invalid(at, "it must not be empty")
		}
		return r.list(list, at, res)
	case shapeNamed, shapeDependent, shapeNamedStrings:
		if !isNamed {
			return invalid(at, wanted(v, "object"))
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			sub, err := named[name], error(nil)
			_, strings := sub.([]any)
			if k == shapeNamedStrings || k == shapeDependent && strings {
				err = checkPlain(shapeStrings, sub, at+"/"+escape(name))
			} else {
				err = r.survey(sub, at+"/"+escape(name), res)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return checkPlain(k, v, at)
}

func (r *reader) list(list []any, at string, res *resource) error {
	for i, sub := range list {
		if err := r.survey(sub, at+"/"+strconv.Itoa(i), res); err != nil {
			return err
		}
	}
	return nil
}

// checkPlain holds a value that contains no schemas against its shape.
func checkPlain(k shape, v any, at string) error {
	want, fits := "", true
	switch k {
	case shapeText:
		want, fits = "string", hasType(v, typeString)
	case shapeNumber, shapeStep:
		want, fits = "number", hasType(v, typeNumber)
	case shapeCount:
		want, fits = "integer", hasType(v, typeInteger)
	case shapeFlag:
		want, fits = "boolean", hasType(v, typeBoolean)
	case shapeStrings, shapeList:
		want, fits = "array", hasType(v, typeArray)
	case shapeTypes:
		return checkTypes(v, at)
	}
	if !fits {
		return invalid(at, wanted(v, want))
	}
	switch k {
	case shapeStrings:
		for i, item := range v.([]any) {
			if !hasType(item, typeString) {
				return invalid(at+"/"+strconv.Itoa(i), wanted(item, "string"))
			}
		}
	case shapeStep, shapeCount:
		n := rational(v.(json.Number))
		if n == nil || n.Sign() < 0 || n.Sign() == 0 && k == shapeStep {
			return invalid(at, "it must be above 0")
		}
	}
	return nil
}

func checkTypes(v any, at string) error {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for i, item := range list {
		name, ok := item.(string)
		if ok && typeNamed(name) != 0 {
			continue
		}
		if isList {
			at += "/" + strconv.Itoa(i)
		}
		return invalid(at, "value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'")
	}
	return nil
}

// typeNamed is the type of a name, 0 if there is none.
func typeNamed(name string) typeSet {
	for _, t := range typeNames {
		if t.name == name {
			return t.set
		}
	}
	return 0
}

// resolve finds the schema that a reference leads to; nil is the metaschema of a
// draft, which is no part of the document.
func (r *reader) resolve(ref string, from *resource) (*spot, error) {
	target, fragment, _ := strings.Cut(ref, "#")
	res := from
	if target != "" {
		u, err := join(from.url, target)
		if err != nil {
			return nil, err
		}
		if res = r.resources[u]; res == nil {
			if _, known := draftOf(u); known && fragment == "" {
				return nil, nil
			}
			return nil, outside(strings.TrimPrefix(u, baseURL))
		}
	}
	plain, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, dangling(ref)
	}
	at := res.at
	switch {
	case strings.HasPrefix(plain, "/"):
		at += plain
	case plain != "":
		named, ok := res.anchors[plain]
		if !ok {
			return nil, dangling(ref)
		}
		at = named
	}
	if s := r.spots[at]; s != nil {
		return s, nil
	}
	return r.stray(ref, at)
}

// stray is the schema at a place where the draft's keywords hold none.
func (r *reader) stray(ref, at string) (*spot, error) {
	v := lookup(r.doc, strings.Split(at[1:], "/"))
	if v == nil {
		return nil, dangling(ref)
	}
	outer := at
	for r.spots[outer] == nil { // the root is one
		outer = outer[:strings.LastIndexByte(outer, '/')]
	}
	if err := r.survey(v, at, r.spots[outer].res); err != nil {
		return nil, err
	}
	return r.spots[at], nil
}

// join resolves a reference without a fragment.
func join(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err == nil {
		b, err = b.Parse(ref)
	}
	if err != nil {
		return "", unsupported("its schema cannot be compiled: %s is not a URL", quote(ref))
	}
	return b.String(), nil
}

// lookup follows the tokens of a JSON pointer; nil leads nowhere.
func lookup(v any, tokens []string) any {
	for _, tok := range tokens {
		tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		switch at := v.(type) {
		case map[string]any:
			v = at[tok]
		case []any:
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(at) || strconv.Itoa(i) != tok {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// escape makes a token of a JSON pointer.
func escape(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func invalid(at, problem string) error {
	if at == "" {
		at = "(root)"
	}
	return unsupported("its schema is not a valid one: at %s: %s", clean(at, maxPathRunes), problem)
}

func wanted(v any, want string) string {
	got := typeOf(v)
	if got == typeInteger {
		got = typeNumber
	}
	for _, t := range typeNames {
		if t.set == got {
			return fmt.Sprintf("got %s, want %s", t.name, want)
		}
	}
	return "want " + want
}

func outside(url string) error {
	return unsupported("its schema refers to %s, which is not part of it and is not loaded", quote(url))
}

func dangling(ref string) error {
	return unsupported("its schema cannot be compiled: it refers to %s, where no schema is", quote(ref))
}
