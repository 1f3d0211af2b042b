package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is the kind of a node.
type kind int

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindFloat
	kindString
	kindList
	kindMap
)

// String is the kind in an error's words.
func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "a text", "a list", "a map"}[k]
}

// A node is a value of a file, whatever format that has.
type node struct {
	kind  kind
	text  string // of a scalar
	items []*node
	pairs []pair

	line, column int // from 1, in characters; where the value begins
	// For edits.
	flow    bool // a list or map in brackets
	quote   byte // ' or " around a text, | for a block, 0 for none
	literal bool // it is written where it stands, not an alias or under an anchor or tag
}

// pair is a key of a map and its value.
type pair struct {
	key          string
	line, column int
	value        *node
	merged       bool // it comes from a merge key
}

// child returns the value of a key, nil if there is none.
func (n *node) child(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return n.pairs[i].value
		}
	}
	return nil
}

// first returns the value of the first of the keys that is there.
func (n *node) first(keys ...string) *node {
	for _, k := range keys {
		if c := n.child(k); c != nil {
			return c
		}
	}
	return nil
}

// width is how many characters a scalar takes, for the caret of an error.
func (n *node) width() int {
	if n.kind == kindList || n.kind == kindMap || n.quote == '|' || strings.Contains(n.text, "\n") {
		return 1
	}
	w := len([]rune(n.text))
	if n.quote != 0 {
		w += 2
	}
	return max(w, 1)
}

// equal reports whether two nodes mean the same. Styles and places do not count, and an
// empty list or map is nothing.
func (n *node) equal(m *node) bool {
	if n.empty() || m.empty() {
		return n.empty() == m.empty()
	}
	if n.kind != m.kind || n.text != m.text || len(n.items) != len(m.items) || len(n.pairs) != len(m.pairs) {
		return false
	}
	for i := range n.items {
		if !n.items[i].equal(m.items[i]) {
			return false
		}
	}
	for i := range n.pairs {
		if n.pairs[i].key != m.pairs[i].key || !n.pairs[i].value.equal(m.pairs[i].value) {
			return false
		}
	}
	return true
}

// empty reports whether a node holds nothing.
func (n *node) empty() bool {
	return n == nil || n.kind == kindNull || (n.kind == kindList || n.kind == kindMap) && len(n.items)+len(n.pairs) == 0
}

// clone is a deep copy.
func (n *node) clone() *node {
	if n == nil {
		return nil
	}
	c := *n
	c.items, c.pairs = nil, nil
	for _, i := range n.items {
		c.items = append(c.items, i.clone())
	}
	for _, p := range n.pairs {
		p.value = p.value.clone()
		c.pairs = append(c.pairs, p)
	}
	return &c
}

// Constructors of nodes that no file holds yet.

func textNode(s string) *node { return &node{kind: kindString, text: s} }

func boolNode(b bool) *node { return &node{kind: kindBool, text: strconv.FormatBool(b)} }

func listNode(items ...string) *node {
	n := &node{kind: kindList}
	for _, s := range items {
		n.items = append(n.items, textNode(s))
	}
	return n
}

// pair returns the entry of a key, nil if there is none.
func (n *node) pair(key string) *pair {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return &n.pairs[i]
		}
	}
	return nil
}

// put sets a key of a map, at its end if it is new.
func (n *node) put(key string, value *node) {
	if n.kind != kindMap {
		*n = node{kind: kindMap}
	}
	if p := n.pair(key); p != nil {
		p.value = value
		return
	}
	n.pairs = append(n.pairs, pair{key: key, value: value})
}

// textMapNode is a map of texts, by name.
func textMapNode(m map[string]string) *node {
	n := &node{kind: kindMap}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n.put(k, textNode(m[k]))
	}
	return n
}
