package content

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
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
		text := w.finish()
		if strings.TrimSpace(text) == "" {
			blank++
		}
		c.write(text)
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

// pdfMatrix is a transformation [a b c d e f].
type pdfMatrix [6]float64

func (m pdfMatrix) times(n pdfMatrix) pdfMatrix {
	return pdfMatrix{m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3], m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5]}
}

// pdfState is what q saves and Q restores.
type pdfState struct {
	ctm                              pdfMatrix
	font                             *pdfFont
	size, char, word, scale, leading float64
	rise                             float64
}

// pdfText follows the operators of a page and puts its characters together to lines and paragraphs.
type pdfText struct {
	f     *pdfFile
	fonts map[any]*pdfFont
	ops   *int
	state pdfState
	stack []pdfState
	tm    pdfMatrix
	line  pdfMatrix

	out     strings.Builder
	started bool
	x, y    float64 // where the next character would stand
	height  float64 // of the last
	lineGap float64 // between the lines of this paragraph
}

var pdfIdentity = pdfMatrix{1, 0, 0, 1, 0, 0}

// page draws a page.
func (w *pdfText) page(p pdfDict) {
	w.state = pdfState{ctm: pdfIdentity, scale: 1}
	w.tm, w.line = pdfIdentity, pdfIdentity
	var data []byte
	switch o := w.f.resolve(p["Contents"]).(type) {
	case *pdfStream:
		data, _ = w.f.decode(o)
	case pdfArray:
		for _, x := range o {
			if s, ok := w.f.resolve(x).(*pdfStream); ok {
				b, err := w.f.decode(s)
				if err != nil {
					w.f.c.note("A part of page %d could not be read.", w.f.c.doc.Pages+1)
				}
				data = append(append(data, b...), '\n')
			}
		}
	}
	w.run(data, w.f.dict(p["Resources"]), 0)
}

// run follows a stream of operators.
func (w *pdfText) run(data []byte, resources pdfDict, depth int) {
	l := &pdfLexer{b: data}
	var args []any
	for *w.ops > 0 {
		o := l.object()
		op, ok := o.(pdfWord)
		if !ok {
			if len(args) < 64 {
				args = append(args, o)
			}
			continue
		}
		if op == "" {
			return
		}
		if *w.ops--; *w.ops&0xff == 0 && w.f.c.stop() {
			return
		}
		switch op {
		case "Do":
			if len(args) > 0 && depth < maxPDFForms {
				w.form(args[0], resources, depth)
			}
		case "Tf":
			if len(args) >= 2 {
				w.setFont(args[0], w.f.number(args[1]), resources)
			}
		case "BI":
			skipInlineImage(l)
		default:
			w.operator(string(op), args)
		}
		args = args[:0]
	}
}

// skipInlineImage goes on behind the picture's bytes.
func skipInlineImage(l *pdfLexer) {
	for i := l.at; i+2 < len(l.b); i++ {
		if l.b[i] == 'E' && l.b[i+1] == 'I' && pdfSpace(l.b[i+2]) && i > 0 && pdfSpace(l.b[i-1]) {
			l.at = i + 2
			return
		}
	}
	l.at = len(l.b)
}

func (w *pdfText) form(name any, resources pdfDict, depth int) {
	n, _ := name.(pdfName)
	s, ok := w.f.resolve(w.f.dict(resources["XObject"])[n]).(*pdfStream)
	if !ok || w.f.name(s.dict["Subtype"]) != "Form" {
		return
	}
	data, err := w.f.decode(s)
	if err != nil {
		return
	}
	saved, tm, line := w.state, w.tm, w.line
	if m := w.f.array(s.dict["Matrix"]); len(m) == 6 {
		w.state.ctm = w.matrix(m).times(w.state.ctm)
	}
	if own := w.f.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	held := w.stack
	w.stack = nil
	w.run(data, resources, depth+1)
	w.state, w.tm, w.line, w.stack = saved, tm, line, held
}

func (w *pdfText) setFont(name any, size float64, resources pdfDict) {
	n, _ := name.(pdfName)
	w.state.size = size
	ref := w.f.dict(resources["Font"])[n]
	key, isRef := ref.(pdfRef)
	if isRef && w.fonts[key] != nil {
		w.state.font = w.fonts[key]
		return
	}
	d := w.f.dict(ref)
	absent := d == nil
	if absent {
		d = pdfDict{}
	}
	w.state.font = w.f.font(d)
	w.state.font.absent = absent
	if isRef && len(w.fonts) < 5000 {
		w.fonts[key] = w.state.font
	}
}

func (w *pdfText) matrix(args []any) (m pdfMatrix) {
	for i := range m {
		if i < len(args) {
			m[i] = w.f.number(args[i])
		}
	}
	return m
}

