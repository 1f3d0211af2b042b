package readable

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of metadata.
const (
	MaxMetadata      = 100  // entries of Document.Metadata
	maxMetaBytes     = 1000 // bytes of one entry's value; longer ones are cut at a rune
	maxScriptBytes   = 4 << 20
	maxScripts       = 40
	maxTitleRunes    = 300
	maxHeadingsTried = 50
)

// meta is what a page says about itself beside its text.
type meta struct {
	named     map[string]string // meta elements by lower-case name, property or itemprop; the first wins
	title     string            // the title element
	lang      string
	canonical string
	next      string
	prev      string
	base      string
	robots    string
	jsonLD    []string // scripts of type application/ld+json
	state     []string // other JSON: scripts of type application/json, data attributes
	noscripts []*html.Node
	data      structured
}

// strip reads the head, the data scripts and the root's attributes, and removes from the tree
// what is never text, so that all later passes are over a smaller tree.
func strip(doc *html.Node) *meta {
	m := &meta{named: make(map[string]string, 32)}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			switch {
			case c.Type == html.CommentNode || c.Type == html.TextNode && idle(c, n):
				n.RemoveChild(c)
			case c.Type != html.ElementNode:
			case m.take(c):
				n.RemoveChild(c)
			default:
				m.dataAttributes(c)
				walk(c)
			}
			c = next
		}
	}
	walk(doc)
	return m
}

// idle tells whether a text is white space between blocks, which shows nowhere.
func idle(c, parent *html.Node) bool {
	for i := 0; i < len(c.Data); i++ {
		if c.Data[i] != ' ' && c.Data[i] != '\n' && c.Data[i] != '\t' && c.Data[i] != '\r' {
			return false
		}
	}
	if parent.DataAtom == atom.Pre || !blockLevel(parent.DataAtom) {
		return false
	}
	edge := func(s *html.Node) bool { return s == nil || s.Type == html.ElementNode && blockLevel(s.DataAtom) }
	return edge(c.PrevSibling) || edge(c.NextSibling)
}

// take reads an element for metadata and tells whether it can go.
func (m *meta) take(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html:
		m.lang = attr(n, "lang")
		if m.lang == "" {
			m.lang = attr(n, "xml:lang")
		}
	case atom.Title:
		if m.title == "" && n.Namespace == "" {
			m.title = collapse(rawContent(n), maxTitleRunes)
		}
	case atom.Base:
		if m.base == "" {
			m.base = attr(n, "href")
		}
	case atom.Meta:
		m.metaElement(n)
	case atom.Link:
		m.linkElement(n)
	case atom.Script:
		m.script(n)
		return true
	case atom.Noscript:
		m.noscripts = append(m.noscripts, n)
	case atom.Style, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Audio:
		return true
	case atom.Svg:
		return true
	}
	return false
}

func (m *meta) metaElement(n *html.Node) {
	content := strings.TrimSpace(attr(n, "content"))
	if content == "" {
		return
	}
	for _, k := range [...]string{"name", "property", "itemprop", "http-equiv"} {
		name := strings.ToLower(strings.TrimSpace(attr(n, k)))
		if name == "" || len(name) > 80 {
			continue
		}
		if name == "robots" {
			m.robots += "," + strings.ToLower(content)
		}
		if _, ok := m.named[name]; !ok && len(m.named) < MaxMetadata {
			m.named[name] = cutBytes(collapse(content, maxMetaBytes), maxMetaBytes)
		}
	}
}

func (m *meta) linkElement(n *html.Node) {
	href := strings.TrimSpace(attr(n, "href"))
	if href == "" {
		return
	}
	for _, rel := range strings.Fields(strings.ToLower(attr(n, "rel"))) {
		switch {
		case rel == "canonical" && m.canonical == "":
			m.canonical = href
		case rel == "next" && m.next == "":
			m.next = href
		case (rel == "prev" || rel == "previous") && m.prev == "":
			m.prev = href
		}
	}
}

func (m *meta) script(n *html.Node) {
	c := n.FirstChild
	if c == nil || len(c.Data) > maxScriptBytes {
		return
	}
	switch {
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(attr(n, "type"))), "application/ld+json"):
		if len(m.jsonLD) < maxScripts {
			m.jsonLD = append(m.jsonLD, c.Data)
		}
	case isJSONScript(n) && (len(c.Data) >= minStateBytes || isNextData(n)):
		if len(m.state) < maxScripts {
			m.state = append(m.state, c.Data)
		}
	}
}

// isJSONScript tells whether a script is data: its type says JSON, or it is Next.js's state.
func isJSONScript(n *html.Node) bool {
	t := strings.ToLower(attr(n, "type"))
	return strings.HasPrefix(t, "application/json") || strings.HasSuffix(t, "+json") || isNextData(n)
}

// isNextData tells whether a script is Next.js's state, which is the page, however short.
func isNextData(n *html.Node) bool { return attr(n, "id") == "__NEXT_DATA__" }

