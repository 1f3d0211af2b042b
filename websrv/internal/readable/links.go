package readable

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxLinkTextRunes = 200

// linkAt is a link with its place.
type linkAt struct {
	Link
	node *html.Node
}

// links lists the page's links in order, each address once.
func (p *page) links(base *url.URL) []linkAt {
	var out []linkAt
	seen := map[string]bool{}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && len(out) < MaxLinks; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			if c.DataAtom == atom.A || c.DataAtom == atom.Area {
				if l, ok := link(c, base); ok && !seen[l.URL] {
					seen[l.URL] = true
					out = append(out, linkAt{l, c})
				}
			}
			walk(c)
		}
	}
	walk(p.body)
	return out
}

func link(n *html.Node, base *url.URL) (Link, bool) {
	href := strings.TrimSpace(attr(n, "href"))
	if href == "" || href[0] == '#' {
		return Link{}, false
	}
	u := absolute(base, href)
	if u == "" {
		return Link{}, false
	}
	u, _, _ = strings.Cut(u, "#")
	l := Link{URL: u, Text: linkText(n)}
	for _, r := range strings.Fields(strings.ToLower(attr(n, "rel"))) {
		l.NoFollow = l.NoFollow || r == "nofollow" || r == "ugc" || r == "sponsored"
	}
	return l, true
}

// linkText is a link's text, else its label, else its picture's.
func linkText(n *html.Node) string {
	var b strings.Builder
	alt := ""
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && b.Len() < 4*maxLinkTextRunes; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.DataAtom == atom.Img && alt == "":
				alt = attr(c, "alt")
			case c.Type == html.ElementNode:
				walk(c)
				b.WriteByte(' ')
			}
		}
	}
	walk(n)
	if t := collapse(b.String(), maxLinkTextRunes); t != "" {
		return t
	}
	return collapse(or(attr(n, "aria-label"), attr(n, "title"), alt), maxLinkTextRunes)
}

// markContent tells which links are in chosen blocks.
func markContent(links []linkAt, p *page, chosen []bool) []Link {
	in := map[*html.Node]bool{}
	for i, ok := range chosen {
		if !ok || p.blocks[i].linkChars == 0 {
			continue
		}
		for k := p.blocks[i].first; k < p.blocks[i].end; k++ {
			for n := p.nodes[k].Parent; n != nil && n != p.body; n = n.Parent {
				if n.DataAtom == atom.A {
					in[n] = true
					break
				}
			}
		}
	}
	out := make([]Link, len(links))
	for i := range links {
		out[i] = links[i].Link
		out[i].Content = in[links[i].node]
	}
	return out
}
