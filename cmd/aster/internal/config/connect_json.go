package config

import (
	"encoding/json"
	"strings"
)

// editJSON puts the server into JSON, which may have comments.
func (e *connectEdit) editJSON() (string, error) {
	if strings.TrimSpace(strings.TrimPrefix(e.src.text, bom)) == "" {
		eol := "\n"
		root := &node{kind: kindMap}
		root.put(e.root(), &node{kind: kindMap, pairs: []pair{{key: e.server.Name, value: e.entry()}}})
		return renderJSON(root, "", "  ", eol) + eol, nil
	}
	root, _, err := parseJSON(e.src, true)
	if err != nil {
		return "", err
	}
	servers, have, err := e.servers(root)
	if err != nil {
		return "", err
	}
	j := &jsonSplicer{splicer: newSplicer(e.src)}
	j.step = j.indentStep(root)
	var keys []string
	switch {
	case have != nil:
		if keys, err = e.changes(have); err != nil || len(keys) == 0 {
			return e.src.text, err
		}
		for _, k := range []string{"args", "command"} { // from the end, so that offsets hold
			j.change(have.value, k, keys, e.entry().child(k))
		}
	case servers != nil:
		j.insert(servers, e.server.Name, e.entry())
	default:
		j.insert(root, e.root(), &node{kind: kindMap, pairs: []pair{{key: e.server.Name, value: e.entry()}}})
	}
	got, _, err := parseJSON(&source{place: e.src.place, text: j.text}, true)
	if err != nil || !sameTree(got, e.wanted(root, keys)) {
		return "", e.byHand(root.line, root.column, "%s cannot be changed without touching more", e.root())
	}
	return j.text, nil
}

// sameTree is equal whatever the order of keys.
func sameTree(a, b *node) bool {
	if a.empty() || b.empty() {
		return a.empty() == b.empty()
	}
	if a.kind != b.kind || a.text != b.text || len(a.items) != len(b.items) || len(a.pairs) != len(b.pairs) {
		return false
	}
	for i := range a.items {
		if !sameTree(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, p := range a.pairs {
		if q := b.pair(p.key); q == nil || !sameTree(p.value, q.value) {
			return false
		}
	}
	return true
}

// jsonSplicer changes the bytes of a JSON file.
type jsonSplicer struct {
	*splicer
	step string // what a level is indented by
}

// indentStep is how the file indents.
func (j *jsonSplicer) indentStep(root *node) string {
	if len(root.pairs) > 0 {
		if pad, first := j.indentOf(root.pairs[0].line, root.pairs[0].column); first && pad != "" {
			return pad
		}
	}
	return "  "
}

// indentOf is the white space at the start of a line, and whether the column comes right
// behind it.
func (j *jsonSplicer) indentOf(line, column int) (pad string, first bool) {
	text := j.lineText(line)
	pad = text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return pad, len(pad) == column-1
}

// change gives a key of a map a value where it is one of keys: in its place, or at the end.
func (j *jsonSplicer) change(n *node, key string, keys []string, value *node) {
	wanted := false
	for _, k := range keys {
		wanted = wanted || k == key
	}
	if !wanted {
		return
	}
	if have := n.child(key); have != nil {
		at := j.offset(have.line, have.column)
		j.replace(at, jsonEnd(j.text, at), renderJSON(value, "", "", ""))
		return
	}
	j.insert(n, key, value)
}

// insert puts a key at the end of a map.
func (j *jsonSplicer) insert(n *node, key string, value *node) {
	open := j.offset(n.line, n.column)
	t := jsonTail(j.text, open)
	outer, _ := j.indentOf(n.line, n.column)
	inner := outer + j.step
	own := true // entries have lines of their own
	if len(n.pairs) > 0 {
		last := n.pairs[len(n.pairs)-1]
		if pad, first := j.indentOf(last.line, last.column); first {
			inner = pad
		}
		own = strings.Contains(j.text[open:t.close], "\n")
	}
	head := renderJSON(textNode(key), "", "", "") + ": "
	if !own {
		text := ", " + head + renderJSON(value, "", "", "")
		if t.comma {
			text = " " + head + renderJSON(value, "", "", "") + ","
		}
		j.replace(t.last, t.last, text)
		return
	}
	text := j.eol + inner + head + renderJSON(value, inner, j.step, j.eol)
	if t.comma {
		text += ","
	}
	if !strings.Contains(j.text[t.tail:t.close], "\n") {
		j.replace(t.tail, t.close, j.eol+outer)
	}
	j.replace(t.tail, t.tail, text)
	if len(n.pairs) > 0 && !t.comma {
		j.replace(t.last, t.last, ",")
	}
}

// tail is the end of a map.
type tail struct {
	last  int  // the offset after its last value or comma
	comma bool // that is a comma
	tail  int  // the offset after its last byte that is no white space: a comment counts
	close int  // the offset of its bracket
}

// jsonTail finds the end of the map that opens at an offset.
func jsonTail(text string, open int) tail {
	t := tail{last: open + 1, tail: open + 1, close: len(text)}
	for i := open + 1; i < len(text); {
		c := text[i]
		switch end := jsonComment(text, i); {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
			continue
		case end > i:
			i = end
			t.tail = end
			continue
		case c == '}':
			t.close = i
			return t
		case c == ',' || c == ':':
			i++
		default:
			i = jsonEnd(text, i)
		}
		t.last, t.tail, t.comma = i, i, c == ','
	}
	return t
}

// jsonComment is the offset after a comment that begins at i, or i. A comment to the end
// of the line does not hold the line's end.
func jsonComment(text string, i int) int {
	switch {
	case strings.HasPrefix(text[i:], "//"):
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			return i + len(strings.TrimRight(text[i:i+n], "\r"))
		}
		return len(text)
	case strings.HasPrefix(text[i:], "/*"):
		if n := strings.Index(text[i+2:], "*/"); n >= 0 {
			return i + 2 + n + 2
		}
		return len(text)
	}
	return i
}

// jsonEnd is the offset after the value that begins at one.
func jsonEnd(text string, at int) int {
	depth := 0
	for i := at; i < len(text); {
		c := text[i]
		if end := jsonComment(text, i); end > i {
			i = end
			continue
		}
		switch {
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
		case c == '{' || c == '[':
			depth++
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case depth > 0:
			i++
			continue
		default: // a word
			for i < len(text) && strings.IndexByte(" \t\r\n,]}/", text[i]) < 0 {
				i++
			}
			i = max(i, at+1)
		}
		if depth <= 0 {
			return i
		}
	}
	return len(text)
}

// renderJSON writes a value: maps a key a line where there is a line end to write, lists in
// one line.
func renderJSON(n *node, indent, step, eol string) string {
	switch n.kind {
	case kindString:
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(n.text); err != nil { // not for a text
			return `""`
		}
		return strings.TrimSuffix(b.String(), "\n")
	case kindList:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = renderJSON(item, "", "", "")
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindMap:
		parts := make([]string, len(n.pairs))
		for i, p := range n.pairs {
			parts[i] = renderJSON(textNode(p.key), "", "", "") + ": " + renderJSON(p.value, indent+step, step, eol)
		}
		if eol == "" {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		inner := eol + indent + step
		return "{" + inner + strings.Join(parts, ","+inner) + eol + indent + "}"
	}
	return n.text
}
