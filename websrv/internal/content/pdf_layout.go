package content

import "strings"

// layOut writes a page's lines: aligned columns as tables, marked lines as lists, the rest as paragraphs, whose lines are
// joined. A word that a hyphen parts at a line's end keeps it.
func (c *conversion) layOut(lines []pdfLine) {
	for i := 0; i < len(lines) && !c.stop(); {
		if rows, n := pdfTable(lines[i:]); n > 0 {
			c.table(rows)
			i += n
			continue
		}
		if items, n := pdfList(lines[i:]); n > 0 {
			for _, it := range items {
				c.item(it.depth, it.number, escapeStart(it.text))
			}
			c.endList()
			i += n
			continue
		}
		from := i
		for i++; i < len(lines) && !lines[i].apart && !c.stop() && !pdfStructure(lines[i:]); i++ {
		}
		c.paragraph(pdfJoin(lines[from:i]))
	}
}

// pdfStructure tells whether lines begin with a table or a list.
func pdfStructure(lines []pdfLine) bool {
	if _, n := pdfTable(lines); n > 0 {
		return true
	}
	_, n := pdfList(lines)
	return n > 0
}

func pdfJoin(lines []pdfLine) string {
	list := make([]string, 0, len(lines))
	for i := range lines {
		if s := lines[i].text(); s != "" {
			list = append(list, s)
		}
	}
	return strings.Join(list, " ")
}
