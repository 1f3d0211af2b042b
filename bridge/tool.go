package bridge

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A ToolID names a tool as "server/tool". Server names hold no "/", so the
// first one ends the server; tool names may hold "/" and spaces.
type ToolID string

// NewToolID joins a server's name and a tool's.
func NewToolID(server, name string) ToolID { return ToolID(server + "/" + name) }

// Server is the part before the first "/".
func (id ToolID) Server() string {
	server, _, _ := strings.Cut(string(id), "/")
	return server
}

// Name is the tool's own name, all that follows the first "/".
func (id ToolID) Name() string {
	_, name, _ := strings.Cut(string(id), "/")
	return name
}

// A Tool is one tool that an MCP server offers. Server, Name, Description and
// InputSchema are the server's own; nothing in them is to be trusted.
type Tool struct {
	Server       string          `json:"server"`
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`            // passed on unmodified
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // optional
	Annotations  *Annotations    `json:"annotations,omitempty"`  // optional
}

// ID is the tool's identity in catalogues, policies and audits.
func (t Tool) ID() ToolID { return NewToolID(t.Server, t.Name) }

// Annotations are a server's claims about its tool (MCP 2025-11-25). They are
// hints of a stranger: a nil hint counts as the worse value.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  bool   `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// A Server is what a catalogue knows of one server.
type Server struct {
	Name  string // as in [Tool]
	About string // what it is for: one line, may be empty
	Tools int    // how many tools of it the catalogue holds
}

// A Problem is what is wrong with one tool that was offered to a catalogue.
type Problem struct {
	ID      ToolID // as far as the tool has one
	Reason  string
	Dropped bool // the tool is not in the catalogue
}

// String is the problem in one line.
func (p Problem) String() string {
	id := oneLine(string(p.ID), maxShownID)
	if p.Dropped {
		return fmt.Sprintf("%s: %s (left out)", id, p.Reason)
	}
	return fmt.Sprintf("%s: %s", id, p.Reason)
}

// A CatalogError lists every tool that [NewCatalog] could not accept.
type CatalogError struct {
	Problems []Problem // sorted by ID, then reason
}

// Error names every bad tool.
func (e *CatalogError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s: %s", oneLine(string(p.ID), maxShownID), p.Reason)
	}
	return fmt.Sprintf("catalogue: %d bad tools: %s", len(lines), strings.Join(lines, "; "))
}
