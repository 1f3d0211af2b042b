package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseJSON reads JSON, or where relaxed is set JSON with comments and commas before a
// closing bracket, as editors keep it. Of equal keys the last one counts, as it does for
// the programs that these files are written for; doubled lists them. The error is a
// *FileError.
func parseJSON(src *source, relaxed bool) (root *node, doubled []*FileError, err error) {
	p := &jsonParser{src: src, text: strings.TrimPrefix(src.text, bom), relaxed: relaxed}
	root = p.value(0)
	if p.space(); p.err == nil && p.at < len(p.text) {
		p.fail("there is more after the end")
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	return root, p.doubled, nil
}

const maxJSONDepth = 128

type jsonParser struct {
	src     *source
	text    string
	at      int
	relaxed bool
	doubled []*FileError
	err     *FileError

	known struct{ at, line, start int } // a place whose line is known
}

// position is the line and column of an offset. Offsets come in rising order.
func (p *jsonParser) position(at int) (line, column int) {
	k := &p.known
	if at < k.at {
		k.at, k.line, k.start = 0, 0, 0
	}
	for i := k.at; i < at; i++ {
		if p.text[i] == '\n' {
			k.line, k.start = k.line+1, i+1
		}
	}
	k.at = at
	return k.line + 1, 1 + utf8.RuneCountInString(p.text[k.start:at])
}

func (p *jsonParser) fail(format string, args ...any) {
	if p.err == nil {
		line, column := p.position(min(p.at, len(p.text)))
		p.err = p.src.errorAt(line, column, 1, "", "this is no JSON: "+format, args...)
		p.at = len(p.text)
	}
}

// space skips white space and, where they are allowed, comments.
func (p *jsonParser) space() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case p.relaxed && strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				p.at += n
			} else {
				p.at = len(p.text)
			}
		case p.relaxed && strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				p.fail("a comment is not closed")
				return
			}
			p.at += n + 2
		default:
			return
		}
	}
}

func (p *jsonParser) peek() byte {
	if p.space(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// value reads a value. It never returns nil.
func (p *jsonParser) value(depth int) *node {
	c := p.peek()
	line, column := p.position(min(p.at, len(p.text)))
	n := &node{line: line, column: column, literal: true, flow: true}
	switch {
	case depth > maxJSONDepth:
		p.fail("nested deeper than %d", maxJSONDepth)
	case c == '{':
		p.object(n, depth)
	case c == '[':
		p.array(n, depth)
	case c == '"':
		n.kind, n.quote = kindString, '"'
		n.text = p.string()
	default:
		p.word(n)
	}
	return n
}

func (p *jsonParser) object(n *node, depth int) {
	n.kind = kindMap
	at := map[string]int{}
	p.list('}', func() {
		if p.peek() != '"' {
			p.fail(`a key begins with "`)
			return
		}
		line, column := p.position(p.at)
		key := p.string()
		if p.peek() != ':' {
			p.fail("a colon is missing after a key")
			return
		}
		p.at++
		e := pair{key: key, line: line, column: column, value: p.value(depth + 1)}
		if i, twice := at[key]; twice {
			p.doubled = append(p.doubled, p.src.errorAt(line, column, utf8.RuneCountInString(key)+2, fmt.Sprintf("it is also in line %d", n.pairs[i].line), "the key %q is doubled", key))
			n.pairs[i] = e
			return
		}
		at[key] = len(n.pairs)
		n.pairs = append(n.pairs, e)
	})
}

func (p *jsonParser) array(n *node, depth int) {
	n.kind = kindList
	p.list(']', func() { n.items = append(n.items, p.value(depth+1)) })
}

// list reads what stands between brackets.
func (p *jsonParser) list(end byte, item func()) {
	p.at++
	for first := true; ; first = false {
		c := p.peek()
		switch {
		case p.err != nil:
			return
		case c == end:
			p.at++
			return
		case !first && c != ',':
			p.fail("a comma or %q is missing", end)
			return
		case !first:
			p.at++
			if p.relaxed && p.peek() == end {
				p.at++
				return
			}
		}
		item()
	}
}

func (p *jsonParser) string() (s string) {
	from := p.at
	for i := from + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			p.at = i + 1
			if err := json.Unmarshal([]byte(p.text[from:p.at]), &s); err != nil {
				p.at = from
				p.fail("a text that cannot be read")
			}
			return s
		}
	}
	p.fail("a text is not closed")
	return ""
}

// word reads a number, true, false or null.
func (p *jsonParser) word(n *node) {
	from := p.at
	for p.at < len(p.text) && (isWord(rune(p.text[p.at])) || strings.IndexByte("+-.", p.text[p.at]) >= 0) {
		p.at++
	}
	n.text = p.text[from:p.at]
	switch {
	case n.text == "true" || n.text == "false":
		n.kind = kindBool
	case n.text == "null":
		n.text = ""
	case n.text != "" && json.Valid([]byte(n.text)):
		n.kind = kindFloat
		if !strings.ContainsAny(n.text, ".eE") {
			n.kind = kindInt
		}
	default:
		p.at = from
		p.fail("a value is missing or cannot be read")
	}
}
