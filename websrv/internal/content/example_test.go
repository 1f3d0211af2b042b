package content_test

import (
	"context"
	"fmt"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

func ExampleMarkdown() {
	body := []byte(`{\rtf1\ansi Caf\'e9\par on the corner}`)
	kind := content.Sniff(body, "text/plain")
	doc, err := content.Markdown(context.Background(), body, kind, nil)
	fmt.Printf("%s %v\n%s", kind, err, doc.Markdown)
	// Output:
	// rtf <nil>
	// Café
	//
	// on the corner
}
