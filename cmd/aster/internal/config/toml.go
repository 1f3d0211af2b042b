package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseTOML reads the part of TOML 1.0 that Codex's file is made of: tables, dotted and
// quoted keys, texts of all four kinds, numbers, truth values, arrays and inline tables.
// Dates are kept as texts. Tables of arrays are read as lists.
func parseTOML(src *source) (root *node, err error) {
	p := &tomlParser{src: src, text: strings.TrimPrefix(src.text, bom)}
	root = &node{kind: kindMap}
	at := root
	for p.err == nil {
		if p.blank(); p.at >= len(p.text) {
			break
		}
		if p.text[p.at] == '[' {
			at = p.table(root)
		} else {
			p.assignment(at, 0)
		}
		p.lineEnd()
	}
	if p.err != nil {
		return nil, p.err
	}
	return root, nil
}

type tomlParser struct {
	src  *source
	text string
	at   int
	err  *FileError
}

func (p *tomlParser) fail(format string, args ...any) {
	if p.err == nil {
		before := p.text[:min(p.at, len(p.text))]
		line := strings.Count(before, "\n") + 1
		column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
		p.err = p.src.errorAt(line, column, 1, "", "this is no TOML: "+format, args...)
	}
	p.at = len(p.text)
}

func (p *tomlParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *tomlParser) spaces() {
	for c := p.peek(); c == ' ' || c == '\t'; c = p.peek() {
		p.at++
	}
}

// blank skips white space, line ends and comments.
func (p *tomlParser) blank() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.at++
		case c == '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
		p.at += n
	} else {
		p.at = len(p.text)
	}
}

func (p *tomlParser) lineEnd() {
	p.spaces()
	switch c := p.peek(); {
	case p.at >= len(p.text) || c == '\n' || c == '\r':
	case c == '#':
		p.comment()
	default:
		p.fail("there is more on the line")
	}
}

// table reads "[a.b]" or "[[a.b]]" and returns where its keys go.
func (p *tomlParser) table(root *node) *node {
	p.at++
	many := p.peek() == '['
	if many {
		p.at++
	}
	path := p.key()
	for range map[bool]int{false: 1, true: 2}[many] {
		if p.spaces(); p.peek() != ']' {
			p.fail("a bracket is missing")
			return root
		}
		p.at++
	}
	n := root
	for i, key := range path {
		next := n.child(key)
		if next == nil {
			next = &node{kind: kindMap}
			if many && i == len(path)-1 {
				next.kind = kindList
			}
			n.put(key, next)
		}
		if next.kind == kindList {
			if many && i == len(path)-1 || len(next.items) == 0 {
				next.items = append(next.items, &node{kind: kindMap})
			}
			next = next.items[len(next.items)-1]
		}
		if next.kind != kindMap {
			p.fail("%q is no table", key)
			return root
		}
		n = next
	}
	return n
}

// key reads a dotted key.
func (p *tomlParser) key() (path []string) {
	for p.err == nil && len(path) < maxDepth {
		p.spaces()
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			path = append(path, p.string())
		default:
			from := p.at
			for p.at < len(p.text) && (isWord(rune(p.text[p.at])) || p.text[p.at] == '-') {
				p.at++
			}
			if from == p.at {
				p.fail("a key is missing")
				return nil
			}
			path = append(path, p.text[from:p.at])
		}
		if p.spaces(); p.peek() != '.' {
			return path
		}
		p.at++
	}
	p.fail("a key of too many parts")
	return nil
}

func (p *tomlParser) assignment(at *node, depth int) {
	path := p.key()
	if p.spaces(); p.peek() != '=' || path == nil {
		p.fail("an equals sign is missing")
		return
	}
	p.at++
	p.spaces()
	line := strings.Count(p.text[:min(p.at, len(p.text))], "\n") + 1
	for _, key := range path[:len(path)-1] {
		next := at.child(key)
		if next == nil {
			next = &node{kind: kindMap}
			at.put(key, next)
		}
		if next.kind != kindMap {
			p.fail("%q is no table", key)
			return
		}
		at = next
	}
	last := path[len(path)-1]
	if at.child(last) != nil {
		p.fail("the key %q is doubled", last)
		return
	}
	at.put(last, p.value(depth+1))
	at.pairs[len(at.pairs)-1].line = line
}

