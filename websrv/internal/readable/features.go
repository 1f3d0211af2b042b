package readable

import (
	"math"
	"net/url"

	"golang.org/x/net/html/atom"
)

// row collects one block's features.
type row struct{ v []float32 }

func (r *row) add(f ...float32) { r.v = append(r.v, f...) }
func (r *row) flag(list ...bool) {
	for _, b := range list {
		var f float32
		if b {
			f = 1
		}
		r.v = append(r.v, f)
	}
}

// view is what features are made from: the page and figures over all of it.
type view struct {
	p              *page
	stats          []textStats
	dist           []distances
	tags, classes  map[uint32]*like
	same           map[uint32]int32 // blocks with the same text
	rootBox        int32
	whole          []float32 // the page's own features, the same in each row
	h1             int32     // block of the first h1, -1
	lastHeading    []int32   // block of the last heading at or before each block, -1
	charsBefore    []int32
	keptFirst, end int32 // first and last block that readability keeps, -1
}

// look prepares the features of a page.
func (p *page) look(pageURL *url.URL) *view {
	v := &view{p: p, stats: make([]textStats, len(p.blocks)), dist: p.measure(), rootBox: p.root(),
		same: make(map[uint32]int32, len(p.blocks)), h1: -1, keptFirst: -1, end: -1,
		lastHeading: make([]int32, len(p.blocks)), charsBefore: make([]int32, len(p.blocks)+1)}
	v.tags, v.classes = p.paths()
	in := p.sets()
	last := int32(-1)
	for i := range p.blocks {
		b := &p.blocks[i]
		v.stats[i].count(b.text, in)
		v.same[v.stats[i].hash]++
		level := headingLevel(p.boxes[b.box].atom)
		if level > 0 {
			last = int32(i)
		}
		if level == 1 && v.h1 < 0 {
			v.h1 = int32(i)
		}
		if b.kept > 0.5 {
			if v.keptFirst < 0 {
				v.keptFirst = int32(i)
			}
			v.end = int32(i)
		}
		v.lastHeading[i] = last
		v.charsBefore[i+1] = v.charsBefore[i] + b.chars
	}
	v.whole = v.pageRow(pageURL)
	return v
}

const maxSetWords = 20000

// sets are the words of the title, the description and the data's texts.
func (p *page) sets() *sets {
	s := &sets{title: wordSet{}, desc: wordSet{}, data: wordSet{}}
	addWords(s.title, or(p.meta.first("og:title"), p.meta.title), 200)
	addWords(s.desc, or(p.meta.first("og:description"), p.meta.first("description")), 1000)
	for _, t := range p.meta.data.texts {
		addWords(s.data, t, maxSetWords)
	}
	return s
}

// features appends the first stage's features of block i.
func (v *view) features(r *row, i int) {
	v.own(r, i)
	v.place(r, i)
	v.around(r, i)
	v.above(r, i)
	v.repeats(r, i)
	r.add(v.whole...)
}

// own are the features of the text and the element.
func (v *view) own(r *row, i int) {
	p, b, t := v.p, &v.p.blocks[i], &v.stats[i]
	bx := &p.boxes[b.box]
	r.add(log1p(b.chars), log1p(t.words), ratio(b.linkChars, b.chars), float32(min(b.links, 20)))
	r.add(ratio(t.short, t.words), ratio(t.long, t.words), ratio(t.letters, t.words), ratio(t.digits, b.chars))
	r.add(ratio(t.capital, t.words), ratio(t.upper, t.letters), ratio(t.commas, t.words), float32(min(t.commas, 20)))
	r.add(float32(min(t.stops, 20)), ratio(t.stops, t.words), ratio(t.other, b.chars), float32(min(t.money, 5)), float32(min(t.bars, 10)))
	r.add(float32(t.ends), ratio(t.inTitle, t.words), ratio(t.inDesc, t.words), ratio(t.inData, t.words), float32(min(t.inTitle, 10)))
	r.flag(t.year, t.first == '©', t.first == '•' || t.first == '-' || t.first == '*', t.words == 1, t.digits > 0 && t.letters == 0)
	r.add(float32(headingLevel(bx.atom)), float32(elementClass(bx.atom)), float32(b.end-b.first), float32(min(b.before, 5)))
	r.flag(b.inline&inlineStrong != 0, b.inline&inlineCode != 0, b.inline&inlineTime != 0, b.inline&inlineSmall != 0, b.inline&inlineLabel != 0, b.inline&inlineSpan != 0)
	r.flag(bx.hidden, bx.chars == b.chars)
	r.add(b.kept)
	d := v.dist[b.box]
	for k := range d {
		near := d[k]
		if k < hintCount && b.hints&(1<<k) != 0 {
			near = 0
		}
		r.add(float32(near))
	}
}

