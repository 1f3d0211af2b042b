package content

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// office reads the paragraphs and tables that Word and PowerPoint write with the same names: p, r, t, tbl, tr, tc.
type office struct {
	c       *conversion
	links   map[string]string // targets of relationships
	levels  map[string]int    // of heading styles
	ordered map[string]bool
	notes   bool // foot- or endnotes
	slides  bool // PowerPoint

	para   bytes.Buffer
	inPara int
	inText bool
	level  int // of a heading
	list   string
	depth  int // of the list, -1 outside of one
	counts map[string]int
	inList bool // the last block was an item
	bold   bool
	italic bool
	style  string // the marks that are open in para
	href   string
	linkAt int
	skip   int // within a fallback or a deletion
	note   string

	cells  []*table // open tables, the innermost last
	title  bool     // the shape is a slide's title
	titled string
	shape  int
}

type table struct {
	rows [][]string
	cell strings.Builder
}

func newOffice(c *conversion) *office { return &office{c: c, depth: -1, counts: map[string]int{}} }

func (w *office) start(name string, attrs []xml.Attr) {
	if w.skip > 0 || name == "Fallback" || name == "del" || name == "moveFrom" {
		if name == "Fallback" || name == "del" || name == "moveFrom" {
			w.skip++
		}
		return
	}
	val := attr(attrs, "val")
	switch name {
	case "p":
		if w.inPara++; w.inPara == 1 {
			w.begin()
		} else {
			w.para.WriteByte('\n') // of a text box within a paragraph
		}
	case "t":
		w.inText = true
	case "tab":
		if w.inPara > 0 && attr(attrs, "pos") == "" {
			w.para.WriteByte('\t')
		}
	case "br", "cr":
		w.para.WriteByte('\n')
	case "noBreakHyphen":
		w.para.WriteByte('-')
	case "pStyle":
		if w.level = w.levels[val]; w.level == 0 {
			w.level = headingName(val)
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(val); err == nil && n >= 0 && n < 6 && w.inPara > 0 {
			w.level = n + 1
		}
	case "ilvl":
		w.depth, _ = strconv.Atoi(val)
	case "numId":
		if w.list = val; val == "0" {
			w.depth = -1
		} else {
			w.depth = max(w.depth, 0)
		}
	case "r":
		w.bold, w.italic = false, false
	case "b":
		w.bold = val != "0" && val != "false"
	case "i":
		w.italic = val != "0" && val != "false"
	case "rPr":
		if w.slides {
			w.bold, w.italic = attr(attrs, "b") == "1", attr(attrs, "i") == "1"
		}
	case "hyperlink", "hlinkClick":
		w.emphasis("")
		w.href, w.linkAt = w.links[relID(attrs)], w.para.Len()
	case "footnoteReference", "endnoteReference":
		fmt.Fprintf(&w.para, "[^%s%s]", name[:1], clip(attr(attrs, "id"), 10))
	case "footnote", "endnote":
		w.note = ""
		if w.notes && attr(attrs, "type") == "" {
			w.note = "[^" + name[:1] + clip(attr(attrs, "id"), 10) + "]: "
		}
	case "tbl":
		w.flushTo()
		w.cells = append(w.cells, &table{})
	case "tr":
		if t := w.table(); t != nil && len(t.rows) <= maxRows {
			t.rows = append(t.rows, nil)
		}
	case "tc":
		if t := w.table(); t != nil {
			t.cell.Reset()
		}
	default:
		w.startSlide(name, attrs)
	}
}

// startSlide follows what only slides have.
func (w *office) startSlide(name string, attrs []xml.Attr) {
	if !w.slides {
		return
	}
	switch name {
	case "sp":
		w.title, w.shape = false, 0
	case "ph":
		kind := attr(attrs, "type")
		w.title = kind == "title" || kind == "ctrTitle"
		if kind == "sldNum" || kind == "dt" || kind == "ftr" {
			w.shape = -1 // repeated on every slide
		} else {
			w.shape = 1
		}
	case "pPr":
		if n, err := strconv.Atoi(attr(attrs, "lvl")); err == nil && n > 0 && n <= maxListDepth {
			w.depth = n
		}
	}
}

// begin begins a paragraph.
func (w *office) begin() {
	w.para.Reset()
	w.level, w.list, w.depth, w.href, w.style = 0, "", -1, "", ""
	w.bold, w.italic = false, false
	if w.slides && w.shape > 0 && !w.title && len(w.cells) == 0 {
		w.depth = 0
	}
}

func (w *office) end(name string) {
	if w.skip > 0 {
		if name == "Fallback" || name == "del" || name == "moveFrom" {
			w.skip--
		}
		return
	}
	switch name {
	case "p":
		if w.inPara--; w.inPara <= 0 {
			w.inPara = 0
			w.flush()
		}
	case "t":
		w.inText = false
	case "hyperlink":
		w.endLink()
	case "r":
		if w.slides {
			w.endLink()
		}
	case "tc":
		if t := w.table(); t != nil && len(t.rows) > 0 {
			row := &t.rows[len(t.rows)-1]
			if len(*row) <= maxColumns {
				*row = append(*row, strings.TrimSpace(t.cell.String()))
			}
		}
	case "tbl":
		w.endTable()
	}
}

func (w *office) text(s string) {
	if !w.inText || w.skip > 0 || w.c.stop() {
		return
	}
	if w.shape < 0 {
		return
	}
	if strings.TrimSpace(s) != "" {
		w.emphasis(map[[2]bool]string{{true, false}: "**", {false, true}: "*", {true, true}: "***"}[[2]bool{w.bold, w.italic}])
	}
	w.para.WriteString(s)
}

// emphasis closes the marks that are open and opens others, so that runs of one style have one pair. Headings have none,
// nor has what is in a link.
func (w *office) emphasis(style string) {
	if w.level > 0 || w.href != "" || w.title || len(w.cells) > 0 {
		style = ""
	}
	if style == w.style {
		return
	}
	if w.style != "" {
		b := w.para.Bytes()
		n := len(bytes.TrimRight(b, " \t\n"))
		space := string(b[n:])
		w.para.Truncate(n)
		w.para.WriteString(w.style + space)
	}
	w.style = style
	w.para.WriteString(style)
}

func (w *office) endLink() {
	if w.href == "" {
		return
	}
	at := min(w.linkAt, w.para.Len())
	if isWebAddress(w.href) {
		w.c.link(w.href)
		text := string(w.para.Bytes()[at:])
		w.para.Truncate(at)
		w.para.WriteString(linkText(text, w.href))
	}
	w.href = ""
}

func (w *office) table() *table {
	if len(w.cells) == 0 {
		return nil
	}
	return w.cells[len(w.cells)-1]
}

// flush writes the paragraph to where it belongs: a cell, a slide's title, the document.
func (w *office) flush() {
	w.endLink()
	w.emphasis("")
	s := strings.TrimSpace(w.para.String())
	w.para.Reset()
	switch {
	case s == "":
	case w.table() != nil:
		t := w.table()
		if t.cell.Len() > 0 {
			t.cell.WriteByte('\n')
		}
		t.cell.WriteString(s)
	case w.title:
		w.titled = strings.TrimSpace(w.titled + " " + strings.Join(strings.Fields(s), " "))
	case w.notes && w.note != "":
		w.block(w.note + s)
		w.note = "    "
	case w.notes:
	case w.level > 0:
		w.leaveList()
		w.c.heading(w.level, s)
	case w.depth >= 0:
		w.listItem(s)
	default:
		w.block(s)
	}
}

func (w *office) block(s string) {
	w.leaveList()
	if w.notes {
		w.c.write(s + "\n\n")
		return
	}
	w.c.paragraph(s)
}

func (w *office) listItem(s string) {
	n, key := 0, w.list+"/"+strconv.Itoa(w.depth)
	if w.ordered[key] {
		w.counts[key]++
		n = w.counts[key]
	}
	for d := w.depth + 1; d <= maxListDepth; d++ {
		delete(w.counts, w.list+"/"+strconv.Itoa(d))
	}
	w.inList = true
	w.c.item(w.depth, n, s)
}

func (w *office) leaveList() {
	if w.inList {
		w.c.endList()
		w.inList = false
	}
}

// flushTo writes a paragraph that a table interrupts.
func (w *office) flushTo() {
	if w.inPara > 0 && strings.TrimSpace(w.para.String()) != "" {
		w.flush()
	}
}

// endTable writes the innermost table; one within a cell becomes lines of that cell.
func (w *office) endTable() {
	t := w.table()
	if t == nil {
		return
	}
	w.cells = w.cells[:len(w.cells)-1]
	outer := w.table()
	if outer == nil {
		w.leaveList()
		w.c.table(t.rows)
		return
	}
	for _, r := range t.rows {
		outer.cell.WriteString("\n" + strings.Join(r, "; "))
	}
}

// close ends what the document left open.
func (w *office) close() {
	w.flushTo()
	for len(w.cells) > 0 {
		w.endTable()
	}
	w.leaveList()
}
