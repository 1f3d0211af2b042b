package bridge

import (
	"unicode"
	"unicode/utf8"
)

// Bounds on the words taken from a text.
const (
	maxWordBytes = 48 // a longer run of letters is base64 or worse: its head is kept
)

// A wordSplitter cuts text into lower-case words: identifiers at case changes
// and separators, accents folded, runs of Han, Kana and Hangul as overlapping
// pairs of characters. It reuses one buffer and is not safe for concurrent use.
type wordSplitter struct {
	buf []byte
}

// each calls emit for every word of s, in order. The slice is valid during the
// call only.
func (w *wordSplitter) each(s string, emit func(word []byte)) {
	w.buf = w.buf[:0]
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			i = w.wide(s, i, emit)
			continue
		}
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			w.buf = append(w.buf, c)
		case 'A' <= c && c <= 'Z':
			if startsPart(s, i) {
				w.flush(emit)
			}
			w.buf = append(w.buf, c+'a'-'A')
		case c == '\'':
			i = w.apostrophe(s, i)
			continue
		default:
			w.flush(emit)
		}
		i++
	}
	w.flush(emit)
}

// startsPart reports whether the capital at i begins a part of an identifier:
// after a small letter or digit ("fooBar"), or as the last of several capitals
// that a small letter follows ("HTTPServer").
func startsPart(s string, i int) bool {
	if i == 0 {
		return false
	}
	p := s[i-1]
	if 'a' <= p && p <= 'z' {
		return true
	}
	upperBefore := 'A' <= p && p <= 'Z' || '0' <= p && p <= '9'
	if !upperBefore || i+1 >= len(s) || s[i+1] < 'a' || s[i+1] > 'z' {
		return false
	}
	// "URLs" and "3Ds" end in a plural, not in a part of their own.
	plural := s[i+1] == 's' && (i+2 >= len(s) || !isASCIILetter(rune(s[i+2])))
	return !plural
}

// apostrophe drops a possessive and joins what other apostrophes separate; it
// returns where to go on.
func (w *wordSplitter) apostrophe(s string, i int) int {
	if len(w.buf) > 0 && i+1 < len(s) && s[i+1] == 's' && (i+2 == len(s) || !isASCIILetter(rune(s[i+2]))) {
		return i + 2
	}
	return i + 1
}

func (w *wordSplitter) flush(emit func([]byte)) {
	if len(w.buf) > 0 {
		if len(w.buf) > maxWordBytes {
			w.buf = w.buf[:cutRune(w.buf, maxWordBytes)]
		}
		emit(w.buf)
		w.buf = w.buf[:0]
	}
}

// cutRune returns the largest length up to n that does not end within a rune.
func cutRune(b []byte, n int) int {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// wide handles the character at i, which is not ASCII, and returns where to go
// on.
func (w *wordSplitter) wide(s string, i int, emit func([]byte)) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	if isCJK(r) && unicode.IsLetter(r) {
		w.flush(emit)
		return w.pairs(s, i, emit)
	}
	switch {
	case r == '\u2019':
		return w.apostrophe(s, i+size-1)
	case unicode.Is(unicode.Mn, r): // a combining accent joins what it follows
	case unicode.IsLetter(r), unicode.IsDigit(r):
		w.buf = appendFolded(w.buf, unicode.ToLower(r))
	default:
		w.flush(emit)
	}
	return i + size
}

// pairs emits the overlapping pairs of a run of characters that are written
// without spaces, or the one character of a run of one.
func (w *wordSplitter) pairs(s string, i int, emit func([]byte)) int {
	start := i
	prev := -1
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isCJK(r) || !unicode.IsLetter(r) {
			break
		}
		if prev >= 0 {
			w.buf = append(w.buf[:0], s[prev:i+size]...)
			emit(w.buf)
		}
		prev = i
		i += size
	}
	if prev == start {
		w.buf = append(w.buf[:0], s[start:i]...)
		emit(w.buf)
	}
	w.buf = w.buf[:0]
	return i
}

// foldable lists the accented Latin letters, foldTo what each is written as
// without its accent.
const (
	foldable = "àáâãäåāăąçćĉċčďđèéêëēĕėęěĝğġģĥħìíîïĩīĭįıĵķĺļľŀłñńņňòóôõöøōŏőŕŗřśŝşšţťŧùúûüũūŭůűųŵýÿŷźżžơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
	foldTo   = "aaaaaaaaacccccddeeeeeeeeegggghhiiiiiiiiijklllllnnnnooooooooorrrsssstttuuuuuuuuuuwyyyzzzouaaaaaaaaaaaaeeeeeeeeiioooooooooooouuuuuuuyyyy"
)

var foldTable = func() map[rune]byte {
	t := make(map[rune]byte, len(foldTo))
	i := 0
	for _, r := range foldable {
		t[r] = foldTo[i]
		i++
	}
	return t
}()

// appendFolded appends a lower-case letter without its accent.
func appendFolded(b []byte, r rune) []byte {
	if c, ok := foldTable[r]; ok {
		return append(b, c)
	}
	switch r {
	case 'ß':
		return append(b, "ss"...)
	case 'æ':
		return append(b, "ae"...)
	case 'œ':
		return append(b, "oe"...)
	}
	return utf8.AppendRune(b, r)
}
