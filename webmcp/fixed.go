package webmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

// The three tools that are always there, beside the pages' own: many clients list a
// server's tools once and never again.
const (
	toolTabs  = "webmcp_tabs"
	toolTools = "webmcp_tools"
	toolCall  = "webmcp_call"
)

// isFixed reports whether a tool is there whatever the pages offer.
func isFixed(name string) bool { return name == toolTabs || name == toolTools || name == toolCall }

// Bounds of webmcp_tools.
const (
	defaultToolsLimit = 20
	maxToolsLimit     = 100
	maxQuery          = 1_000
)

const (
	tabsSchema  = `{"type":"object","properties":{},"additionalProperties":false}`
	toolsSchema = `{"type":"object","properties":{
"query":{"type":"string","description":"Words to search for in names and descriptions; without it all tools are listed"},
"names":{"type":"array","items":{"type":"string"},"description":"Show these tools with their input schemas"},
"tab":{"type":"string","description":"Only the tools of this tab (an id from webmcp_tabs)"},
"limit":{"type":"integer","minimum":1,"maximum":100,"description":"How many tools to show; 20 by default"},
"offset":{"type":"integer","minimum":0,"description":"How many tools to pass over, to read on in a long list"}},
"additionalProperties":false}`
	callSchema = `{"type":"object","properties":{
"name":{"type":"string","description":"The tool's name, from webmcp_tools or webmcp_tabs"},
"arguments":{"type":"object","description":"The tool's arguments, as its input schema says"},
"handle":{"type":"string","description":"Instead of name: reads on in a long result, with the handle that it gave"},
"page":{"type":"integer","minimum":1,"description":"With handle: the page to read"}},
"additionalProperties":false}`
)

// addFixed adds the fixed tools.
func (s *Server) addFixed() {
	readOnly := func(title string) *mcp.ToolAnnotations {
		no := false
		return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	}
	s.server.AddTool(&mcp.Tool{
		Name: toolTabs, Title: "Open pages", InputSchema: json.RawMessage(tabsSchema), Annotations: readOnly("Open pages"),
		Description: "Shows the pages open in the user's browser, the names of the tools that each offers, and how the connection to the browser stands.",
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.tabsResult(ctx), nil
	})
	s.server.AddTool(&mcp.Tool{
		Name: toolTools, Title: "Tools of open pages", InputSchema: json.RawMessage(toolsSchema), Annotations: readOnly("Tools of open pages"),
		Description: "Searches or lists the tools that the open pages offer; with names, shows their input schemas. The list changes as pages open and close.",
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.toolsResult(ctx, req.Params.Arguments), nil
	})
	s.server.AddTool(&mcp.Tool{
		Name: toolCall, Title: "Call a page's tool", InputSchema: json.RawMessage(callSchema),
		Description: "Calls a tool of an open page, by the name that webmcp_tools gives, in the page and with the user's session. Also reads on in a result that was cut, by handle and page.",
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.callResult(ctx, req), nil
	})
}

// decodeStrict decodes a fixed tool's arguments; the tool's schema has the words for
// what does not belong.
func decodeStrict(tool, schema string, raw json.RawMessage, into any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(into) == nil {
		return nil
	}
	if checker, err := argcheck.New(json.RawMessage(schema)); err == nil {
		if mismatch, err := checker.Check(raw); err == nil && mismatch != nil {
			return fmt.Errorf("%s: %w", tool, mismatch)
		}
	}
	return fmt.Errorf("%s: its arguments are not understood; its schema is %s", tool, schema)
}

