package content

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	maxCellBytes    = 32 << 10 // of text in a cell, Excel's own bound
	maxSharedString = 1 << 20  // strings that a workbook shares
)

// xlsx reads the sheets of a workbook as tables.
func (c *conversion) xlsx(body []byte) error {
	a, err := c.open(body)
	if err != nil {
		return err
	}
	const part = "xl/workbook.xml"
	data, err := a.read(part)
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("workbook without %s: %w", part, ErrMalformed)
	}
	book := &workbook{}
	if err := c.parse(data, book); err != nil {
		return err
	}
	a.core()
	shared := &sharedStrings{}
	if data, err = a.read("xl/sharedStrings.xml"); err != nil {
		return err
	} else if data != nil {
		if err := c.parse(data, shared); err != nil {
			return err
		}
	}
	dates := a.dateStyles()
	to := a.relations(part)
	for i, s := range book.sheets {
		if i == c.lim.MaxPages {
			c.note("Only the first %d of %d sheets were read.", i, len(book.sheets))
			break
		}
		if c.stop() {
			break
		}
		data, err := a.read(to[s.id])
		if err != nil || data == nil {
			c.note("The sheet %q could not be read.", clip(s.name, 60))
			continue
		}
		sh := &sheet{c: c, shared: shared.list, dates: dates, from1904: book.from1904}
		if err := c.parse(data, sh); err != nil {
			c.note("The sheet %q could not be read.", clip(s.name, 60))
			continue
		}
		c.heading(2, s.name)
		sh.write()
		c.doc.Pages++
	}
	return nil
}

type workbook struct {
	sheets   []struct{ name, id string }
	from1904 bool
}

func (b *workbook) start(name string, attrs []xml.Attr) {
	switch name {
	case "sheet":
		if state := attr(attrs, "state"); state == "" || state == "visible" {
			b.sheets = append(b.sheets, struct{ name, id string }{attr(attrs, "name"), relID(attrs)})
		}
	case "workbookPr":
		v := attr(attrs, "date1904")
		b.from1904 = v == "1" || v == "true"
	}
}

func (b *workbook) end(string)  {}
func (b *workbook) text(string) {}

// sharedStrings are the texts that cells name by number.
type sharedStrings struct {
	list  []string
	buf   strings.Builder
	inT   bool
	sound int // within the reading of Chinese and Japanese names
}

func (s *sharedStrings) start(name string, _ []xml.Attr) {
	switch name {
	case "si":
		s.buf.Reset()
	case "t":
		s.inT = true
	case "rPh":
		s.sound++
	}
}

func (s *sharedStrings) end(name string) {
	switch name {
	case "si":
		if len(s.list) < maxSharedString {
			s.list = append(s.list, s.buf.String())
		}
	case "t":
		s.inT = false
	case "rPh":
		s.sound--
	}
}

func (s *sharedStrings) text(t string) {
	if s.inT && s.sound <= 0 && s.buf.Len() < maxCellBytes {
		s.buf.WriteString(t)
	}
}

// dateStyles tells which cell styles show a number as a date or a time.
func (a *archive) dateStyles() []bool {
	s := &cellStyles{custom: map[string]bool{}}
	if data, err := a.read("xl/styles.xml"); err == nil && data != nil {
		_ = a.c.parse(data, s) // without styles numbers stay numbers
	}
	return s.dates
}

type cellStyles struct {
	custom map[string]bool
	inXfs  bool
	dates  []bool
}

func (s *cellStyles) start(name string, attrs []xml.Attr) {
	switch name {
	case "numFmt":
		s.custom[attr(attrs, "numFmtId")] = isDateFormat(attr(attrs, "formatCode"))
	case "cellXfs":
		s.inXfs = true
	case "xf":
		if s.inXfs && len(s.dates) < 1<<16 {
			id := attr(attrs, "numFmtId")
			n, err := strconv.Atoi(id)
			builtin := err == nil && (n >= 14 && n <= 22 || n >= 45 && n <= 47)
			s.dates = append(s.dates, builtin || s.custom[id])
		}
	}
}

