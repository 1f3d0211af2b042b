package argcheck

// typeSet is a set of JSON types.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

// typeNames lists the types in the order in which they are named to a reader.
var typeNames = []struct {
	set  typeSet
	name string
}{
	{typeString, "string"}, {typeInteger, "integer"}, {typeNumber, "number"}, {typeBoolean, "boolean"},
	{typeArray, "array"}, {typeObject, "object"}, {typeNull, "null"},
}

// node is a compiled schema as the evaluator wants it: one form for all
// drafts, lists in place of maps where order shows.
type node struct {
	never bool // the schema false

	// In place: these look at the same value.
	refs       []*node
	allOf      []*node
	anyOf      []*node
	oneOf      []*node
	not        *node
	cond       *node
	then, els  *node
	dependents []dependent

	types    typeSet // 0 when any will do
	enum     []any
	hasEnum  bool
	constant *any

	object *objectRules
	array  *arrayRules
	text   *textRules
	number *numberRules

	unevaluatedProps *node
	unevaluatedItems *node
}

// dependent is what the presence of a property asks for.
type dependent struct {
	prop     string
	required []string
	schema   *node
}

type objectRules struct {
	required   []string
	props      map[string]*node
	propNames  []string // sorted
	patterns   []patternRule
	additional *node
	names      *node
	min, max   *int
}

type patternRule struct {
	re     *jsRegexp
	schema *node
}

type arrayRules struct {
	prefix   []*node
	rest     *node
	contains *node

	// containsMarks says that "contains" evaluates the items it fits.
	containsMarks            bool
	minContains, maxContains *int
	min, max                 *int
	unique                   bool
}

type textRules struct {
	min, max *int
	pattern  *jsRegexp
}

type numberRules struct {
	min, max, above, below, multiple *limit
}

// inPlace calls f for each schema that looks at the same value as n.
func (n *node) inPlace(f func(*node)) {
	for _, list := range [][]*node{n.refs, n.allOf, n.anyOf, n.oneOf, {n.not, n.cond, n.then, n.els}} {
		for _, sub := range list {
			if sub != nil {
				f(sub)
			}
		}
	}
	for _, d := range n.dependents {
		if d.schema != nil {
			f(d.schema)
		}
	}
}

// children calls f for each schema of n, those for parts of the value included.
func (n *node) children(f func(*node)) {
	n.inPlace(f)
	each := func(list ...*node) {
		for _, sub := range list {
			if sub != nil {
				f(sub)
			}
		}
	}
	each(n.unevaluatedProps, n.unevaluatedItems)
	if o := n.object; o != nil {
		for _, name := range o.propNames {
			f(o.props[name])
		}
		for _, p := range o.patterns {
			f(p.schema)
		}
		each(o.additional, o.names)
	}
	if a := n.array; a != nil {
		each(a.prefix...)
		each(a.rest, a.contains)
	}
}
