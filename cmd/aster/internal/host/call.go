package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/webmcp"
)

// A Caller says who makes a call, and how.
type Caller struct {
	// Request is the client's, for its progress token and to ask its user; nil is a
	// command of the user's own.
	Request *mcp.CallToolRequest
	// Direct says that the client called the tool under its own name.
	Direct bool
	Client guard.Client
}

// Call lets one call pass the guard and makes it. The result is an MCP CallToolResult.
// Errors: a *guard.Refusal where it was not made, a *guard.InputRequired where the client
// is to answer something first, a *jsonrpc.Error where its state is not ours, else the source's.
func (s *Session) Call(ctx context.Context, tool bridge.Tool, arguments json.RawMessage, c *Caller) (json.RawMessage, error) {
	result, err := s.call(ctx, tool, arguments, c)
	if src := s.set.Source(tool.Server); src != nil && errors.Is(err, source.ErrNeedsSignIn) {
		if st := src.Status(); st.Failure != nil {
			err = fmt.Errorf("%w. %s", err, nextStep(&st, src))
		}
	}
	return result, err
}

func (s *Session) call(ctx context.Context, tool bridge.Tool, arguments json.RawMessage, c *Caller) (json.RawMessage, error) {
	src, sv := s.set.Source(tool.Server), s.servers[tool.Server]
	if src == nil {
		return nil, fmt.Errorf("%s: %w", tool.Server, ErrNoSuchServer)
	}
	if err := s.ready(ctx, src, tool); err != nil {
		return nil, err
	}
	req := s.request(sv, tool, arguments)
	req.Direct, req.Client = c.Direct, c.Client
	opts := &source.CallOptions{}
	if c.Request != nil {
		req.Session = s.guard.SessionName(c.Request.Session)
		if req.Client.Name == "" {
			req.Client = clientOf(c.Request)
		}
		req.Approver = guard.FirstAnswer(s.guard.Elicit(c.Request), s.opts.Approver)
		if modern(c.Request.Session) {
			return s.callRounds(ctx, src, &req, c.Request)
		}
		var flush func()
		opts.Progress, flush = webmcp.Progress(ctx, c.Request)
		defer flush()
		ctx = withRequest(ctx, c.Request)
	}
	var result json.RawMessage
	err := s.guard.Invoke(ctx, req, func(ctx context.Context, arguments json.RawMessage) (guard.Report, error) {
		var err error
		if result, err = src.Call(ctx, tool.Name, arguments, opts); err != nil {
			return guard.Report{}, err
		}
		return guard.RawReport(result), nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// request is a call as the guard judges it.
func (s *Session) request(sv *server, tool bridge.Tool, arguments json.RawMessage) guard.Request {
	req := guard.Request{Tool: s.defined(tool), Arguments: arguments, Class: guard.ClassServer, Trusted: sv.trust, Identity: sv.identity}
	present := func() (bridge.Tool, string, error) {
		t, ok := s.current(tool.ID())
		if !ok {
			return t, "", bridge.ErrToolChanged
		}
		return t, "", nil
	}
	if b := sv.builtin; b != nil {
		req.Class = guard.ClassBuiltin
		if b.Effect != nil {
			req.Effect = b.Effect(tool.Name)
		}
		if b.Origin != nil {
			if origin, ok := b.Origin(tool.Name); ok {
				req.Class, req.Origin, req.Effect = guard.ClassPage, origin, guard.EffectUnknown
				before := present
				present = func() (bridge.Tool, string, error) {
					t, _, err := before()
					now, _ := b.Origin(tool.Name)
					return t, now, err
				}
			}
		}
	}
	req.Present = func(context.Context) (bridge.Tool, string, error) { return present() }
	return req
}

func clientOf(req *mcp.CallToolRequest) guard.Client {
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		return guard.Client{Name: p.ClientInfo.Name, Version: p.ClientInfo.Version}
	}
	return guard.Client{}
}
