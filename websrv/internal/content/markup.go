package content

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxMarkupTag = 1 << 20 // bytes of one token

// markup writes the HTML of a book's chapter or of a feed's entry as Markdown. Links are resolved against base; shift
// is added to the levels of headings.
func (c *conversion) markup(page []byte, base *url.URL, shift int) {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxMarkupTag)
	m := &markupWriter{c: c, base: base, shift: shift}
	for n := 0; n&0xff != 0 || !c.stop(); n++ {
		switch z.Next() {
		case html.ErrorToken:
			m.flush()
			m.endTable()
			m.leaveLists()
			return
		case html.TextToken:
			m.text(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			m.start(&t)
		case html.EndTagToken:
			t := z.Token()
			m.end(t.DataAtom)
		}
	}
}

// markupWriter follows the tags of a page without a tree: nothing is nested deeper than the input is long.
type markupWriter struct {
	c     *conversion
	base  *url.URL
	shift int

	buf     bytes.Buffer // the open block
	hidden  atom.Atom    // the element whose text is left out
	level   int          // of the open heading, 0 outside
	lists   []int        // number of the next item of each open list, 0 for bullets
	inItem  bool
	quote   int
	pre     bool
	href    string // of the open link
	linkAt  int    // where its text begins in buf
	markAt  int    // where buf ended when a mark of emphasis was opened
	rows    [][]string
	inCell  bool
	inTable int
}

func (m *markupWriter) text(s string) {
	if m.hidden != 0 {
		return
	}
	if m.pre {
		m.buf.WriteString(s)
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 || strings.TrimLeft(s[:1], " \t\r\n\f") == "" {
		m.space()
	}
	for i, w := range words {
		if i > 0 {
			m.buf.WriteByte(' ')
		}
		m.buf.WriteString(w)
	}
	if len(words) > 0 && strings.TrimRight(s[len(s)-1:], " \t\r\n\f") == "" {
		m.space()
	}
}

// space adds a space where none is yet.
func (m *markupWriter) space() {
	if b := m.buf.Bytes(); len(b) > 0 && b[len(b)-1] != ' ' && b[len(b)-1] != '\n' {
		m.buf.WriteByte(' ')
	}
}

// headingLevel is 1 to 6 for a heading element, 0 for others.
func headingLevel(a atom.Atom) int {
	if s := a.String(); len(s) == 2 && s[0] == 'h' && s[1] >= '1' && s[1] <= '6' {
		return int(s[1] - '0')
	}
	return 0
}

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Aside, atom.Main, atom.Nav, atom.Figure, atom.Figcaption, atom.Dl, atom.Dt, atom.Dd, atom.Address, atom.Body, atom.Hr, atom.Form, atom.Details, atom.Summary:
		return true
	}
	return false
}

