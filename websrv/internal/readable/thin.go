package readable

import (
	"bytes"
	"unicode/utf8"
)

// thin copies a page without the content of what is never read: scripts that are not data,
// styles and drawings. They are most of many pages' bytes, and the tree would hold them all.
// Comments go too, so that markup in them is not taken for elements. Bytes that are not UTF-8
// are replaced. The copy is appended to out.
func thin(out, page []byte) []byte {
	failed := 0
	for len(page) > 0 {
		i := bytes.IndexByte(page, '<')
		if i < 0 {
			break
		}
		out = append(out, page[:i]...)
		page = page[i:]
		n, data := passOver(page)
		if data {
			out = append(out, page[:max(n, 0)]...)
		}
		if n < 0 {
			if failed++; failed == maxUnended {
				break
			}
		}
		if n <= 0 {
			n = 1
			out = append(out, '<')
		}
		page = page[n:]
	}
	out = append(out, page...)
	if utf8.Valid(out) {
		return out
	}
	return bytes.ToValidUTF8(out, []byte("\uFFFD"))
}

// maxUnended elements without an end are searched for one; each search may be over all the page.
const maxUnended = 16

const maxTagBytes = 4096 // of a script's start tag that are read

// passOver is how many bytes to leave out at a '<', 0 for none, below 0 if the end of what
// begins there was not found. data says that they are data to keep as they are.
func passOver(b []byte) (n int, data bool) {
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		return comment(b), false
	case opens(b, "script"):
		tag := b[:min(len(b), maxTagBytes)]
		if end := bytes.IndexByte(tag, '>'); end >= 0 {
			tag = tag[:end]
		}
		return closing(b, "script"), isData(tag)
	case opens(b, "style"):
		return closing(b, "style"), false
	case opens(b, "svg"):
		return drawing(b), false
	}
	return 0, false
}

// comment is the length of the comment that begins b. The HTML standard ends one at "-->",
// "--!>", or at once at "<!-->"; one that never ends is left to the parser.
func comment(b []byte) int {
	if bytes.HasPrefix(b, []byte("<!-->")) || bytes.HasPrefix(b, []byte("<!--->")) {
		return bytes.IndexByte(b, '>') + 1
	}
	i := bytes.Index(b[4:], []byte("-->"))
	if j := bytes.Index(b[4:max(4, 4+i)], []byte("--!>")); j >= 0 {
		return 4 + j + len("--!>")
	}
	if i < 0 {
		return -1
	}
	return 4 + i + len("-->")
}

// opens tells whether b begins with the start tag of an element.
func opens(b []byte, name string) bool {
	return len(b) > len(name)+1 && equalFold(b[1:1+len(name)], name) && endsName(b[1+len(name)])
}

func endsName(c byte) bool {
	return c == '>' || c == '/' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

func equalFold(b []byte, lower string) bool {
	for i := range lower {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// isData tells whether a script's start tag says JSON.
func isData(tag []byte) bool {
	return bytes.Contains(tag, []byte("json")) || bytes.Contains(tag, []byte("JSON")) || bytes.Contains(tag, []byte("__NEXT_DATA__"))
}

// closing is the length up to and with the element's end tag, -1 if it has none.
func closing(b []byte, name string) int {
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("</"))
		if i < 0 || at+i+2+len(name) >= len(b) {
			return -1
		}
		at += i + 2
		if equalFold(b[at:at+len(name)], name) && endsName(b[at+len(name)]) {
			end := bytes.IndexByte(b[at:], '>')
			if end < 0 {
				return -1
			}
			return at + end + 1
		}
	}
}

// drawing is the length of an svg element, drawings in it included; -1 if it does not end or
// holds HTML.
func drawing(b []byte) int {
	depth, at := 0, 0
	for {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			return -1
		}
		at += i
		switch rest := b[at:]; {
		case opens(rest, "svg"):
			end := bytes.IndexByte(rest, '>')
			if end < 0 {
				return -1
			}
			if rest[end-1] != '/' {
				depth++
			}
			at += end
		case opens(rest, "foreignobject"), opens(rest, "div"), opens(rest, "p"), opens(rest, "body"):
			return -1
		case len(rest) > len("</svg") && equalFold(rest[:len("</svg")], "</svg"):
			depth--
			end := bytes.IndexByte(rest, '>')
			if end < 0 {
				return -1
			}
			at += end
		default:
			at++
		}
		if depth <= 0 {
			return at + 1
		}
	}
}