// operator follows one operator (ISO 32000-1, 8.4 and 9.4).
func (w *pdfText) operator(op string, args []any) {
	num := func(i int) float64 {
		if i < len(args) {
			return w.f.number(args[i])
		}
		return 0
	}
	switch op {
	case "q":
		if len(w.stack) < 1000 {
			w.stack = append(w.stack, w.state)
		}
	case "Q":
		if n := len(w.stack); n > 0 {
			w.state, w.stack = w.stack[n-1], w.stack[:n-1]
		}
	case "cm":
		w.state.ctm = w.matrix(args).times(w.state.ctm)
	case "BT":
		w.tm, w.line = pdfIdentity, pdfIdentity
	case "Tc":
		w.state.char = num(0)
	case "Tw":
		w.state.word = num(0)
	case "Tz":
		w.state.scale = num(0) / 100
	case "TL":
		w.state.leading = num(0)
	case "Ts":
		w.state.rise = num(0)
	case "Td":
		w.move(num(0), num(1))
	case "TD":
		w.state.leading = -num(1)
		w.move(num(0), num(1))
	case "Tm":
		w.tm = w.matrix(args)
		w.line = w.tm
	case "T*":
		w.move(0, -w.state.leading)
	case "Tj":
		w.showAll(args)
	case "'":
		w.move(0, -w.state.leading)
		w.showAll(args)
	case "\"":
		w.state.word, w.state.char = num(0), num(1)
		w.move(0, -w.state.leading)
		w.showAll(args[min(2, len(args)):])
	case "TJ":
		if len(args) > 0 {
			list, _ := args[0].(pdfArray)
			w.showAll(list)
		}
	}
}

func (w *pdfText) move(x, y float64) {
	w.line = pdfMatrix{1, 0, 0, 1, x, y}.times(w.line)
	w.tm = w.line
}

// showAll shows strings, with moves between them in thousandths of the size.
func (w *pdfText) showAll(list []any) {
	for _, x := range list {
		switch x := x.(type) {
		case pdfString:
			w.show(x)
		case int, float64:
			w.advance(-w.f.number(x) / 1000 * w.state.size * w.state.scale)
		}
	}
}

func (w *pdfText) advance(x float64) { w.tm = pdfMatrix{1, 0, 0, 1, x, 0}.times(w.tm) }

func (w *pdfText) show(s pdfString) {
	if w.state.font == nil {
		w.state.font = w.f.font(pdfDict{})
	}
	st := &w.state
	st.font.show(s, func(text string, width float64, space bool) {
		if w.f.shown++; text == "" {
			w.f.lost++
		}
		at := pdfMatrix{1, 0, 0, 1, 0, st.rise}.times(w.tm).times(st.ctm)
		height := math.Hypot(at[2], at[3]) * st.size
		step := width/1000*st.size + st.char
		if space {
			step += st.word
		}
		step *= st.scale
		w.put(text, at, math.Abs(height), step*math.Hypot(at[0], at[1]))
		w.advance(step)
	})
}

// put adds a character at a place. The text's own direction is the x axis, whatever way the page is turned.
func (w *pdfText) put(text string, at pdfMatrix, height, width float64) {
	length := math.Hypot(at[0], at[1])
	if length == 0 || height == 0 || math.IsNaN(height+length) || math.IsInf(height+length+at[4]+at[5], 0) {
		return
	}
	cos, sin := at[0]/length, at[1]/length
	x, y := at[4]*cos+at[5]*sin, -at[4]*sin+at[5]*cos
	if w.started {
		w.between(x, y, height)
	}
	w.started = true
	w.x, w.y, w.height = x+width, y, height
	w.out.WriteString(text)
}

// between adds the space, the line end or the paragraph's end that the distance to the last character means.
func (w *pdfText) between(x, y, height float64) {
	down, gap := w.y-y, x-w.x
	tall := max(height, w.height)
	last := w.out.String()
	switch {
	case math.Abs(down) > tall*0.5:
		paragraph := down > tall*1.9 || down < -tall*0.6 || w.lineGap > 0 && down > w.lineGap*1.35 || math.Abs(height-w.height) > tall*0.15
		if paragraph {
			w.lineGap = 0
			w.breakWith("\n\n")
		} else {
			w.lineGap = down
			w.breakWith("\n")
		}
	case gap > tall*0.15 || gap < -tall*1.5:
		if !strings.HasSuffix(last, " ") && !strings.HasSuffix(last, "\n") && last != "" {
			w.out.WriteByte(' ')
		}
	}
}

func (w *pdfText) breakWith(s string) {
	if w.out.Len() > 0 {
		w.out.WriteString(s)
	}
}

// finish is the page's text. The lines of a paragraph are joined; a word that a hyphen parts at a line's end keeps it.
func (w *pdfText) finish() string {
	var b strings.Builder
	for p := range strings.SplitSeq(strings.ToValidUTF8(w.out.String(), ""), "\n\n") {
		if s := strings.Join(strings.Fields(ligatures(p)), " "); s != "" {
			b.WriteString(escapeStart(s) + "\n\n")
		}
	}
	return b.String()
}

// ligatures writes ligatures as the letters they join, and drops control characters.
func ligatures(s string) string {
	return strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ﬄ", "ffl", "\u00ad", "", "\x00", "").Replace(s)
}
