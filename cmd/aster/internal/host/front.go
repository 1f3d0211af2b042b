package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

const methodListTools = "tools/list"

// A Front is the guard in front of a server inside this process that is served by itself.
// Filter, policy, approval and record are those of a [Session], but there is no second
// hop: they are middleware of the server's own, so that its list changes, progress,
// cancellation, _meta and instructions stay what they are. It is safe for concurrent use.
type Front struct {
	builtin Builtin
	opts    SessionOptions
	log     *slog.Logger
	guard   *guard.Guard
	inner   mcp.MethodHandler // the server's, behind the guard

	mu    sync.Mutex
	tools map[string]knownTool // by name; guarded by mu
}

// knownTool is a definition and the tool that it was read from.
type knownTool struct {
	from *mcp.Tool
	tool bridge.Tool
}

// A Target is what a tools/call of a client really calls.
type Target struct {
	// Tool is the definition of the real tool. Nil means that nothing is called: the
	// server answers by itself.
	Tool *mcp.Tool
	// Page says that a page registered the tool, and Origin whose.
	Page   bool
	Origin string
	// Arguments are those for the tool.
	Arguments json.RawMessage
	// Direct says that the client called the tool under its own name.
	Direct bool
	// Wrap puts the decoded arguments back into the envelope; nil is none.
	Wrap func(json.RawMessage) (json.RawMessage, error)
	// Bind gives the call's context the tool that was decided on, so that the server calls
	// no other; nil leaves it.
	Bind func(context.Context) context.Context
}

// NewFront puts the guard in front of b.Server, which must not be connected yet. Of o
// only Config, StateDir, Logger, Approver, Approve and ReadOnly count. The builtin is the
// front's from now on, also where NewFront returns an error.
func NewFront(o *SessionOptions, b Builtin) (*Front, error) {
	f := &Front{builtin: b, opts: *o, log: o.Logger, tools: map[string]knownTool{}}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
		f.opts.Logger = f.log
	}
	made, err := newGuard(&f.opts, guard.NewRedactor())
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	f.guard = made.guard
	b.Server.AddReceivingMiddleware(Recover(f.log), f.filter, f.guard.Middleware(f.resolve), f.capture)
	return f, nil
}

// Server is the guarded server, to be connected to transports.
func (f *Front) Server() *mcp.Server { return f.builtin.Server }

// Close ends what the server holds, and the record.
func (f *Front) Close() error { return errors.Join(f.builtin.close(), f.guard.Close()) }

func (f *Front) capture(next mcp.MethodHandler) mcp.MethodHandler {
	f.inner = next
	return next
}

// allowed reports whether the configuration lets a tool in.
func (f *Front) allowed(name string) bool {
	return f.opts.Config.Tools.Filter(string(bridge.NewToolID(f.builtin.Name, name))).Allowed
}

// filter takes the tools that the configuration filters out off the lists, and answers
// calls of them as the SDK answers those of tools that are not there.
func (f *Front) filter(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if name := toolName(req); method == methodCallTool && !f.allowed(name) {
			return nil, unknownTool(name)
		}
		res, err := next(ctx, method, req)
		list, ok := res.(*mcp.ListToolsResult)
		if err != nil || !ok || list == nil {
			return res, err
		}
		shown := *list
		shown.Tools = []*mcp.Tool{}
		for _, t := range list.Tools {
			if f.allowed(t.Name) {
				shown.Tools = append(shown.Tools, t)
			}
		}
		return &shown, nil
	}
}

// unknownTool is the SDK's own error for a tool that is not there.
func unknownTool(name string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", name)}
}

// resolve says to the guard what a request really calls.
func (f *Front) resolve(ctx context.Context, req *mcp.CallToolRequest) (guard.Resolved, error) {
	t, err := f.target(ctx, req)
	if err != nil {
		return guard.Resolved{}, err
	}
	if t.Tool == nil {
		return guard.Resolved{Free: true, Bind: t.Bind}, nil
	}
	if !t.Direct && !f.allowed(t.Tool.Name) {
		return guard.Resolved{}, fmt.Errorf("there is no tool %q", CleanText(t.Tool.Name))
	}
	tool, err := f.definition(t.Tool)
	if err != nil {
		return guard.Resolved{}, err
	}
	r := guard.Request{Tool: tool, Arguments: t.Arguments, Class: guard.ClassBuiltin, Direct: t.Direct}
	switch {
	case t.Page:
		r.Class, r.Origin = guard.ClassPage, t.Origin
	case f.builtin.Effect != nil:
		r.Effect = f.builtin.Effect(t.Tool.Name)
	}
	r.Present = func(ctx context.Context) (bridge.Tool, string, error) {
		now, err := f.target(ctx, req)
		if err != nil || now.Tool == nil {
			return bridge.Tool{}, "", bridge.ErrToolChanged
		}
		tool, err := f.definition(now.Tool)
		return tool, now.Origin, err
	}
	return guard.Resolved{Request: r, Wrap: t.Wrap, Bind: t.Bind}, nil
}

// target asks the server what a request comes to, or looks in its list.
func (f *Front) target(ctx context.Context, req *mcp.CallToolRequest) (Target, error) {
	if f.builtin.Resolve != nil {
		return f.builtin.Resolve(ctx, req)
	}
	t, err := f.listed(ctx, req)
	return Target{Tool: t, Arguments: req.Params.Arguments, Direct: true}, err
}

// listed finds a tool in the server's list of this moment; nil when there is none. Nothing
// is encoded for that, so it costs little.
func (f *Front) listed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.Tool, error) {
	params := &mcp.ListToolsParams{}
	for range maxToolPages {
		res, err := f.inner(ctx, methodListTools, &mcp.ListToolsRequest{Session: req.Session, Params: params})
		if err != nil {
			return nil, err
		}
		list, ok := res.(*mcp.ListToolsResult)
		if !ok || list == nil {
			return nil, nil
		}
		for _, t := range list.Tools {
			if t.Name == req.Params.Name {
				return t, nil
			}
		}
		if params = (&mcp.ListToolsParams{Cursor: list.NextCursor}); params.Cursor == "" {
			return nil, nil
		}
	}
	return nil, nil
}

// maxKnownTools bounds the definitions that are kept, those of tools that are gone among
// them: names are a page's to make up, and each may have a large schema.
const maxKnownTools = 256

// definition is a tool as the guard judges it, and as a session's catalogue has it. A
// definition never changes, so each is read once.
func (f *Front) definition(t *mcp.Tool) (bridge.Tool, error) {
	f.mu.Lock()
	known, ok := f.tools[t.Name]
	f.mu.Unlock()
	if ok && known.from == t {
		return known.tool, nil
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return bridge.Tool{}, fmt.Errorf("the definition of %s cannot be read: %w", CleanText(t.Name), err)
	}
	var tool bridge.Tool
	if err := json.Unmarshal(raw, &tool); err != nil {
		return bridge.Tool{}, fmt.Errorf("the definition of %s cannot be read: %w", CleanText(t.Name), err)
	}
	tool.Server = f.builtin.Name
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tools) >= maxKnownTools {
		clear(f.tools)
	}
	f.tools[t.Name] = knownTool{t, tool}
	return tool, nil
}
