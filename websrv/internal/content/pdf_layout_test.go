package content_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

// drawn draws texts at places, "x y text" each.
func drawn(at ...string) []byte {
	var b strings.Builder
	b.WriteString("BT /F1 10 Tf ")
	for _, s := range at {
		f := strings.SplitN(s, " ", 3)
		fmt.Fprintf(&b, "1 0 0 1 %s %s Tm (%s) Tj ", f[0], f[1], f[2])
	}
	return onePage(b.String() + "ET")
}

func TestPDFLayout(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"table", []string{"72 700 River", "200 700 Km", "72 685 Rhine", "200 685 1230", "72 670 Elbe", "200 670 1094"},
			"| River | Km |\n| --- | --- |\n| Rhine | 1230 |\n| Elbe | 1094 |\n\n"},
		{"table with an empty cell, between paragraphs", []string{"72 730 Before it.", "72 700 A", "150 700 B", "250 700 C", "72 685 a", "250 685 c", "72 640 After it."},
			"Before it.\n\n| A | B | C |\n| --- | --- | --- |\n| a |  | c |\n\nAfter it.\n\n"},
		{"two rows of two are no table", []string{"72 700 A", "200 700 B", "72 688 C", "200 688 D"}, "A B C D\n\n"},
		{"gaps that are not aligned are no table", []string{"72 700 A", "200 700 B", "72 688 C", "150 688 D", "72 676 E", "260 676 F"}, "A B C D E F\n\n"},
		{"bullets", []string{"72 700 \\225 one", "84 688 more", "72 676 \\225 two", "72 640 Text."}, "- one more\n- two\n\nText.\n\n"},
		{"bullets in two levels", []string{"72 700 \\225 one", "90 688 \\225 in", "72 676 \\225 two"}, "- one\n    - in\n- two\n\n"},
		{"numbers", []string{"72 700 1. one", "72 688 2. two", "84 676 more", "72 664 3. three"}, "1. one\n2. two more\n3. three\n\n"},
		{"a number alone is no list", []string{"72 700 1. Heading", "72 670 Text."}, "1\\. Heading\n\nText.\n\n"},
		{"dashes", []string{"72 700 - one", "72 688 - two"}, "- one\n- two\n\n"},
		{"a dash alone is no list", []string{"72 700 - he said", "72 688 and went"}, "\\- he said and went\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if doc := markdown(t, drawn(c.lines...), nil); doc.Markdown != c.want {
				t.Errorf("got\n%s\nwant\n%s", doc.Markdown, c.want)
			}
		})
	}
}

// Columns of prose that are drawn a line at a time are not a table.
func TestPDFProseColumns(t *testing.T) {
	var at []string
	for i := range 6 {
		at = append(at, fmt.Sprintf("40 %d %s", 700-12*i, strings.Repeat("left ", 8)), fmt.Sprintf("400 %d %s", 700-12*i, strings.Repeat("right ", 8)))
	}
	if doc := markdown(t, drawn(at...), nil); strings.Contains(doc.Markdown, "|") {
		t.Errorf("a table: %.200s", doc.Markdown)
	}
}

// A page of nothing but marks and cells must not take the square of its length.
func TestPDFLayoutHostile(t *testing.T) {
	var b strings.Builder
	b.WriteString("BT /F1 10 Tf 12 TL 72 9000 Td ")
	for i := range 20000 {
		fmt.Fprintf(&b, "(%d. x) Tj T* ", i%7)
		if i%3 == 0 {
			b.WriteString("[(a) -9000 (b) -9000 (c)] TJ T* ")
		}
	}
	if doc := markdown(t, onePage(b.String()+"ET"), &content.Limits{Time: time.Minute}); doc.Pages != 1 || len(doc.Notes) > 0 {
		t.Errorf("%d pages, notes %q", doc.Pages, doc.Notes)
	}
}