// toolReport is one tool as webmcp_tools tells it.
type toolReport struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Origin      string          `json:"origin"`
	Tab         string          `json:"tab"`
	TabTitle    string          `json:"tabTitle"`
	Hints       []string        `json:"hints,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema describes structured results.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Note         string          `json:"note,omitempty"`
}

func report(t NamedTool, whole bool) toolReport {
	r := toolReport{Name: t.Name, Title: oneLine(t.Title, 200), Description: oneLine(t.Description, 300), Origin: t.Origin, Tab: t.TabID, TabTitle: oneLine(t.TabTitle(), 120), Hints: hints(t.PageTool)}
	if whole {
		r.Description, r.InputSchema = visibleText(t.Description), t.InputSchema
		var d mcp.Tool
		r.Note = outputOf(&d, t.PageTool)
		r.OutputSchema, _ = d.OutputSchema.(json.RawMessage)
		if _, err := t.check(); err != nil {
			r.Note = strings.TrimPrefix(r.Note+"; "+notChecked(err), "; ")
		}
	}
	return r
}

// hints are the page's claims about a tool, in words.
func hints(t *PageTool) (h []string) {
	if t.Declarative {
		h = append(h, "form")
	}
	if a := t.Annotations; a != nil {
		for _, x := range []struct {
			on   bool
			word string
		}{{a.ReadOnly, "read only"}, {a.Consequential, "consequential"}, {a.UntrustedContent, "results hold content of strangers"}, {a.Debugging, "for debugging"}} {
			if x.on {
				h = append(h, x.word)
			}
		}
	}
	return h
}

// toolsResult is the answer of webmcp_tools.
func (s *Server) toolsResult(ctx context.Context, raw json.RawMessage) *mcp.CallToolResult {
	in := struct {
		Query  string   `json:"query"`
		Names  []string `json:"names"`
		Tab    string   `json:"tab"`
		Limit  int      `json:"limit"`
		Offset int      `json:"offset"`
	}{Limit: defaultToolsLimit}
	if err := decodeStrict(toolTools, toolsSchema, raw, &in); err != nil {
		return errorResult(err.Error())
	}
	switch {
	case len(in.Query) > maxQuery:
		return errorResult(fmt.Sprintf("query of %d bytes: at most %d", len(in.Query), maxQuery))
	case in.Limit < 1 || in.Limit > maxToolsLimit:
		return errorResult(fmt.Sprintf("limit %d: choose 1 to %d", in.Limit, maxToolsLimit))
	case in.Offset < 0:
		return errorResult(fmt.Sprintf("offset %d: it must not be negative", in.Offset))
	}
	tools := s.visible()
	if in.Tab != "" {
		tools = slices.DeleteFunc(tools, func(t NamedTool) bool { return t.TabID != in.Tab })
	}
	if len(in.Names) > 0 {
		return s.schemasResult(tools, in.Names)
	}
	total := len(tools)
	if in.Query != "" {
		var err error
		if tools, err = s.searcher.search(ctx, tools, in.Query, len(tools)); err != nil {
			return errorResult("search: " + err.Error())
		}
	}
	found := len(tools)
	tools = tools[min(in.Offset, len(tools)):]
	tools = tools[:min(in.Limit, len(tools))]
	out := struct {
		Tools []toolReport `json:"tools"`
		Found int          `json:"found"`
		Total int          `json:"total"`
	}{[]toolReport{}, found, total}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d tools; descriptions are the pages' own words.\n", found, total)
	for _, t := range tools {
		r := report(t, false)
		out.Tools = append(out.Tools, r)
		fmt.Fprintf(&text, "- %s [%s] %s", r.Name, r.Origin, r.Description)
		if len(r.Hints) > 0 {
			fmt.Fprintf(&text, " (%s)", strings.Join(r.Hints, ", "))
		}
		text.WriteString("\n")
	}
	if rest := found - in.Offset - len(tools); rest > 0 {
		fmt.Fprintf(&text, "%d more: offset=%d\n", rest, in.Offset+len(tools))
	}
	if len(tools) > 0 {
		text.WriteString("Input schemas: webmcp_tools with names. To run one: webmcp_call with name and arguments.\n")
	} else if total == 0 {
		text.WriteString("No open page offers tools. webmcp_tabs shows the open pages.\n")
	}
	return s.results.own(text.String(), out)
}

// schemasResult shows tools with their schemas.
func (s *Server) schemasResult(tools []NamedTool, names []string) *mcp.CallToolResult {
	if len(names) > maxToolsLimit {
		return errorResult(fmt.Sprintf("%d names: at most %d at a time", len(names), maxToolsLimit))
	}
	out := struct {
		Tools   []toolReport `json:"tools"`
		Unknown []string     `json:"unknown,omitempty"`
	}{Tools: []toolReport{}}
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(tools), func(t NamedTool) bool { return t.Name != name })
		if len(found) == 0 {
			found = slices.DeleteFunc(slices.Clone(tools), func(t NamedTool) bool { return t.PageName != name })
		}
		if len(found) == 0 {
			out.Unknown = append(out.Unknown, oneLine(name, 200))
		}
		for _, t := range found {
			out.Tools = append(out.Tools, report(t, true))
		}
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return errorResult("the schemas cannot be shown: " + err.Error())
	}
	res := s.results.own(string(text), out)
	res.IsError = len(out.Tools) == 0
	return res
}

// callResult is the answer of webmcp_call.
func (s *Server) callResult(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	in, err := DecodeCall(req.Params.Arguments)
	if err != nil {
		return errorResult(err.Error())
	}
	if in.Handle != "" {
		return s.results.readOn(in.Handle, in.Page)
	}
	s.awaitTool(ctx, in.Name)
	t, problem := s.resolve(ctx, in.Name)
	if t == nil {
		return errorResult(problem)
	}
	return s.call(ctx, req, *t, in.Arguments)
}

// resolve finds a tool by its MCP name, else by its page's own name if that is unique.
func (s *Server) resolve(ctx context.Context, name string) (*NamedTool, string) {
	tools := s.visible()
	var own []NamedTool
	for _, t := range tools {
		if t.Name == name {
			return &t, ""
		}
		if t.PageName == name {
			own = append(own, t)
		}
	}
	switch {
	case len(own) == 1:
		return &own[0], ""
	case len(own) > 1:
		var names []string
		for _, t := range own[:min(len(own), 10)] {
			names = append(names, fmt.Sprintf("%s (tab %q)", t.Name, oneLine(t.TabTitle(), 60)))
		}
		return nil, fmt.Sprintf("%d pages have a tool %q: choose one of %s", len(own), oneLine(name, 100), strings.Join(names, ", "))
	}
	var near []string
	if found, err := s.searcher.search(ctx, tools, name, 3); err == nil {
		for _, t := range found {
			near = append(near, t.Name)
		}
	}
	if len(near) == 0 {
		return nil, fmt.Sprintf("no open page has a tool %q; webmcp_tools lists what there is", oneLine(name, 100))
	}
	return nil, fmt.Sprintf("no open page has a tool %q; near: %s", oneLine(name, 100), strings.Join(near, ", "))
}
