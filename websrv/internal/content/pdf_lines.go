package content

import (
	"math"
	"strings"
	"sync"
)

const (
	maxPDFLines = 5_000 // of a page that are laid out together
	columnGap   = 1.5   // heights of a letter from one column to the next, at least
)

// pdfCell is a run of characters on a line, without a gap as wide as between columns.
type pdfCell struct {
	x, end float64 // where it begins and where its last letter ends
	text   string
}

// pdfLine is a line of a page.
type pdfLine struct {
	cells  []pdfCell
	down   float64 // from the line above
	height float64 // of its first letter
	apart  bool    // it begins a paragraph
}

func (l *pdfLine) x() float64 { return l.cells[0].x }

// text is all of the line.
func (l *pdfLine) text() string {
	if len(l.cells) == 1 {
		return l.cells[0].text
	}
	list := make([]string, len(l.cells))
	for i := range l.cells {
		list[i] = l.cells[i].text
	}
	return strings.Join(list, " ")
}

// tight tells whether a line is no farther from the one above than lines of a paragraph are.
func (l *pdfLine) tight() bool { return !l.apart && l.down <= l.height*1.45 }

// pdfLines puts characters together to lines, by where they stand.
type pdfLines struct {
	lines   []pdfLine
	buf     []byte // text of the open cell, the last one
	inked   bool   // anything but space was drawn on the page
	started bool
	x, y    float64 // where the next character would stand
	ink     float64 // where the last one that is no space ended
	height  float64 // of the last
	lineGap float64 // between the lines of this paragraph
}

// put adds a character at a place. The text's own direction is the x axis, whatever way the page is turned.
func (w *pdfText) put(text string, at pdfMatrix, height, width float64) {
	length := math.Hypot(at[0], at[1])
	if length == 0 || height == 0 || math.IsNaN(height+length) || math.IsInf(height+length+at[4]+at[5], 0) {
		return
	}
	cos, sin := at[0]/length, at[1]/length
	x, y := at[4]*cos+at[5]*sin, -at[4]*sin+at[5]*cos
	if !w.started {
		w.open(x, 0, height, true)
	} else {
		w.between(x, y, height)
	}
	w.started = true
	w.x, w.y, w.height = x+width, y, height
	w.buf = append(w.buf, text...)
	if strings.TrimSpace(text) != "" {
		w.inked, w.ink = true, w.x
	}
}

// between adds the space, the column, the line end or the paragraph's end that the distance to the last character means.
func (w *pdfText) between(x, y, height float64) {
	down, gap := w.y-y, x-w.x
	tall := max(height, w.height)
	switch {
	case math.Abs(down) > tall*0.5:
		apart := down > tall*1.9 || down < -tall*0.6 || w.lineGap > 0 && down > w.lineGap*1.35 || math.Abs(height-w.height) > tall*0.15
		if w.lineGap = down; apart {
			w.lineGap = 0
		}
		w.open(x, down, height, apart)
	case x-w.ink > tall*columnGap && len(w.lines[len(w.lines)-1].cells) < maxColumns:
		w.column(x)
	case gap > tall*0.15 || gap < -tall*1.5:
		w.buf = append(w.buf, ' ')
	}
}

// open begins a line.
func (w *pdfText) open(x, down, height float64, apart bool) {
	w.close()
	if len(w.lines) == maxPDFLines {
		w.flush()
	}
	w.lines = append(w.lines, pdfLine{cells: []pdfCell{{x: x}}, down: down, height: height, apart: apart})
	w.ink = x
}

// column begins the next cell of the line. One without any letter is not one.
func (w *pdfText) column(x float64) {
	w.close()
	l := &w.lines[len(w.lines)-1]
	if last := &l.cells[len(l.cells)-1]; last.text == "" {
		last.x = x
		return
	}
	l.cells = append(l.cells, pdfCell{x: x})
}

// close ends the open cell.
func (w *pdfText) close() {
	if len(w.lines) > 0 {
		l := &w.lines[len(w.lines)-1]
		c := &l.cells[len(l.cells)-1]
		c.end = w.ink
		c.text = strings.Join(strings.Fields(ligatures(strings.ToValidUTF8(string(w.buf), ""))), " ")
	}
	w.buf = w.buf[:0]
}

// flush writes the lines that are there.
func (w *pdfText) flush() {
	w.close()
	w.f.c.layOut(w.lines)
	w.lines = w.lines[:0]
}

// ligatures writes ligatures as the letters they join, and drops control characters.
func ligatures(s string) string {
	return pdfLetters().Replace(s)
}

var pdfLetters = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ﬄ", "ffl", "\u00ad", "", "\x00", "")
})
