package bridge

import (
	"unicode"
	"unicode/utf8"
)

// A Tokenizer counts the tokens of a text. Implementations must be safe for
// concurrent use, give the same count for the same text (the prompt section is
// only byte-stable if the counts behind it are), and not call the Injector that
// counts with them.
type Tokenizer interface {
	Tokens(s string) int
}

// TokenizerFunc lets a function, such as [EstimateTokens], serve as a Tokenizer.
type TokenizerFunc func(s string) int

// Tokens calls f.
func (f TokenizerFunc) Tokens(s string) int { return f(s) }

// EstimateTokensSimple is one token for every four Unicode characters, rounded
// up. It is not conservative: it falls a third short for lists of names and
// three quarters short for Chinese text. [EstimateTokens] is the better guess.
func EstimateTokensSimple(s string) int {
	return (utf8.RuneCountInString(s) + 3) / 4
}

// Weights of [EstimateTokens] in twenty-fourths of a token a character.
const (
	tokenUnit = 24

	weightLetter      = 4  // an ASCII letter inside a word
	weightWordStart   = 8  // what a word costs on top, whatever its length
	weightDigit       = 12 // merged by threes at most, and mostly by less
	weightPunct       = 10 // runs of punctuation merge in pairs
	weightNewline     = 12
	weightSpace       = 1 // one space joins the word behind it
	weightControl     = 24
	weightLatinOther  = 12 // accented letters split the word they stand in
	weightAlphabet    = 9  // Cyrillic, Greek, Arabic, Hebrew and other alphabets
	weightSoutheast   = 10 // Thai, Lao, Khmer, Burmese: no spaces, shorter pieces
	weightIndic       = 10
	weightCJK         = 18
	weightOtherLetter = 24
	weightSymbol      = 48 // emoji: two tokens are common, four are seen
)

// EstimateTokens guesses how many tokens a large model's tokenizer makes of s,
// by script: a long English word costs about a token for four letters, a short
// one a whole token, digits and punctuation a third to a half each, Chinese,
// Japanese and Korean characters nearly one each, emoji more. It is never
// negative, 0 only for the empty string, and takes time linear in s. It is an
// estimate for budgets, never a billing count.
func EstimateTokens(s string) int {
	total := 0
	prev := ' '
	for _, r := range s {
		if startsWord(prev, r) {
			total += weightWordStart
		}
		prev = r
		total += runeWeight(r)
	}
	return (total + tokenUnit - 1) / tokenUnit
}

// startsWord reports whether r is the first letter of a word, or of a part of
// one written in camel case.
func startsWord(prev, r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z':
		return prev < 'A' || prev > 'Z'
	case 'a' <= r && r <= 'z':
		return !isASCIILetter(prev)
	}
	return false
}

func isASCIILetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// runeWeight is the cost of one character in units of 1/tokenUnit token.
func runeWeight(r rune) int {
	switch {
	case isASCIILetter(r):
		return weightLetter
	case r == ' ':
		return weightSpace
	case '0' <= r && r <= '9':
		return weightDigit
	case r == '\n' || r == '\t' || r == '\r':
		return weightNewline
	case r < ' ' || r == utf8.RuneError:
		return weightControl
	case r < utf8.RuneSelf:
		return weightPunct
	}
	return wideRuneWeight(r)
}

// wideRuneWeight is runeWeight for characters beyond ASCII.
func wideRuneWeight(r rune) int {
	switch {
	case r < 0x250 && unicode.IsLetter(r), 0x1e00 <= r && r < 0x1f00:
		return weightLatinOther
	case isCJK(r):
		return weightCJK
	case 0x370 <= r && r < 0x780, 0x10a0 <= r && r < 0x1100:
		return weightAlphabet
	case 0x900 <= r && r < 0xe00:
		return weightIndic
	case 0xe00 <= r && r < 0x10a0, 0x1780 <= r && r < 0x1800:
		return weightSoutheast
	case r >= 0x1f000, 0x2190 <= r && r < 0x2c00:
		return weightSymbol
	}
	return weightOtherLetter
}

// isCJK reports whether r is written without spaces between words: Han, Kana,
// Hangul, Bopomofo, and the punctuation and wide forms that go with them.
func isCJK(r rune) bool {
	return 0x1100 <= r && r < 0x1200 || 0x2e80 <= r && r < 0xa4d0 ||
		0xa960 <= r && r < 0xa980 || 0xac00 <= r && r < 0xd800 ||
		0xf900 <= r && r < 0xfb00 || 0xfe30 <= r && r < 0xfe50 ||
		0xff00 <= r && r < 0xfff0 || 0x20000 <= r && r < 0x32000
}
