package readable

import (
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of the block decision.
const (
	maxBlocks = 20000 // blocks of a page that are looked at; the rest is left out
	maxBoxes  = 60000 // block-level elements of a page that are looked at
)

// block is a run of text between block-level boundaries: a paragraph, a cell, a heading.
type block struct {
	text       string // white space collapsed, but in a pre element
	first, end int32  // its text nodes: page.nodes[first:end]
	box        int32  // innermost block-level element around it
	chars      int32  // runes of text
	linkChars  int32  // runes of it inside links
	links      int32
	hints      hints // name hints of the inline elements in it
	inline     inlineSet
	kept       float32 // share of its characters that readability keeps, 0 to 1
	before     int32   // images before it since the block before
}

// box is a block-level element, or the body itself.
type box struct {
	node        *html.Node
	parent      int32 // -1 for the root
	first, end  int32 // blocks inside: page.blocks[first:end]
	chars       int32 // totals of those blocks
	linkChars   int32
	keptChars   int32
	depth       int32
	atom        atom.Atom
	hints       hints
	path        uint32 // hash of the tags from the root
	classPath   uint32 // hash of the tags and the element's class, with the parents'
	same        int32  // siblings of the same tag and class, itself included
	nth         int32  // which of those it is
	hidden      bool
	descendants int32 // boxes inside
}

// page is a parsed page cut into blocks.
type page struct {
	doc    *html.Node
	body   *html.Node
	boxes  []box
	blocks []block
	nodes  []*html.Node // text nodes of all blocks in order
	images []imageAt
	meta   *meta

	open    bool // a block is being collected
	cur     block
	buf     []byte
	space   bool // white space is due before the next text
	inPre   bool
	pending int32 // images since the last block
}

// imageAt is an image and the number of blocks before it.
type imageAt struct {
	node  *html.Node
	after int32
}

// state travels down the tree.
type state struct {
	box    int32
	link   bool
	hints  hints // of inline ancestors within the box
	inline inlineSet
}

// cut walks the body and fills boxes, blocks and nodes.
func (p *page) cut() {
	var boxes, texts int
	countNodes(p.body, &boxes, &texts)
	p.boxes = make([]box, 0, min(boxes+1, maxBoxes))
	p.nodes = make([]*html.Node, 0, texts)
	p.blocks = make([]block, 0, min(texts, boxes+1, maxBlocks))
	p.boxes = append(p.boxes, box{node: p.body, parent: -1, atom: atom.Body, path: 1, classPath: 1, same: 1})
	p.walk(p.body, state{})
	p.flush()
	p.boxes[0].end = int32(len(p.blocks))
	p.total()
}

// countNodes counts what cut will find at most, so that it takes its memory once.
func countNodes(n *html.Node, boxes, texts *int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			if !blankText(c.Data) {
				*texts++
			}
		case html.ElementNode:
			if skipped(c.DataAtom) {
				continue
			}
			if blockLevel(c.DataAtom) {
				*boxes++
			}
			countNodes(c, boxes, texts)
		}
	}
}

// blankText tells whether a text is white space of ASCII only.
func blankText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] > ' ' {
			return false
		}
	}
	return true
}

func (p *page) walk(n *html.Node, st state) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			p.addText(c, st)
		case html.ElementNode:
			if len(p.blocks) < maxBlocks && len(p.boxes) < maxBoxes {
				p.element(c, st)
			}
		}
	}
}

func (p *page) element(c *html.Node, st state) {
	a := c.DataAtom
	switch {
	case skipped(a):
		return
	case a == atom.Br:
		p.lineBreak()
		return
	case a == atom.Img:
		p.images = append(p.images, imageAt{c, int32(len(p.blocks))})
		p.pending++
		return
	case blockLevel(a) && !p.inPre:
		p.flush()
		b := p.openBox(c, st.box)
		p.inPre = a == atom.Pre
		p.walk(c, state{box: b, link: st.link})
		p.flush()
		p.inPre = false
		p.boxes[b].end = int32(len(p.blocks))
		p.boxes[b].descendants = int32(len(p.boxes)) - b - 1
		return
	}
	st.hints |= nameHints(c)
	st.inline |= inlineOf(a)
	if a == atom.A && hasAttr(c, "href") {
		st.link = true
		p.space = p.space || follows(c)
		if p.open {
			p.cur.links++
		} else {
			p.cur.links = 1
		}
	}
	p.walk(c, st)
}