// elementClass orders elements from prose to controls.
func elementClass(a atom.Atom) int {
	switch a {
	case atom.P:
		return 0
	case atom.Pre, atom.Blockquote:
		return 1
	case atom.Li:
		return 2
	case atom.Dd, atom.Dt:
		return 3
	case atom.Td:
		return 4
	case atom.Th, atom.Caption:
		return 5
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return 6
	case atom.Div, atom.Section, atom.Article, atom.Main:
		return 7
	case atom.Figcaption, atom.Figure:
		return 8
	case atom.Summary, atom.Details:
		return 9
	case atom.Button, atom.Legend, atom.Form, atom.Fieldset:
		return 10
	}
	return 11
}

// place is where on the page the block is.
func (v *view) place(r *row, i int) {
	p, n := v.p, int32(len(v.p.blocks))
	b := &p.blocks[i]
	r.add(ratio(int32(i), n), ratio(v.charsBefore[i], v.charsBefore[n]), log1p(int32(i)), log1p(n-int32(i)), float32(p.boxes[b.box].depth))
	if v.h1 >= 0 {
		r.add(clip(int32(i)-v.h1, 60), ratio(int32(i)-v.h1, n))
	} else {
		r.add(-99, -2)
	}
	if v.keptFirst >= 0 {
		r.add(clip(int32(i)-v.keptFirst, 60), clip(int32(i)-v.end, 60))
	} else {
		r.add(-99, -99)
	}
	h := v.lastHeading[i]
	if h < 0 {
		r.add(99, 0, -1)
	} else {
		r.add(clip(int32(i)-h, 60), float32(headingLevel(p.boxes[p.blocks[h].box].atom)), p.blocks[h].kept)
	}
	r.flag(p.isIn(b.box, v.rootBox))
	r.add(float32(p.boxes[b.box].depth - p.boxes[v.rootBox].depth))
}

func clip(n, limit int32) float32 { return float32(max(-limit, min(limit, n))) }

// around are the neighbours in the document's order.
func (v *view) around(r *row, i int) {
	for _, k := range [...]int{i - 2, i - 1, i + 1, i + 2} {
		if k < 0 || k >= len(v.p.blocks) {
			r.add(-1, -1, -1, -1)
			continue
		}
		b := &v.p.blocks[k]
		r.add(log1p(b.chars), ratio(b.linkChars, b.chars), b.kept, float32(elementClass(v.p.boxes[b.box].atom)))
	}
	r.flag(i > 0 && v.p.boxes[v.p.blocks[i-1].box].path == v.p.boxes[v.p.blocks[i].box].path,
		i+1 < len(v.p.blocks) && v.p.boxes[v.p.blocks[i+1].box].path == v.p.boxes[v.p.blocks[i].box].path)
	for _, w := range [...]int{3, 10} {
		var chars, link, stops int32
		var kept float32
		for k := max(0, i-w); k <= min(len(v.p.blocks)-1, i+w); k++ {
			b := &v.p.blocks[k]
			chars += b.chars
			link += b.linkChars
			stops += v.stats[k].stops
			kept += b.kept * float32(b.chars)
		}
		r.add(log1p(chars), ratio(link, chars), kept/float32(max(chars, 1)), 100*ratio(stops, chars))
	}
}

const levelsAbove = 5

// above are the elements around the block.
func (v *view) above(r *row, i int) {
	p, b := v.p, &v.p.blocks[i]
	x := b.box
	for range levelsAbove {
		bx := &p.boxes[x]
		r.add(log1p(bx.chars), ratio(bx.linkChars, bx.chars), ratio(bx.keptChars, bx.chars), log1p(bx.end-bx.first), ratio(b.chars, bx.chars), float32(min(bx.same, 30)))
		if bx.parent >= 0 {
			x = bx.parent
		}
	}
	for _, t := range [...]atom.Atom{atom.Main, atom.Article, atom.Section} {
		y := b.box
		for y >= 0 && p.boxes[y].atom != t {
			y = p.boxes[y].parent
		}
		if y < 0 {
			r.add(-1, -1)
			continue
		}
		r.add(ratio(p.boxes[y].chars, p.boxes[0].chars), ratio(p.boxes[y].linkChars, p.boxes[y].chars))
	}
}

