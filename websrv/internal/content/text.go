package content

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxJSONDepth is from where nested JSON is shown as it came: indenting costs the square of the depth.
const maxJSONDepth = 64

// text hands on what is text already. Only its line ends change.
func (c *conversion) text(body []byte, kind Kind) error {
	u, _, err := Decode(body, "")
	if err != nil {
		return err
	}
	s := strings.ReplaceAll(strings.ReplaceAll(string(u), "\r\n", "\n"), "\r", "\n")
	switch kind {
	case KindMarkdown:
		c.doc.Title = markdownTitle(s)
		c.write(s)
	case KindXML:
		c.fence("xml", s)
	default:
		c.write(s)
	}
	return nil
}

// markdownTitle is the first heading of level one outside of code.
func markdownTitle(s string) string {
	fenced := false
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fenced = !fenced
		case !fenced && strings.HasPrefix(line, "# "):
			return clip(strings.TrimSpace(strings.Trim(line, "#")), maxTitle)
		}
	}
	return ""
}

// maxTitle is how many bytes of a title are kept.
const maxTitle = 300

// json writes JSON indented, in a code block.
func (c *conversion) json(body []byte) error {
	u, _, err := Decode(body, "application/json")
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if jsonDepth(u) <= maxJSONDepth && json.Indent(&buf, u, "", "  ") == nil {
		c.fence("json", buf.String())
		return nil
	}
	c.fence("json", string(u)) // lines of JSON, comments in it, or too deep: as it came
	return nil
}

func jsonDepth(b []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch ch := b[i]; {
		case quoted && ch == '\\':
			i++
		case ch == '"':
			quoted = !quoted
		case quoted:
		case ch == '{' || ch == '[':
			depth++
			deepest = max(deepest, depth)
		case ch == '}' || ch == ']':
			depth--
		}
	}
	return deepest
}

// fence writes a code block whose fence no line of the text can close.
func (c *conversion) fence(language, s string) {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if !c.write(ticks + language + "\n" + strings.TrimRight(s, "\n")) {
		c.out.WriteString("\n" + ticks + "\n") // cut or not, the block is closed
		return
	}
	c.write("\n" + ticks + "\n")
}