// follows tells whether a link comes right after another one. Style sheets keep such apart, and
// their words are not one word.
func follows(c *html.Node) bool {
	s := c.PrevSibling
	return s != nil && s.Type == html.ElementNode && s.DataAtom == atom.A
}

func (p *page) openBox(c *html.Node, parent int32) int32 {
	up := &p.boxes[parent]
	b := box{node: c, parent: parent, first: int32(len(p.blocks)), depth: up.depth + 1, atom: c.DataAtom,
		hints: nameHints(c), same: 1}
	b.hidden = up.hidden || hiddenElement(c)
	b.path = mix(up.path, uint32(c.DataAtom))
	b.classPath = mix(up.classPath, uint32(c.DataAtom)^hashString(attr(c, "class")))
	p.boxes = append(p.boxes, b)
	return int32(len(p.boxes) - 1)
}

func mix(h, v uint32) uint32 { return (h ^ v) * 16777619 }

func hashString(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// addText appends a text node to the open block, or opens one.
func (p *page) addText(n *html.Node, st state) {
	start := len(p.buf)
	for i := 0; i < len(n.Data); {
		r, size := utf8.DecodeRuneInString(n.Data[i:])
		i += size
		if invisible(r) {
			continue
		}
		if !p.inPre && isSpace(r) {
			p.space = true
			continue
		}
		if p.space && len(p.buf) > 0 {
			p.buf = append(p.buf, ' ')
		}
		p.space = false
		p.buf = utf8.AppendRune(p.buf, r)
	}
	if len(p.buf) == start {
		return
	}
	if !p.open {
		p.open = true
		links := p.cur.links
		p.cur = block{first: int32(len(p.nodes)), box: st.box, before: p.pending, links: links}
		p.pending = 0
	}
	p.nodes = append(p.nodes, n)
	p.cur.hints |= st.hints
	p.cur.inline |= st.inline
	runes := int32(utf8.RuneCount(p.buf[start:]))
	p.cur.chars += runes
	if st.link {
		p.cur.linkChars += runes
	}
}

func (p *page) lineBreak() {
	if p.inPre {
		p.buf = append(p.buf, '\n')
		return
	}
	p.space = true
}

// flush closes the open block.
func (p *page) flush() {
	if p.open {
		p.cur.text = string(p.buf)
		p.cur.end = int32(len(p.nodes))
		p.blocks = append(p.blocks, p.cur)
	}
	p.open, p.space = false, false
	p.cur.links = 0
	p.buf = p.buf[:0]
}

// total adds the blocks' figures to the boxes around them and counts like siblings.
func (p *page) total() {
	for i := range p.blocks {
		b := &p.blocks[i]
		for x := b.box; x >= 0; x = p.boxes[x].parent {
			bx := &p.boxes[x]
			bx.chars += b.chars
			bx.linkChars += b.linkChars
		}
	}
	counts := make(map[uint64]int32, len(p.boxes))
	key := func(b *box) uint64 { return uint64(b.parent)<<32 | uint64(b.classPath) }
	for i := range p.boxes {
		k := key(&p.boxes[i])
		counts[k]++
		p.boxes[i].nth = counts[k]
	}
	for i := range p.boxes {
		p.boxes[i].same = counts[key(&p.boxes[i])]
	}
}

// isSpace is white space of any script, no-break space included.
func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\f', '\v', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// invisible characters carry nothing for a reader: soft hyphens, zero-width marks (but the
// joiners, which scripts need), byte order marks, controls.
func invisible(r rune) bool {
	return r == 0xAD || r == 0x200b || r == 0xFEFF || r == 0x2060 || r < 0x20 && !isSpace(r) || r == 0x7f
}
