package content

import (
	"encoding/xml"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// relations reads the targets of a part's relationships, by their IDs. Targets inside the archive are full names in it.
func (a *archive) relations(part string) map[string]string {
	data, err := a.read(path.Join(path.Dir(part), "_rels", path.Base(part)+".rels"))
	if err != nil || data == nil {
		return nil
	}
	r := &relations{dir: path.Dir(part), to: map[string]string{}}
	if a.c.parse(data, r) != nil {
		return nil
	}
	return r.to
}

type relations struct {
	dir string
	to  map[string]string
}

func (r *relations) start(name string, attrs []xml.Attr) {
	if name != "Relationship" {
		return
	}
	target := attr(attrs, "Target")
	switch {
	case attr(attrs, "TargetMode") == "External":
	case strings.HasPrefix(target, "/"):
		target = target[1:]
	default:
		target = path.Join(r.dir, target)
	}
	r.to[attr(attrs, "Id")] = target
}

func (r *relations) end(string)  {}
func (r *relations) text(string) {}

// core reads the properties that all office documents keep in one place.
func (a *archive) core() {
	data, err := a.read("docProps/core.xml")
	if err != nil || data == nil {
		return
	}
	v := newValues("title", "creator", "modified", "created", "language")
	if a.c.parse(data, v) != nil {
		return
	}
	d := a.c.doc
	d.Title, d.Author, d.Language, d.Published = v.want["title"], v.want["creator"], v.want["language"], v.want["created"]
	if d.Published == "" {
		d.Published = v.want["modified"]
	}
}

// docx reads a Word document: paragraphs with headings and lists, tables, links, notes.
func (c *conversion) docx(body []byte) error {
	a, err := c.open(body)
	if err != nil {
		return err
	}
	const part = "word/document.xml"
	data, err := a.read(part)
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("document of Word without %s: %w", part, ErrMalformed)
	}
	a.core()
	w := newOffice(c)
	w.links, w.levels, w.ordered = a.relations(part), a.headingStyles(), a.orderedLists()
	if err := c.parse(data, w); err != nil {
		return err
	}
	w.close()
	for _, notes := range []string{"footnotes", "endnotes"} {
		data, err := a.read("word/" + notes + ".xml")
		if err != nil || data == nil {
			continue
		}
		n := newOffice(c)
		n.notes, n.links = true, a.relations("word/"+notes+".xml")
		if c.parse(data, n) == nil {
			n.close()
		}
	}
	return nil
}

// headingStyles are the levels of headings by the IDs of styles, which are in the writer's language.
func (a *archive) headingStyles() map[string]int {
	s := &styles{levels: map[string]int{}}
	if data, err := a.read("word/styles.xml"); err == nil && data != nil {
		_ = a.c.parse(data, s) // without styles the IDs themselves are asked
	}
	return s.levels
}

type styles struct {
	id     string
	levels map[string]int
}

func (s *styles) start(name string, attrs []xml.Attr) {
	val := attr(attrs, "val")
	switch name {
	case "style":
		s.id = attr(attrs, "styleId")
	case "name":
		if n := headingName(val); n > 0 {
			s.levels[s.id] = n
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(val); err == nil && n >= 0 && n < 6 && s.levels[s.id] == 0 {
			s.levels[s.id] = n + 1
		}
	}
}

func (s *styles) end(string)  {}
func (s *styles) text(string) {}

// headingName is the level of a style's name or ID such as "heading 2" or "Heading2", 0 for others.
func headingName(s string) int {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	if s == "title" {
		return 1
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(s, "heading")); err == nil && strings.HasPrefix(s, "heading") && n >= 1 && n <= 9 {
		return min(n, 6)
	}
	return 0
}

// orderedLists are the lists that count, as "list/level".
func (a *archive) orderedLists() map[string]bool {
	n := &numbering{abstract: map[string]bool{}, ordered: map[string]bool{}}
	if data, err := a.read("word/numbering.xml"); err == nil && data != nil {
		_ = a.c.parse(data, n) // without it all lists have bullets
	}
	return n.ordered
}

type numbering struct {
	id, level, num string
	abstract       map[string]bool // of definitions
	ordered        map[string]bool // of lists
}

func (n *numbering) start(name string, attrs []xml.Attr) {
	switch name {
	case "abstractNum":
		n.id, n.num = attr(attrs, "abstractNumId"), ""
	case "lvl":
		n.level = attr(attrs, "ilvl")
	case "numFmt":
		if f := attr(attrs, "val"); n.num == "" && f != "bullet" && f != "none" {
			n.abstract[n.id+"/"+n.level] = true
		}
	case "num":
		n.num = attr(attrs, "numId")
	case "abstractNumId":
		for l := range maxListDepth + 1 {
			if level := strconv.Itoa(l); n.abstract[attr(attrs, "val")+"/"+level] {
				n.ordered[n.num+"/"+level] = true
			}
		}
	}
}

func (n *numbering) end(string)  {}
func (n *numbering) text(string) {}
