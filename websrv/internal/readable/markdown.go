package readable

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of cells that span columns or rows.
const (
	maxSpan    = 30
	maxSpanned = 20000
)

// render prunes the document to the chosen blocks and fills Markdown and Outline.
func (p *page) render(d *Document, chosen []bool, base *url.URL) {
	pr := pruner{p: p, chosen: chosen, base: base, block: make([]bool, len(p.nodes))}
	for i := range p.blocks {
		for k := p.blocks[i].first; k < p.blocks[i].end; k++ {
			pr.block[k] = chosen[i]
		}
	}
	if !pr.prune(p.body, false) {
		return
	}
	md, err := newConverter().ConvertNode(p.body)
	if err != nil {
		d.Markdown = d.Text
		return
	}
	d.Markdown = bare(string(bytes.TrimSpace(md)))
	d.Outline = outline(d.Markdown)
}

func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(
			commonmark.WithHorizontalRule("---"),
			commonmark.WithListEndComment(false),
			commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip),
			commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip),
		),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithHeaderPromotion(true),
			table.WithSkipEmptyRows(true),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
		),
	))
}

// pruner cuts a tree down to the chosen text.
type pruner struct {
	p      *page
	chosen []bool
	base   *url.URL
	block  []bool // whether a text node is of a chosen block, by its number
	next   int    // number of the next text node

	spanned int // cells that the table cells so far take
}

// prune removes what was not chosen below n and tells whether anything is left.
func (pr *pruner) prune(n *html.Node, pre bool) bool {
	left := false
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if pr.keep(c, pre) {
			if c.DataAtom == atom.A && !pre && follows(c) {
				n.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, c)
			}
			left = left || !blank(c)
		} else {
			n.RemoveChild(c)
		}
		c = next
	}
	return left
}

func blank(n *html.Node) bool {
	return n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" || n.DataAtom == atom.Br || n.DataAtom == atom.Hr
}

func (pr *pruner) keep(c *html.Node, pre bool) bool {
	switch c.Type {
	case html.TextNode:
		if pr.next < len(pr.p.nodes) && pr.p.nodes[pr.next] == c {
			pr.next++
			return pr.block[pr.next-1]
		}
		return strings.TrimSpace(c.Data) == "" // white space between words
	case html.ElementNode:
	default:
		return false
	}
	switch a := c.DataAtom; {
	case skipped(a):
		return false
	case a == atom.Br:
		return true
	case a == atom.Hr:
		return pr.around()
	case a == atom.Img:
		return pr.around() && pr.image(c)
	case a == atom.Td || a == atom.Th:
		pr.prune(c, pre)
		pr.spans(c)
		return true // an empty cell keeps its column
	}
	if !pr.prune(c, pre || c.DataAtom == atom.Pre) {
		return false
	}
	pr.clean(c)
	return true
}

// spans bounds how many columns and rows a cell takes, of which Markdown writes each.
func (pr *pruner) spans(cell *html.Node) {
	var attrs []html.Attribute
	cells := 1
	for _, k := range [...]string{"colspan", "rowspan"} {
		if n, err := strconv.Atoi(attr(cell, k)); err == nil && n > 1 && n <= maxSpan {
			attrs = append(attrs, html.Attribute{Key: k, Val: strconv.Itoa(n)})
			cells *= n
		}
	}
	if pr.spanned += cells; pr.spanned > maxSpanned {
		attrs = nil
	}
	cell.Attr = attrs
}

// around tells whether the text before and the text after are both chosen.
func (pr *pruner) around() bool {
	before := pr.next > 0 && pr.block[pr.next-1]
	after := pr.next < len(pr.block) && pr.block[pr.next]
	return before && after
}

// image gives an image its true address and drops pictures of nothing.
func (pr *pruner) image(n *html.Node) bool {
	alt := collapse(attr(n, "alt"), maxLinkTextRunes)
	src := ""
	for _, k := range [...]string{"data-src", "data-original", "data-lazy-src", "src"} {
		if src = absolute(pr.base, attr(n, k)); src != "" {
			break
		}
	}
	if src == "" || attr(n, "width") == "1" || attr(n, "height") == "1" {
		return false
	}
	n.Attr = []html.Attribute{{Key: "src", Val: src}, {Key: "alt", Val: alt}}
	return true
}

// clean makes a link absolute and tells the converter the language of code.
func (pr *pruner) clean(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		href := attr(n, "href")
		n.Attr = nil
		if u := absolute(pr.base, href); u != "" && !strings.HasPrefix(strings.TrimSpace(href), "#") {
			n.Attr = []html.Attribute{{Key: "href", Val: u}}
		} else if strings.HasPrefix(href, "mailto:") && len(href) < maxURLBytes {
			n.Attr = []html.Attribute{{Key: "href", Val: href}}
		}
	case atom.Pre:
		if lang := codeLanguage(n); lang != "" {
			n.Attr = []html.Attribute{{Key: "class", Val: "language-" + lang}}
		}
	case atom.Button, atom.Label, atom.Form, atom.Fieldset, atom.Summary, atom.Details:
		n.DataAtom, n.Data = atom.Div, "div"
	}
}
