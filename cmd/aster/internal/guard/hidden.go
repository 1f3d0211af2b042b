package guard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A hiddenChar is one character of a text that does not belong there.
type hiddenChar struct {
	r    rune
	at   int // in bytes
	kind string
	hard bool // it can carry text that only a model reads, or turn around what a user reads
}

// scanHidden finds the characters of s that cannot be seen and have no business where
// they stand. What writing systems need stays unreported: joiners in emoji and in scripts
// that shape, variation selectors behind emoji and Han, marks of direction in text that
// runs from right to left, zero width spaces in scripts without spaces.
func scanHidden(s string) (found []hiddenChar) {
	rtl := hasRTL(s)
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError || !unseen(r) {
			continue
		}
		kind, hard := hiddenKind(s, r, rtl)
		if kind == "" || joins(s, i, r, size) {
			continue
		}
		found = append(found, hiddenChar{r, i, kind, hard})
	}
	return found
}

// hiddenKind names what r is, "" for what is fine wherever it stands.
func hiddenKind(s string, r rune, rtl bool) (kind string, hard bool) {
	switch {
	case r == '\n' || r == '\r' || r == '\t' || r == '\u00ad' || r == '\u2028' || r == '\u2029' || r == '\u0085':
		return "", false
	case r == '\ufeff' && strings.HasPrefix(s, "\ufeff") && strings.Count(s, "\ufeff") == 1:
		return "", false
	case r == 0x1b || r == 0x9b:
		return "terminal escape", true
	case r < ' ' || 0x7f <= r && r < 0xa0:
		return "control character", false
	case 0xe0000 <= r && r <= 0xe007f:
		return "tag character", true
	case 0xe0100 <= r && r <= 0xe01ef, 0xfe00 <= r && r <= 0xfe0f:
		return "variation selector", strings.Count(s, string(r)) > 1
	case r == 0x202d || r == 0x202e:
		return "direction override", true
	case 0x202a <= r && r <= 0x202c, 0x2066 <= r && r <= 0x2069:
		return pick(rtl, "", "direction control"), false
	case r == 0x200e || r == 0x200f || r == 0x061c:
		return pick(rtl, "", "direction mark"), false
	case unicode.Is(unicode.Co, r):
		return "private use character", false
	case unicode.Is(unicode.Cf, r):
		return "zero width character", false
	case unicode.IsSpace(r):
		return "", false
	case unicode.IsGraphic(r):
		return "blank letter", false
	}
	return "unassigned character", false
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func hasRTL(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam) {
			return true
		}
	}
	return false
}

// joins reports whether the character r at byte i of s is needed there by a script or an
// emoji.
func joins(s string, i int, r rune, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	switch {
	case r == 0x200d:
		return (isEmoji(before) || before == 0xfe0f) && isEmoji(after) || shapes(before)
	case r == 0x200c:
		return shapes(before)
	case r == 0x200b:
		return unicode.In(before, spaceless...) || unicode.In(after, spaceless...)
	case r == 0xfe0f || r == 0xfe0e:
		return isEmoji(before) || unicode.Is(unicode.S, before) || unicode.Is(unicode.Po, before) || '0' <= before && before <= '9'
	case 0xfe00 <= r && r <= 0xfe02, 0xe0100 <= r && r <= 0xe01ef:
		return unicode.Is(unicode.Han, before)
	case 0x180b <= r && r <= 0x180f:
		return unicode.Is(unicode.Mongolian, before)
	case 0xe0020 <= r && r <= 0xe007f:
		return inFlag(s, i)
	case r == 0x115f || r == 0x1160:
		return unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, after) && 0x1100 <= after && after <= 0x11ff
	}
	return false
}

// spaceless are scripts that may mark the ends of words with U+200B.
var spaceless = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Tham, unicode.New_Tai_Lue, unicode.Balinese, unicode.Javanese, unicode.Tibetan}

// shaping are scripts whose letters take other forms beside a joiner or a non-joiner.
var shaping = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

func shapes(r rune) bool { return unicode.In(r, shaping...) }

// isEmoji reports whether r may be part of an emoji sequence: a pictograph, a modifier of
// skin colour, a regional letter, or one of the older symbols that have an emoji form.
func isEmoji(r rune) bool {
	switch {
	case 0x1f000 <= r && r <= 0x1faff, 0x2190 <= r && r <= 0x21ff, 0x2300 <= r && r <= 0x23ff, 0x2460 <= r && r <= 0x24ff,
		0x25a0 <= r && r <= 0x27bf, 0x2900 <= r && r <= 0x297f, 0x2b00 <= r && r <= 0x2bff:
		return true
	}
	return r == 0x20e3 || r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xa9 || r == 0xae
}

// Flags of regions are U+1F3F4, some letters and digits as tags, and the tag that ends.
const (
	flagBase   = 0x1f3f4
	tagEnd     = 0xe007f
	maxFlagTag = 6
)

// inFlag reports whether the tag at byte i belongs to a flag of a region (the three of
// the United Kingdom have one) rather than to hidden text.
func inFlag(s string, i int) bool {
	const tagLen = 4 // bytes of any of them
	start := i
	for range maxFlagTag + 1 {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		if r == flagBase {
			break
		}
		if r < 0xe0020 || r > 0xe007e {
			return false
		}
		start -= size
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:start]); r != flagBase {
		return false
	}
	for n := 0; n <= maxFlagTag; n++ {
		r, _ := utf8.DecodeRuneInString(s[start+n*tagLen:])
		switch {
		case r == tagEnd:
			return n >= 3
		case r >= 0xe0030 && r <= 0xe0039, r >= 0xe0061 && r <= 0xe007a:
		default:
			return false
		}
	}
	return false
}

// hiddenWarnings tells what scanHidden found in one field, one warning a kind.
func hiddenWarnings(field, s string) (out []Warning) {
	type sum struct {
		n    int
		hard bool
		r    rune
	}
	var order []string
	kinds := map[string]*sum{}
	found := scanHidden(s)
	for _, h := range found {
		k := kinds[h.kind]
		if k == nil {
			k = &sum{r: h.r}
			kinds[h.kind] = k
			order = append(order, h.kind)
		}
		k.n++
		k.hard = k.hard || h.hard
	}
	for _, kind := range order {
		k := kinds[kind]
		text := fmt.Sprintf("%s holds hidden characters: %d × %s, first U+%04X", field, k.n, kind, k.r)
		if t := tagText(found, kind); t != "" {
			text += fmt.Sprintf("; they spell %q", t)
		}
		out = append(out, Warning{Check: "hidden", Field: field, Text: text, Hard: k.hard})
	}
	return out
}

// tagText is what the tag characters among found spell in ASCII.
func tagText(found []hiddenChar, kind string) string {
	if kind != "tag character" {
		return ""
	}
	var b strings.Builder
	for _, h := range found {
		if 0xe0020 <= h.r && h.r <= 0xe007e {
			b.WriteRune(h.r - 0xe0000)
		}
	}
	return Clean(b.String(), maxShownName)
}
