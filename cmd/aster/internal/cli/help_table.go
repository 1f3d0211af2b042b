package cli

import (
	"strings"
	"unicode/utf8"
)

// columnGap is between two columns of a table on the terminal.
const columnGap = "  "

// plainTable sets a Markdown table in columns, a line for its head and one for each row; a
// column whose rule ends in a colon stands at the right.
func plainTable(lines []string) []string {
	var rows [][]string
	right := map[int]bool{}
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
			if i == 1 && strings.HasSuffix(cells[j], ":") {
				right[j] = true
			}
		}
		if i != 1 { // the rule
			rows = append(rows, cells)
		}
	}
	width := map[int]int{}
	for _, cells := range rows {
		for j, c := range cells {
			width[j] = max(width[j], utf8.RuneCountInString(c))
		}
	}
	out := make([]string, 0, len(rows))
	for _, cells := range rows {
		for j, c := range cells {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(c))
			if right[j] {
				cells[j] = pad + c
			} else {
				cells[j] = c + pad
			}
		}
		out = append(out, strings.TrimRight(strings.Join(cells, columnGap), " "))
	}
	return out
}

// tableEnd is the number of lines, of those that follow, which belong to the table that
// begins with the first; 0 where none begins.
func tableEnd(lines []string) int {
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], "|") {
		n++
	}
	if n < 2 { // a head and its rule
		return 0
	}
	return n
}
