package config

import (
	"slices"
	"strings"
)

// set gives the key at a path a value.
func (s *splicer) set(root *node, path []string, value *node) error {
	n, step := root, s.step(root)
	var owner *pair
	inFlow := false
	for i, key := range path {
		if !n.literal || n.kind != kindMap && n.kind != kindNull {
			return s.shape(n, "%s is not written as a map of its own", strings.Join(path[:i], "."))
		}
		inFlow = inFlow || n.flow
		p := n.pair(key)
		if p == nil {
			for j := len(path) - 1; j > i; j-- { // what is below the missing key
				outer := &node{kind: kindMap}
				outer.put(path[j], value)
				value = outer
			}
			return s.insert(n, owner, inFlow, key, value, step)
		}
		if p.merged {
			return s.shape(n, "%s comes from an anchor", strings.Join(path[:i+1], "."))
		}
		owner, n = p, p.value
	}
	return s.replaceValue(owner, value, step, inFlow)
}

// insert adds a key to a map.
func (s *splicer) insert(n *node, owner *pair, inFlow bool, key string, value *node, step int) error {
	switch {
	case n.flow && n.kind == kindMap && (len(n.pairs) > 0 || inFlow && owner != nil && !s.alone(n, owner)):
		f := s.flow(s.offset(n.line, n.column))
		if !f.ok {
			return s.shape(n, "the brackets cannot be followed")
		}
		s.insertPart(f, renderText(key)+": "+renderFlow(value))
	case owner == nil && len(n.pairs) == 0 && !n.flow: // an empty file
		s.insertLines(len(s.lines)+1, renderBlock(key, value, 0, step, s.eol))
	case len(n.pairs) == 0: // "owner:" or "owner: {}"
		if owner == nil {
			return s.shape(n, "the file is one pair of brackets")
		}
		s.insertLines(owner.line+1, renderBlock(key, value, owner.column-1+step, step, s.eol))
		return s.clearValue(owner) // after it, as places are those of the text before
	default:
		last := &n.pairs[len(n.pairs)-1]
		if last.merged || !s.firstOnLine(last.line, last.column) {
			return s.shape(n, "its last key does not stand on a line of its own")
		}
		s.insertLines(s.pairEnd(last), renderBlock(key, value, last.column-1, step, s.eol))
	}
	return nil
}

// alone reports whether an empty map in brackets is the only thing after its key, which
// begins its line.
func (s *splicer) alone(n *node, owner *pair) bool {
	return n.line == owner.line && s.firstOnLine(owner.line, owner.column)
}

// firstOnLine reports whether nothing but spaces stands before a column.
func (s *splicer) firstOnLine(line, column int) bool {
	text := s.lineText(line)
	return column-1 <= len(text) && strings.Trim(text[:column-1], " ") == ""
}

// insertPart adds a part to brackets.
func (s *splicer) insertPart(f flowParts, part string) {
	switch {
	case len(f.parts) == 0:
	case s.text[f.last-1] == ',':
		part = " " + part
	default:
		part = ", " + part
	}
	s.replace(f.last, f.last, part)
}

// clearValue takes away what is written for an empty value, so that a block can follow.
func (s *splicer) clearValue(p *pair) error {
	colon := s.afterColon(p)
	if colon < 0 {
		return s.shape(p.value, "%s: its colon cannot be found", p.key)
	}
	rest, _, _ := strings.Cut(s.text[colon:], "\n")
	rest = strings.TrimSuffix(rest, "\r")
	value := strings.TrimSpace(rest)
	if i := strings.Index(rest, " #"); i >= 0 {
		value = strings.TrimSpace(rest[:i])
	}
	switch strings.ReplaceAll(value, " ", "") {
	case "":
	case "{}", "[]", "~", "null":
		s.replace(colon, colon+strings.Index(rest, value)+len(value), "")
	default:
		return s.shape(p.value, "%s is not written plainly", p.key)
	}
	return nil
}

// afterColon is the offset after the colon of a key, -1 if it is not found.
func (s *splicer) afterColon(p *pair) int {
	at := s.offset(p.line, p.column)
	if end := quoteEnd(s.text, at); end > 0 {
		at = end
	} else if strings.HasPrefix(s.text[at:], p.key) {
		at += len(p.key)
	} else {
		return -1
	}
	for at < len(s.text) && s.text[at] == ' ' {
		at++
	}
	if at >= len(s.text) || s.text[at] != ':' {
		return -1
	}
	return at + 1
}

// replaceValue gives a key that is there another value.
func (s *splicer) replaceValue(p *pair, value *node, step int, inFlow bool) error {
	old := p.value
	if !old.literal || p.merged {
		return s.shape(old, "%s comes from an anchor or has a tag", p.key)
	}
	compound := value.kind == kindMap || value.kind == kindList
	switch {
	case old.empty() && compound && !inFlow && s.firstOnLine(p.line, p.column):
		block := renderBlock(p.key, value, p.column-1, step, s.eol)
		_, lines, _ := strings.Cut(block, s.eol)
		if lines == "" {
			return s.shape(old, "%s is not written plainly", p.key)
		}
		s.insertLines(p.line+1, lines)
		return s.clearValue(p)
	case old.kind == kindMap, old.kind == kindList, old.quote == '|', compound:
		return s.shape(old, "%s is more than one value", p.key)
	}
	from, to, ok := s.scalar(p)
	if !ok {
		return s.shape(old, "%s is not written plainly", p.key)
	}
	text := requote(value, old.quote)
	if from == to {
		text = " " + text
	}
	s.replace(from, to, text)
	return nil
}

