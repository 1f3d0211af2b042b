package content

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const maxRTFDepth = 512 // of groups

// rtfState is what a group inherits and restores.
type rtfState struct {
	skip   bool // a destination without text
	dest   string
	ucSkip int // characters that stand in for a \u
	font   int
}

// rtf reads a Rich Text document: paragraphs, tables and the title. Styles are left out.
func (c *conversion) rtf(body []byte) error {
	r := &rtfReader{c: c, b: body, state: rtfState{ucSkip: 1}, page: charmap.Windows1252, fonts: map[int]encoding.Encoding{}}
	if err := r.run(); err != nil {
		return err
	}
	r.newParagraph()
	r.endTable()
	return nil
}

type rtfReader struct {
	c     *conversion
	b     []byte
	at    int
	state rtfState
	stack []rtfState
	page  encoding.Encoding
	fonts map[int]encoding.Encoding
	font  int    // being defined
	bytes []byte // text not decoded yet
	para  strings.Builder
	meta  strings.Builder
	skip  int // characters left to pass over after a \u
	high  rune
	row   []string
	rows  [][]string
	cells bool // the paragraph is in a table
}

func (r *rtfReader) run() error {
	for n := 0; r.at < len(r.b); n++ {
		if n&0xfff == 0 && r.c.stop() {
			return nil
		}
		switch ch := r.b[r.at]; ch {
		case '{':
			r.flush()
			if len(r.stack) == maxRTFDepth {
				return fmt.Errorf("RTF document: %w: groups nested more than %d deep", ErrTooLarge, maxRTFDepth)
			}
			r.stack = append(r.stack, r.state)
			r.at++
		case '}':
			r.flush()
			r.endGroup()
			r.at++
			if len(r.stack) == 0 {
				return nil
			}
		case '\\':
			r.control()
		case '\r', '\n':
			r.at++
		default:
			r.put(ch)
			r.at++
		}
	}
	r.flush()
	return nil
}

func (r *rtfReader) endGroup() {
	if n := len(r.stack); n > 0 {
		parent := r.stack[n-1]
		if r.state.dest != parent.dest {
			r.endDestination()
		}
		r.state, r.stack = parent, r.stack[:n-1]
	}
}

func (r *rtfReader) endDestination() {
	s := clip(strings.Join(strings.Fields(r.meta.String()), " "), maxTitle)
	r.meta.Reset()
	switch r.state.dest {
	case "title":
		r.c.doc.Title = s
	case "author":
		r.c.doc.Author = s
	}
}

