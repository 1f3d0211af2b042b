package robots_test

import (
	"fmt"

	"github.com/aster-mcp/aster/websrv/internal/robots"
)

func ExampleParse() {
	f := robots.Parse([]byte("User-agent: *\nDisallow: /private/\nAllow: /private/open$\n"))
	rules := f.Rules("aster")
	fmt.Println(rules.Allowed("https://example.com/private/x"))
	fmt.Println(rules.Allowed("https://example.com/private/open"))
	// Output:
	// false
	// true
}
