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

// The version of Chromium that pages are to see.
func ExampleCompatFor() {
	fmt.Println(shim.CompatFor(158) == shim.Compat156, shim.CompatFor(159) == shim.Compat159, shim.CompatFor(200) == shim.Compat160)
	// Output: true true true
}

// Documents that were open before get the same by Runtime.evaluate in their main world.
func ExampleLateScript() {
	c := shim.Config{Allow: []string{"https://*.example.com"}, Compat: shim.CompatFor(159)}
	fmt.Println(strings.Contains(shim.LateScript(c), "https://*.example.com"))
	// Output: true
}

// Where a page brought a modelContext of its own, an adapter speaks for that one.
func ExampleAdapterScript() {
	fmt.Println(shim.AdapterScript(true) == shim.AdapterScript(false))
	// Output: false
}

// A glob is checked when it is configured, not when a page is open.
func ExampleValidOriginGlob() {
	for _, glob := range []string{"https://*.example.com", "example.com", "https://example.com/shop"} {
		fmt.Println(glob, shim.ValidOriginGlob(glob) == nil)
	}
	// Output:
	// https://*.example.com true
	// example.com false
	// https://example.com/shop false
}
