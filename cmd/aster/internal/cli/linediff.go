package cli

import (
	"fmt"
	"strings"
)

// Bounds of a shown change.
const (
	maxDiffLines = 400 // of the changed part; a longer one is shown as a whole
	maxDiffLine  = 160 // characters; of a longer line only what changes is shown
)

// lineDiff shows the lines that differ between two texts, with their numbers, and none of
// the others: those may hold secrets.
func lineDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	endA, endB := len(a), len(b)
	for endA > from && endB > from && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	var out strings.Builder
	for _, h := range hunks(a[from:endA], b[from:endB]) {
		writeHunk(&out, h, from)
	}
	return out.String()
}

func splitLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A hunk is a run of lines in place of others.
type hunk struct {
	at       int // lines of the new text before it
	old, new []string
}

// hunks are the runs that differ, by the longest common subsequence.
func hunks(a, b []string) []hunk {
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return []hunk{{0, a, b}}
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		h := hunk{at: j}
		for i < len(a) && (j == len(b) || a[i] != b[j] && common[i+1][j] >= common[i][j+1]) {
			h.old = append(h.old, a[i])
			i++
		}
		for j < len(b) && (i == len(a) || a[i] != b[j] && common[i][j+1] > common[i+1][j]) {
			h.new = append(h.new, b[j])
			j++
		}
		if len(h.old)+len(h.new) > 0 {
			out = append(out, h)
		}
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
		}
	}
	return out
}

// writeHunk writes one run. Of a line that only grows or shrinks, the first of both, just
// the part that comes or goes is shown.
func writeHunk(out *strings.Builder, h hunk, above int) {
	n := above + h.at + 1
	old, fresh := h.old, h.new
	if len(old) > 0 && len(fresh) > 0 && (len(old) == 1 || len(fresh) == 1) {
		lost, gained := middle(old[0], fresh[0])
		if lost == "" || gained == "" || max(len(old[0]), len(fresh[0])) > maxDiffLine {
			if lost != "" {
				fmt.Fprintf(out, "%5d - … %s …\n", n, strings.TrimSpace(lost))
			}
			if gained != "" {
				fmt.Fprintf(out, "%5d + … %s\n", n, strings.TrimSpace(gained))
			}
			old, fresh, n = old[1:], fresh[1:], n+1
		}
	}
	for _, l := range old {
		fmt.Fprintf(out, "%5d - %s\n", n, l)
	}
	for i, l := range fresh {
		fmt.Fprintf(out, "%5d + %s\n", n+i, l)
	}
}

// middle is what differs between two lines.
func middle(a, b string) (inA, inB string) {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	a, b = a[from:], b[from:]
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