// scalar is where the text of a key's value stands.
func (s *splicer) scalar(p *pair) (from, to int, ok bool) {
	v := p.value
	from = s.offset(v.line, v.column)
	switch {
	case v.kind == kindNull:
		if from = s.afterColon(p); from < 0 {
			return 0, 0, false
		}
		for _, word := range []string{"~", "null"} {
			if rest := s.text[from:]; strings.HasPrefix(strings.TrimLeft(rest, " "), word) {
				from += len(rest) - len(strings.TrimLeft(rest, " "))
				return from, from + len(word), true
			}
		}
		return from, from, true
	case v.quote == '"' || v.quote == '\'':
		to = quoteEnd(s.text, from)
		return from, to, to > from
	}
	return from, from + len(v.text), strings.HasPrefix(s.text[from:], v.text)
}

// remove takes the key at a path out.
func (s *splicer) remove(root *node, path []string) error {
	n := root
	var p *pair
	inFlow := false
	for i, key := range path {
		if i > 0 {
			n = p.value
		}
		inFlow = inFlow || n.flow
		if p = n.pair(key); !n.literal || p == nil || p.merged {
			return s.shape(n, "%s comes from an anchor", strings.Join(path[:i+1], "."))
		}
	}
	if inFlow {
		if !n.flow {
			return s.shape(n, "%s is not written plainly", strings.Join(path, "."))
		}
		at := slices.IndexFunc(n.pairs, func(q pair) bool { return q.key == p.key })
		return s.dropPart(n, at, len(n.pairs))
	}
	if !s.firstOnLine(p.line, p.column) {
		return s.shape(n, "%s does not stand on a line of its own", strings.Join(path, "."))
	}
	s.cutLines(p.line, s.pairEnd(p))
	return nil
}

// cutLines takes whole lines out.
func (s *splicer) cutLines(from, to int) {
	a, b := s.lines[from-1], len(s.text)
	if from == 1 {
		a = s.shift
	}
	if to <= len(s.lines) {
		b = s.lines[to-1]
	}
	s.replace(a, b, "")
}

// dropPart takes one part out of brackets.
func (s *splicer) dropPart(n *node, at, count int) error {
	f := s.flow(s.offset(n.line, n.column))
	if !f.ok || len(f.parts) != count || at < 0 {
		return s.shape(n, "the brackets cannot be followed")
	}
	from, to := f.parts[at][0], f.parts[at][1]
	switch {
	case at+1 < count:
		to = f.parts[at+1][0]
	case at > 0:
		from = f.parts[at-1][1]
	default:
		to = f.last // with a comma that may follow
	}
	around := s.text[from:f.parts[at][0]] + s.text[f.parts[at][1]:to]
	if strings.Contains(around, "#") {
		return s.shape(n, "a comment stands between the brackets")
	}
	s.replace(from, to, "")
	return nil
}

// appendItem adds a value to the end of the list at a path.
func (s *splicer) appendItem(root *node, path []string, item *node) error {
	n := root
	for _, key := range path {
		if n = n.child(key); n == nil || !n.literal {
			return s.shape(root, "%s comes from an anchor or has a tag", strings.Join(path, "."))
		}
	}
	if n.flow {
		f := s.flow(s.offset(n.line, n.column))
		if !f.ok {
			return s.shape(n, "the brackets cannot be followed")
		}
		s.insertPart(f, renderFlow(item))
		return nil
	}
	last := n.items[len(n.items)-1]
	line := s.dashLine(last.line, n.column)
	if line == 0 {
		return s.shape(n, "its last item does not stand on a line of its own")
	}
	end := s.blockEnd(line, n.column-1, false)
	if at := s.scalarOrFlowEnd(last); at >= 0 {
		end = max(end, s.lineOf(at)+1)
	}
	s.insertLines(end, strings.Repeat(" ", n.column-1)+"- "+renderFlow(item)+s.eol)
	return nil
}

// dropItem takes an item out of the list at a path.
func (s *splicer) dropItem(root *node, path []string, at int) error {
	n := root
	for _, key := range path {
		if n = n.child(key); n == nil || !n.literal {
			return s.shape(root, "%s comes from an anchor or has a tag", strings.Join(path, "."))
		}
	}
	if n.flow {
		return s.dropPart(n, at, len(n.items))
	}
	item := n.items[at]
	line := s.dashLine(item.line, n.column)
	if line == 0 || !item.literal {
		return s.shape(item, "the item does not stand on a line of its own")
	}
	end := s.blockEnd(line, n.column-1, false)
	if at := s.scalarOrFlowEnd(item); at >= 0 {
		end = max(end, s.lineOf(at)+1)
	}
	s.cutLines(line, end)
	return nil
}

// dashLine is the line at or above a line that has its first dash in a column, 0 if there
// is none near.
func (s *splicer) dashLine(line, column int) int {
	for l := line; l > 0 && l > line-2; l-- {
		text := s.lineText(l)
		if column <= len(text) && text[column-1] == '-' && s.firstOnLine(l, column) {
			return l
		}
	}
	return 0
}
