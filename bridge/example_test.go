package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/aster-mcp/aster/bridge"
)

// offered is what a host has listed from its servers.
func offered() []bridge.Tool {
	return []bridge.Tool{
		{
			Server: "github", Name: "create_issue", Description: "Create an issue in a repository.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"repo":{"type":"string"},"title":{"type":"string"},"labels":{"type":"array"}},"required":["repo","title"]}`),
		},
		{
			Server: "weather", Name: "forecast", Description: "Weather of the coming days at a place.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"},"days":{"type":"integer"}},"required":["place"]}`),
		},
	}
}

// A host loop: the section goes into the system prompt, the bridge tool into
// the tools, and every call of aster_mcp through Handle. The invoker is where
// policy, approval and the real tools/call are.
func Example() {
	catalog, problems := bridge.NewLenientCatalog(offered(), &bridge.CatalogOptions{
		About: map[string]string{"weather": "Forecasts for any place"},
	})
	for _, p := range problems {
		log.Print(p)
	}
	config := bridge.DefaultConfig()
	config.Tokenizer = bridge.TokenizerFunc(bridge.EstimateTokens)
	injector, err := bridge.NewInjector(catalog, config)
	if err != nil {
		log.Fatal(err)
	}
	invoker := bridge.InvokerFunc(func(_ context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
		if tool.Server == "github" {
			return nil, fmt.Errorf("the user did not allow %s: %w", tool.ID(), bridge.ErrDenied)
		}
		return json.RawMessage(`{"content":[{"type":"text","text":"Sunny."}]}`), nil // tools/call
	})

	// Each turn.
	injector.SetAvailable(42_000)
	if injection := injector.Inject(); injection != nil {
		fmt.Println(strings.SplitAfter(injection.Prompt, "instructions.\n")[1])
	}
	// Each call of aster_mcp in the model's answer.
	for _, arguments := range []string{
		`{"action":"search","query":"weather next week"}`,
		`{"action":"execute","name":"weather/forecast","arguments":{"place":"Oslo"}}`,
		`{"action":"execute","name":"create_issue","arguments":{"repo":"a/b","title":"Rain"}}`,
		`{"action":"execute","name":"github/create_issue","arguments":{"repo":"a/b","title":"Rain"}}`,
	} {
		reply, err := injector.Handle(context.Background(), json.RawMessage(arguments), invoker)
		if err != nil && !errors.Is(err, bridge.ErrDenied) {
			log.Fatal(err)
		}
		fmt.Println(strings.TrimSpace(reply.Text + string(reply.Result)))
	}
	// Output:
	// <aster_mcp_tools>
	// github (1 tool)
	// - create_issue: Create an issue in a repository.
	// weather (1 tool): Forecasts for any place
	// - forecast: Weather of the coming days at a place.
	// </aster_mcp_tools>
	//
	// weather/forecast(place*, days:int): Weather of the coming days at a place.
	// {"content":[{"type":"text","text":"Sunny."}]}
	// "create_issue" lacks its server: use github/create_issue. Call aster_mcp with {"action":"execute","name":"github/create_issue","arguments":{"repo":"a/b","title":"Rain"}}
	// the user did not allow github/create_issue: denied
}

// favorites puts tools that the user calls often before the others that fit.
type favorites struct {
	bridge.Ranker
	often map[bridge.ToolID]int
}

// Rank reorders what the lexical ranking found.
func (f favorites) Rank(ctx context.Context, ask bridge.Ask) (bridge.Ranking, error) {
	ranking, err := f.Ranker.Rank(ctx, ask)
	for i := range ranking.Hits {
		ranking.Hits[i].Score += 100 * f.often[ranking.Hits[i].ID]
	}
	for i := 1; i < len(ranking.Hits); i++ {
		for j := i; j > 0 && ranking.Hits[j].Score > ranking.Hits[j-1].Score; j-- {
			ranking.Hits[j], ranking.Hits[j-1] = ranking.Hits[j-1], ranking.Hits[j]
		}
	}
	return ranking, err
}

// A host may replace the ranking, here by one that builds on the lexical one.
// What the model sees of the bridge does not change.
func ExampleRanker() {
	tools := []bridge.Tool{
		{Server: "mail", Name: "send", Description: "Send a message.", InputSchema: json.RawMessage(`{}`)},
		{Server: "chat", Name: "send", Description: "Send a message.", InputSchema: json.RawMessage(`{}`)},
	}
	catalog, err := bridge.NewCatalog(tools, &bridge.CatalogOptions{
		NewRanker: func(tools []bridge.Tool) bridge.Ranker {
			return favorites{bridge.NewLexical(tools), map[bridge.ToolID]int{"mail/send": 50}}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := catalog.Search(context.Background(), bridge.Query{Texts: []string{"a message to Ana"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Println(m.ID)
	}
	// Output:
	// mail/send
	// chat/send
}

// A host that has its provider's tokenizer lets it decide how much fits.
func ExampleTokenizer() {
	catalog, err := bridge.NewCatalog(offered(), nil)
	if err != nil {
		log.Fatal(err)
	}
	config := bridge.DefaultConfig()
	config.AvailableContextTokens = 2_000
	config.Tokenizer = bridge.TokenizerFunc(func(s string) int { return len(strings.Fields(s)) })
	injector, err := bridge.NewInjector(catalog, config)
	if err != nil {
		log.Fatal(err)
	}
	injection := injector.Inject()
	fmt.Println(injection.Level, injection.PromptTokens <= injection.BudgetTokens)
	// Output:
	// full true
}
