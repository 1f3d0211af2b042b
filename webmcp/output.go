package webmcp

import (
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Since Chromium 159 a page can say what the results of a tool look like. MCP clients hold
// results against an output schema, and throw away those that do not fit, or that have no
// structured content at all. A page's promise is nothing that we can keep for it: so only
// schemas that can be checked are passed on, and what does not fit is given as an error.

// outputOf gives a definition the tool's output schema if clients may have it, and returns
// the note on the tool's schemas.
func outputOf(d *mcp.Tool, t *PageTool) (note string) {
	checker, err := t.output()
	switch {
	case err != nil:
		return joinNotes(t.SchemaNote, noOutput+"results cannot be held against it")
	case checker != nil:
		d.OutputSchema = t.OutputSchema
	}
	return t.SchemaNote
}

// conform makes a result that does not fit the tool's output schema an error that says so.
// The text of the result stays; the tool has run.
func conform(t *PageTool, res *mcp.CallToolResult) *mcp.CallToolResult {
	checker, err := t.output()
	if checker == nil || err != nil || res.IsError {
		return res
	}
	structured, _ := res.StructuredContent.(json.RawMessage)
	problem := "it is not an object, or too long to be given as one"
	if structured != nil {
		mismatch, err := checker.Check(structured)
		if mismatch == nil || err != nil {
			return res
		}
		problem = mismatch.Error()
	}
	res.IsError, res.StructuredContent = true, nil
	note := &mcp.TextContent{Text: "[the tool has run and answered, do not call it again for this: but its result does not fit the output schema that its page gave: " + problem + "]"}
	res.Content = slices.Insert(res.Content, 0, mcp.Content(note))
	return res
}
