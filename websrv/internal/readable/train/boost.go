package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// settings of fitting one stage.
type settings struct {
	trees, leaves int
	rate          float64 // how much of each tree is taken
	minWeight     float64 // least curvature of a leaf
	ridge         float64
	columns       float64 // share of the features that a tree sees
	pages         float64 // share of the pages that a tree sees
	seed          uint64
}

const maxBins = 255

// matrix holds rows as bins, a column after the other.
type matrix struct {
	rows, width int
	bins        []uint8     // bins[column*rows+row]
	cuts        [][]float32 // upper bound of each bin but the last
	label       []float32
	weight      []float32
	page        []int32
	pages       int
}

// newMatrix bins rows at quantiles of a sample.
func newMatrix(x [][]float32, label, weight []float32, page []int32, pages int) *matrix {
	m := &matrix{rows: len(x), width: len(x[0]), label: label, weight: weight, page: page, pages: pages}
	m.bins = make([]uint8, m.rows*m.width)
	m.cuts = make([][]float32, m.width)
	col := make([]float32, m.rows)
	for f := range m.width {
		for i := range x {
			col[i] = x[i][f]
		}
		m.cuts[f] = quantiles(col)
		for i, v := range col {
			k, _ := slices.BinarySearch(m.cuts[f], v)
			m.bins[f*m.rows+i] = uint8(k)
		}
	}
	return m
}

func quantiles(col []float32) []float32 {
	const sampled = 40000
	step := max(1, len(col)/sampled)
	var s []float32
	for i := 0; i < len(col); i += step {
		s = append(s, col[i])
	}
	slices.Sort(s)
	var cuts []float32
	for k := 1; k < maxBins; k++ {
		v := s[k*len(s)/maxBins]
		if v == s[len(s)-1] {
			break
		}
		if len(cuts) == 0 || v > cuts[len(cuts)-1] {
			cuts = append(cuts, v)
		}
	}
	return cuts
}

// fit boosts trees on the logistic loss of soft labels.
func (m *matrix) fit(o settings) *readable.Trees {
	rng := rand.New(rand.NewPCG(o.seed, 1))
	t := &readable.Trees{Width: m.width}
	var pos, all float64
	for i, w := range m.weight {
		pos += float64(w * m.label[i])
		all += float64(w)
	}
	t.Base = float32(math.Log(pos / (all - pos)))
	sum := make([]float32, m.rows)
	for i := range sum {
		sum[i] = t.Base
	}
	g := &grower{m: m, o: o, grad: make([]float32, m.rows), curve: make([]float32, m.rows)}
	for range o.trees {
		for i := range sum {
			p := 1 / (1 + math.Exp(-float64(sum[i])))
			g.grad[i] = m.weight[i] * (m.label[i] - float32(p))
			g.curve[i] = m.weight[i] * float32(max(p*(1-p), 1e-4))
		}
		tree := g.grow(rng)
		t.Trees = append(t.Trees, tree)
		for i := range sum {
			sum[i] += m.walk(g.binned, i)
		}
	}
	return t
}

// grower grows one tree at a time, the leaf with the most to gain first.
type grower struct {
	m           *matrix
	o           settings
	grad, curve []float32
	columns     []int
	binned      []binNode
}

type binNode struct {
	feature, bin int
	left         int
	value        float32
}

type leaf struct {
	rows    []int32
	hist    []cell // for each column of the tree, maxBins+1 cells
	g, h    float64
	node    int
	gain    float64
	feature int
	bin     int
}

type cell struct{ g, h float32 }

const bins = maxBins + 1

func (g *grower) grow(rng *rand.Rand) []readable.Node {
	g.sampleColumns(rng)
	root := &leaf{rows: g.sampleRows(rng)}
	g.histogram(root)
	g.best(root)
	g.binned = []binNode{{feature: -1}}
	open := []*leaf{root}
	for n := 1; n < g.o.leaves; n++ {
		k := -1
		for i, l := range open {
			if l.gain > 0 && (k < 0 || l.gain > open[k].gain) {
				k = i
			}
		}
		if k < 0 {
			break
		}
		a, b := g.split(open[k])
		open[k] = a
		open = append(open, b)
	}
	for _, l := range open {
		g.binned[l.node].value = float32(g.o.rate * l.g / (l.h + g.o.ridge))
	}
	return g.export()
}

