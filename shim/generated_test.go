package shim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// generator makes forms and inputs at random.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) maybe(percent int) bool { return g.IntN(100) < percent }

// attributes that any control may have, with values that matter to some types.
func (g generator) attributes() string {
	var b strings.Builder
	for _, a := range []struct {
		percent int
		text    func() string
	}{
		{25, func() string { return "required" }},
		{5, func() string { return "disabled" }},
		{5, func() string { return "readonly" }},
		{15, func() string {
			return `toolparamdescription="` + g.pick("", " ", "What it is", "é &quot;x&quot;", "a\nb") + `"`
		}},
		{10, func() string { return `aria-description="` + g.pick("", "aria", " two  words ") + `"` }},
		{15, func() string { return `pattern="` + g.pick("[a-z]+", "(", "", `\d{2}`, "[(]", "x|y") + `"` }},
		{25, func() string {
			return `min="` + g.pick("0", "1", "-5", "2.5", "x", "10", "2026-01-01", "1e2", " 3", "0.1") + `"`
		}},
		{20, func() string { return `max="` + g.pick("0", "5", "100", "7.5", "x", "2026-12-31", "1e3") + `"` }},
		{25, func() string {
			return `step="` + g.pick("1", "2", "any", "0.5", "0", "-1", "x", "5", "60", "30", "0.1", "3600") + `"`
		}},
		{25, func() string {
			return `value="` + g.pick("", "1", "on", "x", "3", "7", "2.5", "2026-06-01", "#00ff00", "12:30") + `"`
		}},
		{10, func() string { return "multiple" }},
		{10, func() string {
			return g.pick("checked", "hidden", "inert", `maxlength="3"`, `minlength="2"`, `placeholder="p"`, `title="t"`)
		}},
	} {
		if g.maybe(a.percent) {
			b.WriteString(" " + a.text())
		}
	}
	return b.String()
}

var generatedTypes = []string{"text", "search", "tel", "url", "email", "password", "hidden", "number", "range", "date", "time", "datetime-local",
	"month", "week", "color", "checkbox", "radio", "file", "submit", "reset", "button", "nonsense"}

// control makes one control, perhaps with a label, perhaps in a fieldset.
func (g generator) control() string {
	name := ` name="` + g.pick("a", "b", "c", "d", "e", "f", "g", "h", "", "a", "b") + `"`
	if g.maybe(3) {
		name = ""
	}
	var html string
	switch n := g.IntN(10); {
	case n == 0:
		html = "<textarea" + name + g.attributes() + ">" + g.pick("", "text", "\n\nx") + "</textarea>"
	case n <= 2:
		var options strings.Builder
		attributes, list := g.attributes(), []string{"<option>One", "<option value=2>Two ", `<option value="">`, "<option disabled>Off", "<option selected>Sel", "<option label=L>  T  x"}
		if !strings.Contains(attributes, "multiple") { // there native WebMCP counts an optgroup as an option
			list = append(list, "<optgroup label=G><option>In</optgroup>")
		}
		for range g.IntN(4) {
			options.WriteString(g.pick(list...))
		}
		html = "<select" + name + attributes + ">" + options.String() + "</select>"
	case n <= 4: // a group
		kind := g.pick("checkbox", "radio")
		for range 1 + g.IntN(3) {
			one := "<input type=" + kind + name + ` value="` + g.pick("1", "2", "3", "true", "") + `"` + g.pick("", "", " checked", " disabled", " required") + ">"
			if g.maybe(50) {
				one = "<label>" + g.pick("One ", " ", "Two<b>b</b>", "") + one + "</label>"
			}
			html += one
		}
	default:
		html = "<input type=" + g.pick(generatedTypes...) + name + g.attributes() + ">"
	}
	if g.maybe(30) {
		html = "<label>" + g.pick("Label ", " ", "Two  words\n", "<i>x</i>y", "") + html + g.pick("", " after") + "</label>"
	}
	if g.maybe(15) {
		html = "<fieldset" + g.pick("", " disabled", ` toolparamdescription="The group"`, ` name="a"`) + "><legend>L</legend>" + html + "</fieldset>"
	}
	return html
}

// value makes a value for a parameter.
func (g generator) value() string {
	scalar := []string{`"x"`, `""`, `"1"`, `"2"`, `"on"`, `"true"`, `"One"`, `"2026-06-01"`, `"12:30"`, `"2026-06"`, `"2026-W10"`, `"2026-06-01T12:30"`, `"#ff0000"`, `"a@b.c"`, `"https://x.y/"`,
		`1`, `0`, `7`, `2.5`, `-3`, `1e21`, `0.1`, `3000000000`, `true`, `false`, `null`, `{}`}
	if g.maybe(25) {
		var list []string
		for range g.IntN(3) {
			list = append(list, g.pick(scalar...))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return g.pick(scalar...)
}

func (g generator) scenario(n int) scenario {
	var html strings.Builder
	for range 1 + g.IntN(6) {
		html.WriteString(g.control())
	}
	quoted, _ := json.Marshal(html.String())
	var body strings.Builder
	fmt.Fprintf(&body, "const html = %s;\nlog(html);\nput('<form toolname=s tooldescription=d>' + html + '</form>');\nawait settle();\nlog(text((await get('s')).inputSchema));\n", quoted)
	for range 2 {
		var members []string
		for range 1 + g.IntN(2) {
			members = append(members, fmt.Sprintf("%q: %s", g.pick("a", "b", "c", "d", "e", "f", "g", "h", ""), g.value()))
		}
		fmt.Fprintf(&body, "await fills(html, {%s});\n", strings.Join(members, ", "))
	}
	// One parameter alone, so that some runs get as far as the submission.
	fmt.Fprintf(&body, "for (const [k, v] of Object.entries((await get('s')).inputSchema.properties)) await fills(html, {[k]: v.enum?.[0] ?? (v.type === 'array' ? v.items.enum.slice(0, 1) : v.type === 'boolean' ? true : v.type === 'number' ? v.minimum ?? 3 : %s)});\n", g.value())
	return scenario{name: fmt.Sprint("generated: ", n), body: body.String()}
}

// Forms made at random have the same schema and take the same input under native WebMCP
// and under the shim. The seed is fixed, so that a change is judged by what it does;
// ASTER_TEST_SEED=n takes another, ASTER_TEST_SEED=random a new one.
func TestGeneratedForms(t *testing.T) {
	cdptest.Require(t)
	seed := uint64(20261201)
	if given := os.Getenv("ASTER_TEST_SEED"); given == "random" {
		seed = uint64(time.Now().UnixNano())
	} else if s, err := strconv.ParseUint(given, 10, 64); err == nil {
		seed = s
	}
	n := 40
	if s, err := strconv.Atoi(os.Getenv("ASTER_TEST_FORMS")); err == nil {
		n = s
	}
	t.Logf("seed %d, %d forms", seed, n)
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	var list []scenario
	for i := range n {
		list = append(list, g.scenario(i))
	}
	native, shimmed := playBoth(t, list)
	for _, s := range list {
		if diff := cmp.Diff(native[s.name], shimmed[s.name]); diff != "" {
			t.Errorf("seed %d, %s: native (-) and shim (+) differ:\n%s", seed, s.name, diff)
		} else if strings.Contains(strings.Join(native[s.name], "\n"), "SCENARIO FAILED") {
			t.Errorf("seed %d, %s fails:\n%s", seed, s.name, strings.Join(native[s.name], "\n"))
		}
	}
}
