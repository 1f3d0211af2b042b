package webmcp

import "strings"

// item is a bare item of a structured field (RFC 9651): a token, a string, or something
// else that no policy means anything by.
type item struct {
	text          string
	token, quoted bool
}

// parseDictionary reads a structured field that is a dictionary: each member's value is
// its items. A later member of a name takes the place of an earlier one. Parameters are
// passed over. It fails as a whole.
func parseDictionary(text string) (map[string][]item, bool) {
	p := fieldParser{strings.TrimSpace(text)}
	members := map[string][]item{}
	for p.rest != "" {
		key := p.take(isKeyByte)
		if key == "" || key[0] != '*' && (key[0] < 'a' || key[0] > 'z') {
			return nil, false
		}
		var value []item // of a member without one, which is true
		if p.skip("=") {
			var ok bool
			if value, ok = p.value(); !ok {
				return nil, false
			}
		}
		if !p.parameters() {
			return nil, false
		}
		members[key] = value
		p.space()
		if p.rest == "" {
			break
		}
		if !p.skip(",") {
			return nil, false
		}
		if p.space(); p.rest == "" {
			return nil, false
		}
	}
	return members, true
}

type fieldParser struct{ rest string }

func (p *fieldParser) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *fieldParser) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *fieldParser) take(ok func(byte) bool) string {
	n := 0
	for n < len(p.rest) && ok(p.rest[n]) {
		n++
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

// value reads an item or an inner list.
func (p *fieldParser) value() (list []item, ok bool) {
	if !p.skip("(") {
		it, ok := p.item()
		return []item{it}, ok
	}
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.skip(")") {
			return list, true
		}
		it, ok := p.item()
		if !ok || !p.parameters() || p.rest == "" || p.rest[0] != ' ' && p.rest[0] != ')' {
			return nil, false
		}
		list = append(list, it)
	}
}

func (p *fieldParser) item() (item, bool) {
	if p.rest == "" {
		return item{}, false
	}
	switch c := p.rest[0]; {
	case c == '"':
		return p.quoted()
	case c == '*' || isLetter(c):
		return item{text: p.take(isTokenByte), token: true}, true
	case c == '?':
		return item{}, p.skip("?0") || p.skip("?1")
	case c == ':':
		end := strings.IndexByte(p.rest[1:], ':')
		if end < 0 {
			return item{}, false
		}
		p.rest = p.rest[end+2:]
		return item{}, true
	}
	p.skip("@") // a date
	p.skip("-")
	return item{}, p.take(func(c byte) bool { return isDigit(c) || c == '.' }) != ""
}

func (p *fieldParser) quoted() (item, bool) {
	var text strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return item{text: text.String(), quoted: true}, true
		case c == '\\':
			if i++; i >= len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				return item{}, false
			}
			text.WriteByte(p.rest[i])
		case c < ' ' || c > '~':
			return item{}, false
		default:
			text.WriteByte(c)
		}
	}
	return item{}, false
}

func (p *fieldParser) parameters() bool {
	for p.skip(";") {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.take(isKeyByte) == "" {
			return false
		}
		if p.skip("=") {
			if _, ok := p.item(); !ok {
				return false
			}
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
}

func isTokenByte(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
}
