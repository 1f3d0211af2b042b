package content

import (
	"math"
	"strings"
	"unicode/utf8"
)

// pdfItem is an item of a list.
type pdfItem struct {
	depth, number int // number 0 is a bullet
	text          string
}

// pdfMark is what an item begins with.
type pdfMark struct {
	bullet rune
	number int
	rest   string
}

// markOf reads a line's mark: a bullet, a dash, or a number with a full stop or a bracket.
func markOf(l *pdfLine) (m pdfMark, ok bool) {
	s := l.text()
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case '•', '◦', '▪', '‣', '●', '○', '■', '□', '➢', '✓', '\uf0b7', '\uf0a7', '-', '–', '*', '·':
		rest, cut := strings.CutPrefix(s[size:], " ")
		return pdfMark{bullet: r, rest: rest}, cut && rest != ""
	}
	s = strings.TrimPrefix(s, "(")
	n := 0
	for ; n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9'; n++ {
		m.number = m.number*10 + int(s[n]-'0')
	}
	if n == 0 || m.number == 0 || n+2 >= len(s) || s[n] != '.' && s[n] != ')' || s[n+1] != ' ' {
		return m, false
	}
	m.rest = s[n+2:]
	return m, true
}

// sure tells whether a mark alone makes an item; a dash or a number may also begin a sentence or a heading.
func (m *pdfMark) sure() bool {
	return m.bullet != 0 && m.bullet != '-' && m.bullet != '–' && m.bullet != '*' && m.bullet != '·'
}

// follows tells whether a mark is the next of the same list.
func (m *pdfMark) follows(last *pdfMark) bool {
	if m.bullet != 0 || last.bullet != 0 {
		return m.bullet == last.bullet || m.sure() && last.sure()
	}
	return m.number == last.number+1
}

// pdfList is the list that lines begin with, and how many of them it takes; 0 where there is none. Lines of an item that
// are farther in than its mark are its own. Without a bullet two items in a row are needed, the second right after the
// first one's lines.
func pdfList(lines []pdfLine) (items []pdfItem, n int) {
	if len(lines) == 0 {
		return nil, 0
	}
	mark, ok := markOf(&lines[0])
	if !ok {
		return nil, 0
	}
	if !mark.sure() {
		if next := itemEnd(lines); next == len(lines) || !sameList(&lines[next], &mark, lines[0].x()) {
			return nil, 0
		}
	}
	levels := []float64{lines[0].x()}
	for n < len(lines) {
		l := &lines[n]
		next, ok := markOf(l)
		if !ok || n > 0 && (!next.follows(&mark) || !next.sure() && !sameList(l, &mark, levels[0])) {
			break
		}
		levels = indent(levels, l)
		end := n + itemEnd(lines[n:])
		text := next.rest
		if more := pdfJoin(lines[n+1 : end]); more != "" {
			text += " " + more
		}
		items = append(items, pdfItem{depth: len(levels) - 1, number: next.number, text: text})
		mark, n = next, end
	}
	return items, n
}

// sameList tells whether a line has the next mark at the same place.
func sameList(l *pdfLine, last *pdfMark, x float64) bool {
	m, ok := markOf(l)
	return ok && m.follows(last) && math.Abs(l.x()-x) < l.height*0.8
}

// itemEnd is how many lines the item takes that lines begin with.
func itemEnd(lines []pdfLine) int {
	n := 1
	for n < len(lines) && lines[n].tight() && lines[n].x() > lines[0].x()+lines[0].height*0.4 {
		if _, ok := markOf(&lines[n]); ok {
			break
		}
		n++
	}
	return n
}

// indent is the stack of the open levels' places after a line.
func indent(levels []float64, l *pdfLine) []float64 {
	for len(levels) > 1 && l.x() < levels[len(levels)-1]-l.height*0.4 {
		levels = levels[:len(levels)-1]
	}
	if l.x() > levels[len(levels)-1]+l.height*0.4 && len(levels) <= maxListDepth {
		levels = append(levels, l.x())
	}
	return levels
}
