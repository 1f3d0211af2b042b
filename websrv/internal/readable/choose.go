package readable

// choose decides which blocks are content.
func (p *page) choose() []bool {
	out := make([]bool, len(p.blocks))
	kept := p.boxes[0].keptChars
	for i := range p.blocks {
		if kept > 0 {
			out[i] = p.blocks[i].kept > 0.5
		} else {
			out[i] = !p.inFurniture(i)
		}
	}
	return out
}

// kind guesses what the page is.
func (p *page) kind() string { return "page" }
