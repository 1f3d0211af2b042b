package content

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
)

// epub reads the chapters of a book in reading order.
func (c *conversion) epub(body []byte) error {
	a, err := c.open(body)
	if err != nil {
		return err
	}
	data, err := a.read("META-INF/container.xml")
	if err != nil {
		return err
	}
	root := &rootFile{}
	if data == nil || c.parse(data, root) != nil || root.path == "" {
		return fmt.Errorf("book without a table of its files: %w", ErrMalformed)
	}
	if data, err = a.read(root.path); err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("book without its package file: %w", ErrMalformed)
	}
	p := &bookPackage{values: newValues("title", "creator", "language", "date"), files: map[string]string{}}
	if err := c.parse(data, p); err != nil {
		return err
	}
	c.doc.Title, c.doc.Author, c.doc.Language, c.doc.Published = p.want["title"], p.want["creator"], p.want["language"], p.want["date"]
	for i, id := range p.spine {
		if i == c.lim.MaxPages {
			c.note("Only the first %d of %d chapters were read.", i, len(p.spine))
			break
		}
		if c.stop() {
			break
		}
		a.chapter(path.Join(path.Dir(root.path), p.files[id]))
	}
	return nil
}

func (a *archive) chapter(name string) {
	c := a.c
	data, err := a.read(name)
	if err != nil || data == nil {
		c.note("The chapter %q could not be read.", clip(path.Base(name), 60))
		return
	}
	page, _, err := Decode(data, "application/xhtml+xml")
	if err != nil {
		return
	}
	c.markup(openEmpty(page), nil, 0)
	c.doc.Pages++
}

// emptyTags are the elements that XHTML closes where it opens them.
var emptyTags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<([A-Za-z][\w.:-]*)(\s[^<>]*)?/>`)
})

// openEmpty gives elements such as <title/> and <a id="x"/> an end tag: HTML knows no such form, and a reader
// of HTML would take all that follows as their content.
func openEmpty(page []byte) []byte {
	return emptyTags().ReplaceAllFunc(page, func(tag []byte) []byte {
		m := emptyTags().FindSubmatch(tag)
		switch name := strings.ToLower(string(m[1])); name {
		case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
			return tag
		}
		return []byte("<" + string(m[1]) + string(m[2]) + "></" + string(m[1]) + ">")
	})
}

// rootFile is the name of a book's package file.
type rootFile struct{ path string }

func (r *rootFile) start(name string, attrs []xml.Attr) {
	if name == "rootfile" && r.path == "" {
		r.path = attr(attrs, "full-path")
	}
}
func (r *rootFile) end(string)  {}
func (r *rootFile) text(string) {}

// bookPackage is what a package file says: the book's data, its files by ID, their order.
type bookPackage struct {
	*values
	files map[string]string
	spine []string
}

func (p *bookPackage) start(name string, attrs []xml.Attr) {
	p.values.start(name, attrs)
	switch name {
	case "item":
		if len(p.files) >= maxZipEntries {
			return
		}
		href := attr(attrs, "href")
		if u, err := url.PathUnescape(href); err == nil {
			href = u
		}
		p.files[attr(attrs, "id")] = href
	case "itemref":
		if attr(attrs, "linear") != "no" && len(p.spine) < maxZipEntries {
			p.spine = append(p.spine, attr(attrs, "idref"))
		}
	}
}
