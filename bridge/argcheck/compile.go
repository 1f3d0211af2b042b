package argcheck

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// baseURL names the schema to the compiler, for references to start from.
const baseURL = "https://schema.invalid/"

// refuseLoader is a [jsonschema.URLLoader] that loads nothing. The metaschemas
// of the known drafts do not come through it.
type refuseLoader struct{}

func (refuseLoader) Load(string) (any, error) { return nil, errNotLoaded }

var errNotLoaded = errors.New("nothing is loaded")

// compile reads a schema and copies it into nodes.
func compile(doc any) (*node, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(refuseLoader{})
	c.UseRegexpEngine(compileRegexp)
	if err := c.AddResource(baseURL, doc); err != nil {
		return nil, unsupported("its schema cannot be read: %v", err)
	}
	s, err := c.Compile(baseURL)
	if err != nil {
		return nil, unsupported("%s", compileReason(err))
	}
	t := translator{nodes: map[*jsonschema.Schema]*node{}}
	root := t.node(s)
	for len(t.queue) > 0 {
		next := t.queue[0]
		t.queue = t.queue[1:]
		t.fill(t.nodes[next], next)
	}
	if t.dynamic && t.resources() > 1 {
		return nil, unsupported("its schema uses $dynamicRef or $recursiveRef across several resources")
	}
	return root, checkComposition(root)
}

// compileReason puts the compiler's error into plain words.
func compileReason(err error) string {
	var outside *jsonschema.LoadURLError
	var invalid *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &outside):
		url := strings.TrimPrefix(outside.URL, baseURL)
		return "its schema refers to " + quote(url) + ", which is not part of it and is not loaded"
	case errors.As(err, &invalid):
		return "its schema is not a valid one: " + firstFault(invalid.Err)
	}
	return "its schema cannot be compiled: " + clean(strings.ReplaceAll(err.Error(), baseURL, ""), maxReasonRunes)
}

// firstFault names one fault that the metaschema found, always the same one.
func firstFault(err error) string {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return clean(err.Error(), maxReasonRunes)
	}
	printer := message.NewPrinter(language.English)
	best, bestRank := "", -1
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 || e.ErrorKind == nil {
			return
		}
		path := make([]any, len(e.InstanceLocation))
		for i, tok := range e.InstanceLocation {
			path[i] = tok
		}
		text := "at " + pointerOf(path) + ": " + clean(e.ErrorKind.LocalizedString(printer), maxReasonRunes)
		rank := 2 * len(path)
		if _, enum := e.ErrorKind.(*kind.Enum); enum {
			rank++ // of "one of these types" and "or an array of them" the first is meant
		}
		if rank > bestRank || rank == bestRank && text < best {
			best, bestRank = text, rank
		}
	}
	walk(verr)
	return best
}

// translator copies compiled schemas into nodes, each once.
type translator struct {
	nodes   map[*jsonschema.Schema]*node
	queue   []*jsonschema.Schema
	dynamic bool
}

// node returns the node of s, which may be filled later; nil for nil.
func (t *translator) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	n, ok := t.nodes[s]
	if !ok {
		n = &node{}
		t.nodes[s] = n
		t.queue = append(t.queue, s)
	}
	return n
}

func (t *translator) list(list []*jsonschema.Schema) []*node {
	var nodes []*node
	for _, s := range list {
		nodes = append(nodes, t.node(s))
	}
	return nodes
}

// either returns the node of a keyword that takes a boolean or a schema.
func (t *translator) either(v any) *node {
	switch v := v.(type) {
	case bool:
		return &node{never: !v}
	case *jsonschema.Schema:
		return t.node(v)
	}
	return nil
}

// resources counts the resources that the schema consists of.
func (t *translator) resources() int {
	ids := map[string]bool{}
	for s := range t.nodes {
		url, _, _ := strings.Cut(s.Location, "#")
		ids[url] = true
		if s.ID != "" && s.Location != baseURL+"#" {
			ids[s.Location] = true
		}
	}
	return len(ids)
}

func (t *translator) fill(n *node, s *jsonschema.Schema) {
	if s.Bool != nil {
		n.never = !*s.Bool
		return
	}
	if s.Ref != nil {
		n.refs = append(n.refs, t.node(s.Ref))
		if s.DraftVersion < 2019 {
			return // the drafts up to 7 ignore what stands beside $ref
		}
	}
	if s.RecursiveRef != nil {
		t.dynamic = true
		n.refs = append(n.refs, t.node(s.RecursiveRef))
	}
	if s.DynamicRef != nil {
		t.dynamic = true
		n.refs = append(n.refs, t.node(s.DynamicRef.Ref))
	}
	n.allOf, n.anyOf, n.oneOf = t.list(s.AllOf), t.list(s.AnyOf), t.list(s.OneOf)
	n.not, n.cond, n.then, n.els = t.node(s.Not), t.node(s.If), t.node(s.Then), t.node(s.Else)
	n.dependents = t.dependents(s)
	n.types = typesOf(s.Types)
	if s.Enum != nil {
		n.enum, n.hasEnum = s.Enum.Values, true
	}
	n.constant = s.Const
	n.object, n.array = t.object(s), t.array(s)
	if s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil {
		n.text = &textRules{min: s.MinLength, max: s.MaxLength}
		n.text.pattern, _ = s.Pattern.(*jsRegexp)
	}
	if s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil {
		n.number = &numberRules{
			min: newLimit(s.Minimum), max: newLimit(s.Maximum),
			above: newLimit(s.ExclusiveMinimum), below: newLimit(s.ExclusiveMaximum),
			multiple: newLimit(s.MultipleOf),
		}
	}
	n.unevaluatedProps, n.unevaluatedItems = t.node(s.UnevaluatedProperties), t.node(s.UnevaluatedItems)
}

