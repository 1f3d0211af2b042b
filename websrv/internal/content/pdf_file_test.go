package content_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPDFOfABrowser reads a file that Chromium 156 printed: fonts of which only parts are
// embedded, ligatures, justified lines, two columns, three scripts. Then the same file broken off.
func TestPDFOfABrowser(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "browser.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	doc := markdown(t, body, nil)
	rest := strings.Join(strings.Fields(doc.Markdown), " ")
	for _, want := range []string{ // in this order
		"Of offices and efficient affairs",
		"The first official file flows over the whole width: fi fl ffi ffl, “quotes”, an em dash — and a café for 5 € in Zürich.",
		"Alpha begins the left column. Every sentence here belongs to the left column and is meant to be read before any of those at its right",
		"in lines that are justified at both sides.",
		"Gamma comes at the top of the right column,",
		"Delta ends the right column. After it the page goes on over its whole width again.",
		"Другие письменности Съешь же ещё этих мягких французских булок, да выпей чаю. Ελληνικά: Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.",
		"City Country People Zürich Switzerland 443,000 Łódź Poland 655,000",
		"first thing of a list second thing of a list",
		"The end of the document.",
	} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("no %q in its place in:\n%s", want, doc.Markdown)
		}
		rest = after
	}
	if doc.Title != "Of offices & efficient affairs" || doc.Pages != 1 || len(doc.Notes) != 0 {
		t.Errorf("title %q, %d pages, notes %q", doc.Title, doc.Pages, doc.Notes)
	}

	broken := markdown(t, body[:30_000], nil)
	if notes := strings.Join(broken.Notes, "\n"); !strings.Contains(notes, "breaks off") || !strings.Contains(notes, "could not be read") {
		t.Errorf("notes of a part: %q", broken.Notes)
	}
	if strings.Contains(broken.Markdown, "7KH") { // the numbers of shapes, taken for letters
		t.Errorf("a part gave:\n%s", broken.Markdown)
	}
}
