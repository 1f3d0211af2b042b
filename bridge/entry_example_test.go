package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aster-mcp/aster/bridge"
)

// A strict catalogue is for tools that the program itself declares.
func ExampleNewCatalog() {
	catalog, err := bridge.NewCatalog(offered(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, err := catalog.Resolve("github__create_issue")
	fmt.Println(tool.ID(), err)
	fmt.Println(catalog.Signature(tool.ID()))
	_, err = bridge.NewCatalog([]bridge.Tool{{Server: "a", Name: ""}}, nil)
	fmt.Println(err != nil)
	// Output:
	// github/create_issue <nil>
	// create_issue(repo*, title*, labels[])
	// true
}

func ExampleCatalog_Search() {
	catalog, _ := bridge.NewLenientCatalog(offered(), nil)
	found, err := catalog.Search(context.Background(), bridge.Query{Texts: []string{"will it rain: weather at a place"}, Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range found.Matches {
		fmt.Println(m.ID, m.Summary)
	}
	// Output: weather/forecast Weather of the coming days at a place.
}

// What is told to a model whose catalogue changed in the middle of a conversation.
func ExampleDiff() {
	tools := offered()
	before, _ := bridge.NewLenientCatalog(tools, nil)
	tools[1].Description = "Weather of the next hours."
	after, _ := bridge.NewLenientCatalog(tools[1:], nil)
	changes := bridge.Diff(before, after)
	fmt.Println(changes.Added, changes.Removed, changes.Changed)
	// Output: [] [github/create_issue] [weather/forecast]
}

func ExampleNewLexical() {
	ranking, err := bridge.NewLexical(offered()).Rank(context.Background(), bridge.Ask{Text: "open an issue", Limit: 1})
	if err != nil || len(ranking.Hits) == 0 {
		fmt.Println(err)
		return
	}
	fmt.Println(ranking.Hits[0].ID)
	// Output: github/create_issue
}

func ExampleNewToolID() {
	id := bridge.NewToolID("files", "notes/read")
	fmt.Println(id, id.Server(), id.Name())
	// Output: files/notes/read files notes/read
}

// A host that lists tools before it has a catalogue.
func ExampleMCPTool() {
	var tool struct{ Name string }
	err := json.Unmarshal(bridge.MCPTool(false), &tool)
	fmt.Println(tool.Name, err)
	// Output: aster_mcp <nil>
}
