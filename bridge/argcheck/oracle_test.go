package argcheck_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("no") }

type testRegexp struct{ *regexp2.Regexp }

func (r testRegexp) MatchString(s string) bool {
	ok, err := r.Regexp.MatchString(s)
	return ok && err == nil
}

// newOracle compiles schema for the library's own evaluator, which has no
// bounds but is another reading of the specification; nil if it cannot.
func newOracle(schema string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
		return testRegexp{re}, err
	})
	if c.AddResource("https://oracle.invalid/", doc) != nil {
		return nil
	}
	s, err := c.Compile("https://oracle.invalid/")
	if err != nil {
		return nil
	}
	return s
}

// oracle is the library's verdict; known is false where it panics.
func oracle(s *jsonschema.Schema, args string) (fits, known bool) {
	defer func() {
		if recover() != nil {
			known = false
		}
	}()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	if err != nil || s == nil {
		return false, false
	}
	return s.Validate(v) == nil, true
}

// generator makes random schemas and values that have to do with each other.
type generator struct {
	*rand.Rand

	// noConst leaves out "const": the oracle looks at it beside a $ref in
	// draft-07 too, where the draft says to ignore it.
	noConst bool
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) value(depth int) string {
	n := 8
	if depth <= 0 {
		n = 6
	}
	switch g.IntN(n) {
	case 0:
		return g.pick("null", "true", "false")
	case 1, 2:
		return g.pick("0", "1", "2", "1.0", "1.5", "-1", "1e2", "100", "1.50", "0.9999999999999999999", "1.00e0", "2.5e-300")
	case 3, 4, 5:
		return g.pick(`"a"`, `"b"`, `"ab"`, `""`, `"abc"`)
	case 6:
		items := make([]string, g.IntN(4))
		for i := range items {
			items[i] = g.value(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return g.object(depth)
}

func (g generator) object(depth int) string {
	var props []string
	for _, name := range []string{"a", "b", "c", "ab"} {
		if g.IntN(2) == 0 {
			props = append(props, fmt.Sprintf("%q:%s", name, g.value(depth-1)))
		}
	}
	return "{" + strings.Join(props, ",") + "}"
}

func (g generator) list(depth int) string {
	subs := make([]string, 1+g.IntN(3))
	for i := range subs {
		subs[i] = g.schema(depth)
	}
	return "[" + strings.Join(subs, ",") + "]"
}

func (g generator) named(depth int, names ...string) string {
	var subs []string
	for _, name := range names {
		if g.IntN(3) > 0 {
			subs = append(subs, fmt.Sprintf("%q:%s", name, g.schema(depth)))
		}
	}
	return "{" + strings.Join(subs, ",") + "}"
}

func (g generator) schema(depth int) string {
	if depth <= 0 || g.IntN(12) == 0 {
		return g.pick("true", "false", "{}", `{"type":"string"}`, `{"type":"integer"}`, `{"$ref":"#/$defs/leaf"}`)
	}
	var kws []string
	for range 1 + g.IntN(4) {
		kws = append(kws, g.keyword(depth-1))
	}
	return "{" + strings.Join(kws, ",") + "}"
}

func (g generator) keyword(depth int) string {
	switch g.IntN(28) {
	case 0:
		return `"type":` + g.pick(`"string"`, `"integer"`, `"number"`, `"object"`, `"array"`, `["object","array"]`, `["null","boolean"]`)
	case 1:
		return `"enum":[` + g.value(1) + "," + g.value(1) + `]`
	case 2:
		if g.noConst {
			return `"enum":[` + g.value(1) + `]`
		}
		return `"const":` + g.value(1)
	case 3, 4:
		return `"properties":` + g.named(depth, "a", "b", "c")
	case 5:
		return `"patternProperties":` + g.named(depth, "^a", "b$")
	case 6:
		return `"additionalProperties":` + g.schema(depth)
	case 7:
		return `"required":` + g.pick(`["a"]`, `["a","b"]`, `[]`)
	case 8:
		return `"propertyNames":` + g.schema(depth)
	case 9:
		return `"items":` + g.schema(depth)
	case 10:
		return `"prefixItems":` + g.list(depth)
	case 11:
		return `"contains":` + g.schema(depth)
	case 12:
		return g.pick(`"minContains":0`, `"minContains":2`, `"maxContains":1`)
	case 13:
		return g.pick(`"minItems":1`, `"maxItems":2`, `"uniqueItems":true`)
	case 14:
		return g.pick(`"minLength":1`, `"maxLength":2`, `"pattern":"^a"`, `"pattern":"b"`)
	case 15:
		return g.pick(`"minimum":1`, `"maximum":1.5`, `"exclusiveMinimum":0`, `"exclusiveMaximum":2`, `"multipleOf":0.5`)
	case 16:
		return g.pick(`"minProperties":1`, `"maxProperties":2`)
	case 17, 18:
		return `"allOf":` + g.list(depth)
	case 19, 20:
		return `"anyOf":` + g.list(depth)
	case 21:
		return `"oneOf":` + g.list(depth)
	case 22:
		return `"not":` + g.schema(depth)
	case 23:
		return `"if":` + g.schema(depth) + `,"then":` + g.schema(depth) + `,"else":` + g.schema(depth)
	case 24:
		return g.pick(`"dependentRequired":{"a":["b"]}`, `"dependentSchemas":`+g.named(depth, "a", "b"), `"dependencies":{"a":["c"],"b":`+g.schema(depth)+`}`)
	case 25:
		return `"unevaluatedProperties":` + g.schema(depth)
	case 26:
		return `"unevaluatedItems":` + g.schema(depth)
	}
	return `"$ref":` + g.pick(`"#/$defs/leaf"`, `"#/$defs/tree"`)
}

func (g generator) root() string {
	draft := g.pick("", "", `"$schema":"https://json-schema.org/draft/2019-09/schema",`, `"$schema":"http://json-schema.org/draft-07/schema",`)
	g.noConst = strings.Contains(draft, "draft-07")
	return `{` + draft + `"$defs":{"leaf":{"maxLength":1},"tree":{"properties":{"a":{"$ref":"#/$defs/tree"},"b":{"type":"string"}},"items":{"$ref":"#/$defs/tree"}}},` +
		g.keyword(4) + "," + g.keyword(4) + "," + g.keyword(4) + `}`
}

// TestAgainstOracle holds random verdicts against the library's evaluator.
func TestAgainstOracle(t *testing.T) {
	const rounds = 400
	g := generator{Rand: rand.New(rand.NewPCG(1, 2))}
	compared, fitting := 0, 0
	for range rounds {
		schema := g.root()
		s := newOracle(schema)
		c, err := argcheck.New(json.RawMessage(schema))
		if err != nil {
			if s != nil && !strings.Contains(err.Error(), "in a circle") && !strings.Contains(err.Error(), "ways") {
				t.Errorf("schema %s: New: %v, and the oracle can read it", schema, err)
			}
			continue
		}
		for range 20 {
			args := g.object(3)
			want, known := oracle(s, args)
			if !known {
				continue
			}
			m, err := c.Check(json.RawMessage(args))
			if err != nil {
				t.Fatalf("schema %s\nargs %s: %v", schema, args, err)
			}
			if got := m == nil; got != want {
				t.Fatalf("schema %s\nargs   %s\nfits = %v (%v), the oracle says %v", schema, args, got, m, want)
			}
			compared++
			if want {
				fitting++
			}
		}
	}
	t.Logf("%d verdicts compared, %d of them fit", compared, fitting)
	if compared < rounds || fitting < compared/20 || fitting > compared*19/20 {
		t.Errorf("%d verdicts compared, %d of them fit: the test proves little", compared, fitting)
	}
}

// TestReferencesAgainstOracle holds the reading of references, anchors and ids of all
// drafts against the library's.
func TestReferencesAgainstOracle(t *testing.T) {
	documents := []string{
		`{"D":{"a":{"ID":"ANCHOR","minLength":2}},"properties":{"a":{"$ref":"#n"},"b":{"$ref":"#/D/a"}}}`,
		`{"ID":"https://e.invalid/x/root.json","D":{"a":{"ID":"item.json","D":{"in":{"minLength":2}},"properties":{"a":{"$ref":"#/D/in"}}}},
			"properties":{"a":{"$ref":"item.json"},"b":{"$ref":"/x/item.json#/D/in"},"c":{"$ref":"https://e.invalid/x/root.json"}}}`,
		`{"D":{"a":{"ID":"sub/","D":{"b":{"ID":"deep.json","minimum":2}}}},"properties":{"a":{"$ref":"sub/deep.json"},"b":{"$ref":"sub/#/D/b"}}}`,
		`{"ID":"urn:example:one","D":{"a":{"ID":"urn:example:two","minimum":2}},"properties":{"a":{"$ref":"urn:example:two"}}}`,
		`{"x y":{"m~n":[{"minLength":2},{"a/b":{"minimum":2}}]},"properties":{"a":{"$ref":"#/x%20y/m~0n/0"},"b":{"$ref":"#/x y/m~0n/1/a~1b"}}}`,
		`{"x":{"D":{"in":{"minLength":2}},"properties":{"a":{"$ref":"#/x/D/in"}}},"properties":{"a":{"$ref":"#/x"},"b":{"$ref":"#/x/properties/a"}}}`,
		`{"$ref":"#/D/a","D":{"a":{"minProperties":2}},"required":["zz"]}`,
		`{"$ref":"#/D/a","ID":"https://e.invalid/other","D":{"a":{"minProperties":2,"properties":{"a":{"$ref":"#/D/b"}}},"b":{"minimum":2}}}`,
		`{"enum":[{"ID":"https://e.invalid/e","a":1},{"a":"a"}],"properties":{"ID":{"minimum":1},"$ref":{"minLength":2}}}`,
		`{"items":[{"minimum":2}],"additionalItems":{"ID":"t.json","minLength":2},"properties":{"a":{"$ref":"t.json"}}}`,
		`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"not":{"$ref":"#/properties/c"}},"c":{"minimum":2}}}`,
		`{"dependencies":{"a":{"ID":"d.json","required":["b"]}},"anyOf":[{"$ref":"d.json"},{"required":["c"]}]}`,
		`{"properties":{"a":{"minimum":1,"exclusiveMinimum":true,"maximum":100,"exclusiveMaximum":false}}}`,
		`{"$recursiveRef":"#","properties":{"a":{"$recursiveRef":"#"}},"required":["b"]}`,
		`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"},"b":{"$ref":"#n"}},"minProperties":1}`,
		`{"D":{"a":{"ID":"https://e.invalid/a","$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/properties/b","minimum":50},"b":true}}},"$ref":"https://e.invalid/a"}`,
		`{"if":{"minProperties":2},"then":{"required":["a"]},"const":{"a":1},"propertyNames":{"minLength":1},"contains":{"minimum":2},"minContains":2}`,
		`{"D":{"a":{"ID":"ANCHOR"},"b":{"ID":"ANCHOR"}},"properties":{"a":{"$ref":"#n"}}}`,
		`{"properties":{"a":{"$ref":"#none"}}}`,
		`{"properties":{"a":{"$ref":"#/properties/zz"}}}`,
		`{"title":"t","x":"text","properties":{"a":{"$ref":"#/title"}}}`,
	}
	drafts := []struct{ url, id, defs string }{
		{"http://json-schema.org/draft-04/schema#", "id", "definitions"},
		{"http://json-schema.org/draft-06/schema#", "$id", "definitions"},
		{"https://json-schema.org/draft-07/schema", "$id", "definitions"},
		{"https://json-schema.org/draft/2019-09/schema", "$id", "$defs"},
		{"https://json-schema.org/draft/2020-12/schema", "$id", "$defs"},
	}
	g := generator{Rand: rand.New(rand.NewPCG(3, 4))}
	compared, refused := 0, 0
	for _, doc := range documents {
		for _, d := range drafts {
			schema := strings.NewReplacer(`"ID":"ANCHOR"`, map[bool]string{true: `"$anchor":"n"`, false: `"` + d.id + `":"#n"`}[d.defs == "$defs"],
				"ID", d.id, `"D"`, `"`+d.defs+`"`, "/D/", "/"+d.defs+"/").Replace(`{"$schema":"` + d.url + `",` + doc[1:])
			s := newOracle(schema)
			c, err := argcheck.New(json.RawMessage(schema))
			if (s == nil) != (err != nil) && !(s != nil && strings.Contains(err.Error(), "in a circle")) {
				t.Errorf("schema %s: New: %v, the oracle can read it: %v", schema, err, s != nil)
			}
			if err != nil || s == nil {
				refused++
				continue
			}
			for range 60 {
				args := g.object(2)
				want, known := oracle(s, args)
				if m, err := c.Check(json.RawMessage(args)); known && (err != nil || want != (m == nil)) {
					t.Fatalf("schema %s\nargs %s: %v, %v, the oracle says fits = %v", schema, args, m, err, want)
				}
				compared++
			}
		}
	}
	t.Logf("%d verdicts compared, %d schemas refused by both", compared, refused)
	if compared < 3000 || refused < 10 {
		t.Errorf("%d verdicts compared, %d schemas refused: the test proves little", compared, refused)
	}
}

// TestShapesAgainstOracle gives every keyword values of every kind: what the draft's
// metaschema allows is read, and what it does not is refused, or read where the reason
// is one that takes nothing from a check.
func TestShapesAgainstOracle(t *testing.T) {
	words := strings.Fields(`$ref $schema $id id $anchor $dynamicAnchor $dynamicRef $recursiveRef $defs definitions pattern not
		additionalProperties additionalItems allOf anyOf oneOf properties patternProperties items prefixItems contains
		dependencies dependentRequired dependentSchemas maximum minimum exclusiveMaximum exclusiveMinimum multipleOf minLength
		maxLength minItems maxItems minProperties maxProperties minContains maxContains uniqueItems required type enum const
		propertyNames if then else unevaluatedProperties unevaluatedItems contentSchema unknown`)
	values := []string{`null`, `true`, `0`, `-1`, `1.5`, `3`, `"x"`, `"string"`, `"("`, `[]`, `["x"]`, `["string","null"]`, `["a","a"]`,
		`[1]`, `[{}]`, `[true]`, `{}`, `{"a":1}`, `{"a":{}}`, `{"a":[]}`, `{"a":["b"]}`, `{"a":[1]}`, `{"a":true}`, `{"a":{"type":1}}`, `{"(":{}}`}
	// lenient are refused by a metaschema alone.
	lenient := func(draft, word, value string) bool {
		switch {
		case value == `[]` || value == `["a","a"]` || value == `{"a":[]}`:
			return true // empty, or twice the same
		case strings.Contains(draft, "draft-04") && (strings.Contains(value, "true")):
			return true // a boolean as a schema, which draft 4 did not know yet
		case strings.Contains(draft, "draft-04") && word == "const", strings.Contains(word, "nchor"):
			return true
		case strings.Contains(value, `"("`) && word != "pattern" && word != "patternProperties":
			return true // a pattern nobody uses
		}
		return false
	}
	compared := 0
	for _, draft := range []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"} {
		for _, word := range words {
			for _, value := range values {
				schema := fmt.Sprintf(`{"$schema":%q,"minItems":0,"items":{%q:%s}}`, draft, word, value)
				_, err := argcheck.New(json.RawMessage(schema))
				s := newOracle(schema)
				compared++
				switch {
				case err != nil && s != nil && !strings.Contains(err.Error(), "in a circle"):
					t.Errorf("%s: New: %v, and the oracle can read it", schema, err)
				case err == nil && s == nil && !lenient(draft, word, value):
					t.Errorf("%s is read, and the oracle cannot", schema)
				}
			}
		}
	}
	t.Logf("%d schemas compared", compared)
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":"x"}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, `[[[1]]]`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","minimum":1,"exclusiveMinimum":true}`, `1e5`)
	f.Add(`{"pattern":"(?<=a)[^\\d]\\p{L}$","uniqueItems":true}`, `"ab"`)
	f.Add(`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"unevaluatedProperties":false}`, `{"a":{"b":1}}`)
	f.Add(`{"$recursiveAnchor":true,"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#"}}`, `[[1]]`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		}()
		c, err := argcheck.New(json.RawMessage(schema))
		if err != nil {
			var unsupported *argcheck.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Reason == "" || len(unsupported.Reason) > 2000 {
				t.Fatalf("New: %v", err)
			}
			return
		}
		m, err := c.Check(json.RawMessage(args))
		if err != nil {
			return
		}
		if m != nil && (len(m.Places) == 0 || len(m.Places) > argcheck.MaxPlaces || len(m.Error()) > 10_000) {
			t.Fatalf("mismatch with %d places: %s", len(m.Places), m)
		}
		if len(schema) > 500 || len(args) > 200 || strings.Count(args, "[")+strings.Count(args, "{") > 10 ||
			strings.Contains(schema, "pattern") || strings.Contains(schema, "ormat") {
			return // the oracle has no bounds, and it asserts formats in older drafts
		}
		if want, known := oracle(newOracle(schema), args); known && want != (m == nil) && !twice(args) {
			t.Fatalf("schema %q args %q: mismatch %v, the oracle says fits = %v", schema, args, m, want)
		}
	})
}

// twice reports whether args are refused before any schema is asked.
func twice(args string) bool {
	c, _ := argcheck.New(json.RawMessage(`true`))
	m, err := c.Check(json.RawMessage(args))
	return m != nil || err != nil
}