func (t *translator) dependents(s *jsonschema.Schema) []dependent {
	var deps []dependent
	for prop, v := range s.Dependencies {
		switch v := v.(type) {
		case []string:
			deps = append(deps, dependent{prop: prop, required: v})
		case *jsonschema.Schema:
			deps = append(deps, dependent{prop: prop, schema: t.node(v)})
		}
	}
	for prop, names := range s.DependentRequired {
		deps = append(deps, dependent{prop: prop, required: names})
	}
	for prop, sub := range s.DependentSchemas {
		deps = append(deps, dependent{prop: prop, schema: t.node(sub)})
	}
	slices.SortStableFunc(deps, func(a, b dependent) int {
		return cmp.Or(cmp.Compare(a.prop, b.prop), cmp.Compare(len(b.required), len(a.required)))
	})
	return deps
}

func (t *translator) object(s *jsonschema.Schema) *objectRules {
	if s.Required == nil && s.Properties == nil && s.PatternProperties == nil && s.AdditionalProperties == nil &&
		s.PropertyNames == nil && s.MinProperties == nil && s.MaxProperties == nil {
		return nil
	}
	o := &objectRules{
		required: s.Required, names: t.node(s.PropertyNames), additional: t.either(s.AdditionalProperties),
		min: s.MinProperties, max: s.MaxProperties,
		propNames: slices.Sorted(maps.Keys(s.Properties)),
	}
	if len(s.Properties) > 0 {
		o.props = make(map[string]*node, len(s.Properties))
		for _, name := range o.propNames {
			o.props[name] = t.node(s.Properties[name])
		}
	}
	for re, sub := range s.PatternProperties {
		if re, ok := re.(*jsRegexp); ok {
			o.patterns = append(o.patterns, patternRule{re, t.node(sub)})
		}
	}
	slices.SortFunc(o.patterns, func(a, b patternRule) int { return cmp.Compare(a.re.String(), b.re.String()) })
	return o
}

func (t *translator) array(s *jsonschema.Schema) *arrayRules {
	a := &arrayRules{
		contains: t.node(s.Contains), containsMarks: s.DraftVersion >= 2020,
		minContains: s.MinContains, maxContains: s.MaxContains,
		min: s.MinItems, max: s.MaxItems, unique: s.UniqueItems,
	}
	if s.DraftVersion >= 2020 {
		a.prefix, a.rest = t.list(s.PrefixItems), t.node(s.Items2020)
	} else {
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			a.rest = t.node(items)
		case []*jsonschema.Schema:
			a.prefix, a.rest = t.list(items), t.either(s.AdditionalItems)
		}
	}
	if a.contains == nil && a.prefix == nil && a.rest == nil && a.min == nil && a.max == nil && !a.unique {
		return nil
	}
	return a
}

func typesOf(types *jsonschema.Types) typeSet {
	var set typeSet
	if types == nil {
		return 0
	}
	for _, want := range types.ToStrings() {
		for _, t := range typeNames {
			if t.name == want {
				set |= t.set
			}
		}
	}
	return set
}

// checkComposition refuses a schema whose parts refer to each other in a
// circle without a value to go down into, or that multiplies beyond
// MaxComposition.
func checkComposition(root *node) error {
	c := composition{cost: map[*node]int{}}
	pending, seen := []*node{root}, map[*node]bool{root: true}
	for len(pending) > 0 {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if err := c.visit(n); err != nil {
			return err
		}
		n.children(func(sub *node) {
			if !seen[sub] {
				seen[sub] = true
				pending = append(pending, sub)
			}
		})
	}
	return nil
}

type composition struct {
	// cost of the finished nodes; 0 while a node is being visited.
	cost map[*node]int
}

func (c *composition) visit(n *node) error {
	if cost, seen := c.cost[n]; seen {
		if cost == 0 {
			return unsupported("its schema refers to itself in a circle")
		}
		return nil
	}
	c.cost[n] = 0
	total := 1
	var err error
	n.inPlace(func(sub *node) {
		if err == nil {
			err = c.visit(sub)
		}
		total = min(total+c.cost[sub], MaxComposition+1)
	})
	if err == nil && total > MaxComposition {
		err = unsupported("its schema combines alternatives in more than %d ways", MaxComposition)
	}
	c.cost[n] = total
	return err
}
