package readable

import (
	"encoding/binary"
	"errors"
	"math"
)

// leafFeature marks a node without children.
const leafFeature = math.MaxUint16

// Node is a node of a decision tree. A row goes left if its feature is at most Value.
type Node struct {
	Feature uint16  // leafFeature for a leaf
	Left    uint16  // number of the left child in the tree; the right one follows it
	Value   float32 // threshold, or what the leaf adds
}

// Leaf makes a leaf.
func Leaf(value float32) Node { return Node{Feature: leafFeature, Value: value} }

// IsLeaf tells whether the node has no children.
func (n Node) IsLeaf() bool { return n.Feature == leafFeature }

// Trees are boosted decision trees: their leaves' values add up to the logarithm of the odds.
// Safe for concurrent use once built.
type Trees struct {
	Width int // features of a row
	Base  float32
	Trees [][]Node
	runs  []run // of the trees, for odds; only in a table that was read
}

// Odds is the probability that the trees give a row.
func (t *Trees) Odds(row []float32) float32 { return 1 / (1 + float32(math.Exp(-float64(t.Sum(row))))) }

// Sum adds up the leaves that a row reaches.
func (t *Trees) Sum(row []float32) float32 {
	sum := t.Base
	for _, tree := range t.Trees {
		n := &tree[0]
		for n.Feature != leafFeature {
			k := n.Left
			if !(row[n.Feature] <= n.Value) {
				k++
			}
			n = &tree[k]
		}
		sum += n.Value
	}
	return sum
}

// Append writes the trees: width, base, number of trees, and for each the number of nodes and
// the nodes, all little endian.
func (t *Trees) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(t.Width))
	b = le.AppendUint32(b, math.Float32bits(t.Base))
	b = le.AppendUint32(b, uint32(len(t.Trees)))
	for _, tree := range t.Trees {
		b = le.AppendUint16(b, uint16(len(tree)))
		for _, n := range tree {
			b = le.AppendUint16(b, n.Feature)
			b = le.AppendUint16(b, n.Left)
			b = le.AppendUint32(b, math.Float32bits(n.Value))
		}
	}
	return b
}

var errTable = errors.New("table of the block model is damaged")

// readTrees reads what Append wrote and checks that every row ends at a leaf.
func readTrees(b []byte) (*Trees, []byte, error) {
	le := binary.LittleEndian
	if len(b) < 12 {
		return nil, nil, errTable
	}
	t := &Trees{Width: int(le.Uint32(b)), Base: math.Float32frombits(le.Uint32(b[4:]))}
	count := int(le.Uint32(b[8:]))
	b = b[12:]
	const nodeBytes = 8
	nodes := make([]Node, 0, len(b)/nodeBytes)
	for range count {
		if len(b) < 2 || len(b)-2 < nodeBytes*int(le.Uint16(b)) || le.Uint16(b) == 0 {
			return nil, nil, errTable
		}
		n := int(le.Uint16(b))
		b = b[2:]
		from := len(nodes)
		for i := range n {
			node := Node{Feature: le.Uint16(b), Left: le.Uint16(b[2:]), Value: math.Float32frombits(le.Uint32(b[4:]))}
			if !node.IsLeaf() && (int(node.Feature) >= t.Width || int(node.Left) <= i || int(node.Left)+1 >= n) {
				return nil, nil, errTable
			}
			nodes = append(nodes, node)
			b = b[nodeBytes:]
		}
		tree := nodes[from:len(nodes):len(nodes)]
		t.Trees, t.runs = append(t.Trees, tree), append(t.runs, newRun(tree))
	}
	return t, b, nil
}
