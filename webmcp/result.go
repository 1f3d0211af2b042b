package webmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on a result.
const (
	// maxOutputDepth is how deep JSON may nest that a page's tool returns as a
	// string, for it to be taken as JSON (measured in Chromium 156).
	maxOutputDepth = 300

	// maxStructuredDepth is how deep structuredContent and _meta may nest; some
	// clients' JSON readers give up a whole message at 128.
	maxStructuredDepth = 100

	// maxParts is how many parts of a content list are looked at one by one.
	maxParts = 256

	// maxMediaBytes bounds the base64 text of all images, audio and files of one
	// result; a message must stay below the 16 MiB that clients read.
	maxMediaBytes = 8 << 20

	// maxExtraBytes bounds what else comes with the parts of one result: _meta,
	// annotations and icons, together.
	maxExtraBytes = 256 << 10

	// markTokens is kept free for the mark on a result that is cut.
	markTokens = 100

	// maxErrorRunes cuts the text of an error.
	maxErrorRunes = 4_000

	// maxPartNoteRunes cuts what a note on a part quotes.
	maxPartNoteRunes = 120
)

// results makes MCP results. It may be used from any goroutine.
type results struct {
	// limit is the number of tokens from which on a result is cut.
	limit    int
	estimate func(string) int
	pager    *pager

	// readTool is the tool that reads on in a cut result, "" when clients have
	// none: then the rest is lost, and the mark says so.
	readTool string
}

// parseOutput reads the text that a tool gave under the shim as the browser
// does for its own (measured in Chromium 156): as JSON when it is JSON, nested
// not too deep, else as a string.
func parseOutput(s string) json.RawMessage {
	if json.Valid([]byte(s)) && jsonDepth(s) <= maxOutputDepth {
		return json.RawMessage(s)
	}
	return appendJSONString(nil, strings.ToValidUTF8(s, "\ufffd"))
}