func (s *cellStyles) end(name string) {
	if name == "cellXfs" {
		s.inXfs = false
	}
}
func (s *cellStyles) text(string) {}

// isDateFormat looks for parts of a date outside of quotes and brackets.
func isDateFormat(code string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case bracket:
		case strings.IndexByte("dmyhsDMYHS", c) >= 0:
			return true
		}
	}
	return false
}

// sheet collects the cells of a sheet that have a value.
type sheet struct {
	c        *conversion
	shared   []string
	dates    []bool
	from1904 bool

	rows   [][]string
	column int
	kind   string // of the open cell
	style  int
	value  strings.Builder
	in     string // v or t
	wide   bool
	long   bool
}

func (s *sheet) start(name string, attrs []xml.Attr) {
	switch name {
	case "row":
		s.column = 0
		if len(s.rows) <= maxRows {
			s.rows = append(s.rows, nil)
		} else {
			s.long = true
		}
	case "c":
		if col := columnOf(attr(attrs, "r")); col > 0 {
			s.column = col - 1
		}
		s.kind, s.style = attr(attrs, "t"), 0
		s.style, _ = strconv.Atoi(attr(attrs, "s"))
		s.value.Reset()
	case "v", "t":
		s.in = name
	}
}

func (s *sheet) text(t string) {
	if s.in != "" && s.value.Len() < maxCellBytes {
		s.value.WriteString(t)
	}
}

func (s *sheet) end(name string) {
	switch name {
	case "v", "t":
		s.in = ""
	case "c":
		s.put(s.cell())
		s.column++
	}
}

// put sets a cell; empty ones at a row's end take no room.
func (s *sheet) put(v string) {
	if v == "" || s.long || len(s.rows) == 0 {
		return
	}
	if s.column >= maxColumns {
		s.wide = true
		return
	}
	row := &s.rows[len(s.rows)-1]
	for len(*row) <= s.column {
		*row = append(*row, "")
	}
	(*row)[s.column] = v
}

// cell is the open cell's value as text.
func (s *sheet) cell() string {
	v := s.value.String()
	switch s.kind {
	case "s":
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 0 && n < len(s.shared) {
			return s.shared[n]
		}
		return ""
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[strings.TrimSpace(v)]
	case "str", "inlineStr", "e", "d":
		return v
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return v
	}
	if s.style >= 0 && s.style < len(s.dates) && s.dates[s.style] {
		if d := excelDate(f, s.from1904); d != "" {
			return d
		}
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// excelDate is a serial number as a date, a time or both, "" out of range. Day 60 of the older calendar is a 29 February 1900 that
// never was.
func excelDate(f float64, from1904 bool) string {
	if f < 0 || f > 2_958_465.999 { // 9999-12-31
		return ""
	}
	day := math.Floor(f)
	seconds := int(math.Round((f - day) * 86400))
	base := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if from1904 {
		base = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if day < 60 {
		base = base.AddDate(0, 0, 1)
	}
	t := base.AddDate(0, 0, int(day)).Add(time.Duration(seconds) * time.Second)
	switch {
	case day == 0 && !from1904:
		return t.Format(time.TimeOnly)
	case seconds == 0:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// columnOf is the number of a cell's column by its name such as "AB12", 0 if it has none.
func columnOf(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 4; i++ {
		c := ref[i] | 0x20
		if c < 'a' || c > 'z' {
			break
		}
		n = n*26 + int(c-'a') + 1
	}
	return n
}

// write writes the rows that have cells, without the columns that are empty at the left.
func (s *sheet) write() {
	left := maxColumns
	var rows [][]string
	for _, r := range s.rows {
		if len(r) == 0 {
			continue
		}
		rows = append(rows, r)
		for i, v := range r {
			if v != "" {
				left = min(left, i)
				break
			}
		}
	}
	for i := range rows {
		rows[i] = rows[i][min(left, len(rows[i])):]
	}
	if s.wide {
		s.c.note("Columns beyond the first %d were left out.", maxColumns)
	}
	if s.long {
		s.c.note("Rows beyond the first %d were left out.", maxRows)
	}
	s.c.table(rows)
}
