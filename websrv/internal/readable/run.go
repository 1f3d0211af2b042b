package readable

import "math"

// lanes are the rows that go down a tree side by side: one row's way is a chain of loads, each of
// which waits for the one before.
const lanes = 4

// run is a tree in the form in which many rows are taken down it.
type run struct {
	nodes []Node    // a leaf leads to itself, whatever the row
	value []float32 // of the leaves, by node
	depth int       // steps to the deepest leaf
}

func newRun(tree []Node) run {
	// The node too many is where a row would get that is not a number. There is none.
	r := run{nodes: make([]Node, len(tree)+1), value: make([]float32, len(tree)+1)}
	depth := make([]int, len(tree))
	for i, n := range tree { // children come after their parent
		if n.IsLeaf() {
			r.nodes[i] = Node{Left: uint16(i), Value: float32(math.Inf(1))}
			r.value[i] = n.Value
			r.depth = max(r.depth, depth[i])
			continue
		}
		r.nodes[i] = n
		depth[n.Left], depth[n.Left+1] = depth[i]+1, depth[i]+1
	}
	return r
}

// odds fills out with the probabilities of the rows that begin every stride cells. They are those
// that Odds gives for each row, to the bit.
func (t *Trees) odds(out, cells []float32, stride int) {
	i := 0
	for ; i+lanes <= len(out); i += lanes {
		at := cells[i*stride:]
		t.sums((*[lanes]float32)(out[i:]), at[:t.Width], at[stride:][:t.Width], at[2*stride:][:t.Width], at[3*stride:][:t.Width])
	}
	for ; i < len(out); i++ {
		out[i] = t.Sum(cells[i*stride:][:t.Width])
	}
	for i := range out {
		out[i] = 1 / (1 + float32(math.Exp(-float64(out[i]))))
	}
}

// sums adds up the leaves that four rows reach.
func (t *Trees) sums(out *[lanes]float32, a, b, c, d []float32) {
	sa, sb, sc, sd := t.Base, t.Base, t.Base, t.Base
	for i := range t.runs {
		r := &t.runs[i]
		var ka, kb, kc, kd int
		for range r.depth {
			ka, kb, kc, kd = step(r.nodes, ka, a), step(r.nodes, kb, b), step(r.nodes, kc, c), step(r.nodes, kd, d)
		}
		sa, sb, sc, sd = sa+r.value[ka], sb+r.value[kb], sc+r.value[kc], sd+r.value[kd]
	}
	*out = [lanes]float32{sa, sb, sc, sd}
}

// step goes from a node to its child: to the right one if the threshold less the feature is
// negative. There is no jump in it, which nobody could foretell.
func step(nodes []Node, k int, row []float32) int {
	n := nodes[k]
	return int(n.Left) + int(math.Float32bits(n.Value-row[n.Feature])>>31)
}
