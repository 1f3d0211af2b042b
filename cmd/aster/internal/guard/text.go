package guard

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on strangers' text where it is shown, in characters.
const (
	maxShownName  = 120
	maxShownText  = 400
	maxShownBlock = 4000
)

const cutMark = "…"

// Clean returns a stranger's text on one line, fit for a terminal, a log or a message:
// escape sequences (ECMA-48), C0 and C1 controls and characters that cannot be seen are
// gone, white space of any kind is one space, bytes that are not UTF-8 are U+FFFD, and
// what is over max characters is cut with a mark. max of 0 or less cuts nothing.
func Clean(s string, max int) string {
	var b strings.Builder
	n, space := 0, false
	for r := range seen(s) {
		if r == ' ' {
			space = true
			continue
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		if max > 0 && n >= max {
			return strings.TrimRight(b.String(), " ") + cutMark
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// CleanLine is Clean for a line that is laid out: every white space is a space of its own,
// and nothing is cut.
func CleanLine(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for r := range seen(s) {
		b.WriteRune(r)
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, which most text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// seen are the characters of s that show, with each white space as a space.
func seen(s string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if l := escapeLen(s[i:], r, size); l > 0 {
				i += l
				continue
			}
			at := i
			i += size
			switch {
			case unicode.IsSpace(r):
				r = ' '
			case unseen(r) && !joins(s, at, r, size):
				continue
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Show returns a stranger's text on one line with nothing left out: what cannot be seen,
// or would steer a terminal, is written as an escape (\n, \u{202e}). It is for questions,
// where a user must see all of what is asked. What is over max characters is cut in the
// middle with a mark that says how much is missing; max of 0 or less cuts nothing.
func Show(s string, max int) string {
	if max > 0 && utf8.RuneCountInString(s) > max {
		r := []rune(s)
		head := max * 3 / 4
		tail := max - head
		return show(string(r[:head])) + fmt.Sprintf(" …[%d characters]… ", len(r)-max) + show(string(r[len(r)-tail:]))
	}
	return show(s)
}

func show(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError || r != ' ' && (unicode.IsSpace(r) || unseen(r) && !joins(s, i, r, utf8.RuneLen(r))):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unseen reports whether r shows nothing, or may change how its neighbours are shown.
func unseen(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError:
		return false
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff, 0x180b <= r && r <= 0x180f:
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800:
		return true
	}
	return !unicode.IsGraphic(r)
}

// escapeLen returns the length of the control sequence that s begins with, 0 if there is
// none. r is the first character of s and size its length. A string sequence that does not
// end loses its introducer only, so that nothing can hide the text behind it.
func escapeLen(s string, r rune, size int) int {
	n, kind := size, r
	if r == 0x1b {
		if n >= len(s) || s[n] < 0x20 || s[n] >= 0x7f {
			return n
		}
		kind = rune(s[n]) + 0x40 // ESC [ is CSI, 0x9b; ESC ] is OSC, 0x9d; and so on
		n++
	}
	switch kind {
	case 0x9b:
		for n < len(s) && 0x20 <= s[n] && s[n] < 0x40 {
			n++
		}
		if n < len(s) && 0x40 <= s[n] && s[n] < 0x7f {
			n++
		}
		return n
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return n + stringLen(s[n:])
	}
	if r == 0x1b {
		return n
	}
	return 0
}

// maxEscapeString bounds how far the end of a control string is looked for.
const maxEscapeString = 4096

// stringLen returns the length of a control string's body with its terminator (BEL, ESC \
// or ST), 0 if there is none.
func stringLen(s string) int {
	for i, r := range s {
		switch {
		case i > maxEscapeString:
			return 0
		case r == 0x07:
			return i + 1
		case r == 0x9c:
			return i + 2
		case r == 0x1b && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		}
	}
	return 0
}

// cutBytes cuts s to n bytes, whole characters only, with a mark.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}
