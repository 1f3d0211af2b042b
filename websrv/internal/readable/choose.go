package readable

import (
	"cmp"
	"slices"
	"sync"
)

// choose decides which blocks are content.
func (v *view) choose() []bool {
	m, p := model(), v.p
	if m == nil || len(p.blocks) == 0 {
		return p.fallback()
	}
	g := v.grid(m)
	defer g.release()
	scores := make([]float32, len(p.blocks))
	m.First.odds(scores, g.cells[g.second:], g.width)
	o := v.weigh(scores)
	odds, words := make([]float32, len(scores)), make([]int32, len(scores))
	for i := range odds {
		r := row{g.row(i)[:0:g.second]}
		v.second(&r, i, o)
		words[i] = v.stats[i].words
	}
	m.Second.odds(odds, g.cells, g.width)
	return choose(odds, words)
}

// grid holds the rows of all blocks behind each other. A row of the second stage ends in the row
// of the first, so that these features are made once.
type grid struct {
	cells  []float32
	width  int // of a row
	second int // features of a row that only the second stage has
	pooled *[]float32
}

// grids holds cells for later pages, as many as the largest page has needed.
var grids = sync.Pool{New: func() any { return new([]float32) }}

const maxGrid = 2 << 20 // cells; more are not kept

// grid makes the first stage's features of all blocks.
func (v *view) grid(m *Model) *grid {
	g := &grid{width: m.Second.Width, second: m.Second.Width - m.First.Width, pooled: grids.Get().(*[]float32)}
	n := len(v.p.blocks) * g.width
	g.cells = slices.Grow((*g.pooled)[:0], n)[:n]
	for i := range v.p.blocks {
		r := row{g.row(i)[g.second:g.second]}
		v.features(&r, i)
	}
	return g
}

func (g *grid) row(i int) []float32 { return g.cells[i*g.width : (i+1)*g.width : (i+1)*g.width] }

// release gives the cells back. The grid is not to be used again.
func (g *grid) release() {
	if cap(g.cells) <= maxGrid {
		*g.pooled = g.cells[:0]
	}
	grids.Put(g.pooled)
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
