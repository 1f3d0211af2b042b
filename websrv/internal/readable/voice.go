package readable

import (
	"log/slog"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

// Bounds of asking readability. Its cost grows with the elements and with how deep they lie; a
// page beyond these is decided without it.
const (
	maxVoiceBoxes = 15000
	maxVoiceDepth = 120
	anchorBytes   = 24  // a text of this length tells where it is
	maxReach      = 300 // text nodes between short texts that are searched
)

// ask fills blocks' kept with readability's answer. It changes the document as readability does:
// runs of line breaks become paragraphs. Text nodes stay the same nodes.
func (p *page) ask() {
	if len(p.boxes) > maxVoiceBoxes || p.depth() > maxVoiceDepth {
		return
	}
	giveBack := p.lend()
	p.hear()
	giveBack()
}

// hear asks whatever the page is like.
func (p *page) hear() {
	parser := readability.NewParser()
	// Only the article's text nodes are wanted. A quarter of the time goes into what is told to a
	// logger that is not one, and into classes and addresses of nodes that are thrown away.
	parser.Logger = slog.New(slog.DiscardHandler)
	parser.DisableJSONLD, parser.KeepClasses = true, true
	article, err := parser.ParseAndMutate(p.doc, nil)
	if err != nil || article.Node == nil {
		return
	}
	p.markKept(texts(article.Node))
}

func (p *page) depth() int32 {
	var d int32
	for i := range p.boxes {
		d = max(d, p.boxes[i].depth)
	}
	return d
}

// texts lists the texts below a node in order, without those that are white space only.
func texts(n *html.Node) []string {
	var out []string
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				if strings.TrimSpace(c.Data) != "" {
					out = append(out, c.Data)
				}
			} else {
				walk(c)
			}
		}
	}
	walk(n)
	return out
}

// markKept finds an article's texts among the page's text nodes. Readability clones nodes, so
// they are found by their text: long ones first, in order, then the short ones between them.
func (p *page) markKept(article []string) {
	at := make(map[string][]int32, len(article))
	for i, n := range p.nodes {
		if len(n.Data) >= anchorBytes {
			at[n.Data] = append(at[n.Data], int32(i))
		}
	}
	kept := make([]bool, len(p.nodes))
	last, from := int32(-1), 0 // the last anchor, and the first text after it
	for i, t := range article {
		if len(t) < anchorBytes {
			continue
		}
		next := int32(-1)
		for _, k := range at[t] {
			if k > last {
				next = k
				break
			}
		}
		if next < 0 {
			continue
		}
		p.fill(kept, article[from:i], last, next)
		kept[next] = true
		last, from = next, i+1
	}
	p.fill(kept, article[from:], last, int32(len(p.nodes)))
	p.sumKept(kept)
}

// fill marks short texts between two anchors. Before the first anchor they are looked for
// backwards, because an article's first words are near its first paragraph.
func (p *page) fill(kept []bool, short []string, last, next int32) {
	if last < 0 {
		k := next - 1
		for i := len(short) - 1; i >= 0; i-- {
			for j := k; j >= max(0, k-maxReach); j-- {
				if p.nodes[j].Data == short[i] {
					kept[j], k = true, j-1
					break
				}
			}
		}
		return
	}
	k := last + 1
	for _, s := range short {
		for j := k; j < min(next, k+maxReach); j++ {
			if p.nodes[j].Data == s {
				kept[j], k = true, j+1
				break
			}
		}
	}
}

// sumKept turns marked nodes into shares of blocks and sums of boxes.
func (p *page) sumKept(kept []bool) {
	for i := range p.blocks {
		b := &p.blocks[i]
		all, in := 0, 0
		for k := b.first; k < b.end; k++ {
			n := utf8.RuneCountInString(p.nodes[k].Data)
			all += n
			if kept[k] {
				in += n
			}
		}
		if in == 0 {
			continue
		}
		b.kept = float32(in) / float32(all)
		runes := int32(b.kept*float32(b.chars) + 0.5)
		for x := b.box; x >= 0; x = p.boxes[x].parent {
			p.boxes[x].keptChars += runes
		}
	}
}
