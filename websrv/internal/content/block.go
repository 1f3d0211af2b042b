package content

import (
	"fmt"
	"strings"
)

const (
	maxColumns   = 256   // of a table
	maxRows      = 5_000 // of a table
	maxListDepth = 8
)

// paragraph writes a block of text.
func (c *conversion) paragraph(s string) {
	if s = strings.TrimSpace(s); s != "" {
		c.write(escapeStart(s) + "\n\n")
	}
}

// heading writes a heading of level 1 to 6.
func (c *conversion) heading(level int, s string) {
	if s = strings.Join(strings.Fields(s), " "); s != "" {
		c.write(strings.Repeat("#", min(max(level, 1), 6)) + " " + s + "\n\n")
	}
}

// item writes a list item; number 0 is a bullet. Items that follow each other are one list.
func (c *conversion) item(depth, number int, s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	mark := "- "
	if number > 0 {
		mark = fmt.Sprintf("%d. ", number)
	}
	indent := strings.Repeat("    ", min(max(depth, 0), maxListDepth))
	c.write(indent + mark + strings.ReplaceAll(s, "\n", "\n"+indent+"    ") + "\n")
}

// endList sets what follows a list apart from it.
func (c *conversion) endList() { c.write("\n") }

// table writes rows; the first is the head. Rows are filled up to the width of the widest.
func (c *conversion) table(rows [][]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	if width == 0 {
		return
	}
	if width > maxColumns {
		c.note("A table of %d columns was cut at %d.", width, maxColumns)
		width = maxColumns
	}
	if len(rows) > maxRows {
		c.note("A table of %d rows was cut at %d.", len(rows), maxRows)
		rows = rows[:maxRows]
	}
	var b strings.Builder
	for i, r := range rows {
		b.Reset()
		for j := range width {
			cell := ""
			if j < len(r) {
				cell = cellText(r[j])
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", width) + "|\n")
		}
		if !c.write(b.String()) || i&0xff == 0 && c.stop() {
			return
		}
	}
	c.write("\n")
}

// cellText is a cell in one line.
func cellText(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "|", `\|`)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "<br>")
}

// escapeStart keeps a line of plain text from being read as a heading, a list or a quote. Nothing else is escaped: what
// a model reads should be what the page says.
func escapeStart(s string) string {
	if s == "" {
		return s
	}
	switch s[0] {
	case '#':
		if rest := strings.TrimLeft(s, "#"); rest == "" || rest[0] == ' ' {
			return `\` + s
		}
	case '-', '+', '>', '*':
		if len(s) > 1 && s[1] == ' ' {
			return `\` + s
		}
	default:
		n := 0
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
			return s[:n] + `\` + s[n:]
		}
	}
	return s
}

// linkText is a link in Markdown, the bare text where there is no address of the web.
func linkText(text, address string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || !isWebAddress(address) {
		return text
	}
	if text == address {
		return "<" + address + ">"
	}
	return "[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(text) + "](" + strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(address) + ")"
}

func isWebAddress(s string) bool {
	return (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) && len(s) < 4096 && !strings.ContainsAny(s, "\n\r\t")
}

const maxLinks = 2_000

// link keeps an address that the document names.
func (c *conversion) link(address string) {
	if !isWebAddress(address) || len(c.doc.Links) >= maxLinks || c.seen[address] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[address] = true
	c.doc.Links = append(c.doc.Links, address)
}
