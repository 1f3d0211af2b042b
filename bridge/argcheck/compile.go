package argcheck

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// compile reads a schema into nodes.
func compile(doc any) (*node, error) {
	r, err := read(doc)
	if err != nil {
		return nil, err
	}
	root := r.node(r.spots[""])
	used := map[*resource]bool{}
	for len(r.pending) > 0 {
		next := r.pending[0]
		r.pending = r.pending[1:]
		used[next.res] = true
		if err := r.fill(next); err != nil {
			return nil, err
		}
	}
	if r.dynamic && len(used) > 1 {
		return nil, unsupported("its schema uses $dynamicRef or $recursiveRef across several resources")
	}
	return root, checkComposition(root)
}

// node returns the node of a spot, which may be filled later. The metaschema of a
// draft, nil, is taken for what it asks of every schema.
func (r *reader) node(s *spot) *node {
	if s == nil {
		return &node{types: typeObject | typeBoolean}
	}
	if s.node == nil {
		s.node = &node{}
		r.pending = append(r.pending, s)
	}
	return s.node
}

// A keywords reads the keywords of one schema. Those that its draft does not have
// read as absent.
type keywords struct {
	*reader
	*spot
	obj map[string]any
}

// get is the value of a keyword, nil where there is none.
func (k keywords) get(keyword string) any {
	if k.res.draft.shapeOf(keyword) == shapeAny {
		return nil
	}
	return k.obj[keyword]
}

// sub is the node of a keyword that holds a schema.
func (k keywords) sub(keyword string) *node {
	if k.get(keyword) == nil {
		return nil
	}
	return k.reader.node(k.spots[k.at+"/"+keyword])
}

// subs are the nodes of a keyword that holds a list of schemas.
func (k keywords) subs(keyword string) []*node {
	list, _ := k.get(keyword).([]any)
	var nodes []*node
	for i := range list {
		nodes = append(nodes, k.reader.node(k.spots[k.at+"/"+keyword+"/"+strconv.Itoa(i)]))
	}
	return nodes
}

// named is the node of one of the schemas that a keyword holds by name.
func (k keywords) named(keyword, name string) *node {
	return k.reader.node(k.spots[k.at+"/"+keyword+"/"+escape(name)])
}

func (k keywords) names(keyword string) []string {
	named, _ := k.get(keyword).(map[string]any)
	return slices.Sorted(maps.Keys(named))
}

func (k keywords) count(keyword string) *int {
	n, ok := k.get(keyword).(json.Number)
	if !ok {
		return nil
	}
	v := int(rational(n).Num().Int64()) // clamped by the pre-check
	return &v
}

func (k keywords) limit(keyword string) *limit {
	if n, ok := k.get(keyword).(json.Number); ok {
		return newLimit(rational(n))
	}
	return nil
}

func (k keywords) strings(keyword string) []string { return stringsOf(k.get(keyword)) }

