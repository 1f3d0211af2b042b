package readable

import "strings"

// outline reads the ATX headings of Markdown, code blocks left out.
func outline(md string) []Heading {
	var out []Heading
	fence := ""
	for at := 0; at < len(md) && len(out) < MaxOutline; {
		line, _, _ := strings.Cut(md[at:], "\n")
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" ") == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		case strings.HasPrefix(line, "#"):
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if text := strings.TrimSpace(line[level:]); level <= 6 && text != "" && line[level] == ' ' {
				out = append(out, Heading{Level: level, Text: plain(text), Offset: at})
			}
		}
		at += len(line) + 1
	}
	return out
}

// plain takes emphasis, links and escapes out of a line of Markdown.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|>~", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '*' || c == '`':
		case c == '!' && i+1 < len(s) && s[i+1] == '[':
		case c == '[':
		case c == ']':
			if i+1 < len(s) && s[i+1] == '(' {
				if j := strings.IndexByte(s[i:], ')'); j > 0 {
					i += j
				}
			}
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
