package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. The parser takes time in proportion to the squares of the depth and
// of the number of keys.
const (
	maxFileBytes = 64 << 10 // of YAML
	maxJSONBytes = 1 << 20  // of mcp.json and the like
	maxDepth     = 32
	maxNodes     = 20_000 // of one file, aliases written out
)

// bom may begin a file.
const bom = "\ufeff"

// parseYAML reads one document. An empty one is an empty map. The error is a *FileError or
// several of them, joined.
func parseYAML(src *source) (root *node, err error) {
	text := strings.TrimPrefix(src.text, bom)
	if e := checkShape(src, text); e != nil {
		return nil, e
	}
	defer func() {
		if r := recover(); r != nil { // the parser's own fault, on text that no one writes
			root, err = nil, src.errorAt(1, 1, 1, "", "this is no YAML that can be read (%v)", r)
		}
	}()
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(src, err)
	}
	c := &converter{src: src, anchors: map[string]*node{}}
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			at, width := c.here(doc.Body), 1
			if doc.Start != nil && doc.Start.Position != nil { // the marker before it
				at, width = mark{doc.Start.Position.Line, doc.Start.Position.Column}, len(doc.Start.Value)
			}
			c.fail(at, width, "", "a second document: the file may hold only one")
			break
		}
		root = c.node(doc.Body, 0)
	}
	if root == nil || root.kind == kindNull {
		root = &node{kind: kindMap, line: 1, column: 1, literal: true}
	}
	return root, joinErrors(c.errs)
}

// syntaxError gives the parser's error its place.
func syntaxError(src *source, err error) error {
	var ye yaml.Error
	if !errors.As(err, &ye) || ye.GetToken() == nil || ye.GetToken().Position == nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return src.errorAt(1, 1, 1, "", "%s", first)
	}
	p, text := ye.GetToken().Position, ye.GetMessage()
	hint := ""
	switch {
	case strings.Contains(text, "character '\t'"):
		text, hint = "a tab begins the line", "indent with spaces"
	case strings.Contains(text, "mapping value is not allowed"):
		hint = `check the indentation, and put quotes around a text that holds ": "`
	case strings.Contains(text, "could not find end character"):
		hint = "close the quote"
	}
	return src.errorAt(max(p.Line, 1), max(p.Column, 1), 1, hint, "%s", text)
}

// checkShape refuses what would keep the parser busy, or what no text file holds.
func checkShape(src *source, text string) *FileError {
	if len(text) > maxFileBytes {
		return src.errorAt(1, 1, 1, "", "larger than %d KiB", maxFileBytes>>10)
	}
	var indents []int
	brackets, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		if i := strings.IndexFunc(line, badRune); i >= 0 {
			return src.errorAt(number, 1+utf8.RuneCountInString(line[:i]), 1, "", "a character that no text holds: %q", line[i:i+1])
		}
		body := strings.TrimLeft(line, " ")
		if t := strings.TrimRight(body, "\r\n"); t == "" || t[0] == '#' {
			continue
		}
		indent := len(line) - len(body)
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		depth := len(indents)
		for len(body) > 1 && strings.IndexByte("-?:", body[0]) >= 0 && strings.IndexByte(" \t", body[1]) >= 0 {
			depth, body = depth+1, strings.TrimLeft(body[1:], " \t")
		}
		most := brackets
		for _, r := range body {
			switch r {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(brackets-1, 0)
			}
			most = max(most, brackets)
		}
		if depth+most > maxDepth {
			return src.errorAt(number, 1, 1, "", "nested deeper than %d", maxDepth)
		}
	}
	return nil
}

func badRune(r rune) bool {
	return r == utf8.RuneError || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == '\ufeff'
}

// converter turns the parser's tree into ours.
type converter struct {
	src     *source
	anchors map[string]*node
	nodes   int
	errs    []*FileError
}

type mark struct{ line, column int }

func (c *converter) here(n ast.Node) mark {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return mark{1, 1}
	}
	p := n.GetToken().Position
	return mark{max(p.Line, 1), max(p.Column, 1)}
}

func (c *converter) fail(m mark, width int, hint, format string, args ...any) {
	c.errs = append(c.errs, c.src.errorAt(m.line, m.column, width, hint, format, args...))
}

