package readable

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of reading pages whose scripts make the text.
const (
	shellChars      = 400     // a body with less text than this may be such a page
	minNoscript     = 300     // bytes of a noscript element that is worth reading
	minNoscriptText = 120     // letters and digits of one that is worth reading
	minStateBytes   = 1000    // bytes of a data attribute that is worth reading
	maxStateBytes   = 8 << 20 // bytes of embedded state that are read, all together
	maxStateTokens  = 400000
	maxStateStrings = 2000
	minProse        = 60 // bytes of a string that may be prose
)

// unshell fills the body of a page that is an empty shell for scripts with what the page holds
// elsewhere: its noscript elements, else the texts of its embedded state (__NEXT_DATA__, other
// JSON scripts, JSON in data attributes), else the article body of its structured data, else the
// longer one of the two descriptions of itself.
func (p *page) unshell() {
	have := textLength(p.body, shellChars*50)
	if p.noscript(have) || have >= shellChars {
		return
	}
	prose := stateProse(p.meta.state)
	n := 0
	for _, s := range prose {
		n += len(s)
	}
	switch body := p.meta.data.body; {
	case len(body) > 2*have && len(body)*2 > n:
		p.addFragments(strings.Split(body, "\n"))
	case n > 2*have:
		p.addFragments(prose)
	default:
		d := p.meta.first("og:description", "description")
		if about := p.meta.data.about; len(about) > len(d) {
			d = about
		}
		if len(d) > 2*have {
			p.addFragments([]string{d})
		}
	}
}

// noscript puts a noscript element's content in its place if it holds more text than the rest of
// the body: such pages serve readers without scripts, as we are.
func (p *page) noscript(have int) bool {
	var best, at *html.Node
	size := have
	for _, n := range p.meta.noscripts {
		if c := n.FirstChild; c != nil && len(c.Data) >= minNoscript && p.below(n) {
			f := fragment(c.Data)
			if l := textLength(f, maxStateBytes); l > size && l >= minNoscriptText {
				size, best, at = l, f, n
			}
		}
	}
	if best != nil {
		at.Parent.InsertBefore(best, at)
	}
	for _, n := range p.meta.noscripts {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	p.meta.noscripts = nil
	return best != nil
}

// below tells whether a node is in the body.
func (p *page) below(n *html.Node) bool {
	for n = n.Parent; n != nil; n = n.Parent {
		if n == p.body {
			return true
		}
	}
	return false
}

// fragment parses markup and hangs it below a div. Markup that the parser refuses gives an
// empty one.
func fragment(markup string) *html.Node {
	div := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	list, err := html.ParseFragment(strings.NewReader(markup), &html.Node{Type: html.ElementNode, DataAtom: atom.Body, Data: "body"})
	if err != nil {
		return div
	}
	for _, n := range list {
		div.AppendChild(n)
	}
	strip(div)
	return div
}

// addFragments appends texts or markup to the body as an article.
func (p *page) addFragments(list []string) {
	art := &html.Node{Type: html.ElementNode, DataAtom: atom.Article, Data: "article"}
	for _, s := range list {
		if strings.Contains(s, "</") || strings.Contains(s, "<p>") || strings.Contains(s, "<br") {
			art.AppendChild(fragment(s))
			continue
		}
		para := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
		para.AppendChild(&html.Node{Type: html.TextNode, Data: html.UnescapeString(s)})
		art.AppendChild(para)
	}
	p.body.AppendChild(art)
}

// textLength counts the letters and digits of a tree's text up to a limit.
func textLength(n *html.Node, limit int) int {
	total := 0
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && total < limit; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				for _, r := range c.Data {
					if letterOrDigit(r) {
						total++
					}
				}
			case c.Type == html.ElementNode && !skipped(c.DataAtom):
				walk(c)
			}
		}
	}
	walk(n)
	return total
}

// letterOrDigit asks the tables only for what is beyond ASCII.
func letterOrDigit(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// stateProse lists the strings of JSON texts that read like prose or markup, in order, each once.
func stateProse(state []string) []string {
	var out []string
	seen := map[string]bool{}
	bytes, tokens := 0, maxStateTokens
	for _, s := range state {
		if bytes += len(s); bytes > maxStateBytes {
			break
		}
		d := json.NewDecoder(strings.NewReader(s))
		for ; tokens > 0 && len(out) < maxStateStrings; tokens-- {
			t, err := d.Token()
			if err != nil {
				break
			}
			v, ok := t.(string)
			if !ok || seen[v] {
				continue
			}
			if inner := strings.TrimSpace(v); len(inner) > minStateBytes && (inner[0] == '{' || inner[0] == '[') {
				// State inside state: JSON in a JSON string.
				out = append(out, stateInner(inner, seen)...)
				continue
			}
			if prose(v) {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// stateInner reads JSON that was in a string, one level deep.
func stateInner(s string, seen map[string]bool) []string {
	var out []string
	d := json.NewDecoder(strings.NewReader(s))
	for n := 0; n < maxStateTokens && len(out) < maxStateStrings; n++ {
		t, err := d.Token()
		if err == io.EOF || err != nil {
			break
		}
		if v, ok := t.(string); ok && prose(v) && !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// prose tells whether a string reads like sentences: long enough, with spaces, mostly letters.
func prose(s string) bool {
	if len(s) < minProse || strings.HasPrefix(s, "http") || strings.ContainsAny(s[:1], "{[#.<") && !strings.HasPrefix(s, "<p") && !strings.HasPrefix(s, "<div") && !strings.HasPrefix(s, "<h") && !strings.HasPrefix(s, "<ul") {
		return false
	}
	spaces, letters, odd := 0, 0, 0
	for _, r := range s {
		switch {
		case r == ' ':
			spaces++
		case unicode.IsLetter(r):
			letters++
		case r == '{' || r == '}' || r == ';' || r == '_' || r == '=' && !strings.Contains(s, "href"):
			odd++
		}
	}
	return spaces*25 > len(s) && letters*2 > len(s) && odd*40 < len(s)
}
