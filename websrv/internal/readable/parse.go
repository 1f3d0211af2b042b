package readable

import (
	"bytes"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// thinned holds buffers for thin, each as large as the largest page it has served.
var thinned = sync.Pool{New: func() any { return new([]byte) }}

const maxThinned = 4 << 20 // a larger buffer is not kept

// parse never fails: what the tree builder refuses (it stops at 512 open elements) is read again
// as a flat run of paragraphs and headings. The result always has a body.
func parse(page []byte) *html.Node {
	buf := thinned.Get().(*[]byte)
	*buf = thin((*buf)[:0], page)
	defer func() { // the tree has copies of its own
		if cap(*buf) <= maxThinned {
			thinned.Put(buf)
		}
	}()
	page = *buf
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		doc, err = html.Parse(strings.NewReader(flatten(page)))
	}
	if err != nil {
		return &html.Node{Type: html.DocumentNode}
	}
	return doc
}

// flatten rewrites a page so that no element is deeper than a few levels: block elements become
// paragraph breaks, headings and the title stay, all other tags go.
func flatten(page []byte) string {
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	var raw atom.Atom // the element whose text is left out
	for {
		tt := z.Next()
		switch tt {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if raw == 0 {
				b.WriteString(html.EscapeString(string(z.Text())))
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case skipped(a) && tt == html.StartTagToken && rawText(a):
				raw = a
			case raw != 0:
				if a == raw {
					raw = 0
				}
			case a == atom.Title || headingLevel(a) > 0:
				flatTag(&b, a, tt == html.EndTagToken)
			case blockLevel(a):
				b.WriteString("<p>")
			default:
				b.WriteByte(' ')
			}
		}
	}
}

func flatTag(b *strings.Builder, a atom.Atom, end bool) {
	b.WriteByte('<')
	if end {
		b.WriteByte('/')
	}
	b.WriteString(a.String())
	b.WriteByte('>')
}

// rawText tells whether the tokenizer reads an element's content as one text.
func rawText(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Textarea, atom.Iframe, atom.Noscript, atom.Noembed, atom.Noframes, atom.Xmp:
		return true
	}
	return false
}

// skipped tells whether an element never holds text that a reader sees as text.
func skipped(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Head, atom.Select, atom.Option, atom.Datalist, atom.Textarea, atom.Input, atom.Link,
		atom.Meta, atom.Audio, atom.Video, atom.Map, atom.Noembed, atom.Noframes, atom.Dialog:
		return true
	}
	return false
}

// blockLevel tells whether an element begins a block of its own, by the user agent style sheet
// of the HTML standard, §15.3.
func blockLevel(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Button, atom.Caption, atom.Center,
		atom.Dd, atom.Details, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup,
		atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Search,
		atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

// headingLevel is 1 to 6 for a heading element, 0 for others.
func headingLevel(a atom.Atom) int {
	switch a {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// attr returns an attribute's value, "" when there is none.
func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// hasAttr tells whether an element has an attribute, whatever its value.
func hasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}