// node converts a value. It never returns nil.
func (c *converter) node(a ast.Node, depth int) *node {
	m := c.here(a)
	n := &node{line: m.line, column: m.column, literal: true}
	if c.nodes++; c.nodes > maxNodes || depth > 2*maxDepth {
		if c.nodes == maxNodes+1 || c.nodes <= maxNodes {
			c.fail(m, 1, "", "the file holds more than %d values", maxNodes)
			c.nodes = maxNodes + 1
		}
		return n
	}
	switch a := a.(type) {
	case nil, *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.text = kindBool, a.GetToken().Value
	case *ast.IntegerNode:
		n.kind, n.text = kindInt, a.GetToken().Value
	case *ast.FloatNode:
		n.kind, n.text = kindFloat, a.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text, n.quote = kindString, a.Value, quoteOf(a.GetToken())
		if n.quote == 0 && digits(n.text) { // a number beyond 64 bits, which the parser leaves as text
			n.kind = kindInt
		}
	case *ast.LiteralNode:
		n.kind, n.quote = kindString, '|'
		if a.Value != nil {
			n.text = a.Value.Value
		}
	case *ast.SequenceNode:
		n.kind, n.flow = kindList, a.IsFlowStyle
		for _, v := range a.Values {
			n.items = append(n.items, c.node(v, depth+1))
		}
	case *ast.MappingNode:
		n.kind, n.flow = kindMap, a.IsFlowStyle
		c.pairs(n, a.Values, depth)
	case *ast.MappingValueNode:
		n.kind = kindMap
		c.pairs(n, []*ast.MappingValueNode{a}, depth)
	case *ast.AnchorNode:
		n = c.node(a.Value, depth+1)
		n.literal = false
		if a.Name != nil {
			c.anchors[a.Name.GetToken().Value] = n
		}
	case *ast.AliasNode:
		n = c.alias(a, m)
	case *ast.TagNode:
		n = c.tagged(a, depth)
	default:
		c.fail(m, 1, "", "%s cannot be used here", strings.ToLower(a.Type().String()))
	}
	return n
}

// digits reports whether a text is nothing but a whole number.
func digits(text string) bool {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func quoteOf(t *token.Token) byte {
	switch t.Type {
	case token.SingleQuoteType:
		return '\''
	case token.DoubleQuoteType:
		return '"'
	}
	return 0
}

// alias is a copy of what its anchor names.
func (c *converter) alias(a *ast.AliasNode, m mark) *node {
	name := ""
	if a.Value != nil {
		name = a.Value.GetToken().Value
	}
	target := c.anchors[name]
	if target == nil {
		c.fail(m, len(name)+1, "", "no anchor &%s stands before this", name)
		return &node{line: m.line, column: m.column}
	}
	if c.nodes += target.size(); c.nodes > maxNodes {
		c.fail(m, len(name)+1, "", "the file holds more than %d values", maxNodes)
		return &node{line: m.line, column: m.column}
	}
	n := target.clone()
	n.literal, n.line, n.column = false, m.line, m.column
	return n
}

// size is how many nodes there are, this one counted.
func (n *node) size() int {
	total := 1
	for _, i := range n.items {
		total += i.size()
	}
	for _, p := range n.pairs {
		total += p.value.size()
	}
	return total
}

// tagged takes !!str, which makes a text of what looks like something else; other tags say
// nothing that a configuration needs.
func (c *converter) tagged(a *ast.TagNode, depth int) *node {
	n := c.node(a.Value, depth+1)
	n.literal = false
	switch tag := a.GetToken().Value; {
	case tag == "!!str" && n.kind != kindList && n.kind != kindMap:
		n.kind = kindString
	case tag == "!!int" && n.kind == kindInt, tag == "!!bool" && n.kind == kindBool, tag == "!!float" && n.kind == kindFloat,
		tag == "!!map" && n.kind == kindMap, tag == "!!seq" && n.kind == kindList:
	default:
		c.fail(c.here(a), len(tag), "leave it out", "the tag %s is not known", tag)
	}
	return n
}

// pairs converts the keys of a map and refuses doubled ones.
func (c *converter) pairs(n *node, values []*ast.MappingValueNode, depth int) {
	if len(values) > 0 && !n.flow {
		m := c.here(values[0].Key)
		n.line, n.column = m.line, m.column
	}
	seen := map[string]mark{}
	for _, v := range values {
		m := c.here(v.Key)
		if v.Key.Type() == ast.MergeKeyType {
			c.merge(n, v, depth)
			continue
		}
		key, ok := scalarKey(v.Key)
		if !ok {
			c.fail(m, 1, "", "a key must be a plain word")
			continue
		}
		if at, twice := seen[key]; twice {
			c.fail(m, utf8.RuneCountInString(key), fmt.Sprintf("it is also in line %d", at.line), "the key %q is doubled", key)
			continue
		}
		seen[key] = m
		n.pairs = append(n.pairs, pair{key: key, line: m.line, column: m.column, value: c.node(v.Value, depth+1)})
	}
	n.settleMerges()
}

func scalarKey(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

// merge takes over the keys of "<<: *anchor".
func (c *converter) merge(n *node, v *ast.MappingValueNode, depth int) {
	from := c.node(v.Value, depth+1)
	maps := []*node{from}
	if from.kind == kindList {
		maps = from.items
	}
	for _, m := range maps {
		if m.kind != kindMap {
			c.fail(c.here(v.Key), 2, "", "<< takes over a map, and this is %s", m.kind)
			return
		}
		for _, p := range m.pairs {
			p.merged = true
			n.pairs = append(n.pairs, p)
		}
	}
}

// settleMerges keeps of each key the one that is written here, else the first merged one.
func (n *node) settleMerges() {
	own, kept := map[string]bool{}, n.pairs[:0:0]
	for _, p := range n.pairs {
		own[p.key] = own[p.key] || !p.merged
	}
	taken := map[string]bool{}
	for _, p := range n.pairs {
		if p.merged && (own[p.key] || taken[p.key]) {
			continue
		}
		taken[p.key] = true
		kept = append(kept, p)
	}
	n.pairs = kept
}
