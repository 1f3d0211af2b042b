package readable_test

import (
	"fmt"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

func ExampleExtract() {
	page := `<html><head><title>Green tea – Notes</title></head><body>
<nav><a href="/">Home</a> <a href="/all">All notes</a></nav>
<main><h1>Green tea</h1>
<p>Pour water of about eighty degrees over the leaves, wait three minutes, and take them out; see
<a href="water">the note on water</a> for why it should not boil.</p></main>
</body></html>`
	d, err := readable.Extract([]byte(page), "https://example.com/notes/tea", &readable.Options{Include: []string{"main"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	fmt.Println(d.Markdown)
	// Output:
	// Green tea
	// # Green tea
	//
	// Pour water of about eighty degrees over the leaves, wait three minutes, and take them out; see [the note on water](https://example.com/notes/water) for why it should not boil.
}
