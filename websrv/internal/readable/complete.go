package readable

import "golang.org/x/net/html/atom"

// Shares of a table's and a list's blocks that must be chosen for all of it to be.
const (
	wholeTable = 0.25
	wholeList  = 0.75
	leastItems = 3 // of a list
)

// complete chooses the rest of data tables and lists of which a good part was chosen. Blocks are
// judged one by one, and a cell of one letter says little for itself; but half a table is worse
// than either none or all of it.
func (p *page) complete(chosen []bool) {
	for x := range p.boxes {
		b := &p.boxes[x]
		need := float32(0)
		switch b.atom {
		case atom.Table:
			if p.dataTable(int32(x)) {
				need = wholeTable
			}
		case atom.Ul, atom.Ol:
			if p.items(int32(x)) >= leastItems {
				need = wholeList
			}
		}
		if need == 0 {
			continue
		}
		n := 0
		for i := b.first; i < b.end; i++ {
			if chosen[i] {
				n++
			}
		}
		if float32(n) < need*float32(b.end-b.first) {
			continue
		}
		for i := b.first; i < b.end; i++ {
			chosen[i] = chosen[i] || !p.boxes[p.blocks[i].box].hidden
		}
	}
}

// dataTable tells whether a table has a header cell and no table inside: one that holds data
// rather than a layout.
func (p *page) dataTable(x int32) bool {
	header := false
	for k := x + 1; k <= x+p.boxes[x].descendants; k++ {
		switch p.boxes[k].atom {
		case atom.Table:
			return false
		case atom.Th:
			header = true
		}
	}
	return header
}

// items counts the items right below a list.
func (p *page) items(x int32) (n int) {
	for k := x + 1; k <= x+p.boxes[x].descendants; k++ {
		if p.boxes[k].parent == x && p.boxes[k].atom == atom.Li {
			n++
		}
	}
	return n
}
