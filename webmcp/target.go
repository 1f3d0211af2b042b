package webmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Target is what a tools/call of a client really calls. It is what a guard in front of
// the server decides on.
type Target struct {
	// Definition is the tool's, as clients see it. Nil means that nothing is called: the
	// server answers by itself.
	Definition *mcp.Tool
	// Tool is the page's tool; nil for webmcp_tabs and webmcp_tools.
	Tool *PageTool
	// Arguments are those for the tool.
	Arguments json.RawMessage
	// Direct says that the client called the tool under its own name, not by webmcp_call.
	Direct bool
}

// Target says what a request calls. Its error is for the client; nothing is called then.
// It waits for what the open pages offer: for ListWait at most, for CallWait where the tool
// is not among it.
func (s *Server) Target(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
	s.becomeReady(ctx)
	name, args := req.Params.Name, req.Params.Arguments
	if !isFixed(name) {
		s.awaitTool(ctx, name)
	}
	switch {
	case s.opts.Expose == ExposeTools:
	case name == toolCall:
		in, err := DecodeCall(args)
		if err != nil || in.Handle != "" {
			return Target{}, err
		}
		s.awaitTool(ctx, in.Name)
		t, problem := s.resolve(ctx, in.Name)
		if t == nil {
			return Target{}, errors.New(problem)
		}
		return Target{Definition: t.definition(), Tool: t.PageTool, Arguments: in.Arguments}, nil
	case name == toolTabs, name == toolTools:
		return Target{Definition: &mcp.Tool{Name: name, InputSchema: json.RawMessage(map[string]string{toolTabs: tabsSchema, toolTools: toolsSchema}[name])}, Arguments: args, Direct: true}, nil
	}
	t := s.view.lookup(name)
	if t == nil {
		return Target{}, nil // unknown, or gone: the server says so
	}
	return Target{Definition: NamedTool{name, t}.definition(), Tool: t, Arguments: args, Direct: true}, nil
}

// Envelope is the arguments of webmcp_call for a target that was not called directly.
func (t *Target) Envelope(arguments json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(CallArguments{Name: t.Definition.Name, Arguments: arguments})
}

type boundKey struct{}

// Bind gives the context of a call the page's tool that was decided on. The call is
// refused if the name has come to mean another: of another page, origin or definition.
// Of the zero Target it is refused if the name has come to mean any.
func (t *Target) Bind(ctx context.Context) context.Context {
	return context.WithValue(ctx, boundKey{}, t.Tool)
}

// checkBound returns an error if t is not what the context is bound to.
func checkBound(ctx context.Context, t NamedTool) error {
	bound, ok := ctx.Value(boundKey{}).(*PageTool)
	if ok && bound == nil {
		return fmt.Errorf("%s was not called: it appeared after the call was decided on; list the tools again", t.Name)
	}
	if ok && !sameOffer(bound, t.PageTool) {
		return fmt.Errorf("%s was not called: its page navigated or changed it after the call was decided on; list the tools again", t.Name)
	}
	return nil
}

// sameOffer reports whether two tools are the same page's offer with the same definition.
// The address may differ: single-page applications change theirs all the time.
func sameOffer(a, b *PageTool) bool {
	return a == b || a.key == b.key && a.Origin == b.Origin && a.Title == b.Title && a.Description == b.Description &&
		a.Declarative == b.Declarative && sameHints(a.Annotations, b.Annotations) && string(a.InputSchema) == string(b.InputSchema) && string(a.OutputSchema) == string(b.OutputSchema)
}

// CallArguments are the arguments of webmcp_call.
type CallArguments struct {
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Handle    string          `json:"handle,omitempty"`
	Page      int             `json:"page,omitempty"`
}

// DecodeCall reads the arguments of webmcp_call: it has a name or a handle.
func DecodeCall(raw json.RawMessage) (in CallArguments, err error) {
	in.Page = 1
	if err := decodeStrict(toolCall, callSchema, raw, &in); err != nil {
		return in, err
	}
	switch {
	case in.Handle != "" && in.Name != "":
		return in, errors.New("give name to call a tool, or handle to read on in a result, not both")
	case in.Handle == "" && in.Name == "":
		return in, errors.New("name is missing: call webmcp_tools to see the tools, then webmcp_call with name and arguments")
	}
	var text string
	if len(in.Arguments) > 0 && in.Arguments[0] == '"' && json.Unmarshal(in.Arguments, &text) == nil { // some models send arguments as JSON in a string
		in.Arguments = json.RawMessage(text)
		if !json.Valid(in.Arguments) {
			return in, errors.New("arguments must be a JSON object")
		}
	}
	return in, nil
}