// repeats are the lists of like things the block is in.
func (v *view) repeats(r *row, i int) {
	p, b, t := v.p, &v.p.blocks[i], &v.stats[i]
	x := b.box
	for range 2 {
		g := p.group(x)
		if g < 0 {
			r.add(0, 0, -1, -1, -1, -1, -1, -1)
			x = 0
			continue
		}
		gb, up := &p.boxes[g], &p.boxes[p.boxes[g].parent]
		r.add(float32(min(gb.same, 60)), float32(min(gb.nth, 60)), log1p(gb.chars), ratio(gb.linkChars, gb.chars),
			ratio(up.linkChars, up.chars), log1p(up.chars/gb.same), ratio(up.chars, p.boxes[0].chars), ratio(up.keptChars, up.chars))
		x = gb.parent
	}
	for _, l := range [...]*like{v.tags[p.boxes[b.box].path], v.classes[p.boxes[b.box].classPath]} {
		r.add(log1p(l.blocks), log1p(l.chars/l.blocks), ratio(l.linkChars, l.chars), l.kept/float32(max(l.chars, 1)), ratio(l.chars, p.boxes[0].chars))
	}
	r.add(float32(min(v.same[t.hash], 10)))
}

// pageRow are the features of the page as a whole.
func (v *view) pageRow(u *url.URL) []float32 {
	var r row
	p := v.p
	b := &p.boxes[0]
	r.add(log1p(b.chars), log1p(int32(len(p.blocks))), ratio(b.linkChars, b.chars), ratio(b.keptChars, b.chars), log1p(b.keptChars))
	v.composition(&r)
	for k := 0; k < typeCount; k++ {
		r.flag(p.meta.data.types&(1<<k) != 0)
	}
	r.add(float32(ogType(p.meta.first("og:type"))), float32(min(len(p.meta.data.body), 20000)))
	path := addressShape(u)
	r.add(float32(path.segments), float32(path.digits), float32(path.words))
	r.flag(path.query, path.kind&addressThread != 0, path.kind&addressProduct != 0, path.kind&addressList != 0, path.kind&addressDocs != 0, path.kind&addressArticle != 0)
	root := &p.boxes[v.rootBox]
	r.add(ratio(root.chars, b.chars), ratio(root.linkChars, root.chars), float32(root.depth), ratio(root.keptChars, b.keptChars))
	return r.v
}

// composition says what the page's text is made of.
func (v *view) composition(r *row) {
	p := v.p
	var class [12]int32
	var prose, money, years, times, code, comment, thread, product, item, hidden, stops, longest int32
	var h1, h2 int32
	for i := range p.blocks {
		b, t := &p.blocks[i], &v.stats[i]
		d := &v.dist[b.box]
		class[elementClass(p.boxes[b.box].atom)] += b.chars
		if b.linkChars*4 < b.chars && t.stops > 0 && b.chars > 80 {
			prose += b.chars
		}
		longest = max(longest, b.chars-b.linkChars)
		money += t.money
		stops += t.stops
		count(t.year, &years)
		count(b.inline&inlineTime != 0, &times)
		count(b.inline&inlineCode != 0 || p.boxes[b.box].atom == atom.Pre, &code)
		addIf(near(d, hintComment), &comment, b.chars)
		addIf(near(d, hintThread), &thread, b.chars)
		addIf(near(d, hintProduct), &product, b.chars)
		addIf(near(d, hintItem), &item, b.chars)
		addIf(p.boxes[b.box].hidden, &hidden, b.chars)
		count(headingLevel(p.boxes[b.box].atom) == 1, &h1)
		count(headingLevel(p.boxes[b.box].atom) == 2, &h2)
	}
	all := p.boxes[0].chars
	for _, c := range [...]int{0, 2, 4, 6, 7} {
		r.add(ratio(class[c], all))
	}
	r.add(ratio(prose, all), log1p(prose), log1p(money), log1p(years), log1p(times), log1p(code), ratio(comment, all), ratio(thread, all),
		ratio(product, all), ratio(item, all), ratio(hidden, all), 100*ratio(stops, all), log1p(longest), float32(min(h1, 5)), log1p(h2), log1p(int32(len(p.images))))
	var articles, forms, buttons, most, covered int32
	for i := range p.boxes {
		b := &p.boxes[i]
		count(b.atom == atom.Article, &articles)
		count(b.atom == atom.Form, &forms)
		count(b.atom == atom.Button, &buttons)
		if b.nth == 1 && b.same >= 3 && b.chars > 100 && b.same*b.chars > covered {
			most, covered = b.same, b.same*b.chars
		}
	}
	r.add(log1p(articles), log1p(forms), log1p(buttons), log1p(most), float32(math.Min(1, float64(ratio(covered, all)))))
}

// near tells whether a hint is on the block's element or one of the four above.
func near(d *distances, h hints) bool {
	for k := 0; k < hintCount; k++ {
		if h == 1<<k {
			return d[k] <= 4
		}
	}
	return false
}

func count(yes bool, n *int32) { addIf(yes, n, 1) }

func addIf(yes bool, n *int32, by int32) {
	if yes {
		*n += by
	}
}
