package readable

import "golang.org/x/net/html/atom"

// Shares of a table's and a list's blocks that must be chosen for all of it to be.
const (
	wholeTable = 0.25
	wholeList  = 0.75
	leastItems = 3 // of a list

	aroundTable = 0.8 // share of the text around a table that makes it part of that text
	tableLinks  = 0.5 // share of link text from which a table is a menu
)

// complete chooses the rest of data tables and lists of which a good part was chosen. Blocks are
// judged one by one, and a cell of one letter says little for itself; but half a table is worse
// than either none or all of it. A table in the midst of content is content.
func (p *page) complete(chosen []bool) {
	taken := make([]int32, len(chosen)+1) // characters chosen before each block
	for i, ok := range chosen {
		taken[i+1] = taken[i]
		addIf(ok, &taken[i+1], p.blocks[i].chars)
	}
	for x := range p.boxes {
		var need float32
		switch p.boxes[x].atom {
		case atom.Table:
			if !p.dataTable(int32(x)) {
				continue
			}
			if !p.amidst(int32(x), taken) {
				need = wholeTable
			}
		case atom.Ul, atom.Ol:
			if p.items(int32(x)) < leastItems {
				continue
			}
			need = wholeList
		default:
			continue
		}
		p.chooseAll(int32(x), chosen, need)
	}
}

// chooseAll chooses all blocks of a box if a share of them is chosen already.
func (p *page) chooseAll(x int32, chosen []bool, need float32) {
	b := &p.boxes[x]
	n := 0
	for i := b.first; i < b.end; i++ {
		if chosen[i] {
			n++
		}
	}
	if float32(n) < need*float32(b.end-b.first) {
		return
	}
	for i := b.first; i < b.end; i++ {
		chosen[i] = chosen[i] || !p.boxes[p.blocks[i].box].hidden
	}
}

// amidst tells whether a table lies in content: nearly all the text beside it in the element around
// it was chosen, and it is no menu.
func (p *page) amidst(x int32, taken []int32) bool {
	t := &p.boxes[x]
	if t.parent < 0 || float32(t.linkChars) >= tableLinks*float32(t.chars) {
		return false
	}
	up := &p.boxes[t.parent]
	beside := up.chars - t.chars
	in := taken[up.end] - taken[up.first] - (taken[t.end] - taken[t.first])
	return beside > 0 && float32(in) >= aroundTable*float32(beside)
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
