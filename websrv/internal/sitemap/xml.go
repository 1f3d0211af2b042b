package sitemap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/boundxml"
)

// xml reads urlset, sitemapindex, RSS, RDF and Atom by local names: writers use any namespace, or none.
func (r *reader) xml(body []byte) error {
	d, err := boundxml.NewDecoder(body)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNotSitemap, err)
	}
	w := &walker{r: r}
	for !r.done {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return w.broken(err)
		}
		if err := w.token(t); err != nil {
			return err
		}
	}
	if r.kind == "" {
		return fmt.Errorf("%w: no element was found", ErrNotSitemap)
	}
	if !r.done && len(w.path) > 0 {
		return w.broken(io.ErrUnexpectedEOF)
	}
	return nil
}

// walker follows the elements of a file.
type walker struct {
	r    *reader
	path []string // local names of the open elements, in lower case
	e    Entry    // of the open entry
	text strings.Builder
	// published is the entry's other date, for feeds that give no later one.
	published string
}

// broken keeps what was read before a file breaks off.
func (w *walker) broken(err error) error {
	if w.r.kind == "" {
		return fmt.Errorf("%w: %v", ErrNotSitemap, err)
	}
	w.r.warning = "the file is broken after " + fmt.Sprint(w.r.n) + " entries; the rest was left out"
	return nil
}

func (w *walker) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return w.start(t)
	case xml.EndElement:
		w.end(strings.ToLower(t.Name.Local))
	case xml.CharData:
		if w.text.Len() < maxText {
			w.text.Write(t[:min(len(t), maxText)])
		}
	}
	return nil
}

func (w *walker) start(t xml.StartElement) error {
	name := strings.ToLower(t.Name.Local)
	if len(w.path) == 0 {
		if err := w.root(name); err != nil {
			return err
		}
	}
	if len(w.path) == maxDepth {
		w.r.done, w.r.warning = true, "the file is nested too deep; the rest was left out"
		return nil
	}
	w.path = append(w.path, name)
	w.text.Reset()
	if isEntry(name) {
		w.e, w.published = Entry{}, ""
	}
	if name == "link" && w.r.kind == KindFeed && w.parent() == "entry" {
		w.atomLink(t)
	}
	return nil
}

func (w *walker) root(name string) error {
	switch name {
	case "urlset":
		w.r.kind = KindURLSet
	case "sitemapindex":
		w.r.kind = KindIndex
	case "rss", "feed", "rdf":
		w.r.kind = KindFeed
	default:
		if w.r.kind == "" {
			return fmt.Errorf("%w: its first element is %.40q", ErrNotSitemap, name)
		}
	}
	return nil
}

func isEntry(name string) bool {
	return name == "url" || name == "sitemap" || name == "item" || name == "entry"
}

// parent is the element around the innermost one.
func (w *walker) parent() string {
	if len(w.path) < 2 {
		return ""
	}
	return w.path[len(w.path)-2]
}

// atomLink takes the link to the page, not those to its feed, comments or enclosure.
func (w *walker) atomLink(t xml.StartElement) {
	href, rel := "", ""
	for _, a := range t.Attr {
		switch strings.ToLower(a.Name.Local) {
		case "href":
			href = a.Value
		case "rel":
			rel = a.Value
		}
	}
	if (rel == "" || rel == "alternate") && w.e.URL == "" {
		w.e.URL = href
	}
}

// end closes an element. Elements that were left open inside it close with it; an end without a start is no event.
func (w *walker) end(name string) {
	at := len(w.path) - 1
	for at >= 0 && w.path[at] != name {
		at--
	}
	if at < 0 {
		return
	}
	if at == len(w.path)-1 {
		w.value(name)
	}
	w.path = w.path[:at]
	w.text.Reset()
	if isEntry(name) {
		if w.e.Modified == "" {
			w.e.Modified = w.published
		}
		w.r.give(w.e)
		w.e = Entry{}
	}
}

// value takes the text of an element of an entry.
func (w *walker) value(name string) {
	text := strings.TrimSpace(w.text.String())
	switch parent := w.parent(); {
	case parent == "news" && name == "title":
		w.e.Title = text
	case !isEntry(parent):
	case name == "loc" && (parent == "url" || parent == "sitemap"),
		name == "link" && parent == "item":
		w.e.URL = text
	case name == "guid" && w.e.URL == "" && strings.HasPrefix(text, "http"):
		w.e.URL = text // of an item without link
	case name == "title":
		w.e.Title = text
	case name == "lastmod", name == "updated", name == "modified":
		w.e.Modified = date(text)
	case name == "pubdate", name == "published", name == "issued", name == "date":
		w.published = date(text)
	}
}

// date brings a date to RFC 3339 or a prefix of it; junk is "".
func date(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 64 {
		return ""
	}
	for _, layout := range [...]string{"2006", "2006-01", time.DateOnly} {
		if len(s) == len(layout) {
			if _, err := time.Parse(layout, s); err == nil {
				return s
			}
		}
	}
	for _, layout := range [...]string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700",
		time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 Z0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 Z0700", "2 Jan 2006 15:04:05 MST",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	// Without a zone the day is all that can be told for sure.
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", "2006/01/02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}
