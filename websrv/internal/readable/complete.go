package readable

import "golang.org/x/net/html/atom"

// Shares of a table's and a list's blocks that must be chosen for all of it to be.
const (
	wholeTable = 0.25
	wholeList  = 0.75
	leastItems = 3    // of a list
	oneItem    = 1e-6 // so little that one block is enough

	aroundPart = 0.8 // share of the text around a part that makes it part of that text
	partLinks  = 0.5 // share of link text from which a part is a menu
)

// complete chooses the rest of parts of which enough was chosen. Blocks are judged one by one, and
// a cell, a command or a step of two words says little for itself; but half a table is worse than
// either none or all of it.
func (p *page) complete(chosen []bool) {
	taken := make([]int32, len(chosen)+1) // characters chosen before each block
	for i, ok := range chosen {
		taken[i+1] = taken[i]
		addIf(ok, &taken[i+1], p.blocks[i].chars)
	}
	for x := range p.boxes {
		if need, ok := p.need(int32(x), chosen, taken); ok {
			p.chooseAll(int32(x), chosen, need)
		}
	}
}

// need is the share of a part's blocks that must be chosen for all of it to be; not ok for what
// is no such part. In the midst of content a table and code are content, and so are a title
// before it and a list after it.
func (p *page) need(x int32, chosen []bool, taken []int32) (share float32, ok bool) {
	b := &p.boxes[x]
	switch b.atom {
	case atom.Table:
		if p.amidst(x, taken) {
			return 0, p.dataTable(x)
		}
		return wholeTable, p.dataTable(x)
	case atom.Ul, atom.Ol:
		if b.first > 0 && chosen[b.first-1] && p.amidst(x, taken) {
			return oneItem, true
		}
		return wholeList, p.items(x) >= leastItems
	case atom.Pre:
		return 0, p.amidst(x, taken)
	case atom.H1:
		return 0, int(b.end) < len(chosen) && chosen[b.end] && p.amidst(x, taken)
	}
	return 0, false
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

// amidst tells whether a part lies in content: nearly all the text beside it in the element around
// it was chosen, and it is no menu.
func (p *page) amidst(x int32, taken []int32) bool {
	t := &p.boxes[x]
	if float32(t.linkChars) >= partLinks*float32(t.chars) {
		return false
	}
	for up := t.parent; up >= 0; up = p.boxes[up].parent {
		around := &p.boxes[up]
		beside := around.chars - t.chars
		if beside <= 0 {
			continue // an element around it alone
		}
		in := taken[around.end] - taken[around.first] - (taken[t.end] - taken[t.first])
		return float32(in) >= aroundPart*float32(beside)
	}
	return false
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
