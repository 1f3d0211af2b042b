package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aster-mcp/aster/bridge"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxProblems  = 200 // remembered of one list
	maxShownName = 80  // characters of a name or cursor in a problem
)

// A listing is what a server's tools/list said.
type listing struct {
	tools    []bridge.Tool
	raws     []json.RawMessage // of tools, as sent
	problems []bridge.Problem
}

func (l *listing) problem(id bridge.ToolID, dropped bool, format string, args ...any) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, bridge.Problem{ID: id, Reason: oneLine(fmt.Sprintf(format, args...), maxDetail), Dropped: dropped})
	}
}

// same reports whether two listings hold the same tools and problems.
func (l *listing) same(o *listing) bool {
	return slices.EqualFunc(l.raws, o.raws, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) &&
		slices.Equal(l.problems, o.problems)
}

// A page is a result of tools/list, read as loosely as it can be, and once.
type page struct {
	tools  []pageTool
	cursor string
}

// A pageTool is a tool as sent.
type pageTool struct {
	raw    json.RawMessage
	fields map[string]json.RawMessage // nil where it is no object
	why    string                     // unreadableSchema of its inputSchema
}

// readPage reads the result of tools/list; nil if it is no object, which is left to the SDK.
func readPage(result json.RawMessage) *page {
	if start := bytes.TrimLeft(result, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return nil
	}
	var r struct {
		Tools  []json.RawMessage `json:"tools"`
		Cursor json.RawMessage   `json:"nextCursor"`
	}
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal(result, &r); err != nil && !errors.As(err, &mistyped) {
		return nil
	}
	p := &page{}
	if r.Tools != nil {
		p.tools = make([]pageTool, len(r.Tools))
	}
	for i, raw := range r.Tools {
		t := pageTool{raw: raw}
		if json.Unmarshal(raw, &t.fields) != nil {
			t.fields = nil
		}
		t.why = unreadableSchema(t.fields["inputSchema"])
		p.tools[i] = t
	}
	json.Unmarshal(r.Cursor, &p.cursor)
	return p
}

// standIn is a result of tools/list that the SDK can always decode. It keeps what the SDK
// needs: names, schemas for headers, the cursor. The title is the index of the tool.
func (p *page) standIn() []byte {
	type tool struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	stand := struct {
		Tools  []tool `json:"tools"`
		Cursor string `json:"nextCursor,omitempty"`
	}{Tools: make([]tool, 0, len(p.tools)), Cursor: p.cursor}
	for i, t := range p.tools {
		s := tool{Title: strconv.Itoa(i), InputSchema: anySchema}
		if t.why != "" || json.Unmarshal(t.fields["name"], &s.Name) != nil {
			continue
		}
		if schema := t.fields["inputSchema"]; namesHeader(schema) {
			s.InputSchema = schema
		}
		stand.Tools = append(stand.Tools, s)
	}
	b, err := json.Marshal(stand)
	if err != nil {
		return nil
	}
	return b
}

// anySchema stands for the schemas in which the SDK has nothing to look for.
var anySchema = json.RawMessage(`{"type":"object"}`)

// namesHeader reports whether a schema may hold an x-mcp-header (2026-07-28), the only thing
// that the SDK wants of it.
func namesHeader(schema []byte) bool {
	return bytes.Contains(schema, []byte("x-mcp-header")) || bytes.Contains(schema, []byte(`\u`))
}

// listTools asks for all pages. A server that knows no tools has none. What
// goes wrong later than the first page leaves the tools so far, with a problem.
func (c *conn) listTools(ctx context.Context, server string) (*listing, error) {
	l := &listing{}
	id := bridge.ToolID(server)
	cursor, seen := "", map[string]bool{}
	for n := 1; ; n++ {
		slot := c.tap.open(nil)
		params := &mcp.ListToolsParams{Cursor: cursor}
		params.SetProgressToken(slot.token)
		res, err := c.session.ListTools(ctx, params)
		c.tap.release(slot)
		rpc := answerOf(err)
		switch {
		case n == 1 && rpc != nil && rpc.Code == jsonrpc.CodeMethodNotFound:
			return l, nil
		case err != nil && n == 1:
			return nil, err
		case err != nil:
			l.problem(id, false, "page %d of the tools: %v", n, err)
			return l, nil
		}
		full := l.addPage(server, slot.page, res.Tools)
		cursor = res.NextCursor
		switch {
		case full, cursor == "":
			return l, nil
		case seen[cursor]:
			l.problem(id, false, "the list repeats the cursor %q: cut after %d pages", oneLine(cursor, maxShownName), n)
			return l, nil
		case n == MaxPages:
			l.problem(id, false, "the list has over %d pages: cut", MaxPages)
			return l, nil
		}
		seen[cursor] = true
	}
}

