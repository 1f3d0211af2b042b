package readable

import (
	"golang.org/x/net/html/atom"
)

// tagSet is a set of elements whose distance above a block is a feature.
type tagSet uint32

const (
	tagNav tagSet = 1 << iota
	tagHeader
	tagFooter
	tagAside
	tagForm
	tagMain
	tagArticle
	tagSection
	tagTable
	tagList
	tagItem
	tagDefinitions
	tagFigure
	tagQuote
	tagFold
	tagButton
	tagParagraph
	tagPre

	tagCount = iota
)

func tagOf(a atom.Atom) tagSet {
	switch a {
	case atom.Nav:
		return tagNav
	case atom.Header:
		return tagHeader
	case atom.Footer:
		return tagFooter
	case atom.Aside:
		return tagAside
	case atom.Form, atom.Fieldset:
		return tagForm
	case atom.Main:
		return tagMain
	case atom.Article:
		return tagArticle
	case atom.Section:
		return tagSection
	case atom.Table:
		return tagTable
	case atom.Ul, atom.Ol, atom.Menu:
		return tagList
	case atom.Li:
		return tagItem
	case atom.Dl:
		return tagDefinitions
	case atom.Figure:
		return tagFigure
	case atom.Blockquote:
		return tagQuote
	case atom.Details:
		return tagFold
	case atom.Button:
		return tagButton
	case atom.P:
		return tagParagraph
	case atom.Pre:
		return tagPre
	}
	return 0
}

const (
	far    = 14 // distances are counted up to here
	absent = 16 // the distance of what is not there
)

// distances of the nearest ancestor, itself included, with each hint and tag, in levels.
type distances [hintCount + tagCount]uint8

// measure fills the boxes' distances from the root down.
func (p *page) measure() []distances {
	out := make([]distances, len(p.boxes))
	for i := range p.boxes {
		b := &p.boxes[i]
		d := &out[i]
		if b.parent < 0 {
			for k := range d {
				d[k] = absent
			}
		} else {
			*d = out[b.parent]
			for k := range d {
				if d[k] < far {
					d[k]++
				}
			}
		}
		for k := 0; k < hintCount; k++ {
			if b.hints&(1<<k) != 0 {
				d[k] = 0
			}
		}
		t := tagOf(b.atom)
		for k := 0; t != 0 && k < tagCount; k++ {
			if t&(1<<k) != 0 {
				d[hintCount+k] = 0
			}
		}
	}
	return out
}

// root is the deepest box that still holds most of the page's text outside links: where content
// is if it is in one place.
func (p *page) root() int32 {
	const most = 0.6
	at := int32(0)
	for i := int32(1); i < int32(len(p.boxes)); i++ {
		b := &p.boxes[i]
		if b.parent == at && float32(b.chars-b.linkChars) >= most*float32(p.boxes[0].chars-p.boxes[0].linkChars) {
			at = i
		}
	}
	return at
}

// isIn tells whether box x is box a or inside it. Boxes are numbered in document order.
func (p *page) isIn(x, a int32) bool { return x >= a && x <= a+p.boxes[a].descendants }

// group is the nearest box at or above x that is one of at least three alike, -1 if there is none.
func (p *page) group(x int32) int32 {
	for ; x > 0; x = p.boxes[x].parent {
		if p.boxes[x].same >= 3 && p.boxes[x].atom != atom.P && headingLevel(p.boxes[x].atom) == 0 {
			return x
		}
	}
	return -1
}

// like sums the blocks that lie on the same path.
type like struct {
	blocks, chars, linkChars int32
	kept                     float32
}

// paths sums blocks by their tag path and by their path with classes.
func (p *page) paths() (tags, classes map[uint32]*like) {
	tags, classes = make(map[uint32]*like, 64), make(map[uint32]*like, 128)
	add := func(m map[uint32]*like, k uint32, b *block) {
		l := m[k]
		if l == nil {
			l = &like{}
			m[k] = l
		}
		l.blocks++
		l.chars += b.chars
		l.linkChars += b.linkChars
		l.kept += b.kept * float32(b.chars)
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		add(tags, p.boxes[b.box].path, b)
		add(classes, p.boxes[b.box].classPath, b)
	}
	return tags, classes
}