func stringsOf(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// pattern compiles a regular expression that stands at a keyword.
func (k keywords) pattern(re, keyword string) (*jsRegexp, error) {
	compiled, err := compileRegexp(re)
	if err != nil {
		return nil, invalid(k.at+"/"+keyword, quote(re)+" is not a regular expression: "+clean(err.Error(), maxReasonRunes))
	}
	return compiled, nil
}

// fill makes the node of a spot.
func (r *reader) fill(s *spot) error {
	if b, ok := s.value.(bool); ok {
		s.node.never = !b
		return nil
	}
	k := keywords{r, s, s.value.(map[string]any)}
	if err := k.references(); err != nil {
		return err
	}
	n, d := s.node, s.res.draft
	if len(n.refs) > 0 && d < draft2019 {
		return nil // the drafts up to 7 ignore what stands beside $ref
	}
	n.allOf, n.anyOf, n.oneOf, n.not = k.subs("allOf"), k.subs("anyOf"), k.subs("oneOf"), k.sub("not")
	if n.cond = k.sub("if"); n.cond != nil {
		n.then, n.els = k.sub("then"), k.sub("else")
	}
	n.dependents = k.dependents()
	for _, name := range append(k.strings("type"), textOf(k.get("type"))) {
		n.types |= typeNamed(name)
	}
	n.enum, n.hasEnum = k.get("enum").([]any)
	if v, ok := k.obj["const"]; ok && d >= draft6 {
		n.constant = &v
	}
	n.array, n.number = k.array(), k.number()
	n.unevaluatedProps, n.unevaluatedItems = k.sub("unevaluatedProperties"), k.sub("unevaluatedItems")
	var err error
	if n.object, err = k.object(); err != nil {
		return err
	}
	n.text, err = k.text()
	return err
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// references follows the references of a schema.
func (k keywords) references() error {
	for _, keyword := range []string{"$ref", "$recursiveRef", "$dynamicRef"} {
		ref, ok := k.get(keyword).(string)
		if !ok {
			continue
		}
		to, err := k.resolve(ref, k.res)
		if err != nil {
			return err
		}
		k.dynamic = k.dynamic || keyword != "$ref"
		k.spot.node.refs = append(k.spot.node.refs, k.reader.node(to))
	}
	return nil
}

func (k keywords) dependents() []dependent {
	var deps []dependent
	for _, keyword := range []string{"dependencies", "dependentRequired", "dependentSchemas"} {
		named, _ := k.get(keyword).(map[string]any)
		for prop, v := range named {
			if _, isList := v.([]any); isList {
				deps = append(deps, dependent{prop: prop, required: stringsOf(v)})
			} else {
				deps = append(deps, dependent{prop: prop, schema: k.named(keyword, prop)})
			}
		}
	}
	slices.SortStableFunc(deps, func(a, b dependent) int {
		return cmp.Or(cmp.Compare(a.prop, b.prop), cmp.Compare(len(b.required), len(a.required)))
	})
	return deps
}

func (k keywords) object() (*objectRules, error) {
	o := &objectRules{
		required: k.strings("required"), names: k.sub("propertyNames"), additional: k.sub("additionalProperties"),
		min: k.count("minProperties"), max: k.count("maxProperties"), propNames: k.names("properties"),
	}
	if len(o.propNames) > 0 {
		o.props = make(map[string]*node, len(o.propNames))
		for _, name := range o.propNames {
			o.props[name] = k.named("properties", name)
		}
	}
	for _, text := range k.names("patternProperties") {
		re, err := k.pattern(text, "patternProperties")
		if err != nil {
			return nil, err
		}
		o.patterns = append(o.patterns, patternRule{re, k.named("patternProperties", text)})
	}
	if o.required == nil && o.props == nil && o.patterns == nil && o.additional == nil && o.names == nil && o.min == nil && o.max == nil {
		return nil, nil
	}
	return o, nil
}

func (k keywords) array() *arrayRules {
	a := &arrayRules{
		contains: k.sub("contains"), containsMarks: k.res.draft >= draft2020,
		min: k.count("minItems"), max: k.count("maxItems"), unique: k.get("uniqueItems") == true,
	}
	if a.contains != nil {
		a.minContains, a.maxContains = k.count("minContains"), k.count("maxContains")
	}
	if _, isList := k.get("items").([]any); isList {
		a.prefix, a.rest = k.subs("items"), k.sub("additionalItems")
	} else {
		a.prefix, a.rest = k.subs("prefixItems"), k.sub("items")
	}
	if a.contains == nil && a.prefix == nil && a.rest == nil && a.min == nil && a.max == nil && !a.unique {
		return nil
	}
	return a
}

func (k keywords) text() (*textRules, error) {
	t := &textRules{min: k.count("minLength"), max: k.count("maxLength")}
	re, ok := k.get("pattern").(string)
	if ok {
		var err error
		if t.pattern, err = k.pattern(re, "pattern"); err != nil {
			return nil, err
		}
	}
	if t.min == nil && t.max == nil && !ok {
		return nil, nil
	}
	return t, nil
}

func (k keywords) number() *numberRules {
	n := &numberRules{
		min: k.limit("minimum"), max: k.limit("maximum"),
		above: k.limit("exclusiveMinimum"), below: k.limit("exclusiveMaximum"), multiple: k.limit("multipleOf"),
	}
	if k.get("exclusiveMinimum") == true { // draft 4
		n.above, n.min = n.min, nil
	}
	if k.get("exclusiveMaximum") == true {
		n.below, n.max = n.max, nil
	}
	if *n == (numberRules{}) {
		return nil
	}
	return n
}
