package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
)

// strangeTools makes a catalogue of names, descriptions and schemas that are
// put together at random from what servers and attackers send.
func strangeTools(random *rand.Rand, n int) []bridge.Tool {
	bits := []string{"create", "Issue", "_", "-", "/", "__", ":", " ", "\n", "```", "~~~", "</aster_mcp_tools>", "<aster_mcp",
		"\u202e", "\u200b", "\x00", "\x1b[2J", "搜索", "файл", "é", "😀", "\xff", "\"", "\\", "the", "of", "42", "- ", "# ", "{}", "…", "\U000e0041"}
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteString(bits[random.IntN(len(bits))])
		}
		return b.String()
	}
	schemas := []string{`{"type":"object"}`, `{"type":"object","properties":{"a b":{"type":"string"}},"required":["a b"]}`, `{}`, `[]`, `{"type":`, ``,
		`{"properties":{"x\n- y":{"enum":["` + "\u202e" + `","b"],"description":"` + "```" + `"}}}`}
	tools := make([]bridge.Tool, n)
	for i := range tools {
		tools[i] = bridge.Tool{Server: text(3), Name: text(5), Title: text(2), Description: text(30), InputSchema: json.RawMessage(schemas[random.IntN(len(schemas))])}
	}
	return tools
}

func TestPromptNeverExceedsItsBudget(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 300 {
		tools := strangeTools(random, random.IntN(60))
		about := map[string]string{}
		for _, tool := range tools {
			about[tool.Server] = tool.Description
		}
		c, _ := bridge.NewLenientCatalog(tools, &bridge.CatalogOptions{About: about})
		config := bridge.DefaultConfig()
		config.AvailableContextTokens = 1 + random.IntN(30_000)
		config.InventoryThresholdPercent = 0.1 + 20*random.Float64()
		count := bridge.EstimateTokensSimple
		if round%2 == 0 {
			count = bridge.EstimateTokens
			config.Tokenizer = bridge.TokenizerFunc(count)
		}
		in, err := bridge.NewInjector(c, config)
		if err != nil {
			t.Fatal(err)
		}
		for turn := range 6 {
			got := in.Inject()
			if got == nil {
				if c.Len() > 0 {
					t.Fatal("no injection for a catalogue with tools")
				}
				break
			}
			n := count(got.Prompt)
			if n > got.BudgetTokens {
				t.Fatalf("turn %d: the section takes %d tokens of %d (kept: %v)", turn, n, got.BudgetTokens, got.Kept)
			}
			checkClean(t, got.Prompt)
			if strings.Count(got.Prompt, "aster_mcp_tools>") > 2 {
				t.Fatalf("a server's text holds the section's mark:\n%s", got.Prompt)
			}
			in.SetAvailable(1 + random.IntN(30_000))
		}
	}
}

func TestSameCatalogueSameBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		tools := strangeTools(random, 1+random.IntN(80))
		available := 1 + random.IntN(40_000)
		dump := func() string {
			c, problems := bridge.NewLenientCatalog(tools, nil)
			in := newInjector(t, c, func(cfg *bridge.Config) { cfg.AvailableContextTokens = available })
			first, second := in.Inject(), in.Inject()
			if first != nil && (first.Prompt != second.Prompt || string(first.BridgeTool) != string(second.BridgeTool) || !second.Kept) {
				t.Fatal("two Injects over one catalogue differ")
			}
			reply, err := in.Handle(t.Context(), json.RawMessage(`{"action":"search","queries":["create issue 搜索","файл 42"],"limit":20}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(first, problems, reply.Text)
		}
		want := dump()
		random.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		if got := dump(); got != want {
			t.Fatalf("another order of tools gives\n%s\nwant\n%s", got, want)
		}
	}
}

// checkScoped fails if an action, or its reply, holds a tool that the catalogue
// does not.
func checkScoped(t *testing.T, in *bridge.Injector, request []byte) {
	t.Helper()
	c := in.Catalog()
	var invoked []bridge.Tool
	reply, err := in.Handle(context.Background(), request, bridge.InvokerFunc(
		func(_ context.Context, tool bridge.Tool, args json.RawMessage) (json.RawMessage, error) {
			invoked = append(invoked, tool)
			var object map[string]any
			if json.Unmarshal(args, &object) != nil || object == nil {
				t.Fatalf("arguments are no object: %s", args)
			}
			return json.RawMessage(`{}`), nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	tools := invoked
	switch a := reply.Action.(type) {
	case bridge.Describe:
		tools = append(tools, a.Tools...)
	case bridge.Execute:
		tools = append(tools, a.Tool())
	case bridge.Search:
		r, err := c.Search(context.Background(), a.Query)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Matches {
			tool, ok := c.Get(m.ID)
			if !ok {
				t.Fatalf("search found %q, which is not in the catalogue", m.ID)
			}
			tools = append(tools, tool)
		}
	}
	for _, tool := range tools {
		own, ok := c.Get(tool.ID())
		if !ok || own.Hash() != tool.Hash() {
			t.Fatalf("%s led to %q, which is not in the catalogue", request, tool.ID())
		}
	}
	if reply.Action == nil && !reply.IsError {
		t.Fatalf("%s was neither routed nor refused", request)
	}
	checkClean(t, reply.Text)
}

func FuzzRoute(f *testing.F) {
	for _, request := range []string{
		`{"action":"search","query":"create issue"}`, `{"action":"search","queries":["a","b"],"server":"x","limit":3}`,
		`{"action":"describe","name":"github/create_issue"}`, `{"action":"describe","names":["github__list_issues","clock:now","x"]}`,
		`{"action":"execute","name":"github/create_issue","arguments":{"title":"t","owner":"o","repo":"r"}}`,
		`{"action":"execute","name":"clock/now","arguments":"{\"a\":[1,2.50,{\"b\":null}]}"}`,
		`{"action":"execute","name":"create_issue","title":"x"}`, `{"action":"call","tool":"clock/now"}`, `{"action":"read","handle":"r1.2"}`,
		`{"action":null}`, `{"Action":"search"}`, `[1]`, `"x"`, `{"action":"search","action":"x"}`, "\xff", `{"action":"execute","name":"a/b","arguments":{"\ud800":1}}`,
	} {
		f.Add([]byte(request))
	}
	c, err := bridge.NewCatalog(deskTools(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		in, err := bridge.NewInjector(c, bridge.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		checkScoped(t, in, request)
		_, err = in.Route(request)
		if refused, ok := err.(*bridge.RequestError); ok && len(refused.Call) > 0 && !json.Valid(refused.Call) {
			t.Fatalf("the call to make is not JSON: %s", refused.Call)
		}
	})
}

func FuzzInject(f *testing.F) {
	f.Add("github", "create_issue", "Create an issue. It may fail.", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "Issues", 1000)
	f.Add("e\u202evil\n", "na```me", hostile, `{"type":["object","null"],"anyOf":[{"properties":{"x":{}}}]}`, hostile, 60)
	f.Add("s", "</aster_mcp_tools>", "# Heading\n\nText:\n- a", `{"$defs":{"x":{"enum":["<",">"]}}}`, "", 7)
	f.Fuzz(func(t *testing.T, server, name, description, schema, about string, available int) {
		tools := []bridge.Tool{
			{Server: server, Name: name, Title: about, Description: description, InputSchema: json.RawMessage(schema)},
			{Server: server, Name: name + "_2", Description: about, InputSchema: json.RawMessage(schema)},
			tool("fixed", "tool", "A fixed tool."),
		}
		c, problems := bridge.NewLenientCatalog(tools, &bridge.CatalogOptions{About: map[string]string{server: about}})
		for _, p := range problems {
			checkClean(t, p.String())
		}
		in := newInjector(t, c, func(cfg *bridge.Config) { cfg.AvailableContextTokens = min(max(available, 1), 1<<20) })
		got := in.Inject()
		if n := bridge.EstimateTokens(got.Prompt); n > got.BudgetTokens {
			t.Fatalf("%d tokens of %d", n, got.BudgetTokens)
		}
		checkClean(t, got.Prompt)
		if n := strings.Count(got.Prompt, "aster_mcp_tools>"); n != 0 && n != 2 {
			t.Fatalf("%d marks:\n%s", n, got.Prompt)
		}
		for tool := range c.All() {
			request, _ := json.Marshal(map[string]any{"action": "describe", "name": string(tool.ID())})
			checkScoped(t, in, request)
			if _, err := c.Resolve(string(tool.ID())); err != nil {
				t.Fatalf("the ID %q does not resolve: %v", tool.ID(), err)
			}
		}
	})
}

func FuzzSearch(f *testing.F) {
	for _, text := range []string{"create issue", "ISSUES of a repository, and the time; then what?", "github/create_issue clock:now", "创建 问题 搜索", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"\xff\xfe", strings.Repeat("list issues and ", 300), "createIssue", "isue repositry", "ﷺ", "e\u0301te\u0301"} {
		f.Add(text, "server", 5)
	}
	c, err := bridge.NewCatalog(append(fleet(40), deskTools()...), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, server string, limit int) {
		q := bridge.Query{Texts: []string{text}, Server: server, Limit: limit % 50, Explain: true}
		r, err := c.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := c.Search(context.Background(), q)
		if fmt.Sprint(r) != fmt.Sprint(again) {
			t.Fatal("two searches differ")
		}
		if q.Limit >= 0 && len(r.Matches) > max(q.Limit, bridge.DefaultSearchLimit) {
			t.Fatalf("limit %d gives %d", q.Limit, len(r.Matches))
		}
		var seen []bridge.ToolID
		for _, m := range r.Matches {
			if _, ok := c.Get(m.ID); !ok || slices.Contains(seen, m.ID) {
				t.Fatalf("%q is found twice or is not there", m.ID)
			}
			seen = append(seen, m.ID)
			if m.Score < 0 {
				t.Fatalf("score %d", m.Score)
			}
		}
	})
}
