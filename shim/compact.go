package shim

import "strings"

// compact is the form of a script that goes to the page: without comments, indentation
// and the spaces that only a reader needs. The statements and their order, the strings
// and all names stay as they are.
//
// It knows as much JavaScript as the scripts of this package use: no regular expression
// literals, no template literals, no comments of the form /* */.
func compact(source string) string {
	var out strings.Builder
	out.Grow(len(source))
	var last byte  // the last byte written
	var space byte // a space or newline that may have to go before the next token
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == ' ' || c == '\t':
			if space == 0 {
				space = ' '
			}
			i++
		case c == '\n':
			space = '\n'
			i++
		case c == '/' && strings.HasPrefix(source[i:], "//"):
			n := strings.IndexByte(source[i:], '\n')
			if n < 0 {
				n = len(source) - i
			}
			i += n
		default:
			n := token(source[i:])
			if space != 0 && parts(last, c, space) {
				out.WriteByte(space)
			}
			space = 0
			out.WriteString(source[i : i+n])
			last = source[i+n-1]
			i += n
		}
	}
	return out.String()
}

// token is the length of the string, the word or the sign that s begins with.
func token(s string) int {
	c := s[0]
	switch {
	case c == '\'' || c == '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case c:
				return i + 1
			}
		}
		return len(s)
	case inWord(c):
		n := 1
		for n < len(s) && inWord(s[n]) {
			n++
		}
		return n
	}
	return 1
}

// inWord reports whether c is part of a name or a number.
func inWord(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// parts reports whether the space between two bytes has a meaning.
func parts(a, b, space byte) bool {
	if space == '\n' {
		// A newline may end a statement, but not after or before these.
		return a != 0 && strings.IndexByte("{([,;", a) < 0 && strings.IndexByte(")],;.", b) < 0 && (a != '}' || b != '}')
	}
	return inWord(a) && inWord(b) || a == b && (a == '+' || a == '-')
}
