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

// A page is a result of tools/list, as loosely as it can be read.
type page struct {
	Tools []json.RawMessage `json:"tools"`
}

// standInList makes a result of tools/list that the SDK can always decode. It
// keeps what the SDK needs: names, schemas for headers, the cursor. The title is the index of
// the tool. Results that are no object are left to the SDK.
func standInList(result json.RawMessage) []byte {
	var r map[string]json.RawMessage
	if json.Unmarshal(result, &r) != nil || r == nil {
		return nil
	}
	type tool struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	stand := struct {
		Tools  []tool `json:"tools"`
		Cursor string `json:"nextCursor,omitempty"`
	}{Tools: []tool{}}
	var p page
	json.Unmarshal(result, &p)
	for i, raw := range p.Tools {
		var t struct {
			Name        json.RawMessage `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		var s tool
		if json.Unmarshal(raw, &t) != nil || json.Unmarshal(t.Name, &s.Name) != nil || unreadableSchema(t.InputSchema) != "" {
			continue
		}
		s.Title, s.InputSchema = strconv.Itoa(i), t.InputSchema
		if len(s.InputSchema) == 0 {
			s.InputSchema = json.RawMessage("null")
		}
		stand.Tools = append(stand.Tools, s)
	}
	json.Unmarshal(r["nextCursor"], &stand.Cursor)
	b, err := json.Marshal(stand)
	if err != nil {
		return nil
	}
	return b
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
		raw := c.tap.release(slot)
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
		full := l.addPage(server, raw, res.Tools)
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
func (l *listing) addPage(server string, raw json.RawMessage, kept []*mcp.Tool) (full bool) {
	var p page
	if json.Unmarshal(raw, &p) != nil || p.Tools == nil {
		l.problem(bridge.ToolID(server), false, "tools/list: the result holds no list of tools")
		return false
	}
	ok := make(map[int]bool, len(kept))
	for _, t := range kept {
		if i, err := strconv.Atoi(t.Title); err == nil {
			ok[i] = true
		}
	}
	for i, raw := range p.Tools {
		if len(l.tools) == MaxTools {
			l.problem(bridge.ToolID(server), false, "the list has over %d tools: cut", MaxTools)
			return true
		}
		if t, good := l.readTool(server, i, raw, ok[i]); good {
			l.tools = append(l.tools, t)
			l.raws = append(l.raws, raw)
		}
	}
	return false
}

// wireName is what MCP allows of a name (2025-11-25, tools). Others are common
// in the wild and kept.
var wireName = lazily(`^[A-Za-z0-9_.\-/]{1,128}$`)

// readTool reads one tool, field by field. Schemas and doubled names are the catalogue's to judge.
func (l *listing) readTool(server string, index int, raw json.RawMessage, headersOK bool) (bridge.Tool, bool) {
	t := bridge.Tool{Server: server}
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil || f == nil {
		l.problem(bridge.ToolID(server), true, "tool %d of the list is not an object", index+1)
		return t, false
	}
	if json.Unmarshal(f["name"], &t.Name) != nil || t.Name == "" {
		l.problem(bridge.ToolID(server), true, "tool %d of the list has no name", index+1)
		return t, false
	}
	id := t.ID()
	for _, field := range []string{"inputSchema", "outputSchema"} {
		if why := unreadableSchema(f[field]); why != "" {
			l.problem(id, true, "%s %s", field, why)
			return t, false
		}
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
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		if number := (*json.UnmarshalTypeError)(nil); errors.As(err, &number) {
			return "holds a " + oneLine(number.Value, maxShownName) + ", which is beyond what a double can hold"
		}
		return "is not JSON"
	}
	return ""
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