// control reads a control word or symbol.
func (r *rtfReader) control() {
	r.at++
	if r.at >= len(r.b) {
		return
	}
	ch := r.b[r.at]
	if !isLetter(ch) {
		r.at++
		r.symbol(ch)
		return
	}
	start := r.at
	for r.at < len(r.b) && isLetter(r.b[r.at]) && r.at-start < 32 {
		r.at++
	}
	word := string(r.b[start:r.at])
	numAt := r.at
	if r.at < len(r.b) && r.b[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.b) && r.b[r.at] >= '0' && r.b[r.at] <= '9' && r.at-numAt < 11 {
		r.at++
	}
	n, err := strconv.Atoi(string(r.b[numAt:r.at]))
	if r.at < len(r.b) && r.b[r.at] == ' ' {
		r.at++
	}
	r.word(word, n, err == nil)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (r *rtfReader) symbol(ch byte) {
	switch ch {
	case '\'':
		if r.at+2 <= len(r.b) {
			if v, err := strconv.ParseUint(string(r.b[r.at:r.at+2]), 16, 8); err == nil {
				r.put(byte(v))
			}
			r.at += 2
		}
	case '*':
		r.state.skip = true // unless the reader knows the destination
	case '~':
		r.text(" ")
	case '_':
		r.text("-")
	case '\\', '{', '}':
		r.put(ch)
	case '\r', '\n':
		r.newParagraph()
	}
}

func (r *rtfReader) word(word string, n int, has bool) {
	if word != "u" {
		r.flush()
	}
	switch word {
	case "par", "sect", "page":
		r.newParagraph()
	case "line":
		r.text("\n")
	case "tab":
		r.text("\t")
	case "cell", "nestcell":
		r.endCell()
	case "row", "nestrow":
		r.endRow()
	case "intbl":
		r.cells = true
	case "pard":
		r.cells = false
	case "emdash":
		r.text("—")
	case "endash":
		r.text("–")
	case "bullet":
		r.text("•")
	case "lquote":
		r.text("‘")
	case "rquote":
		r.text("’")
	case "ldblquote":
		r.text("“")
	case "rdblquote":
		r.text("”")
	case "u":
		r.unicode(n)
	case "uc":
		r.state.ucSkip = min(max(n, 0), 16)
	case "bin":
		if has && n > 0 {
			r.at = min(len(r.b), r.at+min(n, len(r.b)))
		}
	case "ansicpg":
		if e := codePage(n); e != nil {
			r.page = e
		}
	case "f":
		if r.state.dest == "fonttbl" {
			r.font = n
		} else {
			r.state.font = n
		}
	case "fcharset":
		if len(r.fonts) < 1000 {
			r.fonts[r.font] = fontCharset(n)
		}
	case "title", "author":
		r.state.dest, r.state.skip = word, false
	case "fonttbl", "colortbl", "stylesheet", "pict", "object", "objdata", "info", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
		"listtable", "listoverridetable", "rsidtbl", "themedata", "datastore", "generator", "xmlnstbl", "fldinst", "nonshppict", "latentstyles", "pgptbl", "revtbl", "filetbl", "bkmkstart", "bkmkend":
		r.state.dest, r.state.skip = word, true
	}
}

// unicode takes a \u: a signed 16-bit number, half of a pair for characters beyond these.
func (r *rtfReader) unicode(n int) {
	r.flush()
	r.skip = r.state.ucSkip
	if n < 0 {
		n += 1 << 16
	}
	ch := rune(n)
	switch {
	case n < 0 || n > 0xffff:
	case ch >= 0xd800 && ch < 0xdc00:
		r.high = ch
	case ch >= 0xdc00 && ch < 0xe000:
		if r.high != 0 {
			r.text(string((r.high-0xd800)<<10 + (ch - 0xdc00) + 0x10000))
		}
		r.high = 0
	default:
		r.text(string(ch))
	}
}

// put adds a byte of text, in the font's encoding.
func (r *rtfReader) put(b byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if !r.state.skip {
		r.bytes = append(r.bytes, b)
	}
}

func (r *rtfReader) flush() {
	if len(r.bytes) == 0 {
		return
	}
	e := r.fonts[r.state.font]
	if e == nil {
		e = r.page
	}
	s, err := e.NewDecoder().Bytes(r.bytes)
	if err != nil {
		s = []byte(strings.ToValidUTF8(string(r.bytes), "\uFFFD"))
	}
	r.bytes = r.bytes[:0]
	r.add(string(s))
}

func (r *rtfReader) text(s string) {
	r.flush()
	r.add(s)
}

func (r *rtfReader) add(s string) {
	switch {
	case r.state.dest == "title" || r.state.dest == "author":
		if r.meta.Len() < 4*maxTitle {
			r.meta.WriteString(s)
		}
	case !r.state.skip:
		r.para.WriteString(s)
	}
}

func (r *rtfReader) newParagraph() {
	r.flush()
	if r.state.skip {
		return
	}
	if r.cells {
		r.para.WriteByte('\n')
		return
	}
	r.endTable()
	r.c.paragraph(strings.ToValidUTF8(r.para.String(), "\uFFFD"))
	r.para.Reset()
}

func (r *rtfReader) endCell() {
	if len(r.row) <= maxColumns {
		r.row = append(r.row, strings.ToValidUTF8(strings.TrimSpace(r.para.String()), "\uFFFD"))
	}
	r.para.Reset()
}

func (r *rtfReader) endRow() {
	if len(r.row) > 0 && len(r.rows) <= maxRows {
		r.rows = append(r.rows, r.row)
	}
	r.row = nil
}

func (r *rtfReader) endTable() {
	r.endRow()
	if len(r.rows) > 0 {
		r.c.table(r.rows)
		r.rows = nil
	}
}

// codePage is the encoding of a Windows code page, nil if it is not known.
func codePage(n int) encoding.Encoding {
	label := map[int]string{932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 10000: "macintosh", 866: "ibm866", 874: "windows-874", 20866: "koi8-r", 28592: "iso-8859-2"}[n]
	if label == "" {
		label = "windows-" + strconv.Itoa(n)
	}
	e, _ := charset.Lookup(label)
	return e
}

// fontCharset is the encoding of a font's character set, nil for the document's own.
func fontCharset(n int) encoding.Encoding {
	page := map[int]int{77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250}[n]
	if page == 0 {
		return nil
	}
	return codePage(page)
}
