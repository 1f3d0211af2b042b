package readable

import (
	"cmp"
	"slices"
)

// choose decides which blocks are content.
func (v *view) choose() []bool {
	m, p := model(), v.p
	if m == nil || len(p.blocks) == 0 {
		return p.fallback()
	}
	scores := make([]float32, len(p.blocks))
	var r row
	for i := range scores {
		r.v = r.v[:0]
		v.features(&r, i)
		scores[i] = m.First.Odds(r.v)
	}
	o := v.weigh(scores)
	odds, words := make([]float32, len(scores)), make([]int32, len(scores))
	for i := range odds {
		r.v = r.v[:0]
		v.second(&r, i, o)
		v.features(&r, i)
		odds[i] = m.Second.Odds(r.v)
		words[i] = v.stats[i].words
	}
	return choose(odds, words)
}

// fallback is readability's answer, else the body without its furniture.
func (p *page) fallback() []bool {
	out := make([]bool, len(p.blocks))
	kept := p.boxes[0].keptChars
	for i := range p.blocks {
		if kept > 0 {
			out[i] = p.blocks[i].kept > 0.5
		} else {
			out[i] = !p.inFurniture(i)
		}
	}
	return out
}

// choose takes blocks from the most likely down and stops where the expected F1, by words, is
// highest.
func choose(odds []float32, words []int32) []bool {
	order := make([]int, len(odds))
	var all float32
	for i := range order {
		order[i] = i
		all += odds[i] * float32(words[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(odds[b], odds[a]) })
	var hit, taken, best float32
	n := 0
	for k, i := range order {
		hit += odds[i] * float32(words[i])
		taken += float32(words[i])
		if f := hit / (taken + all); f >= best {
			best, n = f, k+1
		}
	}
	out := make([]bool, len(odds))
	for _, i := range order[:n] {
		out[i] = true
	}
	return out
}
