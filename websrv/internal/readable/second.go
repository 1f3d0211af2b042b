package readable

// opinion is the first stage's answer for a page, with the sums the second stage reads.
type opinion struct {
	score  []float32 // of each block, 0 to 1
	mass   []float32 // prefix sums of score times characters
	agree  float32   // how far the first stage and readability keep the same, 0 to 1
	top    float32   // the highest score
	first  int32     // first and last block above one half, -1
	last   int32
	bySect []float32 // mean score of the text under each block's heading
	tags   map[uint32]float32
	class  map[uint32]float32
}

// weigh prepares a first answer for the second stage.
func (v *view) weigh(score []float32) *opinion {
	p := v.p
	o := &opinion{score: score, mass: make([]float32, len(score)+1), first: -1, last: -1,
		tags: make(map[uint32]float32, len(v.tags)), class: make(map[uint32]float32, len(v.classes))}
	var both, either float32
	for i, s := range score {
		b := &p.blocks[i]
		m := s * float32(b.chars)
		o.mass[i+1] = o.mass[i] + m
		both += min(s, b.kept) * float32(b.chars)
		either += max(s, b.kept) * float32(b.chars)
		o.top = max(o.top, s)
		if s > 0.5 {
			if o.first < 0 {
				o.first = int32(i)
			}
			o.last = int32(i)
		}
		o.tags[p.boxes[b.box].path] += m
		o.class[p.boxes[b.box].classPath] += m
	}
	o.agree = both / max(either, 1)
	o.sections(v)
	return o
}

// sections averages the scores between one heading and the next.
func (o *opinion) sections(v *view) {
	n := len(o.score)
	o.bySect = make([]float32, n)
	for i := 0; i < n; {
		j := i + 1
		for j < n && v.lastHeading[j] == v.lastHeading[i] {
			j++
		}
		from := i
		if v.lastHeading[i] == int32(i) && j > i+1 {
			from = i + 1 // the heading does not vote on itself
		}
		m := v.mean(o, from, j)
		for k := i; k < j; k++ {
			o.bySect[k] = m
		}
		i = j
	}
}

// mean is the score of blocks from a to b, by characters.
func (v *view) mean(o *opinion, a, b int) float32 {
	a, b = max(a, 0), min(b, len(o.score))
	if a >= b {
		return 0
	}
	return (o.mass[b] - o.mass[a]) / float32(max(v.charsBefore[b]-v.charsBefore[a], 1))
}

// second appends what the first stage thinks of block i and of what is around it.
func (v *view) second(r *row, i int, o *opinion) {
	p, b := v.p, &v.p.blocks[i]
	r.add(o.score[i])
	for _, k := range [...]int{i - 3, i - 2, i - 1, i + 1, i + 2, i + 3} {
		if k < 0 || k >= len(o.score) {
			r.add(-1)
			continue
		}
		r.add(o.score[k])
	}
	for _, w := range [...]int{2, 5, 15} {
		r.add(v.mean(o, i-w, i), v.mean(o, i+1, i+1+w))
	}
	x := b.box
	for range levelsAbove {
		bx := &p.boxes[x]
		r.add(v.mean(o, int(bx.first), int(bx.end)))
		x = max(bx.parent, 0)
	}
	x = b.box
	for range 2 {
		g := p.group(x)
		if g < 0 {
			r.add(-1, -1)
			continue
		}
		up := &p.boxes[p.boxes[g].parent]
		r.add(v.mean(o, int(p.boxes[g].first), int(p.boxes[g].end)), v.mean(o, int(up.first), int(up.end)))
		x = p.boxes[g].parent
	}
	bx := &p.boxes[b.box]
	t, c := v.tags[bx.path], v.classes[bx.classPath]
	r.add(o.tags[bx.path]/float32(max(t.chars, 1)), o.class[bx.classPath]/float32(max(c.chars, 1)))
	all := o.mass[len(o.score)]
	r.add(o.agree, o.top, all/float32(max(p.boxes[0].chars, 1)), log1p(int32(all)))
	r.add(clip(int32(i)-o.first, 60), clip(int32(i)-o.last, 60), o.mass[i]/max(all, 1), o.bySect[i])
	if h := v.lastHeading[i]; h >= 0 {
		r.add(o.score[h])
	} else {
		r.add(-1)
	}
	root := &p.boxes[v.rootBox]
	r.add(v.mean(o, int(root.first), int(root.end)))
}