func (g *grower) sampleColumns(rng *rand.Rand) {
	g.columns = rng.Perm(g.m.width)[:max(1, int(g.o.columns*float64(g.m.width)))]
	slices.Sort(g.columns)
}

func (g *grower) sampleRows(rng *rand.Rand) []int32 {
	in := make([]bool, g.m.pages)
	for i := range in {
		in[i] = rng.Float64() < g.o.pages
	}
	rows := make([]int32, 0, g.m.rows)
	for i := range g.m.rows {
		if in[g.m.page[i]] {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func (g *grower) histogram(l *leaf) {
	l.hist = make([]cell, len(g.columns)*bins)
	for c, f := range g.columns {
		h := l.hist[c*bins : (c+1)*bins]
		col := g.m.bins[f*g.m.rows : (f+1)*g.m.rows]
		for _, i := range l.rows {
			k := &h[col[i]]
			k.g += g.grad[i]
			k.h += g.curve[i]
		}
	}
	l.g, l.h = 0, 0
	for _, i := range l.rows {
		l.g += float64(g.grad[i])
		l.h += float64(g.curve[i])
	}
}

// best finds the leaf's split with the highest gain; the first of equals wins.
func (g *grower) best(l *leaf) {
	l.gain = 0
	whole := l.g * l.g / (l.h + g.o.ridge)
	for c, f := range g.columns {
		h := l.hist[c*bins : (c+1)*bins]
		var lg, lh float64
		for b := range len(g.m.cuts[f]) {
			lg += float64(h[b].g)
			lh += float64(h[b].h)
			rg, rh := l.g-lg, l.h-lh
			if lh < g.o.minWeight {
				continue
			}
			if rh < g.o.minWeight {
				break
			}
			gain := lg*lg/(lh+g.o.ridge) + rg*rg/(rh+g.o.ridge) - whole
			if gain > l.gain+1e-9 {
				l.gain, l.feature, l.bin = gain, f, b
			}
		}
	}
}

func (g *grower) split(l *leaf) (a, b *leaf) {
	col := g.m.bins[l.feature*g.m.rows : (l.feature+1)*g.m.rows]
	a, b = &leaf{}, &leaf{}
	for _, i := range l.rows {
		if int(col[i]) <= l.bin {
			a.rows = append(a.rows, i)
		} else {
			b.rows = append(b.rows, i)
		}
	}
	small, large := a, b
	if len(b.rows) < len(a.rows) {
		small, large = b, a
	}
	g.histogram(small)
	large.hist = l.hist
	for i := range large.hist {
		large.hist[i].g -= small.hist[i].g
		large.hist[i].h -= small.hist[i].h
	}
	large.g, large.h = l.g-small.g, l.h-small.h
	a.node = len(g.binned)
	b.node = a.node + 1
	g.binned[l.node] = binNode{feature: l.feature, bin: l.bin, left: a.node}
	g.binned = append(g.binned, binNode{feature: -1}, binNode{feature: -1})
	g.best(a)
	g.best(b)
	return a, b
}

func (g *grower) export() []readable.Node {
	out := make([]readable.Node, len(g.binned))
	for i, n := range g.binned {
		if n.feature < 0 {
			out[i] = readable.Leaf(n.value)
			continue
		}
		out[i] = readable.Node{Feature: uint16(n.feature), Left: uint16(n.left), Value: g.m.cuts[n.feature][n.bin]}
	}
	return out
}

// walk is the value a row reaches in a binned tree.
func (m *matrix) walk(tree []binNode, i int) float32 {
	n := &tree[0]
	for n.feature >= 0 {
		k := n.left
		if int(m.bins[n.feature*m.rows+i]) > n.bin {
			k++
		}
		n = &tree[k]
	}
	return n.value
}