func (p *tomlParser) value(depth int) *node {
	n := &node{}
	switch c := p.peek(); {
	case depth > maxDepth:
		p.fail("nested deeper than %d", maxDepth)
	case c == '"' || c == '\'':
		n.kind, n.text, n.quote = kindString, p.string(), c
	case c == '[':
		n.kind = kindList
		p.at++
		for p.blank(); p.err == nil && p.peek() != ']'; p.blank() {
			n.items = append(n.items, p.value(depth+1))
			p.comma(']')
		}
		p.at++
	case c == '{':
		n.kind = kindMap
		p.at++
		for p.blank(); p.err == nil && p.peek() != '}'; p.blank() {
			p.assignment(n, depth)
			p.comma('}')
		}
		p.at++
	default:
		p.word(n)
	}
	return n
}

func (p *tomlParser) comma(end byte) {
	p.blank()
	switch p.peek() {
	case ',':
		p.at++
	case end:
	default:
		p.fail("a comma or %q is missing", end)
	}
}

func (p *tomlParser) word(n *node) {
	from := p.at
	for p.at < len(p.text) && (isWord(rune(p.text[p.at])) || strings.IndexByte("+-.:", p.text[p.at]) >= 0) {
		p.at++
	}
	n.kind, n.text = kindString, p.text[from:p.at]
	plain := strings.ReplaceAll(n.text, "_", "")
	if n.text == "true" || n.text == "false" {
		n.kind = kindBool
	} else if _, err := strconv.ParseInt(plain, 0, 64); err == nil {
		n.kind = kindInt
	} else if _, err := strconv.ParseFloat(plain, 64); err == nil {
		n.kind = kindFloat
	} else if n.text == "" || n.text[0] < '0' || n.text[0] > '9' {
		p.at = from
		p.fail("a value is missing or cannot be read")
	}
}

// string reads a text of any of the four kinds.
func (p *tomlParser) string() string {
	q := p.text[p.at : p.at+1]
	if long := strings.Repeat(q, 3); strings.HasPrefix(p.text[p.at:], long) {
		p.at += 3
		body := p.until(long)
		body = strings.TrimPrefix(strings.TrimPrefix(body, "\r"), "\n")
		if q == `"` {
			return p.unescape(body)
		}
		return body
	}
	p.at++
	body := p.until(q)
	if strings.Contains(body, "\n") {
		p.fail("a text is not closed")
		return ""
	}
	if q == `"` {
		return p.unescape(body)
	}
	return body
}

// until reads up to an end that no backslash stands before, where the kind knows them.
func (p *tomlParser) until(end string) string {
	from := p.at
	for i := from; i < len(p.text); i++ {
		if p.text[i] == '\\' && end[0] == '"' {
			i++
			continue
		}
		if strings.HasPrefix(p.text[i:], end) {
			for len(end) == 3 && strings.HasPrefix(p.text[i+1:], end) { // quotes at the end of the text
				i++
			}
			p.at = i + len(end)
			return p.text[from:i]
		}
	}
	p.fail("a text is not closed")
	return ""
}

func (p *tomlParser) unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" && p.err == nil {
		if s[0] != '\\' {
			i := strings.IndexByte(s, '\\')
			if i < 0 {
				i = len(s)
			}
			b.WriteString(s[:i])
			s = s[i:]
			continue
		}
		if rest := strings.TrimLeft(s[1:], " \t\r"); strings.HasPrefix(rest, "\n") { // the line goes on
			s = strings.TrimLeft(rest, " \t\r\n")
			continue
		}
		if strings.HasPrefix(s, `\e`) {
			b.WriteByte(0x1b)
			s = s[2:]
			continue
		}
		r, _, tail, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			p.fail("%s", fmt.Sprintf("an escape that is not known: %.2q", s))
			return ""
		}
		b.WriteRune(r)
		s = tail
	}
	return b.String()
}
