package content

import (
	"math"
	"unicode/utf8"
)

const (
	maxTableLines = 500 // of a page's table; what follows is the next one
	proseColumn   = 25  // letters of a mean cell from which columns are columns of prose
)

// pdfColumn is how far the cells of a column reach.
type pdfColumn struct{ from, to float64 }

// pdfTable is the table that lines begin with, and how many of them it takes; 0 where there is none. A table is clear if
// it has three rows, or two of three columns and more, if no cell reaches into another column, if the cells of each
// column begin, end or lie about one place, and if they do not read like prose.
func pdfTable(lines []pdfLine) (rows [][]string, n int) {
	n = pdfTableLines(lines)
	for range 3 { // a row that does not fit ends the table; what is left may be of another width
		if n < 2 {
			return nil, 0
		}
		columns := widest(lines[:n])
		fit, cells := fitColumns(lines[:n], columns)
		if fit < n {
			n = fit
			continue
		}
		if len(cells) < 2 || len(cells) < 3 && len(columns) < 3 || !clearColumns(cells, columns, lines[0].height) {
			return nil, 0
		}
		rows = make([][]string, len(cells))
		for i, row := range cells {
			rows[i] = make([]string, len(columns))
			for k := range row {
				rows[i][k] = row[k].text
			}
		}
		return rows, n
	}
	return nil, 0
}

// pdfTableLines is how many lines may be of one table: lines of two cells and more of about one height.
func pdfTableLines(lines []pdfLine) int {
	n := 0
	for n < min(len(lines), maxTableLines) && len(lines[n].cells) >= 2 {
		l := &lines[n]
		if n > 0 && (l.down <= 0 || l.down > 4*max(l.height, lines[0].height)) {
			break
		}
		n++
	}
	return n
}

// widest are the columns of the line with most cells.
func widest(lines []pdfLine) []pdfColumn {
	w := 0
	for i := range lines {
		if len(lines[i].cells) > len(lines[w].cells) {
			w = i
		}
	}
	columns := make([]pdfColumn, len(lines[w].cells))
	for k, c := range lines[w].cells {
		columns[k] = pdfColumn{c.x, c.end}
	}
	return columns
}

// fitColumns puts each line's cells into the columns, which grow with them, and stops at a line that does not fit.
func fitColumns(lines []pdfLine, columns []pdfColumn) (fit int, rows [][]pdfCell) {
	for i := range lines {
		row := make([]pdfCell, len(columns))
		k := 0
		for _, c := range lines[i].cells {
			for k < len(columns) && columns[k].to < c.x {
				k++
			}
			if k == len(columns) || c.end < columns[k].from || k+1 < len(columns) && c.end >= columns[k+1].from || k > 0 && c.x <= columns[k-1].to {
				return i, rows
			}
			columns[k] = pdfColumn{min(columns[k].from, c.x), max(columns[k].to, c.end)}
			row[k] = c
			k++
		}
		rows = append(rows, row)
	}
	return len(lines), rows
}

// clearColumns tells whether each column's cells below the head are aligned, and not all columns are prose.
func clearColumns(rows [][]pdfCell, columns []pdfColumn, height float64) bool {
	prose := true
	for k := range columns {
		var left, right, middle spread
		letters, n := 0, 0
		for i, row := range rows {
			c := row[k]
			if c.text == "" {
				continue
			}
			letters, n = letters+utf8.RuneCountInString(c.text), n+1
			if i > 0 {
				left.add(c.x)
				right.add(c.end)
				middle.add((c.x + c.end) / 2)
			}
		}
		if min(left.width(), right.width(), middle.width()) > height*0.6 {
			return false
		}
		prose = prose && letters > proseColumn*n
	}
	return !prose
}

// spread is from the least to the greatest of numbers.
type spread struct {
	least, most float64
	any         bool
}

func (s *spread) add(x float64) {
	if !s.any {
		s.least, s.most, s.any = x, x, true
	}
	s.least, s.most = math.Min(s.least, x), math.Max(s.most, x)
}

func (s *spread) width() float64 { return s.most - s.least }
