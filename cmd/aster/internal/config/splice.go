package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const defaultStep = 2

// splicer changes the bytes of a file by the places of its nodes.
type splicer struct {
	src   *source
	text  string
	lines []int  // offsets of the lines
	eol   string // as the file has it
	shift int    // bytes of a byte order mark
}

func newSplicer(src *source) *splicer {
	s := &splicer{src: src, text: src.text, lines: []int{0}, eol: "\n"}
	for i := range len(s.text) {
		if s.text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	if i := strings.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		s.eol = "\r\n"
	}
	if strings.HasPrefix(s.text, bom) {
		s.shift = len(bom)
	}
	return s
}

// shape is the error of a file that only a person should edit.
func (s *splicer) shape(n *node, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", s.src.at(n.line, n.column), fmt.Sprintf(format, args...), ErrShape)
}

// offset is the byte of a place.
func (s *splicer) offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return len(s.text)
	}
	at := s.lines[line-1]
	if line == 1 {
		at += s.shift
	}
	for range column - 1 {
		if at >= len(s.text) || s.text[at] == '\n' {
			break
		}
		_, n := utf8.DecodeRuneInString(s.text[at:])
		at += n
	}
	return at
}

// lineText is a line without its end.
func (s *splicer) lineText(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	from := s.lines[line-1]
	if line == 1 {
		from += s.shift
	}
	to := len(s.text)
	if line < len(s.lines) {
		to = s.lines[line] - 1
	}
	return strings.TrimSuffix(s.text[min(from, to):to], "\r")
}

// replace puts text in place of the bytes from from to to.
func (s *splicer) replace(from, to int, text string) {
	s.text = s.text[:from] + text + s.text[to:]
}

// insertLines puts whole lines before a line.
func (s *splicer) insertLines(before int, lines string) {
	at := len(s.text)
	if before <= len(s.lines) {
		at = s.lines[before-1]
	}
	if before == 1 {
		at = s.shift
	}
	if at == len(s.text) && at > s.shift && s.text[at-1] != '\n' {
		lines = s.eol + strings.TrimSuffix(lines, s.eol) // the file ended without a line end, and still does
	}
	s.replace(at, at, lines)
}

// blockEnd is the line after the block that begins on a line with a key or a dash that is
// indented by indent. dashes says that a list at the same indentation belongs to it.
func (s *splicer) blockEnd(line, indent int, dashes bool) int {
	end := line + 1
	for l := line + 1; l <= len(s.lines); l++ {
		text := s.lineText(l)
		body := strings.TrimLeft(text, " \t")
		own := len(text) - len(body)
		switch {
		case body == "":
		case own > indent, body[0] != '#' && own == indent && dashes && (body == "-" || strings.HasPrefix(body, "- ")):
			end = l + 1
		default:
			return end
		}
	}
	return end
}

// pairEnd is the line after a key and its value, where it is written as a block.
func (s *splicer) pairEnd(p *pair) int {
	v := p.value
	end := s.blockEnd(p.line, p.column-1, v.kind == kindList && !v.flow)
	if at := s.scalarOrFlowEnd(v); at >= 0 { // its last line may be indented less
		end = max(end, s.lineOf(at)+1)
	}
	return end
}

func (s *splicer) lineOf(offset int) int {
	line := 1
	for line < len(s.lines) && s.lines[line] <= offset {
		line++
	}
	return line
}

// scalarOrFlowEnd is the last byte of a value in quotes or brackets, -1 for others.
func (s *splicer) scalarOrFlowEnd(n *node) int {
	if !n.literal {
		return -1
	}
	at := s.offset(n.line, n.column)
	switch {
	case n.flow && (n.kind == kindMap || n.kind == kindList):
		if f := s.flow(at); f.ok {
			return f.end
		}
	case n.quote == '"' || n.quote == '\'':
		if end := quoteEnd(s.text, at); end > 0 {
			return end - 1
		}
	}
	return -1
}

// quoteEnd is the offset after a quoted text that begins at from, -1 if it is not closed.
func quoteEnd(text string, from int) int {
	if from >= len(text) || text[from] != '"' && text[from] != '\'' {
		return -1
	}
	q := text[from]
	for i := from + 1; i < len(text); i++ {
		switch {
		case q == '"' && text[i] == '\\':
			i++
		case text[i] == q && q == '\'' && i+1 < len(text) && text[i+1] == q:
			i++
		case text[i] == q:
			return i + 1
		}
	}
	return -1
}

// flowParts is a list or map in brackets, cut at its commas.
type flowParts struct {
	parts [][2]int // what stands between commas, without space around it
	end   int      // offset of the closing bracket
	last  int      // offset after the last byte before it that is no space and no comment
	ok    bool
}

// flow reads brackets that begin at from.
func (s *splicer) flow(from int) (f flowParts) {
	if from >= len(s.text) || s.text[from] != '[' && s.text[from] != '{' {
		return f
	}
	part := [2]int{-1, -1}
	depth, before := 1, s.text[from]
	f.last = from + 1
	flush := func() {
		if part[0] >= 0 {
			f.parts = append(f.parts, part)
		}
		part = [2]int{-1, -1}
	}
	for i := from + 1; i < len(s.text); i++ {
		c := s.text[i]
		next := i + 1
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '#' && strings.IndexByte(" \t\n\r", s.text[i-1]) >= 0:
			if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
				i += n
				continue
			}
			return f
		case (c == '"' || c == '\'') && strings.IndexByte("[{,:?", before) >= 0:
			if next = quoteEnd(s.text, i); next < 0 {
				return f
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				flush()
				f.end, f.ok = i, true
				return f
			}
		case c == ',' && depth == 1:
			flush()
			before, f.last = c, next
			continue
		}
		if part[0] < 0 {
			part[0] = i
		}
		part[1], f.last, before = next, next, s.text[next-1]
		if c == '"' || c == '\'' {
			before = 'x'
		}
		i = next - 1
	}
	return f
}

// step is how far the file indents.
func (s *splicer) step(root *node) int {
	for _, p := range root.pairs {
		if v := p.value; v.kind == kindMap && !v.flow && len(v.pairs) > 0 && v.literal && v.line > p.line && v.column > p.column {
			return v.column - p.column
		}
	}
	return defaultStep
}
