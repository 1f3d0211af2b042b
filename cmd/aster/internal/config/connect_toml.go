package config

import (
	"slices"
	"strings"
)

// editTOML puts the server into Codex's file.
func (e *connectEdit) editTOML() (string, error) {
	root, err := parseTOML(e.src)
	if err != nil {
		return "", err
	}
	servers, have, err := e.servers(root)
	if err != nil {
		return "", err
	}
	index, shift := tomlIndex(e.src), len(e.src.text)-len(strings.TrimPrefix(e.src.text, bom))
	s := newSplicer(e.src)
	var keys []string
	if have == nil {
		if i := slices.IndexFunc(index, func(r tomlValue) bool { return slices.Equal(r.path, []string{e.root()}) }); i >= 0 && servers != nil {
			return "", e.byHand(s.lineOf(index[i].from), 1, "%s is written in one line", e.root())
		}
		text := s.text
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += s.eol
		}
		if strings.TrimSpace(text) != "" {
			text += s.eol
		}
		s.text = text + "[" + e.root() + "." + tomlKey(e.server.Name) + "]" + s.eol
		for _, p := range e.entry().pairs {
			s.text += p.key + " = " + renderJSON(p.value, "", "", "") + s.eol
		}
	} else {
		have.line, have.column = tomlPlace(s, index, []string{e.root(), e.server.Name}), 1
		if keys, err = e.changes(have); err != nil || len(keys) == 0 {
			return e.src.text, err
		}
		if err := e.changeTOML(s, index, shift, keys); err != nil {
			return "", err
		}
	}
	got, err := parseTOML(&source{place: e.src.place, text: s.text})
	if err != nil || !sameTree(got, e.wanted(root, keys)) {
		return "", e.byHand(1, 1, "%s cannot be changed without touching more", e.root())
	}
	return s.text, nil
}

// changeTOML gives keys of the entry their new values.
func (e *connectEdit) changeTOML(s *splicer, index []tomlValue, shift int, keys []string) error {
	for _, r := range slices.Backward(index) {
		if len(r.path) != 3 || r.path[0] != e.root() || r.path[1] != e.server.Name {
			continue
		}
		if r.path[2] == "command" && slices.Contains(keys, "args") && !slices.ContainsFunc(index, func(q tomlValue) bool {
			return len(q.path) == 3 && q.path[1] == e.server.Name && q.path[2] == "args"
		}) { // a new line before the command's
			at := s.lines[s.lineOf(r.from+shift)-1]
			line := "args = " + renderJSON(e.entry().child("args"), "", "", "") + s.eol
			s.replace(r.from+shift, r.to+shift, renderJSON(e.entry().child("command"), "", "", ""))
			s.replace(at, at, line)
			continue
		}
		if slices.Contains(keys, r.path[2]) {
			s.replace(r.from+shift, r.to+shift, renderJSON(e.entry().child(r.path[2]), "", "", ""))
		}
	}
	return nil
}

// tomlKey writes a key, in quotes where it must be.
func tomlKey(key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return !isWord(r) && r != '-' }) {
		return renderJSON(textNode(key), "", "", "")
	}
	return key
}

// tomlPlace is the line of the first value of a table.
func tomlPlace(s *splicer, index []tomlValue, table []string) int {
	for _, r := range index {
		if len(r.path) >= len(table) && slices.Equal(r.path[:len(table)], table) {
			return s.lineOf(r.from)
		}
	}
	return 1
}

// A tomlValue is where a value or the head of a table stands: offsets without the byte order
// mark.
type tomlValue struct {
	path     []string // with its table's
	from, to int
	head     bool
}

// tomlIndex lists the values of a file that [parseTOML] takes, in order.
func tomlIndex(src *source) (out []tomlValue) {
	walkTOML(src, func(v tomlValue) {
		if !v.head {
			out = append(out, v)
		}
	})
	return out
}

// walkTOML visits the values and the heads of tables of a file that [parseTOML] takes, in
// order.
func walkTOML(src *source, visit func(tomlValue)) {
	p := &tomlParser{src: src, text: strings.TrimPrefix(src.text, bom)}
	scratch := &node{kind: kindMap}
	var table []string
	for p.err == nil {
		if p.blank(); p.at >= len(p.text) {
			break
		}
		if p.text[p.at] == '[' {
			mark := p.at
			p.at++
			if p.peek() == '[' {
				p.at++
			}
			table = p.key()
			p.at = mark
			p.table(scratch)
			visit(tomlValue{table, mark, p.at, true})
		} else {
			path := slices.Concat(table, p.key())
			p.spaces()
			p.at++ // the equals sign
			p.spaces()
			from := p.at
			p.value(1)
			visit(tomlValue{path, from, p.at, false})
		}
		p.lineEnd()
	}
}
