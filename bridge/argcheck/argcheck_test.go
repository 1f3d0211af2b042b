package argcheck_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

func mustNew(t testing.TB, schema string) *argcheck.Checker {
	t.Helper()
	c, err := argcheck.New(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("New(%s): %v", short(schema), err)
	}
	return c
}

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// verdict is the text of the mismatch after its heading, "" when args fit.
func verdict(t testing.TB, c *argcheck.Checker, args string) string {
	t.Helper()
	m, err := c.Check(json.RawMessage(args))
	if err != nil {
		t.Fatalf("Check(%s): %v", short(args), err)
	}
	if m == nil {
		return ""
	}
	text, ok := strings.CutPrefix(m.Error(), "arguments do not fit the tool's schema: ")
	if !ok {
		t.Fatalf("mismatch without its heading: %s", m)
	}
	return text
}

func TestCheck(t *testing.T) {
	const object = `{"type":"object","properties":{"count":{"type":"integer","minimum":1},"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`
	tests := []struct {
		name, schema, args, want string
	}{
		{"fits", object, `{"title":"a","count":2}`, ``},
		{"integer written as a double", object, `{"title":"a","count":2.0}`, ``},
		{"two faults", object, `{"count":"x"}`, `at /count: want integer, got string "x"; at (root): missing property "title"`},
		{"limit", object, `{"title":"a","count":0}`, `at /count: want at least 1, got number 0`},
		{"unknown property", object, `{"title":"a","titel":"b"}`, `at (root): unexpected property "titel" (known: "count", "title")`},
		{"not an object", object, `[1]`, `at (root): want object, got array of 1 item`},
		{"absent", object, ``, `at (root): missing property "title"`},
		{"null", object, `null`, `at (root): want object, got null`},
		{"no rules", `{}`, `{"a":1}`, ``},
		{"true", `true`, `{"a":1}`, ``},
		{"false", `false`, `{}`, `at (root): want nothing here, got object with 0 properties`},
		{"type list", `{"properties":{"a":{"type":["string","null"]}}}`, `{"a":false}`, `at /a: want string or null, got boolean false`},
		{"enum", `{"properties":{"a":{"enum":["x",1,null,{"k":[1]}]}}}`, `{"a":"y"}`, `at /a: want one of "x", 1, null, {"k":[1]}, got string "y"`},
		{"enum with equal number", `{"properties":{"a":{"enum":[1.0]}}}`, `{"a":1}`, ``},
		{"enum with equal object", `{"properties":{"a":{"enum":[{"x":1,"y":2}]}}}`, `{"a":{"y":2.0,"x":1}}`, ``},
		{"const", `{"properties":{"a":{"const":"x"}}}`, `{"a":1}`, `at /a: want "x", got number 1`},
		{"const null", `{"properties":{"a":{"const":null}}}`, `{"a":null}`, ``},
		{"pattern", `{"properties":{"a":{"pattern":"^[a-z]+$"}}}`, `{"a":"A"}`, `at /a: want a string that matches /^[a-z]+$/, got string "A"`},
		{"pattern is not anchored", `{"properties":{"a":{"pattern":"b"}}}`, `{"a":"abc"}`, ``},
		{"pattern of JavaScript", `{"properties":{"a":{"pattern":"^(?!x)(?<y>\\d)\\k<y>$"}}}`, `{"a":"11"}`, ``},
		{"pattern and newline at the end", `{"properties":{"a":{"pattern":"^a$"}}}`, `{"a":"a\n"}`, `at /a: want a string that matches /^a$/, got string "a\n"`},
		{"pattern beyond the basic plane", `{"properties":{"a":{"pattern":"^.\\u{1F600}$"}}}`, `{"a":"😀😀"}`, ``},
		{"length counts characters", `{"properties":{"a":{"maxLength":2}}}`, `{"a":"😀😀"}`, ``},
		{"too long", `{"properties":{"a":{"maxLength":2}}}`, `{"a":"abc"}`, `at /a: want at most 2 characters, got string "abc" of 3`},
		{"multiple of", `{"properties":{"a":{"multipleOf":0.1}}}`, `{"a":0.3}`, ``},
		{"not a multiple", `{"properties":{"a":{"multipleOf":0.5}}}`, `{"a":0.3}`, `at /a: want a multiple of 0.5, got number 0.3`},
		{"exclusive limits", `{"properties":{"a":{"exclusiveMinimum":0,"exclusiveMaximum":1.5}}}`, `{"a":1.5}`, `at /a: want less than 1.5, got number 1.5`},
		{"items", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",1,true]}`, `at /a/1: want string, got number 1; at /a/2: want string, got boolean true`},
		{"tuple", `{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}}`, `{"a":["x",1]}`, `at /a/1: want nothing here, got number 1`},
		{"unique", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,"1",{"x":1},{"x":1.0}]}`, `at /a: want items that differ, got items 2 and 3 alike`},
		{"contains", `{"properties":{"a":{"contains":{"type":"string"},"minContains":2}}}`, `{"a":["x",1]}`, `at /a: want at least 2 items of the kind under "contains", got 1`},
		{"counts", `{"properties":{"a":{"minItems":2}},"maxProperties":1}`, `{"a":[1],"b":1}`, `at (root): want at most 1 property, got object with 2 properties; at /a: want at least 2 items, got array of 1 item`},
		{"any of types", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":1}`, `at /a: want string or null, got number 1`},
		{"any of any of", `{"properties":{"a":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":["integer","null"]}]}}}`, `{"a":true}`, `at /a: want string or integer or null, got boolean true`},
		{"any of constants", `{"properties":{"a":{"type":"string","anyOf":[{"type":"string","const":"x","title":"X"},{"type":"string","const":"y"}],"enum":["x","y"]}}}`, `{"a":"z"}`, `at /a: want one of "x", "y", got string "z"; at /a: want "x" or "y", got string "z"`},
		{"closest alternative", `{"anyOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["n"]},{"properties":{"k":{"const":"b"},"s":{"type":"string"}}}]}`, `{"k":"a","n":"x"}`, `at /n: want integer, got string "x" (closest of 2 alternatives)`},
		{"two of one", `{"properties":{"a":{"oneOf":[{"minimum":1},{"maximum":9},{"const":5}]}}}`, `{"a":3}`, `at /a: want exactly one of 3 alternatives to fit, got a value that fits number 1 and number 2`},
		{"not", `{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, `at /a: want a value other than what its schema excludes by "not", got string "x"`},
		{"if then", `{"if":{"properties":{"m":{"const":"phone"}},"required":["m"]},"then":{"required":["phone"]},"else":{"required":["mail"]}}`, `{"m":"phone"}`, `at (root): missing property "phone"`},
		{"if else", `{"if":{"properties":{"m":{"const":"phone"}},"required":["m"]},"then":{"required":["phone"]},"else":{"required":["mail"]}}`, `{}`, `at (root): missing property "mail"`},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `at (root): missing property "b", which "a" asks for`},
		{"property names", `{"propertyNames":{"pattern":"^x"}}`, `{"y":1}`, `at (root): property name "y" is not one that its schema's "propertyNames" allows`},
		{"pattern properties", `{"patternProperties":{"^n":{"type":"number"}},"additionalProperties":{"type":"string"}}`, `{"n1":"x","s":1}`, `at /n1: want number, got string "x"; at /s: want string, got number 1`},
		{"reference and sibling", `{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s","minLength":2}}}`, `{"a":"x"}`, `at /a: want at least 2 characters, got string "x" of 1`},
		{"anchor", `{"$defs":{"s":{"$anchor":"here","type":"string"}},"properties":{"a":{"$ref":"#here"}}}`, `{"a":1}`, `at /a: want string, got number 1`},
		{"reference by id", `{"$id":"https://example.com/s.json","$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"s.json#/$defs/s"}}}`, `{"a":1}`, `at /a: want string, got number 1`},
		{"reference elsewhere", `{"components":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/components/s"}}}`, `{"a":1}`, `at /a: want string, got number 1`},
		{"recursion", `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"next":{"next":{"v":"x"}}}`, `at /next/next/v: want integer, got string "x"`},
		{"dynamic reference in one resource", `{"$dynamicAnchor":"n","properties":{"next":{"$dynamicRef":"#n"},"v":{"type":"integer"}}}`, `{"next":{"v":"x"}}`, `at /next/v: want integer, got string "x"`},
		{"unevaluated properties", `{"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":{"type":"string"}}},{"properties":{"c":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2,"c":3,"d":4}`, `at (root): unexpected property "b"; at (root): unexpected property "d"`},
		{"unevaluated items", `{"properties":{"l":{"allOf":[{"prefixItems":[true]}],"contains":{"type":"string"},"unevaluatedItems":{"type":"null"}}}}`, `{"l":[1,"x",null,2]}`, `at /l/3: want null, got number 2`},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":0,"exclusiveMinimum":true}}}`, `{"a":0}`, `at /a: want more than 0, got number 0`},
		{"draft 7 ignores siblings of a reference", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/s","minLength":9}}}`, `{"a":"x"}`, ``},
		{"draft 7 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}],"additionalItems":{"type":"null"}}}}`, `{"a":["x",1]}`, `at /a/1: want null, got number 1`},
		{"draft 7 dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`, `at (root): missing property "b", which "a" asks for; at (root): missing property "d"`},
		{"formats are annotations", `{"properties":{"a":{"format":"email"},"b":{"format":"^[0-9]$"}}}`, `{"a":"x","b":"x"}`, ``},
		{"formats are annotations in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"email"}}}`, `{"a":"x"}`, ``},
		{"native declarative schema", `{"type":"object","properties":{"":{"type":"number","minimum":0,"maximum":100,"multipleOf":1},"l":{"type":"array","items":{"type":"string","anyOf":[{"type":"string","const":"on"}],"enum":["on"]},"uniqueItems":true}},"required":[""]}`, `{"":5,"l":["on"]}`, ``},
		{"pointer is escaped", `{"properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1}`, `at /a~1b~0c: want string, got number 1`},
		{"twice", `{}`, `{"o":{"a":1,"\u0061":2}}`, `at /o: property "a" twice`},
		{"not JSON", `{}`, `{"a":1`, `at (root): want valid JSON, got unexpected end of JSON input`},
		{"beyond a double", `{"properties":{"a":{"minimum":1}}}`, `{"a":[1e999999999]}`, `at /a/0: the number 1e999999999, which is beyond the range of a double`},
		{"control characters", `{"properties":{"a":{"const":"\u001b[31m"}}}`, `{"a":"\u0007\u202e"}`, `at /a: want "\x1b[31m", got string "\a\u202e"`},
		{"limit beyond all counts", `{"properties":{"a":{"maxLength":1.7976931348623157e308,"minLength":0.0}}}`, `{"a":"x"}`, ``},
		{"large integers are not rounded", `{"properties":{"a":{"const":9007199254740993}}}`, `{"a":9007199254740992}`, `at /a: want 9007199254740993, got number 9007199254740992`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(t, mustNew(t, tt.schema), tt.args); got != tt.want {
				t.Errorf("schema %s\nargs   %s\ngot  %s\nwant %s", tt.schema, tt.args, got, tt.want)
			}
		})
	}
}

func TestMismatchPlaces(t *testing.T) {
	c := mustNew(t, `{"properties":{"items":{"items":{"properties":{"odd name":{"type":"integer"}}}}}}`)
	m, err := c.Check(json.RawMessage(`{"items":[{},{"odd name":"x"}]}`))
	if err != nil || m == nil {
		t.Fatalf("Check = %v, %v; want a mismatch", m, err)
	}
	want := argcheck.Place{Pointer: "/items/1/odd name", Path: `items[1]["odd name"]`, Want: "integer", Got: `string "x"`}
	if len(m.Places) != 1 || m.Places[0] != want {
		t.Errorf("places = %+v, want [%+v]", m.Places, want)
	}
}

func TestMismatchIsBounded(t *testing.T) {
	c := mustNew(t, `{"additionalProperties":{"type":"integer"}}`)
	var sb strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&sb, `,"%s%d":"%s"`, strings.Repeat("k", 300), i, strings.Repeat("v", 1000))
	}
	m, err := c.Check(json.RawMessage("{" + sb.String()[1:] + "}"))
	if err != nil || m == nil {
		t.Fatalf("Check = %v, %v; want a mismatch", m, err)
	}
	if len(m.Places) != argcheck.MaxPlaces || m.More != 1000-argcheck.MaxPlaces {
		t.Errorf("%d places and %d more, want %d and %d", len(m.Places), m.More, argcheck.MaxPlaces, 1000-argcheck.MaxPlaces)
	}
	if n := len(m.Error()); n > 4000 {
		t.Errorf("the text has %d bytes, want at most 4000", n)
	}
}

// TestSameWords holds the order of problems against Go's order of maps.
func TestSameWords(t *testing.T) {
	schema := `{"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}},"patternProperties":{"a":{"minimum":9},"^a":{"minimum":8}},"dependentRequired":{"a":["x"],"b":["y"],"c":["z"]}}`
	want := verdict(t, mustNew(t, schema), `{"a":1,"b":2,"c":3,"d":4}`)
	for range 50 {
		if got := verdict(t, mustNew(t, schema), `{"d":4,"c":3,"b":2,"a":1}`); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

func nested(open, mid, end string, n int) string {
	return strings.Repeat(open, n) + mid + strings.Repeat(end, n)
}

func levels(n int, keyword string) string {
	var sb strings.Builder
	sb.WriteString(`{"$ref":"#/$defs/l0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&sb, `"l%d":{"%s":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]},`, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&sb, `"l%d":{"type":"string"}}}`, n)
	return sb.String()
}

func TestUnsupported(t *testing.T) {
	props := func(n int, prop string) string {
		var sb strings.Builder
		for i := range n {
			fmt.Fprintf(&sb, `,"p%d":%s`, i, prop)
		}
		return `{"properties":{` + sb.String()[1:] + `}}`
	}
	tests := []struct {
		name, schema, reason string
	}{
		{"empty", ``, `not JSON`},
		{"broken", `{`, `not JSON`},
		{"bad UTF-8", "{\"title\":\"\xff\"}", `UTF-8`},
		{"a string", `"object"`, `not a valid one`},
		{"an array", `[]`, `not a valid one`},
		{"null", `null`, `not a valid one`},
		{"too long", `{"title":"` + strings.Repeat("x", argcheck.MaxSchemaBytes) + `"}`, `more than 65536`},
		{"too deep", nested(`{"not":`, `{}`, `}`, 65), `nested deeper than 64`},
		{"too many", props(2001, `{}`), `more than 2000 subschemas`},
		{"self", `{"type":"object","$ref":"#"}`, `in a circle`},
		{"two in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `in a circle`},
		{"circle behind a property", `{"properties":{"x":{"anyOf":[{"$ref":"#/properties/x"}]}}}`, `in a circle`},
		{"circle by dynamic reference", `{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, `in a circle`},
		{"26 levels of anyOf", levels(26, "anyOf"), `more than 20000 ways`},
		{"26 levels of allOf", levels(26, "allOf"), `more than 20000 ways`},
		{"60 levels of oneOf", levels(60, "oneOf"), `more than 20000 ways`},
		{"external reference", `{"$ref":"https://example.com/s.json"}`, `"https://example.com/s.json", which is not part of it`},
		{"file reference", `{"$ref":"file:///etc/passwd"}`, `not part of it`},
		{"relative reference", `{"properties":{"a":{"$ref":"other.json#/x"}}}`, `"other.json", which is not part of it`},
		{"dangling reference", `{"$ref":"#/$defs/none"}`, `cannot be compiled`},
		{"unknown draft", `{"$schema":"https://example.com/my-draft"}`, `"https://example.com/my-draft", which is not part of it`},
		{"draft-04 leftover", `{"properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, `at /properties/a/exclusiveMinimum: got boolean, want number`},
		{"draft-07 tuple without $schema", `{"properties":{"a":{"items":[{"type":"string"}]}}}`, `at /properties/a/items: got array, want`},
		{"bad type", `{"type":"objekt"}`, `at /type: value must be one of`},
		{"bad required", `{"required":"x"}`, `at /required: got string, want array`},
		{"bad pattern", `{"properties":{"a":{"pattern":"("}}}`, `at /properties/a/pattern`},
		{"number beyond a double", `{"properties":{"a":{"minimum":1e999999999}}}`, `beyond the range of a double`},
		{"stray references", func() string {
			var refs, defs strings.Builder
			for i := range 50 {
				fmt.Fprintf(&refs, `,"p%d":{"$ref":"#/x%s"}`, i, strings.Repeat("/not", i))
			}
			for i := range 200 {
				fmt.Fprintf(&defs, `,"d%d":{}`, i)
			}
			return `{"properties":{` + refs.String()[1:] + `},"x":` + nested(`{"not":`, `{"properties":{`+defs.String()[1:]+`}}`, `}`, 50) + `}`
		}(), `references to places outside $defs`},
		{"long names", `{"properties":{"` + strings.Repeat("n", 30_000) + `":` + props(900, `{}`) + `}}`, `too long property names`},
		{"dynamic reference across resources", `{"$dynamicAnchor":"n","$defs":{"a":{"$id":"https://example.com/a","$dynamicAnchor":"n"}},"properties":{"x":{"$dynamicRef":"#n"},"y":{"$ref":"https://example.com/a"}}}`, `several resources`},
	}
	for _, tt := range tests {
		t.Run("security row 21, pitfall row 4: "+tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := argcheck.New(json.RawMessage(tt.schema))
			var unsupported *argcheck.UnsupportedError
			if !errors.As(err, &unsupported) {
				t.Fatalf("New = %v, want an UnsupportedError", err)
			}
			if !strings.Contains(unsupported.Reason, tt.reason) {
				t.Errorf("reason = %q, want it to contain %q", unsupported.Reason, tt.reason)
			}
			if len(unsupported.Reason) > 2000 || strings.ContainsAny(unsupported.Reason, "\n\x1b") {
				t.Errorf("reason is not one short line: %q", unsupported.Reason)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("refused after %v, want at once", d)
			}
		})
	}
}

// TestCheckIsBounded has schemas that pass the pre-check and arguments that
// make an evaluator without a budget run for ever, or out of memory.
func TestCheckIsBounded(t *testing.T) {
	tests := []struct {
		name, schema, args string
	}{
		{"recursive allOf", `{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, nested(`[`, `1`, `]`, 60)},
		{"recursive anyOf that fails", `{"anyOf":[{"items":{"$ref":"#"},"not":{"type":"integer"}},{"items":{"$ref":"#"},"not":{"type":"integer"}}]}`, nested(`[`, `1`, `]`, 60)},
		{"slow pattern", `{"items":{"pattern":"^(a+)+$"}}`, `["` + strings.Repeat("a", 60) + `b"]`},
		{"many slow patterns", `{"items":{"pattern":"^(a|b|ab)*c$"}}`, `[` + strings.Repeat(`"`+strings.Repeat("ab", 14)+`",`, 20_000) + `"c"]`},
		{"long text for a pattern", `{"items":{"pattern":"x"}}`, `["` + strings.Repeat("a", 2<<20) + `"]`},
		{"deep arguments", `{}`, nested(`[`, ``, `]`, argcheck.MaxArgumentDepth+1)},
		{"many values", `{}`, `[` + strings.Repeat("0,", argcheck.MaxArgumentValues) + `0]`},
		{"long arguments", `{}`, `"` + strings.Repeat("a", argcheck.MaxArgumentBytes) + `"`},
		{"enum times items", `{"items":{"enum":[` + strings.Repeat(`"aaa",`, 5000) + `"b"]}}`, `[` + strings.Repeat(`"c",`, 100_000) + `"c"]`},
	}
	for _, tt := range tests {
		t.Run("security row 21, pitfall row 5: "+tt.name, func(t *testing.T) {
			c := mustNew(t, tt.schema)
			start := time.Now()
			m, err := c.Check(json.RawMessage(tt.args))
			var unsupported *argcheck.UnsupportedError
			if !errors.As(err, &unsupported) || m != nil {
				t.Fatalf("Check = %v, %v; want an UnsupportedError", m, err)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("given up after %v", d)
			}
		})
	}
}

// TestDeepReferences has arguments whose depth times the length of a chain of
// references would overflow the stack, which nothing can recover.
func TestDeepReferences(t *testing.T) {
	var sb strings.Builder
	const n = 1500
	for i := range n {
		fmt.Fprintf(&sb, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	schema := fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s"d%d":{"items":{"$ref":"#"}}}}`, sb.String(), n)
	c := mustNew(t, schema)
	if _, err := c.Check(json.RawMessage(nested(`[`, `1`, `]`, 900))); err == nil {
		t.Error("Check of deep arguments gave a verdict, want an UnsupportedError")
	}
	if got := verdict(t, c, nested(`[`, `1`, `]`, 10)); got != "" {
		t.Errorf("Check of shallow arguments: %s", got)
	}
}

func TestManyProblemsStaySmall(t *testing.T) {
	c := mustNew(t, `{"items":{"anyOf":[{"type":"string"},{"required":["a","b","c"],"type":"object"}]}}`)
	got := verdict(t, c, `[`+strings.Repeat(`{},`, 200_000)+`{}]`)
	if !strings.HasPrefix(got, `at /0: missing property "a" (closest of 2 alternatives); at /0: missing property "b"`) {
		t.Errorf("got %s", short(got))
	}
	if !strings.HasSuffix(got, "and 599995 more") {
		t.Errorf("got … %s, want the rest counted", got[max(0, len(got)-60):])
	}
}

func TestConcurrentUse(t *testing.T) {
	c := mustNew(t, `{"properties":{"a":{"pattern":"^(x|y)+$"},"b":{"uniqueItems":true}},"unevaluatedProperties":false}`)
	var wg sync.WaitGroup
	var checked atomic.Int64
	// Patterns are matched by the clock: on a busy machine a match may take too long,
	// which leaves the arguments unchecked and says so.
	check := func(args string, places int) {
		m, err := c.Check(json.RawMessage(args))
		var slow *argcheck.UnsupportedError
		switch {
		case errors.As(err, &slow):
		case err != nil, places == 0 && m != nil, places > 0 && (m == nil || len(m.Places) != places):
			t.Errorf("Check(%s) = %v, %v; want %d places", args, m, err, places)
		default:
			checked.Add(1)
		}
	}
	for range 8 {
		wg.Go(func() {
			for range 200 {
				check(`{"a":"xyx","b":[1,2]}`, 0)
				check(`{"a":"z","c":1}`, 2)
			}
		})
	}
	wg.Wait()
	if checked.Load() == 0 {
		t.Error("nothing was checked")
	}
}
