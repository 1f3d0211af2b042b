package readable

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxURLBytes = 4096 // longer addresses are left out

// extract does what Extract promises on a parsed page.
func extract(doc *html.Node, base *url.URL, o *Options) (*Document, error) {
	keep, err := selectors(doc, o)
	if err != nil {
		return nil, err
	}
	p := newPage(doc)
	base = p.base(base)
	d := &Document{}
	links := p.links(base)
	var chosen []bool
	var v *view
	switch {
	case len(o.Include) > 0:
		chosen = p.within(keep)
	case o.Whole:
		chosen = p.visible()
	default:
		p.ask()
		v = p.look(base)
		chosen = v.choose()
		p.complete(chosen)
	}
	d.BodyChars = p.bodyChars()
	p.describe(d, base)
	d.Kind = v.kind(p.meta, addressShape(base))
	d.Text = p.text(chosen)
	d.Links = markContent(links, p, chosen)
	p.render(d, chosen, base)
	return d, nil
}

// newPage strips a document and cuts it into blocks.
func newPage(doc *html.Node) *page {
	p := &page{doc: doc, meta: strip(doc)}
	p.body = find(doc, atom.Body)
	if p.body == nil {
		p.body = &html.Node{Type: html.ElementNode, DataAtom: atom.Body, Data: "body"}
	}
	p.meta.readData()
	p.unshell()
	p.cut()
	return p
}

// find is the first element of a kind at the top of the tree.
func find(doc *html.Node, a atom.Atom) *html.Node {
	for c := doc.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if c.DataAtom == a {
			return c
		}
		if c.DataAtom == atom.Html {
			return find(c, a)
		}
	}
	return nil
}

// base applies the base element.
func (p *page) base(u *url.URL) *url.URL {
	if p.meta.base == "" {
		return u
	}
	if b, err := u.Parse(p.meta.base); err == nil && (b.Scheme == "http" || b.Scheme == "https") {
		return b
	}
	return u
}

// furniture are the elements around a page's content.
func furniture(a atom.Atom) bool {
	switch a {
	case atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Form, atom.Button:
		return true
	}
	return false
}

// inFurniture tells whether a block lies in such an element; a header inside an article or main
// element is that element's own.
func (p *page) inFurniture(i int) bool {
	outer := false
	for x := p.blocks[i].box; x >= 0; x = p.boxes[x].parent {
		switch a := p.boxes[x].atom; {
		case a == atom.Article || a == atom.Main:
			return outer
		case a == atom.Header:
			if p.inArticle(x) {
				continue
			}
			return true
		case furniture(a):
			return true
		}
	}
	return outer
}

func (p *page) inArticle(x int32) bool {
	for ; x >= 0; x = p.boxes[x].parent {
		if a := p.boxes[x].atom; a == atom.Article || a == atom.Main {
			return true
		}
	}
	return false
}

func (p *page) bodyChars() int {
	n := 0
	for i := range p.blocks {
		if !p.inFurniture(i) && !p.boxes[p.blocks[i].box].hidden {
			n += int(p.blocks[i].chars)
		}
	}
	return n
}

// visible chooses all blocks that are not hidden.
func (p *page) visible() []bool {
	out := make([]bool, len(p.blocks))
	for i := range p.blocks {
		out[i] = !p.boxes[p.blocks[i].box].hidden
	}
	return out
}

// text joins the chosen blocks, one a line.
func (p *page) text(chosen []bool) string {
	n := 0
	for i, ok := range chosen {
		if ok {
			n += len(p.blocks[i].text) + 1
		}
	}
	var b strings.Builder
	b.Grow(n)
	for i, ok := range chosen {
		if !ok {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.blocks[i].text)
	}
	return b.String()
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
