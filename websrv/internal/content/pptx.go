package content

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"
)

// pptx reads the slides of a presentation in their order, each with its title, its text and the speaker's notes.
func (c *conversion) pptx(body []byte) error {
	a, err := c.open(body)
	if err != nil {
		return err
	}
	slides, err := a.slides()
	if err != nil {
		return err
	}
	a.core()
	for i, name := range slides {
		if i == c.lim.MaxPages {
			c.note("Only the first %d of %d slides were read.", i, len(slides))
			break
		}
		if c.stop() {
			break
		}
		if err := a.slide(i+1, name); err != nil {
			c.note("Slide %d could not be read.", i+1)
			continue
		}
		c.doc.Pages++
	}
	return nil
}

// slides are the names of the slides' parts, in the order of the presentation or, without one, by name.
func (a *archive) slides() ([]string, error) {
	const part = "ppt/presentation.xml"
	data, err := a.read(part)
	if err != nil {
		return nil, err
	}
	list := &idList{element: "sldId"}
	if data != nil {
		if err := a.c.parse(data, list); err != nil {
			return nil, err
		}
	}
	to := a.relations(part)
	var names []string
	for _, id := range list.ids {
		if to[id] != "" {
			names = append(names, to[id])
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	for name := range a.files {
		if ok, _ := path.Match("ppt/slides/slide*.xml", name); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("presentation without slides: %w", ErrMalformed)
	}
	slices.SortFunc(names, func(x, y string) int {
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		return strings.Compare(x, y)
	})
	return names, nil
}

// idList collects the relationships that elements name.
type idList struct {
	element string
	ids     []string
}

func (l *idList) start(name string, attrs []xml.Attr) {
	if name == l.element {
		l.ids = append(l.ids, relID(attrs))
	}
}

func (l *idList) end(string)  {}
func (l *idList) text(string) {}

// slide writes one slide. Its text goes to a buffer first, since the title may come last.
func (a *archive) slide(number int, name string) error {
	data, err := a.read(name)
	if err != nil {
		return err
	}
	if data == nil {
		return ErrMalformed
	}
	rels := a.relations(name)
	text, title, err := a.slideText(data, rels)
	if err != nil {
		return err
	}
	heading := fmt.Sprintf("Slide %d", number)
	if title != "" {
		heading += ": " + title
		if a.c.doc.Title == "" {
			a.c.doc.Title = clip(title, maxTitle)
		}
	}
	a.c.heading(2, heading)
	a.c.write(text)
	for _, id := range sortedKeys(rels) {
		if !strings.Contains(strings.ToLower(rels[id]), "notesslides/") {
			continue
		}
		if data, err := a.read(rels[id]); err == nil && data != nil {
			if notes, _, err := a.slideText(data, nil); err == nil && strings.TrimSpace(notes) != "" {
				a.c.write("Notes:\n\n" + notes)
			}
		}
	}
	return nil
}

func (a *archive) slideText(data []byte, links map[string]string) (text, title string, err error) {
	part := &conversion{ctx: a.c.ctx, lim: a.c.lim, doc: a.c.doc, seen: a.c.seen}
	w := newOffice(part)
	w.slides, w.links = true, links
	if err := part.parse(data, w); err != nil {
		return "", "", err
	}
	w.close()
	a.c.seen = part.seen
	return part.out.String(), w.titled, nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
