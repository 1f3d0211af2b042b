package websrv

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of a look at a page.
const (
	maxLookText   = 4000    // characters of visible text; a page with more is a page
	maxLookBytes  = 2 << 20 // of HTML
	maxLookScript = 64 << 10
	shellText     = 200 // characters below which a page may be a shell
	shellScripts  = 5
	wallText      = 2000 // characters that a challenge page has at most
	maxRefresh    = 5 * time.Second
)

// look is what one pass over a page's HTML tells about its kind. Text is what a reader
// without JavaScript sees.
type look struct {
	title    string
	text     string // lower case, white space folded; at most maxLookText characters
	noscript string // lower case
	scripts  int
	script   string // the sources and the beginning of the inline code, as it stands
	ids      string // " id id " and classes of containers, lower case
	root     bool   // a container that frameworks render into
	refresh  string // content of <meta http-equiv=refresh>
}

// rootIDs are the containers that client-side frameworks render into.
var rootIDs = [...]string{"root", "app", "__next", "__nuxt", "___gatsby", "q-app", "main-app", "react-root", "app-root", "svelte", "ember-app", "vue-app", "application"}

// lookAt reads the beginning of a page, up to where it is clear that it has text.
func lookAt(body []byte) *look {
	l := &look{}
	if len(body) > maxLookBytes {
		body = body[:maxLookBytes]
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	var text, noscript, script, title, ids strings.Builder
	var in atom.Atom // the element whose text is not visible, 0 outside
	chars := 0
	for chars < maxLookText {
		tt := z.Next()
		if tt == html.ErrorToken {
			break
		}
		switch tt {
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			l.tag(&t, &script, &ids)
			if tt == html.StartTagToken && in == 0 {
				in = hidden(t.DataAtom)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == in {
				in = 0
			}
		case html.TextToken:
			switch in {
			case 0:
				chars += fold(&text, string(z.Text()))
			case atom.Noscript:
				fold(&noscript, stripTags(string(z.Text())))
			case atom.Title:
				fold(&title, string(z.Text()))
			case atom.Script:
				if b := z.Raw(); script.Len() < maxLookScript {
					script.Write(b[:min(len(b), maxLookScript)])
				}
			}
		}
	}
	l.title, l.text, l.noscript = strings.TrimSpace(title.String()), lower(text.String()), lower(noscript.String())
	l.script, l.ids = script.String(), ids.String()
	return l
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// hidden is the element itself if its text is not visible text.
func hidden(a atom.Atom) atom.Atom {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Title, atom.Template, atom.Svg, atom.Textarea, atom.Select, atom.Iframe:
		return a
	}
	return 0
}

// tag notes what a start tag tells.
func (l *look) tag(t *html.Token, script, ids *strings.Builder) {
	var id, src, equiv, content, class string
	for _, a := range t.Attr {
		switch a.Key {
		case "id":
			id = strings.ToLower(a.Val)
		case "src":
			src = a.Val
		case "http-equiv":
			equiv = strings.ToLower(a.Val)
		case "content":
			content = a.Val
		case "class":
			class = strings.ToLower(a.Val)
		}
	}
	switch {
	case t.DataAtom == atom.Script:
		l.scripts++
		if src != "" && script.Len() < maxLookScript {
			script.WriteString(src[:min(len(src), 300)] + "\n")
		}
	case t.DataAtom == atom.Meta && equiv == "refresh" && l.refresh == "":
		l.refresh = content[:min(len(content), maxURLBytes)]
	case strings.HasPrefix(t.Data, "app-"): // a custom element, as Angular has
		l.root = true
	}
	for _, r := range rootIDs {
		l.root = l.root || id == r
	}
	if s := id + " " + class; len(s) > 1 && ids.Len() < maxLookScript {
		ids.WriteString(" " + s[:min(len(s), 300)] + " ")
	}
}

// fold appends text with its white space folded and returns the characters added.
func fold(b *strings.Builder, s string) (n int) {
	s = html.UnescapeString(s)
	for _, f := range strings.FieldsFunc(s, unicode.IsSpace) {
		if b.Len() > 4*maxLookText {
			return n + 1
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f)
		n += len([]rune(f)) + 1
	}
	return n
}

// stripTags takes the tags out of a <noscript>, whose content is raw text to the tokenizer.
func stripTags(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before + " ")
		if !ok {
			return b.String()
		}
		if _, s, ok = strings.Cut(rest, ">"); !ok {
			return b.String()
		}
	}
}

func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// needsJavaScript reports whether an HTML page shows next to nothing before its scripts
// have run. reason is a phrase that follows "because".
func needsJavaScript(r *response) (yes bool, reason string) {
	if !isHTML(r.Media) && r.Media != "" {
		return false, ""
	}
	l := lookAt(r.Body)
	if len([]rune(l.text)) >= shellText {
		return false, ""
	}
	switch {
	case asksForScript(l.text), asksForScript(l.noscript):
		return true, "it asks for JavaScript and shows no text without"
	case l.root && l.scripts > 0:
		return true, "it is an empty frame that its scripts fill"
	case l.scripts > shellScripts:
		return true, "it has many scripts and next to no text"
	}
	return false, ""
}

// asksForScript reports whether a text (lower case) asks to switch JavaScript on.
func asksForScript(s string) bool {
	if !strings.Contains(s, "javascript") && !strings.Contains(s, "java script") {
		return false
	}
	for _, w := range []string{"enable", "require", "need", "turn on", "switch on", "activate", "disabled", "without", "must",
		"aktivier", "activer", "activez", "habilit", "activa", "abilita", "有効", "启用", "включ"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// metaRefresh is the target of a page's <meta http-equiv=refresh> of at most 5 s, "" if
// it has none.
func metaRefresh(a *answer) string {
	media, _ := mediaType(a.header.Get("Content-Type"))
	if a.status != 200 || !isHTML(media) || !bytes.Contains(bytes.ToLower(a.body[:min(len(a.body), 64<<10)]), []byte("refresh")) {
		return ""
	}
	return refreshTarget(lookAt(a.body).refresh)
}

// refreshTarget reads the content of a refresh by the HTML standard's rules, near enough:
// a time, then ";" or ",", then an optional "url=", then the URL, quoted or not.
func refreshTarget(content string) string {
	i := strings.IndexAny(content, ";,")
	if i < 0 {
		return ""
	}
	wait, target := strings.TrimSpace(content[:i]), strings.TrimSpace(content[i+1:])
	seconds, err := strconv.ParseFloat(wait, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxRefresh.Seconds()) { // NaN too
		return ""
	}
	if len(target) >= 3 && strings.EqualFold(target[:3], "url") {
		if after, ok := strings.CutPrefix(strings.TrimSpace(target[3:]), "="); ok {
			target = strings.TrimSpace(after)
		}
	}
	if target != "" && (target[0] == '"' || target[0] == '\'') {
		target, _, _ = strings.Cut(target[1:], target[:1])
	}
	if _, err := url.Parse(target); err != nil {
		return ""
	}
	return target
}