// addPage reads a page from the server's own bytes and reports whether there are
// too many tools. kept are those that the SDK did not refuse for a bad x-mcp-header.
func (l *listing) addPage(server string, p *page, kept []*mcp.Tool) (full bool) {
	if p == nil || p.tools == nil {
		l.problem(bridge.ToolID(server), false, "tools/list: the result holds no list of tools")
		return false
	}
	ok := make(map[int]bool, len(kept))
	for _, t := range kept {
		if i, err := strconv.Atoi(t.Title); err == nil {
			ok[i] = true
		}
	}
	for i, sent := range p.tools {
		if len(l.tools) == MaxTools {
			l.problem(bridge.ToolID(server), false, "the list has over %d tools: cut", MaxTools)
			return true
		}
		if t, good := l.readTool(server, i, &sent, ok[i]); good {
			l.tools = append(l.tools, t)
			l.raws = append(l.raws, sent.raw)
		}
	}
	return false
}

// wireName is what MCP allows of a name (2025-11-25, tools). Others are common
// in the wild and kept.
var wireName = lazily(`^[A-Za-z0-9_.\-/]{1,128}$`)

// readTool reads one tool, field by field. Schemas and doubled names are the catalogue's to judge.
func (l *listing) readTool(server string, index int, sent *pageTool, headersOK bool) (bridge.Tool, bool) {
	t := bridge.Tool{Server: server}
	f := sent.fields
	if f == nil {
		l.problem(bridge.ToolID(server), true, "tool %d of the list is not an object", index+1)
		return t, false
	}
	if json.Unmarshal(f["name"], &t.Name) != nil || t.Name == "" {
		l.problem(bridge.ToolID(server), true, "tool %d of the list has no name", index+1)
		return t, false
	}
	id := t.ID()
	if sent.why != "" {
		l.problem(id, true, "inputSchema %s", sent.why)
		return t, false
	}
	if why := unreadableSchema(f["outputSchema"]); why != "" {
		l.problem(id, true, "outputSchema %s", why)
		return t, false
	}
	if !headersOK {
		l.problem(id, true, "an x-mcp-header of its schema is not valid")
		return t, false
	}
	if !wireName().MatchString(t.Name) {
		l.problem(id, false, "the name is not one that MCP allows")
	}
	text := func(field string, to *string) {
		if v := f[field]; len(v) > 0 && json.Unmarshal(v, to) != nil {
			l.problem(id, false, "%s is %s, not text (ignored)", field, shape(v))
		}
	}
	text("title", &t.Title)
	text("description", &t.Description)
	t.InputSchema = f["inputSchema"]
	if out := f["outputSchema"]; len(out) > 0 && string(out) != "null" {
		t.OutputSchema = out
	}
	if a := f["annotations"]; len(a) > 0 && string(a) != "null" {
		t.Annotations = l.readHints(id, a)
	}
	return t, true
}

// maxSchemaDepth is how deep a schema may be nested: it is to fit into a list, in a message.
const maxSchemaDepth = maxDepth - 10

// unreadableSchema says why clients could not read a list with this schema, "" if they can.
func unreadableSchema(schema json.RawMessage) string {
	if len(schema) == 0 {
		return ""
	}
	if glance(schema).depth > maxSchemaDepth {
		return fmt.Sprintf("is nested over %d levels deep", maxSchemaDepth)
	}
	if !longNumbers(schema) {
		return "" // it was decoded as a part of the result
	}
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		if number := (*json.UnmarshalTypeError)(nil); errors.As(err, &number) {
			return "holds a " + oneLine(number.Value, maxShownName) + ", which is beyond what a double can hold"
		}
		return "is not JSON"
	}
	return ""
}

// longNumbers reports whether JSON text may hold a number beyond a double: one with an
// exponent or with more digits than the largest has.
func longNumbers(text []byte) bool {
	const most = 300
	digits := 0
	for _, b := range text {
		switch {
		case '0' <= b && b <= '9':
			if digits++; digits > most {
				return true
			}
		case digits > 0 && (b == 'e' || b == 'E'):
			return true
		default:
			digits = 0
		}
	}
	return false
}

// readHints reads annotations. One of the wrong type is left out, which counts as the worse value.
func (l *listing) readHints(id bridge.ToolID, raw json.RawMessage) *bridge.Annotations {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		l.problem(id, false, "annotations is %s, not an object (ignored)", shape(raw))
		return nil
	}
	flag := func(field string) *bool {
		var b *bool
		if v := f[field]; len(v) > 0 && json.Unmarshal(v, &b) != nil {
			l.problem(id, false, "annotations.%s is %s, not true or false (ignored)", field, shape(v))
			return nil
		}
		return b
	}
	isTrue := func(b *bool) bool { return b != nil && *b }
	a := &bridge.Annotations{
		ReadOnlyHint:    isTrue(flag("readOnlyHint")),
		DestructiveHint: flag("destructiveHint"),
		IdempotentHint:  isTrue(flag("idempotentHint")),
		OpenWorldHint:   flag("openWorldHint"),
	}
	if v := f["title"]; len(v) > 0 && json.Unmarshal(v, &a.Title) != nil {
		l.problem(id, false, "annotations.title is %s, not text (ignored)", shape(v))
	}
	return a
}

// shape says in a word or two what a JSON value is.
func shape(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "the text " + oneLine(string(v), 40)
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f', 'n':
		return string(v)
	}
	return "a number"
}