// errorResult is a result that says what went wrong. Control characters are
// taken out, line breaks and tabs excepted, and the text is cut.
func errorResult(text string) *mcp.CallToolResult {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if utf8.RuneCountInString(text) > maxErrorRunes {
		text = string([]rune(text)[:maxErrorRunes]) + "…"
	}
	if strings.TrimSpace(text) == "" {
		text = "the tool failed and did not say why"
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// draft is a result in the making.
type draft struct {
	pieces     []piece
	structured json.RawMessage // an object, or nil
	meta       mcp.Meta
	isError    bool

	// mirrored says that the pieces have what is in structured.
	mirrored bool

	media, extra int // bytes so far
}

// piece is one part of a result.
type piece struct {
	content mcp.Content

	// words is what of the part a model reads, "" for an image: it counts for
	// the limit, and stands for the part in a result that is cut.
	words string
}

func (d *draft) text(s string) {
	d.pieces = append(d.pieces, piece{&mcp.TextContent{Text: s}, s})
}

// note adds a remark of ours.
func (d *draft) note(format string, args ...any) {
	d.text("[" + fmt.Sprintf(format, args...) + "]")
}

// output turns what a page's tool returned into a result. An object with a
// list "content" that looks like MCP's passes, each part checked; other JSON
// becomes text, objects structuredContent as well; strings become text.
func (r *results) output(raw json.RawMessage) *mcp.CallToolResult {
	raw = bytes.TrimSpace(raw)
	var d draft
	switch {
	case len(raw) == 0:
		d.text("the tool returned nothing")
	case !json.Valid(raw):
		d.text(strings.ToValidUTF8(string(raw), "\ufffd"))
	case raw[0] == '"':
		d.text(jsonText(raw))
	case raw[0] == '{':
		if members, content, ok := mcpShaped(raw); ok {
			d.fromMCP(members, content)
		} else {
			d.json(raw)
		}
	default:
		d.text(compactJSON(raw))
	}
	return r.finish(&d)
}

// json adds an object as text and as structuredContent.
func (d *draft) json(raw json.RawMessage) {
	d.structured, d.mirrored = raw, true
	d.text(compactJSON(raw))
}

// own turns words of ours, and an object that says the same, into a result.
func (r *results) own(text string, structured any) *mcp.CallToolResult {
	var d draft
	d.text(strings.ToValidUTF8(text, "\ufffd"))
	if raw, err := json.Marshal(structured); err == nil && raw[0] == '{' {
		d.structured, d.mirrored = raw, true
	}
	return r.finish(&d)
}

// finish makes the result, cut if it is too long.
func (r *results) finish(d *draft) *mcp.CallToolResult {
	dropped := r.checkStructured(d)
	res := &mcp.CallToolResult{Meta: d.meta, IsError: d.isError, Content: []mcp.Content{}}
	if r.tooLong(d.pieces) {
		dropped = dropped || d.structured != nil
		r.cut(res, d.pieces, dropped)
		return res
	}
	for _, p := range d.pieces {
		res.Content = append(res.Content, p.content)
	}
	if d.structured != nil {
		res.StructuredContent = d.structured
	}
	return res
}

// checkStructured keeps structuredContent only if it is short enough and all
// clients can read it. What is not kept becomes text, unless it is text already.
func (r *results) checkStructured(d *draft) (dropped bool) {
	if d.structured == nil {
		return false
	}
	raw := d.structured
	if !r.tooLong(d.pieces) && len(raw) <= maxPageBytes && r.estimate(string(raw)) <= r.limit {
		if d.structured = cleanJSON(raw); d.structured != nil {
			return false
		}
	}
	d.structured = nil
	if d.mirrored {
		return true
	}
	words := compactJSON(raw)
	for _, p := range d.pieces {
		if p.words == words || jsonEqual(p.words, words) {
			return true
		}
	}
	d.text(words)
	return true
}

func (r *results) tooLong(pieces []piece) bool {
	tokens, size := 0, 0
	for _, p := range pieces {
		if size += len(p.words); size > maxPageBytes {
			return true
		}
	}
	for _, p := range pieces {
		if tokens += r.estimate(p.words); tokens > r.limit {
			return true
		}
	}
	return false
}

// cut fills res with the first page of the words of pieces, and with the parts
// that have none. The words are those of all pieces, a line each.
func (r *results) cut(res *mcp.CallToolResult, pieces []piece, dropped bool) {
	var sb strings.Builder
	starts := make([]int, len(pieces))
	for i, p := range pieces {
		if p.words == "" {
			continue
		}
		if sb.Len() > 0 {
			sb.WriteByte('\n')
		}
		starts[i] = sb.Len()
		sb.WriteString(p.words)
	}
	whole := sb.String()
	ends := splitPages(whole, max(r.limit-markTokens, r.limit/2), r.estimate)
	for i, p := range pieces {
		switch {
		case p.words == "" || starts[i]+len(p.words) <= ends[0]:
			res.Content = append(res.Content, p.content)
		case starts[i] < ends[0]:
			res.Content = append(res.Content, &mcp.TextContent{Text: whole[starts[i]:ends[0]]})
		}
	}
	first := (&pagedText{text: whole, ends: ends}).page(1)
	mark := fmt.Sprintf("cut: %d of %d characters shown", first.to, first.total)
	if handle, ok := r.keep(whole, ends); ok {
		mark += fmt.Sprintf(", page 1 of %d; read on with %s", first.of, r.readCall(handle, 2))
	} else {
		mark += "; the rest is not kept"
	}
	if dropped {
		mark += "; structuredContent is left out, it is in the text"
	}
	res.Content = append(res.Content, &mcp.TextContent{Text: "[" + mark + "]"})
}

func (r *results) keep(text string, ends []int) (handle string, ok bool) {
	if r.readTool == "" || r.pager == nil {
		return "", false
	}
	return r.pager.keep(text, ends)
}

// readCall is the call that reads a page, as a model makes it.
func (r *results) readCall(handle string, page int) string {
	return fmt.Sprintf(`%s {"handle":%q,"page":%d}`, r.readTool, handle, page)
}

// readOn is one page of a result that was cut. The first part of it is the
// page's text and nothing else.
func (r *results) readOn(handle string, page int) *mcp.CallToolResult {
	p, err := r.pager.page(handle, page)
	if err != nil {
		return errorResult(err.Error())
	}
	mark := fmt.Sprintf("page %d of %d, characters %d to %d of %d; ", p.page, p.of, p.from, p.to, p.total)
	if p.page < p.of {
		mark += "read on with " + r.readCall(handle, page+1)
	} else {
		mark += "the end of the result"
	}
	return &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: p.text}, &mcp.TextContent{Text: "[" + mark + "]"},
	}}
}

// jsonText is the value of a JSON string.
func jsonText(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // valid, so it cannot fail
	return s
}

// compactJSON is valid JSON without spaces, as text.
func compactJSON(raw json.RawMessage) string {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return strings.ToValidUTF8(string(raw), "\ufffd")
	}
	return strings.ToValidUTF8(buf.String(), "\ufffd")
}

// cleanJSON writes valid JSON anew so that every reader of JSON takes it, or
// returns nil where that cannot be: it nests too deep, or has a number that is
// beyond a double.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	p := jsonParser{data: strings.ToValidUTF8(string(raw), "\ufffd"), maxDepth: maxStructuredDepth}
	v, err := p.parse()
	if err != nil {
		return nil
	}
	return v.append(nil)
}

// jsonEqual reports whether text is the JSON want but for spaces.
func jsonEqual(text, want string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) && compactJSON(json.RawMessage(text)) == want
}
