package sitemap_test

import (
	"fmt"

	"github.com/aster-mcp/aster/websrv/internal/sitemap"
)

func ExampleRead() {
	body := []byte(`<urlset><url><loc>https://example.com/a</loc><lastmod>2024-05-06</lastmod></url></urlset>`)
	kind, _, err := sitemap.Read(body, "https://example.com/sitemap.xml", func(_ sitemap.Kind, e sitemap.Entry) bool {
		fmt.Println(e.URL, e.Modified)
		return true
	})
	fmt.Println(kind, err)
	// Output:
	// https://example.com/a 2024-05-06
	// urlset <nil>
}
