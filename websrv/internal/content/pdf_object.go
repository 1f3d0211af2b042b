package content

import (
	"bytes"
	"strconv"
)

const (
	maxPDFDepth  = 64      // of arrays and dictionaries within each other, and of references
	maxPDFObject = 500_000 // objects of a file
	maxPDFToken  = 1 << 20
)

// The objects of a PDF: nil, bool, int, float64, pdfString, pdfName, pdfArray, pdfDict, pdfRef, *pdfStream,
// and pdfWord for an operator (ISO 32000-1, 7.3).
type (
	pdfString string
	pdfName   string
	pdfWord   string
	pdfArray  []any
	pdfDict   map[pdfName]any
	pdfRef    int
	pdfStream struct {
		dict pdfDict
		raw  []byte // encoded
	}
)

// pdfLexer reads objects. At the end of its input it gives pdfWord("").
type pdfLexer struct {
	b     []byte
	at    int
	depth int
	refs  bool // "1 0 R" is a reference, not three objects
}

func pdfSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func pdfDelim(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *pdfLexer) space() {
	for l.at < len(l.b) {
		switch c := l.b[l.at]; {
		case pdfSpace(c):
			l.at++
		case c == '%':
			for l.at < len(l.b) && l.b[l.at] != '\n' && l.b[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// object reads the next object. Broken syntax gives nil and goes on behind it.
func (l *pdfLexer) object() any {
	l.space()
	if l.at >= len(l.b) {
		return pdfWord("")
	}
	switch c := l.b[l.at]; {
	case c == '/':
		return l.name()
	case c == '(':
		return l.literal()
	case c == '[':
		l.at++
		return l.array()
	case c == '<':
		if l.at+1 < len(l.b) && l.b[l.at+1] == '<' {
			l.at += 2
			return l.dict()
		}
		return l.hex()
	case c == '>' && l.at+1 < len(l.b) && l.b[l.at+1] == '>':
		l.at += 2
		return pdfWord(">>")
	case pdfDelim(c):
		l.at++
		return pdfWord(string(c))
	}
	return l.word()
}

// word reads a number, a keyword, or a reference.
func (l *pdfLexer) word() any {
	start := l.at
	for l.at < len(l.b) && !pdfSpace(l.b[l.at]) && !pdfDelim(l.b[l.at]) {
		l.at++
	}
	s := string(l.b[start:min(l.at, start+128)])
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if n, err := strconv.Atoi(s); err == nil {
			if l.refs && n >= 0 {
				return l.reference(n)
			}
			return n
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && f-f == 0 {
			return f
		}
		return 0
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return pdfWord(s)
}

// reference looks whether a number begins one.
func (l *pdfLexer) reference(n int) any {
	at := l.at
	l.space()
	i := l.at
	for l.at < len(l.b) && l.b[l.at] >= '0' && l.b[l.at] <= '9' && l.at-i < 6 {
		l.at++
	}
	if l.at > i {
		l.space()
		if l.at < len(l.b) && l.b[l.at] == 'R' && (l.at+1 == len(l.b) || pdfSpace(l.b[l.at+1]) || pdfDelim(l.b[l.at+1])) {
			l.at++
			return pdfRef(n)
		}
	}
	l.at = at
	return n
}

func (l *pdfLexer) name() any {
	l.at++
	var out []byte
	for l.at < len(l.b) && !pdfSpace(l.b[l.at]) && !pdfDelim(l.b[l.at]) && len(out) < 256 {
		c := l.b[l.at]
		if c == '#' && l.at+2 < len(l.b) {
			if v, err := strconv.ParseUint(string(l.b[l.at+1:l.at+3]), 16, 8); err == nil {
				c = byte(v)
				l.at += 2
			}
		}
		out = append(out, c)
		l.at++
	}
	return pdfName(out)
}

func (l *pdfLexer) literal() any {
	l.at++
	var out []byte
	for depth := 1; l.at < len(l.b) && len(out) < maxPDFToken; l.at++ {
		switch c := l.b[l.at]; c {
		case '(':
			depth++
			out = append(out, c)
		case ')':
			if depth--; depth == 0 {
				l.at++
				return pdfString(out)
			}
			out = append(out, c)
		case '\\':
			out = l.escape(out)
		default:
			out = append(out, c)
		}
	}
	return pdfString(out)
}

// escape reads what follows a backslash and leaves l.at on its last byte.
func (l *pdfLexer) escape(out []byte) []byte {
	l.at++
	if l.at >= len(l.b) {
		return out
	}
	switch c := l.b[l.at]; {
	case c == 'n':
		return append(out, '\n')
	case c == 'r':
		return append(out, '\r')
	case c == 't':
		return append(out, '\t')
	case c == 'b' || c == 'f':
		return append(out, ' ')
	case c == '\n':
		return out
	case c == '\r':
		if l.at+1 < len(l.b) && l.b[l.at+1] == '\n' {
			l.at++
		}
		return out
	case c >= '0' && c <= '7':
		n := int(c - '0')
		for i := 0; i < 2 && l.at+1 < len(l.b) && l.b[l.at+1] >= '0' && l.b[l.at+1] <= '7'; i++ {
			l.at++
			n = n*8 + int(l.b[l.at]-'0')
		}
		return append(out, byte(n))
	default:
		return append(out, c)
	}
}

func (l *pdfLexer) hex() any {
	l.at++
	var out []byte
	high, odd := byte(0), false
	for ; l.at < len(l.b) && len(out) < maxPDFToken; l.at++ {
		c := l.b[l.at]
		if c == '>' {
			l.at++
			break
		}
		v, ok := hexDigit(c)
		if !ok {
			continue
		}
		if odd {
			out = append(out, high<<4|v)
		}
		high, odd = v, !odd
	}
	if odd {
		out = append(out, high<<4)
	}
	return pdfString(out)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func (l *pdfLexer) array() any {
	if l.depth >= maxPDFDepth {
		return nil
	}
	l.depth++
	defer func() { l.depth-- }()
	var a pdfArray
	for {
		o := l.object()
		if w, ok := o.(pdfWord); ok {
			if w == "]" || w == "" || w == "endobj" || w == "stream" {
				return a
			}
			continue
		}
		a = append(a, o)
	}
}

func (l *pdfLexer) dict() any {
	if l.depth >= maxPDFDepth {
		return nil
	}
	l.depth++
	defer func() { l.depth-- }()
	d := pdfDict{}
	for {
		key := l.object()
		switch k := key.(type) {
		case pdfName:
			v := l.object()
			if w, ok := v.(pdfWord); ok {
				if w == ">>" || w == "" {
					return d
				}
				continue
			}
			d[k] = v
		case pdfWord:
			if k == ">>" || k == "" || k == "endobj" || k == "stream" {
				return d
			}
		}
	}
}
