package host

import (
	"bytes"
	"encoding/json"

	"github.com/aster-mcp/aster/bridge"
)

// unfilled are the tools of a list that the catalogue holds in another form, because they
// lack what every tool there has, as a description, or have too much of it. What the user
// approved, and what a call is judged by, is what the server said.
func unfilled(list []bridge.Tool, c *bridge.Catalog) map[bridge.ToolID]bridge.Tool {
	out := map[bridge.ToolID]bridge.Tool{}
	for _, t := range list {
		shown, ok := c.Get(t.ID())
		if ok && (shown.Description != t.Description || !bytes.Equal(shown.InputSchema, t.InputSchema) || !bytes.Equal(shown.OutputSchema, t.OutputSchema)) {
			out[t.ID()] = t
		}
	}
	return out
}

// current is a tool as its server defines it at this moment; false if it is not in the
// catalogue any more.
func (s *Session) current(id bridge.ToolID) (bridge.Tool, bool) {
	t, ok := s.Catalog().Get(id)
	if !ok {
		return t, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := s.unfilled[id]; ok {
		return own, true
	}
	return t, true
}

// defined is a tool of the catalogue as its server defines it, where the catalogue still
// holds the same.
func (s *Session) defined(t bridge.Tool) bridge.Tool {
	c := s.Catalog()
	s.mu.Lock()
	own, changed := s.unfilled[t.ID()]
	s.mu.Unlock()
	if !changed {
		return t
	}
	if now, ok := c.Get(t.ID()); !ok || now.Hash() != t.Hash() {
		return t
	}
	return own
}

// holdDoubled notes the tools of a list that have the name of one before them.
func (s *Session) holdDoubled(list []bridge.Tool) {
	seen := make(map[string]bool, len(list))
	for _, t := range list {
		if seen[t.Name] {
			s.hold(t.ID(), "another tool of this server has this name")
		}
		seen[t.Name] = true
	}
}

// objectSchema is an input schema with the type that MCP wants and the SDK insists on,
// where it has none or several. Nothing else of it changes.
func objectSchema(raw json.RawMessage) json.RawMessage {
	var schema map[string]json.RawMessage
	if json.Unmarshal(raw, &schema) != nil || string(schema["type"]) == `"object"` {
		return raw
	}
	schema["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(schema)
	if err != nil {
		return raw
	}
	return out
}