// dataAttributes notes JSON in an element's attributes.
func (m *meta) dataAttributes(n *html.Node) {
	for i := range n.Attr {
		v := n.Attr[i].Val
		if len(v) >= minStateBytes && strings.HasPrefix(n.Attr[i].Key, "data-") && (v[0] == '{' || v[0] == '[') && len(m.state) < maxScripts {
			m.state = append(m.state, v)
			n.Attr[i].Val = ""
		}
	}
}

// rawContent joins the text directly in an element.
func rawContent(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// collapse makes white space single spaces, drops invisible characters and stops after n runes.
func collapse(s string, n int) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case isSpace(r):
			space = b.Len() > 0
			continue
		case invisible(r):
			continue
		}
		if n == 0 {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		n--
	}
	return b.String()
}

// cutBytes cuts at a rune boundary.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// first is the first of the named meta elements that is there.
func (m *meta) first(names ...string) string {
	for _, n := range names {
		if v := m.named[n]; v != "" {
			return v
		}
	}
	return ""
}

func or(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// describe fills a document's metadata.
func (p *page) describe(d *Document, base *url.URL) {
	m := p.meta
	d.Site = or(m.first("og:site_name", "application-name", "al:ios:app_name"), m.data.site)
	d.Title = p.title(d.Site)
	d.Byline = or(m.data.author, byline(m.first("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "citation_author", "twitter:creator")))
	d.Language = or(m.lang, m.first("content-language", "og:locale", "language", "dc.language"))
	d.Published = or(m.data.published, m.first("article:published_time", "datepublished", "date", "pubdate", "publishdate", "dc.date", "dc.date.issued", "dcterms.date", "dcterms.created", "sailthru.date", "parsely-pub-date", "citation_publication_date", "og:published_time"), p.timeElement())
	d.Modified = or(m.data.modified, m.first("article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified"))
	d.Description = or(m.first("og:description", "description", "twitter:description", "dc.description"), m.data.description)
	d.Image = absolute(base, or(m.first("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"), m.data.image))
	d.Next, d.Previous = absolute(base, m.next), absolute(base, m.prev)
	d.NoFollow = strings.Contains(m.robots, "nofollow") || strings.Contains(m.robots, "none")
	d.NoIndex = strings.Contains(m.robots, "noindex") || strings.Contains(m.robots, "none")
	d.URL = base.String()
	if c := absolute(base, m.canonical); c != "" && sameHost(base, c) {
		d.URL = c
	}
	d.Metadata = m.named
	m.data.add(d.Metadata)
}

// byline drops addresses, which some pages give in place of a name.
func byline(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "@") {
		return ""
	}
	return s
}

func sameHost(base *url.URL, s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	bare := func(h string) string { return strings.TrimPrefix(strings.ToLower(h), "www.") }
	return bare(u.Hostname()) == bare(base.Hostname())
}

// timeElement is the first machine-readable date of the body.
func (p *page) timeElement() string {
	for i := range p.blocks {
		b := &p.blocks[i]
		if b.inline&inlineTime == 0 {
			continue
		}
		for k := b.first; k < b.end; k++ {
			for n := p.nodes[k].Parent; n != nil && !blockLevel(n.DataAtom); n = n.Parent {
				if n.DataAtom == atom.Time {
					if v := attr(n, "datetime"); len(v) >= len("2006-01-02") && len(v) < 40 {
						return v
					}
				}
			}
		}
	}
	return ""
}

// title chooses between what the head, the data and the first heading say. A title element often
// ends or begins with the site's name: it is cut where the page says the name, or where the
// first heading is the rest.
func (p *page) title(site string) string {
	m := p.meta
	t := or(m.title, m.first("og:title", "twitter:title", "dc.title", "title"), m.data.headline)
	for i, tried := 0, 0; i < len(p.blocks) && tried < maxHeadingsTried; i++ {
		b := &p.blocks[i]
		if p.boxes[b.box].atom != atom.H1 {
			continue
		}
		tried++
		if b.chars >= 4 && b.chars <= maxTitleRunes && strings.Contains(t, b.text) {
			return b.text
		}
		if t == "" {
			t = b.text
		}
	}
	if og := or(m.data.headline, m.first("og:title", "twitter:title")); og != "" && strings.Contains(t, og) {
		t = og
	}
	return withoutSite(t, site)
}

// withoutSite cuts a site's name and its separator from either end of a title.
func withoutSite(t, site string) string {
	if site == "" || len(t) <= len(site) {
		return t
	}
	const separators = " -–—|·•:»«/\\"
	if rest := strings.TrimSuffix(t, site); rest != t {
		if cut := strings.TrimRight(rest, separators); cut != "" && cut != rest {
			return cut
		}
	}
	if rest := strings.TrimPrefix(t, site); rest != t {
		if cut := strings.TrimLeft(rest, separators); cut != "" && cut != rest {
			return cut
		}
	}
	return t
}

// absolute resolves a reference to an http or https address, "" if it is none.
func absolute(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > maxURLBytes {
		return ""
	}
	u, err := base.Parse(ref)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}
