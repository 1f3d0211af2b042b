package bridge_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
)

// tool makes a tool with the given parameters, the first of which is required.
func tool(server, name, description string, params ...string) bridge.Tool {
	props := map[string]any{}
	for _, p := range params {
		props[p] = map[string]string{"type": "string"}
	}
	schema := map[string]any{"type": "object", "properties": props}
	if len(params) > 0 {
		schema["required"] = params[:1]
	}
	raw, _ := json.Marshal(schema)
	return bridge.Tool{Server: server, Name: name, Description: description, InputSchema: raw}
}

func mustCatalog(t testing.TB, tools ...bridge.Tool) *bridge.Catalog {
	t.Helper()
	c, err := bridge.NewCatalog(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewCatalogNamesEveryBadTool(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	tools := []bridge.Tool{
		{Server: "ok", Name: "fine", Description: "Fine.", InputSchema: object},
		{Server: "", Name: "no_server", Description: "x", InputSchema: object},
		{Server: "a/b", Name: "slash", Description: "x", InputSchema: object},
		{Server: "s", Name: " ", Description: "x", InputSchema: object},
		{Server: "s", Name: "no_description", Description: " \n", InputSchema: object},
		{Server: "s", Name: "array", Description: "x", InputSchema: json.RawMessage(`[]`)},
		{Server: "s", Name: "string_type", Description: "x", InputSchema: json.RawMessage(`{"type":"string"}`)},
		{Server: "s", Name: "broken", Description: "x", InputSchema: json.RawMessage(`{"type":"object"`)},
		{Server: "s", Name: "absent", Description: "x"},
		{Server: "s", Name: "twice", Description: "x", InputSchema: object},
		{Server: "s", Name: "twice", Description: "y", InputSchema: object},
		{Server: "s", Name: "look", Description: "x", InputSchema: object},
		{Server: "s", Name: "lo\u200bok", Description: "x", InputSchema: object},
		{Server: "s", Name: "\xff", Description: "x", InputSchema: object},
		{Server: "s", Name: strings.Repeat("n", 513), Description: "x", InputSchema: object},
	}
	_, err := bridge.NewCatalog(tools, nil)
	var bad *bridge.CatalogError
	if !errors.As(err, &bad) {
		t.Fatalf("NewCatalog = %v, want a *CatalogError", err)
	}
	if len(bad.Problems) != len(tools)-3 {
		t.Errorf("%d problems, want one for each of %d bad tools: %v", len(bad.Problems), len(tools)-3, err)
	}
	for _, part := range []string{"no_server", "a/b/slash", "no_description", "array", "string_type", "broken", "absent", "twice", "look"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}

	c, problems := bridge.NewLenientCatalog(tools, nil)
	var ids []string
	for tool := range c.All() {
		ids = append(ids, string(tool.ID()))
	}
	if want := []string{"ok/fine", "s/absent", "s/look", "s/no_description", "s/twice"}; !slices.Equal(ids, want) {
		t.Errorf("lenient catalogue holds %q, want %q", ids, want)
	}
	if len(problems) != len(tools)-3 {
		t.Errorf("%d problems, want %d: %v", len(problems), len(tools)-3, problems)
	}
	if got, _ := c.Get("s/no_description"); !strings.HasPrefix(got.Description, "no description") {
		t.Errorf("placeholder is %q, want one made of the name", got.Description)
	}
	if got, _ := c.Get("s/twice"); got.Description != "x" {
		t.Errorf("of two tools with one ID %q stayed, want the first in order of content", got.Description)
	}
}

func TestCatalogAcceptsWhatServersSend(t *testing.T) {
	for _, schema := range []string{
		`{}`, `{"type":["object","null"]}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}`,
		`{"type":"object","properties":{"a":true,"b":{"type":["string","null"]}},"required":["a"]}`,
		`{"anyOf":[{"properties":{"x":{}}}]}`, ` {"type":"object","properties":[]} `,
	} {
		in := bridge.Tool{Server: "Ant Design Components", Name: "get /list of things", Description: "列出组件", InputSchema: json.RawMessage(schema)}
		c, err := bridge.NewCatalog([]bridge.Tool{in}, nil)
		if err != nil {
			t.Errorf("schema %s: %v", schema, err)
			continue
		}
		got, ok := c.Get("Ant Design Components/get /list of things")
		if !ok || string(got.InputSchema) != schema {
			t.Errorf("schema came back as %s, want it unmodified: %s", got.InputSchema, schema)
		}
	}
}

func TestCatalogIsImmutable(t *testing.T) {
	no := false
	in := tool("s", "a", "First.", "x")
	in.Annotations = &bridge.Annotations{DestructiveHint: &no}
	c := mustCatalog(t, in)
	in.InputSchema[0] = '!'
	no = true
	got, _ := c.Get("s/a")
	if got.InputSchema[0] != '{' || *got.Annotations.DestructiveHint {
		t.Error("changing what was given changed the catalogue")
	}
	got.InputSchema[0] = '!'
	*got.Annotations.DestructiveHint = true
	again, _ := c.Get("s/a")
	if again.InputSchema[0] != '{' || *again.Annotations.DestructiveHint {
		t.Error("changing what was returned changed the catalogue")
	}
}

func TestResolve(t *testing.T) {
	c := mustCatalog(t,
		tool("github", "create_issue", "Create an issue."),
		tool("github", "list_issues", "List issues."),
		tool("gitlab", "create_issue", "Create an issue."),
		tool("a", "b__c", "Two ways to spell it."),
		tool("a__b", "c", "Two ways to spell it."),
		tool("x", "y:z", "Canonical."),
		tool("x", "files/read me", "A name with a slash and spaces."),
		tool("odd", "na\u200bme", "A hidden character."),
	)
	for name, want := range map[string]bridge.ToolID{
		"github/create_issue":   "github/create_issue",
		"github__create_issue":  "github/create_issue",
		"github:create_issue":   "github/create_issue",
		" github/list_issues ":  "github/list_issues",
		"a/b__c":                "a/b__c",
		"a__b/c":                "a__b/c",
		"x/y:z":                 "x/y:z",
		"x/files/read me":       "x/files/read me",
		"x__files/read me":      "x/files/read me",
		"odd/name":              "odd/na\u200bme",
		"`github/list_issues`":  "github/list_issues",
		`"x/files/read me"`:     "x/files/read me",
		`x/"y:z"`:               "x/y:z",
		"`github__list_issues`": "github/list_issues",
	} {
		got, err := c.Resolve(name)
		if err != nil || got.ID() != want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", name, got.ID(), err, want)
		}
	}
	for _, tc := range []struct {
		name string
		kind error
		ids  []bridge.ToolID
	}{
		{"create_issue", bridge.ErrBareName, []bridge.ToolID{"github/create_issue", "gitlab/create_issue"}},
		{"list_issues", bridge.ErrBareName, []bridge.ToolID{"github/list_issues"}},
		{"a__b__c", bridge.ErrAmbiguousName, []bridge.ToolID{"a/b__c", "a__b/c"}},
		{"github/createIssue", bridge.ErrUnknownTool, []bridge.ToolID{"github/create_issue", "gitlab/create_issue"}},
		{"github/list_isues", bridge.ErrUnknownTool, []bridge.ToolID{"github/list_issues"}},
		{"nothing like it 123", bridge.ErrUnknownTool, nil},
		{"", bridge.ErrUnknownTool, nil},
	} {
		_, err := c.Resolve(tc.name)
		var lookup *bridge.LookupError
		if !errors.As(err, &lookup) || !errors.Is(err, tc.kind) {
			t.Errorf("Resolve(%q): %v, want %v", tc.name, err, tc.kind)
			continue
		}
		if n := len(tc.ids); len(lookup.IDs) < n || !slices.Equal(lookup.IDs[:n], tc.ids) || tc.kind == bridge.ErrUnknownTool && len(lookup.IDs) > 3 {
			t.Errorf("Resolve(%q) names %q, want %q first", tc.name, lookup.IDs, tc.ids)
		}
		for _, id := range tc.ids {
			if !strings.Contains(err.Error(), string(id)) {
				t.Errorf("Resolve(%q): %q does not name %s", tc.name, err, id)
			}
		}
	}
}

func TestOrderOfToolsMakesNoDifference(t *testing.T) {
	tools := []bridge.Tool{
		tool("b", "x", "Read a file."), tool("a", "x", "Read a file."), tool("a", "y", "Write a file."),
		tool("a", "x", "Another with the same ID."), tool("c", "z", ""), tool("", "z", "No server."),
	}
	dump := func() string {
		c, problems := bridge.NewLenientCatalog(tools, nil)
		r, err := c.Search(t.Context(), bridge.Query{Texts: []string{"read file"}, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := json.Marshal([]any{slices.Collect(c.All()), problems, c.Servers(), r})
		return string(out)
	}
	want := dump()
	for range 50 {
		rand.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		if got := dump(); got != want {
			t.Fatalf("shuffled tools give\n%s\nwant\n%s", got, want)
		}
	}
}
