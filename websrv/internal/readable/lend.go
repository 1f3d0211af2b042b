package readable

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// lent is an element and the attributes it has while readability does not.
type lent struct {
	node *html.Node
	attr []html.Attribute
}

// lend takes from the page's elements what readability does not look at, and gives what to do
// after it: it copies the whole tree at least once, attributes and all, and matches the names of
// each element with expressions over and over. What it keeps is the same.
func (p *page) lend() (giveBack func()) {
	var (
		taken = make([]lent, 0, len(p.boxes))
		room  = make([]html.Attribute, 0, 2*len(p.boxes))
		short = make(shortNames, 128)
	)
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			if len(c.Attr) > 0 && lendable(c) {
				taken = append(taken, lent{c, c.Attr})
				from := len(room)
				room = short.plain(room, c.Attr)
				c.Attr = room[from:len(room):len(room)]
			}
			walk(c)
		}
	}
	walk(p.body)
	return func() {
		for _, l := range taken {
			l.node.Attr = l.attr
		}
	}
}

// lendable tells whether an element's attributes are of no interest to readability but those
// that plain knows. It searches all attributes of pictures for addresses, and copies some of
// tables and videos.
func lendable(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Img, atom.Picture, atom.Figure, atom.Source, atom.Video, atom.Audio, atom.Table, atom.Meta, atom.Link,
		atom.Iframe, atom.Object, atom.Embed:
		return false
	}
	return n.Namespace == ""
}

const (
	leastShort = 8      // bytes of a name for which there is anything to gain
	shortMark  = "\x01" // before the numbers, so that no number is another element's name
)

// shortNames holds what stands for a class or an id.
type shortNames map[string]string

// plain appends those of an element's attributes that readability looks at.
func (m shortNames) plain(to, attrs []html.Attribute) []html.Attribute {
	for i := range attrs {
		a := &attrs[i]
		switch a.Key {
		case "class", "id":
			to = append(to, html.Attribute{Key: a.Key, Val: m.short(a.Val)})
			continue
		case "style":
			if !containsFold(a.Val, "none") && !containsFold(a.Val, "hidden") {
				continue
			}
		case "hidden", "aria-hidden", "aria-modal", "role", "rel", "itemprop", "href", "colspan", "rowspan",
			"data-readability-score", "data-readability-table":
		default:
			continue
		}
		to = append(to, *a)
	}
	return to
}

func containsFold(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|0x20 == lower[0] && strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

// short is a name that readability takes as it takes s: a number, by which equal names stay equal
// and others not, and a word for each of its lists of words that has one which s contains.
func (m shortNames) short(s string) string {
	if len(s) < leastShort && (s == "" || s[0] != shortMark[0]) {
		return s
	}
	if out, ok := m[s]; ok {
		return out
	}
	out := s
	if same := strings.Join(strings.Fields(s), " "); same != s && same != "" {
		out = m.short(same)
	} else if marks := marksIn(s); same != "" && marks&markWhole == 0 {
		out = shortMark + strconv.Itoa(len(m)) + marks.words()
	}
	m[s] = out
	return out
}

// marks says in which of readability's lists of words a name has one.
type marks uint8

const (
	markByline marks = 1 << iota
	markUnlikely
	markMaybe
	markPositive
	markNegative
	markWhole // a name that has to stay as it is
)

// words has one of each list, which is in no other.
func (k marks) words() string {
	var b strings.Builder
	for i, w := range [...]string{" author", " rss", " and", " blog", " tags"} {
		if k&(1<<i) != 0 {
			b.WriteString(w)
		}
	}
	return b.String()
}

func marksIn(s string) marks {
	var k marks
	for i := range len(s) {
		k |= marksAt(s[i:])
	}
	return k
}

// marksAt looks for a word of readability v2.1 at the beginning of s. A test holds the lists
// against readability itself.
func marksAt(s string) marks {
	switch s[0] | 0x20 {
	case '-':
		return at(s, "-ad-", markUnlikely|markNegative)
	case 'a':
		return at(s, "and", markMaybe) | at(s, "article", markMaybe|markPositive) | at(s, "author", markByline) |
			at(s, "ai2html", markUnlikely) | at(s, "ad-break", markUnlikely) | at(s, "agegate", markUnlikely)
	case 'b':
		return at(s, "body", markMaybe|markPositive) | at(s, "blog", markPositive) | at(s, "byline", markByline) |
			at(s, "banner", markUnlikely|markNegative) | at(s, "breadcrumbs", markUnlikely)
	case 'c':
		return at(s, "content", markMaybe|markPositive) | at(s, "column", markMaybe) | at(s, "contact", markNegative) |
			at(s, "combx", markUnlikely|markNegative) | at(s, "comment", markUnlikely|markNegative) |
			at(s, "community", markUnlikely) | at(s, "com-", markNegative) | at(s, "cover-wrap", markUnlikely)
	case 'd':
		return at(s, "dateline", markByline) | at(s, "disqus", markUnlikely) | at(s, "d-none", markWhole)
	case 'e':
		return at(s, "entry", markPositive) | at(s, "extra", markUnlikely)
	case 'f':
		return at(s, "footer", markUnlikely|markNegative) | at(s, "fallback-image", markWhole)
	case 'g':
		return at(s, "gdpr", markUnlikely|markNegative)
	case 'h': // share may begin with a long s
		return at(s, "header", markUnlikely) | at(s, "hid", markWhole) | at(s, "hare", markWhole)
	case 'l':
		return at(s, "legends", markUnlikely)
	case 'm':
		return at(s, "main", markMaybe|markPositive) | at(s, "mathjax", markMaybe) | at(s, "menu", markUnlikely) |
			at(s, "meta", markNegative) | at(s, "masthead", markNegative)
	case 'o':
		return at(s, "outbrain", markNegative)
	case 'p':
		return at(s, "page", markPositive) | at(s, "post", markPositive) | at(s, "pagination", markUnlikely|markPositive) |
			at(s, "pager", markUnlikely) | at(s, "popup", markUnlikely) | at(s, "promo", markNegative)
	case 'r':
		return at(s, "related", markUnlikely|markNegative) | at(s, "remark", markUnlikely) | at(s, "replies", markUnlikely) |
			at(s, "rss", markUnlikely) | at(s, "readability", markWhole)
	case 's':
		return at(s, "story", markPositive) | at(s, "shadow", markMaybe) | at(s, "social", markUnlikely) |
			at(s, "supplemental", markUnlikely) | at(s, "sidebar", markUnlikely|markNegative) |
			at(s, "shoutbox", markUnlikely|markNegative) | at(s, "skyscraper", markUnlikely|markNegative) |
			at(s, "sponsor", markUnlikely|markNegative) | at(s, "shopping", markNegative)
	case 't':
		return at(s, "text", markPositive) | at(s, "tags", markNegative)
	case 'w':
		return at(s, "widget", markNegative) | at(s, "writtenby", markByline)
	case 'y':
		return at(s, "yom-remote", markUnlikely)
	}
	return 0
}

func at(s, word string, k marks) marks {
	if len(s) < len(word) {
		return 0
	}
	for i := range len(word) {
		if c := s[i]; c != word[i] && (c < 'A' || c > 'Z' || c|0x20 != word[i]) {
			return 0
		}
	}
	return k
}
