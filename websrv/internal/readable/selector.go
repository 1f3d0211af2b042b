package readable

import (
	"fmt"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// selectors removes what Exclude names and returns what Include names.
func selectors(doc *html.Node, o *Options) ([]*html.Node, error) {
	for _, s := range o.Exclude {
		sel, err := cascadia.ParseGroup(s)
		if err != nil {
			return nil, fmt.Errorf("%w: exclude %q: %v", ErrSelector, s, err)
		}
		for _, n := range cascadia.QueryAll(doc, sel) {
			if n.Parent != nil {
				n.Parent.RemoveChild(n)
			}
		}
	}
	var keep []*html.Node
	for _, s := range o.Include {
		sel, err := cascadia.ParseGroup(s)
		if err != nil {
			return nil, fmt.Errorf("%w: include %q: %v", ErrSelector, s, err)
		}
		keep = append(keep, cascadia.QueryAll(doc, sel)...)
	}
	return keep, nil
}

// within chooses the blocks all of whose text is below one of the nodes.
func (p *page) within(keep []*html.Node) []bool {
	in := make(map[*html.Node]bool, len(keep))
	for _, n := range keep {
		in[n] = true
	}
	below := make([]bool, len(p.boxes))
	for i := range p.boxes {
		b := &p.boxes[i]
		below[i] = b.parent >= 0 && below[b.parent] || inside(b.node, in, b.parent, p)
	}
	out := make([]bool, len(p.blocks))
	for i := range p.blocks {
		b := &p.blocks[i]
		out[i] = below[b.box]
		for k := b.first; k < b.end && !out[i]; k++ {
			out[i] = inside(p.nodes[k], in, b.box, p)
		}
	}
	return out
}

// inside tells whether a node or one of its ancestors up to its box is in the set.
func inside(n *html.Node, in map[*html.Node]bool, box int32, p *page) bool {
	var stop *html.Node
	if box >= 0 {
		stop = p.boxes[box].node
	}
	for ; n != nil && n != stop; n = n.Parent {
		if in[n] {
			return true
		}
	}
	return false
}
