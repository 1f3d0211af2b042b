package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A FieldDiff is one field of a definition that differs from the approved one. Old and
// New are strangers' text; Lines is safe to show.
type FieldDiff struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
	// Omitted says that the definition was too large to keep, so Old and New are empty.
	Omitted bool `json:"omitted,omitempty"`
}

// Bounds on a shown difference.
const (
	maxDiffLines = 1_000 // of either side; longer ones are shown one after the other
	maxShownDiff = 200   // lines of one field
	diffWidth    = 160   // characters; longer lines go on in the next
	diffContext  = 1
)

// diffDefinitions lists the fields in which now differs from the approved definition,
// which is nil for a new tool: then it lists all fields that are not empty.
func diffDefinitions(approved, now *pinned) (out []FieldDiff) {
	old, oldKept := approved.definition()
	cur, curKept := now.definition()
	for i, name := range fieldNames {
		if approved != nil && approved.Hashes[i] == now.Hashes[i] {
			continue
		}
		d := FieldDiff{Field: name, Omitted: approved != nil && !oldKept || !curKept}
		if !d.Omitted {
			d.Old, d.New = old[i], cur[i]
			if d.Old == d.New {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

// Lines shows the difference line by line, "-" before what was approved and "+" before
// what is offered, schemas laid out. Nothing in it can steer a terminal or hide.
func (d *FieldDiff) Lines() []string {
	if d.Omitted {
		return []string{d.Field + ": differs; it is too large to be shown"}
	}
	out := []string{d.Field + ":"}
	lines := diffLines(layOut(d.Old), layOut(d.New))
	if len(lines) == 0 {
		return append(out, "  (differs in characters that look alike)")
	}
	for _, l := range lines {
		if len(out) == maxShownDiff {
			return append(out, "  …")
		}
		out = append(out, l)
	}
	return out
}

// layOut splits a field into lines that are safe to show: JSON objects indented, other
// text as it is.
func layOut(s string) (lines []string) {
	if s == "" {
		return nil
	}
	if strings.HasPrefix(s, "{") {
		var b bytes.Buffer
		if json.Indent(&b, []byte(s), "", "  ") == nil {
			s = b.String()
		}
	}
	for _, l := range strings.Split(s, "\n") {
		// Nothing is cut: the difference might be there.
		r := []rune(Show(l, 0))
		for len(r) > diffWidth {
			lines, r = append(lines, string(r[:diffWidth])), r[diffWidth:]
		}
		lines = append(lines, string(r))
	}
	return lines
}

// diffLines is a difference by longest common subsequence, with a line of context.
func diffLines(a, b []string) []string {
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return append(prefixed("  - ", a), prefixed("  + ", b)...)
	}
	common := make([][]uint16, len(a)+1)
	for i := range common {
		common[i] = make([]uint16, len(b)+1)
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
	var all []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, "    "+a[i])
			i++
			j++
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			all = append(all, "  - "+a[i])
			i++
		default:
			all = append(all, "  + "+b[j])
			j++
		}
	}
	return near(all)
}

// near keeps the lines that differ and their neighbours.
func near(all []string) (out []string) {
	differs := func(i int) bool { return i >= 0 && i < len(all) && all[i][:4] != "    " }
	skipped := 0
	for i, l := range all {
		keep := false
		for k := i - diffContext; k <= i+diffContext; k++ {
			keep = keep || differs(k)
		}
		if !keep {
			skipped++
			continue
		}
		if skipped > 0 {
			out = append(out, fmt.Sprintf("    …[%d lines]…", skipped))
		}
		skipped = 0
		out = append(out, l)
	}
	if skipped > 0 && len(out) > 0 {
		out = append(out, fmt.Sprintf("    …[%d lines]…", skipped))
	}
	return out
}

func prefixed(prefix string, lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, prefix+l)
	}
	return out
}