func (m *markupWriter) start(t *html.Token) {
	if m.hidden != 0 {
		return
	}
	switch a := t.DataAtom; a {
	case atom.Script, atom.Style, atom.Head, atom.Template, atom.Noscript, atom.Svg:
		if t.Type == html.StartTagToken {
			m.hidden = a
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		m.flush()
		m.level = headingLevel(a)
	case atom.Ul, atom.Ol:
		m.flush()
		if len(m.lists) < maxListDepth {
			m.lists = append(m.lists, map[bool]int{true: 1}[a == atom.Ol])
		}
	case atom.Li:
		m.flush()
		m.inItem = true
	case atom.Blockquote:
		m.flush()
		m.quote++
	case atom.Pre:
		m.flush()
		m.pre = true
	case atom.Br:
		m.buf.WriteByte('\n')
	case atom.A:
		m.href, m.linkAt = m.resolve(tokenAttr(t, "href")), m.buf.Len()
	case atom.B, atom.Strong:
		m.mark("**")
	case atom.I, atom.Em:
		m.mark("*")
	case atom.Code:
		m.mark("`")
	case atom.Img:
		if alt := strings.Join(strings.Fields(tokenAttr(t, "alt")), " "); alt != "" {
			m.space()
			m.buf.WriteString("[image: " + alt + "]")
		}
	case atom.Table:
		if m.inTable++; m.inTable == 1 {
			m.flush()
		}
	case atom.Tr:
		m.endCell()
		if m.inTable == 1 && len(m.rows) <= maxRows {
			m.rows = append(m.rows, nil)
		}
	case atom.Td, atom.Th:
		m.endCell()
		m.inCell = len(m.rows) > 0
	default:
		if isBlock(a) {
			m.flush()
		}
	}
}

func (m *markupWriter) end(a atom.Atom) {
	if m.hidden != 0 {
		if a == m.hidden {
			m.hidden = 0
		}
		return
	}
	switch a {
	case atom.Ul, atom.Ol:
		m.flush()
		if len(m.lists) > 0 {
			if m.lists = m.lists[:len(m.lists)-1]; len(m.lists) == 0 {
				m.c.endList()
			}
		}
	case atom.Li:
		m.flush()
		m.inItem = false
	case atom.Blockquote:
		m.flush()
		m.quote = max(m.quote-1, 0)
	case atom.Pre:
		m.flush()
		m.pre = false
	case atom.A:
		m.endLink()
	case atom.B, atom.Strong:
		m.endMark("**")
	case atom.I, atom.Em:
		m.endMark("*")
	case atom.Code:
		m.endMark("`")
	case atom.Td, atom.Th, atom.Tr:
		m.endCell()
	case atom.Table:
		if m.inTable = max(m.inTable-1, 0); m.inTable == 0 {
			m.endTable()
		}
	default:
		if isBlock(a) || headingLevel(a) > 0 {
			m.flush()
		}
	}
}

// mark adds a mark of emphasis, not within code or a heading.
func (m *markupWriter) mark(s string) {
	if !m.pre && m.level == 0 {
		m.buf.WriteString(s)
		m.markAt = m.buf.Len()
	}
}

// endMark adds the mark that ends an emphasis, or takes back the one that began it where nothing stands between.
func (m *markupWriter) endMark(s string) {
	if n := m.buf.Len(); n == m.markAt && bytes.HasSuffix(m.buf.Bytes(), []byte(s)) {
		m.buf.Truncate(n - len(s))
		return
	}
	m.mark(s)
	m.markAt = -1
}

func tokenAttr(t *html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func (m *markupWriter) resolve(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || href == "" {
		return ""
	}
	if m.base != nil {
		u = m.base.ResolveReference(u)
	}
	return u.String()
}

func (m *markupWriter) endLink() {
	if m.href == "" {
		return
	}
	at := min(m.linkAt, m.buf.Len())
	if text := string(m.buf.Bytes()[at:]); strings.TrimSpace(text) != "" && isWebAddress(m.href) {
		m.c.link(m.href)
		m.buf.Truncate(at)
		m.buf.WriteString(linkText(text, m.href))
	}
	m.href = ""
}

// flush writes the open block.
func (m *markupWriter) flush() {
	if m.inCell {
		m.buf.WriteByte('\n') // blocks of a cell stay in it
		return
	}
	m.endLink()
	s := m.buf.String()
	m.buf.Reset()
	level := m.level
	m.level = 0
	switch {
	case m.pre && strings.TrimSpace(s) != "":
		m.c.fence("", strings.Trim(s, "\n"))
		m.c.write("\n")
	case strings.Trim(s, " \t\r\n*`") == "":
	case level > 0:
		m.c.heading(level+m.shift, s)
	case m.inItem && len(m.lists) > 0:
		n := &m.lists[len(m.lists)-1]
		m.c.item(len(m.lists)-1, *n, s)
		if *n > 0 {
			*n++
		}
	case m.quote > 0:
		m.c.write("> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ") + "\n\n")
	default:
		m.c.paragraph(trimLines(s))
	}
}

func trimLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}

func (m *markupWriter) leaveLists() {
	if len(m.lists) > 0 {
		m.c.endList()
	}
}

func (m *markupWriter) endCell() {
	if !m.inCell || m.inTable != 1 {
		return
	}
	m.endLink()
	m.inCell = false
	row := &m.rows[len(m.rows)-1]
	if len(*row) <= maxColumns {
		*row = append(*row, trimLines(m.buf.String()))
	}
	m.buf.Reset()
}

func (m *markupWriter) endTable() {
	m.endCell()
	m.c.table(m.rows)
	m.rows, m.inCell = nil, false
}

// bareText is the text of a piece of HTML, without any marks.
func bareText(s string) string {
	z := html.NewTokenizer(strings.NewReader(s))
	z.SetMaxBuf(maxMarkupTag)
	var b strings.Builder
	for b.Len() < 4096 {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
