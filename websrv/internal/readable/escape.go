package readable

import "strings"

// bare takes the escapes that CommonMark does not need from underscores inside words, where it has
// no emphasis, snake\_case, and from brackets of which no link can be made, a\[i]. Code is left
// as it is.
func bare(md string) string {
	if !strings.Contains(md, `\_`) && !strings.Contains(md, `\[`) {
		return md
	}
	var b strings.Builder
	b.Grow(len(md))
	fence := ""
	for line := range strings.Lines(md) {
		inside := fence != ""
		fence = fenceAfter(line, fence)
		if inside || fence != "" {
			b.WriteString(line)
			continue
		}
		bareLine(&b, line)
	}
	return b.String()
}

// bareLine writes a line that is not in a code block.
func bareLine(b *strings.Builder, line string) {
	ticks := 0 // of the code span that is open
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == '`' && (i == 0 || line[i-1] != '\\' || ticks > 0) {
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			switch ticks {
			case 0:
				ticks = n
			case n:
				ticks = 0
			}
			b.WriteString(line[i : i+n])
			i += n - 1
			continue
		}
		if c == '\\' && ticks == 0 && (inWord(line, i) || plainBracket(line, i)) {
			continue
		}
		b.WriteByte(c)
	}
}

// inWord tells whether the backslash at i is before an underscore inside a word.
func inWord(line string, i int) bool {
	return i > 0 && i+2 < len(line) && line[i+1] == '_' && wordByte(line[i-1]) && wordByte(line[i+2])
}

// plainBracket tells whether the backslash at i is before a bracket that begins no link, no
// definition of one, no picture and no box of a list of tasks.
func plainBracket(line string, i int) bool {
	if i+1 >= len(line) || line[i+1] != '[' || strings.Trim(line[:i], " \t>-*+0123456789.)") == "" || line[i-1] == '!' {
		return false
	}
	inside, after, ok := strings.Cut(line[i+2:], "]")
	return ok && !strings.ContainsAny(inside, `[\!<`+"`") && !strings.HasPrefix(after, "(") && !strings.HasPrefix(after, "[") && !strings.HasPrefix(after, ":")
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// fenceAfter is the open fence after a line of Markdown, given the one before it.
func fenceAfter(line, fence string) string {
	t := strings.TrimSpace(line)
	switch {
	case fence != "":
		if strings.HasPrefix(t, fence) && strings.Trim(t, fence[:1]) == "" {
			return ""
		}
		return fence
	case strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"):
		return t[:len(t)-len(strings.TrimLeft(t, t[:1]))]
	}
	return ""
}
