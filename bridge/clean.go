package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutMark ends every text that was cut.
const cutMark = "…"

// cutString returns at most n bytes of s, whole characters only.
func cutString(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// oneLine turns a stranger's text into one line that can be put in a list:
// white space of any kind becomes single spaces, control, bidi, zero-width and
// other invisible characters go, fences of code and of our own section are
// taken out, and what is over max characters is cut with a mark.
func oneLine(s string, max int) string {
	if plainLine(s) && len(s) <= max {
		return s
	}
	var b strings.Builder
	n, space := 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if skip := fenceLen(s[i:]); skip > 0 {
			i += skip
			space = true
			continue
		}
		i += size
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case hidden(r, size):
			continue
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		if n >= max-1 && hasMore(s[i:]) || n >= max {
			return strings.TrimRight(b.String(), " ") + cutMark
		}
		b.WriteRune(r)
		n++
	}
	// What was taken out may have joined two halves of a fence.
	if out := b.String(); out != s && fenced(out) {
		return oneLine(out, max)
	} else {
		return out
	}
}

// plainLine reports whether s is printable ASCII with single spaces and
// without fences, and so needs no cleaning.
func plainLine(s string) bool {
	prev := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == '`' || c == '~' || c == '<' || c == ' ' && prev == ' ' {
			return false
		}
		prev = c
	}
	return prev != ' ' || s == ""
}

// hasMore reports whether s holds anything that would be shown.
func hasMore(s string) bool {
	for i := 0; i < len(s); {
		if skip := fenceLen(s[i:]); skip > 0 {
			i += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) && !hidden(r, size) {
			return true
		}
		i += size
	}
	return false
}

// fenceLen returns the length of the fence that s begins with: three or more
// backticks or tildes, or the start of a tag of the section that holds the
// manifest.
func fenceLen(s string) int {
	if c := s[0]; c == '`' || c == '~' {
		n := 1
		for n < len(s) && s[n] == c {
			n++
		}
		if n >= 3 {
			return n
		}
		return 0
	}
	if s[0] != '<' {
		return 0
	}
	rest := strings.TrimLeft(s[1:], "/ ")
	if len(rest) >= len(sectionTag) && strings.EqualFold(rest[:len(sectionTag)], sectionTag) {
		return len(s) - len(rest) + len(sectionTag)
	}
	return 0
}

func fenced(s string) bool {
	for i := range len(s) {
		if fenceLen(s[i:]) > 0 {
			return true
		}
	}
	return false
}

// hidden reports whether r must not reach a prompt or a terminal: controls,
// formats (bidi, zero width, tags), surrogates, private use, unassigned
// specials, variation selectors, blank letters, and bytes that are not UTF-8.
func hidden(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return true
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff, 0x180b <= r && r <= 0x180f:
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800:
		return true
	}
	return !unicode.IsGraphic(r)
}

// cutRunes cuts s to max characters with a mark.
func cutRunes(s string, max int) string {
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == max {
			return strings.TrimRight(s[:i], " ") + cutMark
		}
	}
	return s
}

// block cleans a stranger's text as oneLine does, but keeps its lines.
func block(s string, max int) string {
	var lines []string
	for line := range strings.Lines(s) {
		line = oneLine(line, max)
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	return cutRunes(strings.TrimRight(strings.Join(lines, "\n"), "\n"), max)
}

// quoteMark begins every line of a stranger's text of several lines, so that
// none can pass for one of ours.
const quoteMark = "> "

// quoted is block with each line quoted.
func quoted(s string, max int) string {
	return quoteMark + strings.ReplaceAll(block(s, max), "\n", "\n"+quoteMark)
}

// Bounds of a sentence.
const minSentenceRunes = 12 // "e.g." and "v1." end no sentence

// lead returns the first paragraph of a description: what stands before an
// empty line, a list, a heading or a line such as "Args:".
func lead(s string) string {
	end := 0
	started := false
	for line := range strings.Lines(s) {
		text := strings.TrimSpace(line)
		if started && (text == "" || strings.ContainsAny(text[:1], "-*#|<>`") || strings.HasSuffix(text, ":")) {
			return s[:end]
		}
		started = started || text != "" && text[0] != '#'
		end += len(line)
	}
	return s
}

// summary is the first sentence of a description, on one line of at most max
// characters.
func summary(description string, max int) string {
	return oneLine(firstSentence(oneLine(lead(description), maxWhole)), max)
}

// firstSentence returns the first sentence of a text that is on one line.
func firstSentence(s string) string {
	n := 0
	for i, r := range s {
		n++
		switch r {
		case '。', '！', '？':
			return s[:i+utf8.RuneLen(r)]
		case '.', '!', '?':
			rest := s[i+1:]
			if n >= minSentenceRunes && strings.HasPrefix(rest, " ") && !abbreviated(s[:i], rest[1:]) {
				return s[:i+1]
			}
		}
	}
	return s
}

// abbreviated reports whether the dot after head ends an abbreviation rather
// than a sentence: a single letter or a known one before it, or a small letter
// after it.
func abbreviated(head, rest string) bool {
	word := head[strings.LastIndexAny(head, " (")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "approx", "incl", "no", "ca", "cf", "st", "dr", "mr", "mrs":
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return utf8.RuneCountInString(word) <= 1 || unicode.IsLower(r)
}
