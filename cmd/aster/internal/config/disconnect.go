package config

import (
	"slices"
	"strings"
)

// Disconnect works out how a client's file has to change for it to lose the server that
// [Connect] gave it, of which the name and the command count. It takes the same files and
// gives the same errors: an entry of the name that runs another program is [ErrTaken].
// Where there is no such entry the change is none. All else in the file stays as it is,
// byte for byte; what the user wrote into the entry goes with it.
func Disconnect(client string, s *Server, project bool, o *ImportOptions) (*Connection, error) {
	return connection(client, s, project, o, (*connectEdit).without)
}

// without returns the text without the server.
func (e *connectEdit) without() (string, error) {
	if strings.TrimSpace(strings.TrimPrefix(e.src.text, bom)) == "" {
		return e.src.text, nil
	}
	parse, cut := e.parseJSON, e.cutJSON
	if e.client == "codex" {
		parse, cut = parseTOML, e.cutTOML
	}
	root, err := parse(e.src)
	if err != nil {
		return "", err
	}
	servers, have, err := e.servers(root)
	if err != nil || have == nil {
		return e.src.text, err
	}
	if _, err := e.changes(have); err != nil {
		return "", err
	}
	text := cut(servers, have)
	want := root.clone()
	rest := want.child(e.root())
	rest.pairs = slices.DeleteFunc(rest.pairs, func(p pair) bool { return p.key == e.server.Name })
	got, err := parse(&source{place: e.src.place, text: text})
	if err == nil && len(rest.pairs) == 0 && got.pair(e.root()) == nil { // the last table of TOML
		want.pairs = slices.DeleteFunc(want.pairs, func(p pair) bool { return p.key == e.root() })
	}
	if err != nil || !sameTree(got, want) {
		return "", e.byHand(have.line, have.column, "%s cannot be taken out without touching more", e.server.Name)
	}
	return text, nil
}

func (e *connectEdit) parseJSON(src *source) (*node, error) {
	root, _, err := parseJSON(src, true)
	return root, err
}

// cutJSON takes a key out of a map, with the comma that parts it from the others.
func (e *connectEdit) cutJSON(servers *node, have *pair) string {
	j := &jsonSplicer{splicer: newSplicer(e.src)}
	open := j.offset(servers.line, servers.column)
	from := j.offset(have.line, have.column)
	to := jsonEnd(j.text, j.offset(have.value.line, have.value.column))
	before, after := jsonCommas(j.text, open, from, to)
	switch {
	case after == to:
		to++
	case after > 0:
		j.replace(after, after+1, "")
	case before > 0 && strings.TrimSpace(j.text[before+1:from]) == "" && !strings.Contains(j.text[before:from], "\n"):
		from = before // on one line
	case before > 0:
		j.replace(before, before+1, "")
		from, to = from-1, to-1
	}
	j.cut(from, to)
	if close := open + 1 + len(j.text[open+1:]) - len(strings.TrimLeft(j.text[open+1:], " \t\r\n")); j.text[close] == '}' {
		j.replace(open+1, close, "") // nothing is left
	}
	return j.text
}

// cut takes bytes out, and their lines where nothing else stands on them.
func (j *jsonSplicer) cut(from, to int) {
	start := strings.LastIndexByte(j.text[:from], '\n') + 1
	end := len(j.text)
	if n := strings.IndexByte(j.text[to:], '\n'); n >= 0 {
		end = to + n + 1
	}
	switch alone := strings.TrimSpace(j.text[start:from]) == ""; {
	case alone && strings.TrimSpace(j.text[to:end]) == "":
		from, to = start, end
	case !alone:
		for to < end && j.text[to] == ' ' && j.text[from-1] != ',' {
			to++
		}
	}
	j.replace(from, to, "")
}

// jsonCommas are the offsets of the commas before and behind an entry of the map that
// opens at an offset, 0 where there is none.
func jsonCommas(text string, open, from, to int) (before, after int) {
	for i := open + 1; i < len(text); {
		switch end := jsonComment(text, i); {
		case end > i:
			i = end
		case text[i] == ',' && i >= to:
			return before, i
		case text[i] == ',':
			before = i
			i++
		case text[i] == '}' || text[i] == '"' && i >= to:
			return before, 0
		case strings.IndexByte(" \t\r\n:", text[i]) >= 0:
			i++
		default:
			i = jsonEnd(text, i)
		}
	}
	return before, 0
}

// cutTOML takes out the lines of a server: its tables, or its keys in another's.
func (e *connectEdit) cutTOML(_ *node, have *pair) string {
	s := newSplicer(e.src)
	shift := len(e.src.text) - len(strings.TrimPrefix(e.src.text, bom))
	lines := strings.SplitAfter(e.src.text, "\n")
	ours := make([]bool, len(lines)+1)
	last := 0 // the last line of ours, 0 where another's came since
	walkTOML(e.src, func(v tomlValue) {
		from, to := s.lineOf(v.from+shift), s.lineOf(v.to+shift)
		if len(v.path) < 2 || v.path[0] != e.root() || v.path[1] != e.server.Name {
			last = 0
			return
		}
		if last == 0 {
			have.line, last = from, from
		}
		for l := last; l <= to; l++ {
			ours[l] = true
		}
		last = to
	})
	var kept []string
	for i, line := range lines {
		switch blank := len(kept) > 0 && strings.TrimSpace(kept[len(kept)-1]) == ""; {
		case ours[i+1]:
			continue
		case blank && i > 0 && ours[i] && strings.TrimSpace(line) == "": // one empty line is enough
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}
