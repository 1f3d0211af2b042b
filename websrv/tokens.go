package websrv

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// estimateTokens guesses how many tokens a large model's tokenizer makes of s, rather too
// many than too few: words cost a third of a token and a sixth for each letter, digits and
// punctuation half a token, Chinese, Japanese and Korean characters nearly one, symbols two.
func estimateTokens(s string) int {
	return (tokenWeight(s) + tokenUnit - 1) / tokenUnit
}

const tokenUnit = 24

// tokenWeight is the cost of s in parts of a token.
func tokenWeight(s string) int {
	total, prev := 0, ' '
	for _, r := range s {
		total += runeWeight(prev, r)
		prev = r
	}
	return total
}

// runeWeight is the cost of r after prev in parts of a token.
func runeWeight(prev, r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		if isLetter(prev) {
			return 4
		}
		return 12
	case 'A' <= r && r <= 'Z':
		if 'A' <= prev && prev <= 'Z' {
			return 4
		}
		return 12
	case r == ' ':
		return 1
	case '0' <= r && r <= '9', r == '\n', r == '\t', r == '\r':
		return 12
	case r < ' ' || r == utf8.RuneError:
		return 24
	case r < utf8.RuneSelf:
		return 10
	case r < 0x250:
		return 12
	case r >= 0x1f000, 0x2190 <= r && r < 0x2c00:
		return 48
	case r < 0x1100 && unicode.IsLetter(r):
		return 10
	case 0x1100 <= r && r < 0x1200, 0x2e80 <= r && r < 0xd800, 0xf900 <= r && r < 0xfff0:
		return 18
	}
	return 24
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// cutTokens is the length in bytes of the longest beginning of s that costs at most max
// tokens and ends between characters, and if possible after a line or a word.
func cutTokens(s string, max int) int {
	budget, total, prev := max*tokenUnit, 0, ' '
	end := len(s)
	for i, r := range s {
		total += runeWeight(prev, r)
		if total > budget {
			end = i
			break
		}
		prev = r
	}
	if end == len(s) {
		return end
	}
	for _, sep := range []string{"\n\n", "\n", " "} {
		// A break in the last fifth is worth the shorter piece.
		if i := strings.LastIndex(s[:end], sep); i+len(sep) > end*4/5 {
			return i + len(sep)
		}
	}
	return end
}

// plain makes text of strangers fit to stand in an error or a line of a list: one line, no
// control or invisible characters, at most max bytes.
func plain(s string, max int) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			continue
		}
		if b.Len() >= max {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
