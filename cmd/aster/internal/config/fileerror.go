package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxErrors    = 10  // of one file; the rest is counted
	maxShownLine = 160 // characters of a line that an error shows
)

// A FileError is one fault of a file, with the place to look at.
type FileError struct {
	Place Place
	Text  string // one line: what is wrong
	Hint  string // one line: what may have been meant, "" if nothing is near
	Line  string // the line of the file, without its end; "" when not known
	Width int    // characters that are wrong, from Place.Column
}

// Error is "file:line:column: text; hint", and below it the line and a caret.
func (e *FileError) Error() string {
	s := fmt.Sprintf("%s: %s", e.Place, e.told())
	if excerpt := e.excerpt(); excerpt != "" {
		s += "\n" + excerpt
	}
	return s
}

// told is the text with its hint.
func (e *FileError) told() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + "; " + e.Hint
}

// problem is a fault that costs less than the file.
func (e *FileError) problem() Problem {
	return Problem{Place: e.Place, Text: e.told(), Excerpt: e.excerpt()}
}

// excerpt is the line and a caret below it, "" where the place is not known.
func (e *FileError) excerpt() string {
	if e.Line == "" || e.Place.Column < 1 {
		return ""
	}
	line, column := window([]rune(e.Line), e.Place.Column)
	gutter := strconv.Itoa(e.Place.Line)
	var pad strings.Builder
	for i, r := range line {
		if i >= column-1 {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t') // as wide as in the line above, however wide that is
		} else {
			pad.WriteString(strings.Repeat(" ", cells(r)))
		}
	}
	width := 0
	for i := column - 1; i < column-1+e.Width && i < len(line); i++ {
		width += cells(line[i])
	}
	return fmt.Sprintf("  %s | %s\n  %s | %s%s", gutter, shown(line), strings.Repeat(" ", len(gutter)), pad.String(), strings.Repeat("^", max(width, 1)))
}

// window cuts a long line so that the column stays in it.
func window(line []rune, column int) ([]rune, int) {
	if from := column - 1 - maxShownLine/2; from > 0 && len(line) > maxShownLine {
		from = min(from, len(line))
		line, column = line[from:], column-from
	}
	return line[:min(len(line), maxShownLine)], column
}

// shown is a line without control characters, each of which keeps its cell.
func shown(line []rune) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(line))
}

// cells is how many columns of a terminal a character takes, near enough for a caret.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0x1f300 && r <= 0x1faff, r >= 0xff01 && r <= 0xff60:
		return 2
	}
	return 1
}

// source is the text of a file, for errors that show it.
type source struct {
	place Place // of the file
	text  string
	lines []int // offsets of its lines, once an error asked for one
}

// line is the nth line, from 1, without its end.
func (s *source) line(n int) string {
	if s.lines == nil {
		s.lines = []int{0}
		for i := range len(s.text) {
			if s.text[i] == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	if n < 1 || n > len(s.lines) {
		return ""
	}
	line, _, _ := strings.Cut(s.text[s.lines[n-1]:], "\n")
	return strings.TrimSuffix(line, "\r")
}

// at is a place in the file.
func (s *source) at(line, column int) Place {
	p := s.place
	p.Line, p.Column = line, column
	return p
}

// errorAt makes the error of a place.
func (s *source) errorAt(line, column, width int, hint, format string, args ...any) *FileError {
	return &FileError{Place: s.at(line, column), Text: fmt.Sprintf(format, args...), Hint: hint, Line: s.line(line), Width: width}
}

// joinErrors joins the faults of a file, in the order of their places.
func joinErrors(errs []*FileError) error {
	if len(errs) == 0 {
		return nil
	}
	slices.SortStableFunc(errs, func(a, b *FileError) int {
		if c := a.Place.Line - b.Place.Line; c != 0 {
			return c
		}
		return a.Place.Column - b.Place.Column
	})
	var all []error
	for i, e := range errs {
		if i == maxErrors {
			all = append(all, fmt.Errorf("%s: and %d more", e.Place.File, len(errs)-i))
			break
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// nearest returns "did you mean …?" for a name that is not among the known ones, "" when
// none is near.
func nearest(name string, known []string) string {
	best, least := "", 3
	if n := utf8.RuneCountInString(name); n <= 3 {
		least = 2
	}
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k), least); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
		for _, k := range known {
			if strings.NewReplacer("-", "", "_", "").Replace(k) == plain {
				best = k
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is how many letters have to be changed, put in, left out or swapped with their
// neighbour to come from a to b; at most limit is counted.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d >= limit || -d >= limit || len(x) > 64 {
		return limit
	}
	prev2, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(y)]
}
