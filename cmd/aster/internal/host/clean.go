package host

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLogValueBytes bounds one attribute of a log record after [CleanAttr]; the rest is
// cut with a visible mark.
const MaxLogValueBytes = 16 << 10

// CleanText returns s on one line and without what could steer a terminal or hide text:
// escape sequences (ECMA-48 CSI, OSC and the other strings), C0 and C1 controls, and the
// invisible format characters of Unicode, bidirectional overrides and tags among them.
// The zero width joiners stay, since emoji and several scripts need them. Line breaks and
// tabs become spaces, invalid UTF-8 becomes U+FFFD.
func CleanText(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == 0x1b || r == 0x90 || r == 0x98 || r >= 0x9b && r <= 0x9f {
			i += escapeLen(s[i:], r, n)
			continue
		}
		i += n
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r == '\u200c' || r == '\u200d':
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
		default:
			b.WriteRune(r)
		}
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

// escapeLen returns the length of the control sequence at the start of s, whose first
// rune is r of n bytes. A string sequence that does not end loses its introducer only, so
// that a page cannot hide the text behind it.
func escapeLen(s string, r rune, n int) int {
	kind := r
	if r == 0x1b {
		if n >= len(s) {
			return n
		}
		kind = rune(s[n]) + 0x40 // ESC [ is CSI, 0x9b; ESC ] is OSC, 0x9d; and so on
		if s[n] < 0x20 || s[n] >= 0x7f {
			return n
		}
		n++
	}
	switch kind {
	case 0x9b:
		for n < len(s) && s[n] >= 0x20 && s[n] < 0x40 {
			n++
		}
		if n < len(s) && s[n] >= 0x40 && s[n] < 0x7f {
			n++
		}
		return n
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return n + stringLen(s[n:])
	}
	return n
}

// stringLen returns the length of a control string's body with its terminator (BEL, ESC \
// or ST), or 0 if there is none.
func stringLen(s string) int {
	for i, r := range s {
		switch {
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

// CleanAttr is the ReplaceAttr function of a [slog.HandlerOptions] for logs that carry
// strangers' text: every value but numbers, booleans and times is passed through
// [CleanText] and cut at [MaxLogValueBytes].
func CleanAttr(_ []string, a slog.Attr) slog.Attr {
	var s string
	switch v := a.Value.Any().(type) {
	case string:
		s = v
	case []byte:
		s = string(v)
	case error, fmt.Stringer:
		switch a.Value.Kind() {
		case slog.KindDuration, slog.KindTime:
			return a
		}
		s = fmt.Sprint(v)
	default:
		if a.Value.Kind() != slog.KindAny {
			return a
		}
		if _, ok := v.(slog.Level); ok {
			return a
		}
		s = fmt.Sprint(v)
	}
	return slog.String(a.Key, cut(CleanText(s), MaxLogValueBytes))
}

// cut returns s within limit bytes, ending in a mark where something is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = " … (cut)"
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
