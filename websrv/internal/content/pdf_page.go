package content

import (
	"math"
)

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

// pdfText follows the operators of a page and puts its characters together to lines.
type pdfText struct {
	f     *pdfFile
	fonts map[any]*pdfFont
	ops   *int
	state pdfState
	stack []pdfState
	tm    pdfMatrix
	line  pdfMatrix

	pdfLines
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
