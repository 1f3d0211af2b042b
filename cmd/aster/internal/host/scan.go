package host

// scanner walks over the values of one JSON object or array that is known to be valid,
// without decoding them. i is the position in b.
type scanner struct {
	b []byte
	i int
}

// more skips space and one comma, and reports whether another value follows.
func (s *scanner) more() bool {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n', ',':
			s.i++
		case '}', ']':
			return false
		default:
			return true
		}
	}
	return false
}

// colon skips the colon between a name and its value, and the space around it.
func (s *scanner) colon() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n', ':':
			s.i++
		default:
			return
		}
	}
}

// value returns the raw value at the position and moves behind it. It shares memory
// with b, and its capacity ends with it.
func (s *scanner) value() []byte {
	start := s.i
	switch s.b[s.i] {
	case '"':
		s.str()
	case '{', '[':
		s.composite()
	default: // number, true, false, null
		for s.i < len(s.b) && !isDelimiter(s.b[s.i]) {
			s.i++
		}
	}
	return s.b[start:s.i:s.i]
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', '}', ']', ':', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// str moves behind the string that starts at the position.
func (s *scanner) str() {
	for s.i++; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return
		}
	}
}

// composite moves behind the object or array that starts at the position.
func (s *scanner) composite() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return
			}
		}
		s.i++
	}
}

// tooDeep reports whether a valid JSON value nests deeper than maxDepth.
func tooDeep(b []byte) bool {
	if len(b) < 2*maxDepth { // every level costs an opening and a closing byte
		return false
	}
	depth := 0
	for s := (scanner{b: b}); s.i < len(b); {
		switch b[s.i] {
		case '"':
			s.str()
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
		s.i++
	}
	return false
}
