package content

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	maxPDFForms  = 8       // forms within forms
	maxPDFOps    = 5 << 20 // operators of a file
	maxPDFPagesN = 50_000  // nodes of the tree of pages
	pdfTail      = 4 << 10 // bytes in which a file says that it ends
)

func sortBy(list []int, key func(int) int) {
	slices.SortFunc(list, func(a, b int) int { return key(a) - key(b) })
}

// pdf reads the text of a document, page by page, in the order in which it is drawn.
func (c *conversion) pdf(body []byte) error {
	f, err := c.openPDF(body)
	if err != nil {
		return err
	}
	info := f.dict(f.trailer["Info"])
	c.doc.Title, c.doc.Author = infoText(f.resolve(info["Title"])), infoText(f.resolve(info["Author"]))
	pages := f.pages()
	if len(pages) == 0 {
		return fmt.Errorf("PDF document without pages: %w", ErrMalformed)
	}
	fonts := map[any]*pdfFont{}
	blank := 0
	ops := maxPDFOps
	for i, p := range pages {
		if i == c.lim.MaxPages {
			c.note("Only the first %d of %d pages were read.", i, len(pages))
			break
		}
		if c.stop() {
			break
		}
		w := &pdfText{f: f, fonts: fonts, ops: &ops}
		w.page(p)
		w.flush()
		if !w.inked {
			blank++
		}
		c.doc.Pages++
	}
	if !bytes.Contains(f.b[max(0, len(f.b)-pdfTail):], []byte("%%EOF")) {
		c.note("The file breaks off before its end; parts of it may be missing.")
	}
	if f.lost > f.shown/50 {
		c.note("%d of %d characters could not be read: the file does not tell their letters.", f.lost, f.shown)
	} else if blank == c.doc.Pages && blank > 0 {
		c.note("The pages hold no text; they may be scanned pictures.")
	}
	return nil
}

// pages are the leaves of the tree of pages in order, or, where there is no tree, all pages by number.
func (f *pdfFile) pages() (list []pdfDict) {
	seen := map[pdfRef]bool{}
	var walk func(o any, inherited pdfDict, depth int)
	walk = func(o any, inherited pdfDict, depth int) {
		if r, ok := o.(pdfRef); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		d := f.dict(o)
		if d == nil || depth > maxPDFDepth || len(seen) > maxPDFPagesN {
			return
		}
		if d["Resources"] == nil && inherited != nil {
			d["Resources"] = inherited["Resources"]
		}
		kids := f.array(d["Kids"])
		if kids == nil {
			list = append(list, d)
			return
		}
		for _, k := range kids {
			walk(k, d, depth+1)
		}
	}
	walk(f.dict(f.trailer["Root"])["Pages"], nil, 0)
	if len(list) > 0 {
		return list
	}
	numbers := make([]int, 0, len(f.at)+len(f.packed))
	for n := range f.at {
		numbers = append(numbers, n)
	}
	for n := range f.packed {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		if f.c.stop() || len(list) > maxPDFPagesN {
			break
		}
		if d, ok := f.load(n).(pdfDict); ok && f.name(d["Type"]) == "Page" {
			list = append(list, d)
		}
	}
	return list
}
