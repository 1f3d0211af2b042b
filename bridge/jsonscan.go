package bridge

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds on a schema or on arguments.
const maxJSONDepth = 128

var (
	errJSONSyntax = errors.New("not valid JSON")
	errJSONDepth  = errors.New("JSON nested too deeply")
)

// A jsonScanner reads one JSON text strictly and without building values, so
// that thousands of schemas are checked and indexed in milliseconds. The first
// error sticks: every later call does nothing.
type jsonScanner struct {
	s     string
	i     int
	depth int
	err   error
}

func (j *jsonScanner) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}

func (j *jsonScanner) space() {
	for j.i < len(j.s) {
		switch j.s[j.i] {
		case ' ', '\t', '\n', '\r':
			j.i++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end or after an
// error.
func (j *jsonScanner) peek() byte {
	j.space()
	if j.err != nil || j.i >= len(j.s) {
		return 0
	}
	return j.s[j.i]
}

// take consumes c if it is next.
func (j *jsonScanner) take(c byte) bool {
	if j.peek() != c {
		return false
	}
	j.i++
	return true
}

// end requires that nothing but white space is left.
func (j *jsonScanner) end() error {
	if j.space(); j.i < len(j.s) {
		j.fail(errJSONSyntax)
	}
	return j.err
}

// object reads an object and calls member with each key; member must consume
// the value.
func (j *jsonScanner) object(member func(key string)) {
	if !j.open('{') {
		return
	}
	defer j.close()
	if j.take('}') {
		return
	}
	for j.err == nil {
		key := j.str()
		if !j.take(':') {
			j.fail(errJSONSyntax)
			return
		}
		member(key)
		if j.take('}') {
			return
		}
		if !j.take(',') {
			j.fail(errJSONSyntax)
		}
	}
}

// array reads an array and calls element before each of its values, which it
// must consume.
func (j *jsonScanner) array(element func()) {
	if !j.open('[') {
		return
	}
	defer j.close()
	if j.take(']') {
		return
	}
	for j.err == nil {
		element()
		if j.take(']') {
			return
		}
		if !j.take(',') {
			j.fail(errJSONSyntax)
		}
	}
}

func (j *jsonScanner) open(c byte) bool {
	if !j.take(c) {
		j.fail(errJSONSyntax)
		return false
	}
	if j.depth++; j.depth > maxJSONDepth {
		j.fail(errJSONDepth)
	}
	return j.err == nil
}

func (j *jsonScanner) close() { j.depth-- }

// skip reads one value of any kind.
func (j *jsonScanner) skip() {
	switch c := j.peek(); {
	case c == '{':
		j.object(func(string) { j.skip() })
	case c == '[':
		j.array(j.skip)
	case c == '"':
		j.skipString()
	case c == 't':
		j.literal("true")
	case c == 'f':
		j.literal("false")
	case c == 'n':
		j.literal("null")
	case c == '-' || '0' <= c && c <= '9':
		j.number()
	default:
		j.fail(errJSONSyntax)
	}
}

func (j *jsonScanner) literal(word string) {
	if !strings.HasPrefix(j.s[j.i:], word) {
		j.fail(errJSONSyntax)
		return
	}
	j.i += len(word)
}

func (j *jsonScanner) digits() {
	start := j.i
	for j.i < len(j.s) && '0' <= j.s[j.i] && j.s[j.i] <= '9' {
		j.i++
	}
	if j.i == start {
		j.fail(errJSONSyntax)
	}
}

func (j *jsonScanner) at(set string) bool {
	return j.i < len(j.s) && strings.IndexByte(set, j.s[j.i]) >= 0
}

func (j *jsonScanner) number() {
	if j.at("-") {
		j.i++
	}
	if j.at("0") {
		j.i++
	} else {
		j.digits()
	}
	if j.at(".") {
		j.i++
		j.digits()
	}
	if j.at("eE") {
		j.i++
		if j.at("+-") {
			j.i++
		}
		j.digits()
	}
}

// skipString reads a string and reports whether it is plain: without escapes
// and valid UTF-8.
func (j *jsonScanner) skipString() (plain bool) {
	if !j.take('"') {
		j.fail(errJSONSyntax)
		return false
	}
	start := j.i
	plain = true
	for j.i < len(j.s) {
		switch c := j.s[j.i]; {
		case c == '"':
			j.i++
			return plain && utf8.ValidString(j.s[start:j.i-1])
		case c == '\\':
			plain = false
			j.escape()
			if j.err != nil {
				return false
			}
		case c < ' ':
			j.fail(errJSONSyntax)
			return false
		default:
			j.i++
		}
	}
	j.fail(errJSONSyntax)
	return false
}

func (j *jsonScanner) escape() {
	j.i++
	if !j.at(`"\/bfnrtu`) {
		j.fail(errJSONSyntax)
		return
	}
	if j.i++; j.s[j.i-1] != 'u' {
		return
	}
	for range 4 {
		if !j.at("0123456789abcdefABCDEF") {
			j.fail(errJSONSyntax)
			return
		}
		j.i++
	}
}

// str reads a string and returns what it stands for.
func (j *jsonScanner) str() string {
	j.space()
	start := j.i
	plain := j.skipString()
	if j.err != nil {
		return ""
	}
	if plain {
		return j.s[start+1 : j.i-1]
	}
	return unquote(j.s[start+1 : j.i-1])
}

// unquote resolves the escapes of a checked string. What is no UTF-8, and
// halves of surrogate pairs, become U+FFFD, as in encoding/json.
func unquote(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r)
			i += size
			continue
		}
		if c = s[i+1]; c != 'u' {
			b.WriteByte(escapes[c])
			i += 2
			continue
		}
		r := hexRune(s[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if strings.HasPrefix(s[i:], `\u`) {
				low = hexRune(s[i+2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 6
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escapes are what the letters behind a backslash stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hexRune reads four hexadecimal digits.
func hexRune(s string) rune {
	n, _ := strconv.ParseUint(s[:4], 16, 32)
	return rune(n)
}
