package shim_test

import (
	"fmt"
	"strings"

	"github.com/aster-mcp/aster/shim"
)

// What a page sends arrives as Runtime.inspectRequested events.
func ExampleParse() {
	m, err := shim.Parse(`{"t":"tools","add":[{"name":"add_to_cart","title":"Add to cart","description":"Puts an article in the cart","inputSchema":"{\"type\":\"object\"}"}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range m.Tools.Add {
		fmt.Printf("%s %s\n", tool.Name, tool.InputSchema)
	}
	m, err = shim.Parse(`{"t":"result","id":"1","status":"Error","error":"RangeError: sold out"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Result.Status, m.Result.Error)
	// Output:
	// add_to_cart {"type":"object"}
	// Error RangeError: sold out
}

// The source goes to Page.addScriptToEvaluateOnNewDocument with includeCommandLineAPI.
func ExampleScript() {
	source := shim.Script(shim.Config{Deny: []string{"https://*.bank.example"}, Secret: "kept between runs"})
	fmt.Println(strings.HasSuffix(source, "typeof inspect === 'function' ? inspect : undefined, false);"))
	// Output: true
}

func ExampleMatchOrigin() {
	fmt.Println(shim.MatchOrigin("https://*.example.com", "https://shop.example.com"))
	fmt.Println(shim.MatchOrigin("https://*.example.com", "https://example.com"))
	// Output:
	// true
	// false
}
