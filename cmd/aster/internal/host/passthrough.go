//lint:file-ignore SA1019 sampling is deprecated in 2026-07-28, but servers of older revisions ask for it.

package host

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// What a server asks of its client while a call runs goes to the client whose call it
// is, and the call's progress to the token that the client gave.

type requestKey struct{}

// withRequest gives a call's context the request that it serves.
func withRequest(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	return context.WithValue(ctx, requestKey{}, req)
}

func requestOf(ctx context.Context) *mcp.CallToolRequest {
	req, _ := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	return req
}

var errNobodyToAsk = errors.New("the client of this call cannot be asked")

// allHandlers answer what servers ask for, through the client whose call is under way.
func (s *Session) allHandlers() source.Handlers {
	return source.Handlers{
		ElicitURL: true,
		Elicit: func(ctx context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if call := parkedOf(ctx); call != nil {
				answer, err := call.ask(ctx, p)
				if res, ok := answer.(*mcp.ElicitResult); ok && res != nil {
					return res, nil
				}
				return nil, orDefault(err, errWrongAnswer)
			}
			ss := s.asker(ctx)
			if ss == nil {
				return nil, errNobodyToAsk
			}
			return ss.Elicit(ctx, p)
		},
		Log: func(_ string, p *mcp.LoggingMessageParams) {
			s.mu.Lock()
			to := s.logTo
			s.mu.Unlock()
			if to != nil {
				to(p)
			}
		},
		ElicitDone: func(server, id string) {
			s.tell(func(g *Gateway) { g.tellElicited(id) })
		},
		ToolsChanged:     func(string) { s.tell((*Gateway).tellToolsChanged) },
		PromptsChanged:   func(server string) { s.tell(func(g *Gateway) { g.relist(server, (*features).addPrompts) }) },
		ResourcesChanged: func(server string) { s.tell(func(g *Gateway) { g.relist(server, (*features).addResources) }) },
		ResourceUpdated: func(server, uri string) {
			s.tell(func(g *Gateway) { g.tellUpdated(server, uri) })
		},
		Sample: func(ctx context.Context, server string, p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
			if call := parkedOf(ctx); call != nil {
				answer, err := call.ask(ctx, p)
				if res, ok := answer.(*mcp.CreateMessageWithToolsResult); ok && res != nil {
					return res, nil
				}
				return nil, orDefault(err, errWrongAnswer)
			}
			ss := s.asker(ctx)
			if sv := s.servers[server]; ss == nil || sv == nil || !sv.sampling {
				return nil, errNobodyToAsk
			}
			return ss.CreateMessageWithTools(ctx, p)
		},
	}
}

// maxTelling bounds what is told to clients at a time; a server that says more is not heard.
const maxTelling = 64

// tell runs f for the gateway, outside of the server's connection, which must not wait.
func (s *Session) tell(f func(*Gateway)) {
	s.mu.Lock()
	g := s.gateway
	s.mu.Unlock()
	if g == nil {
		return
	}
	select {
	case s.telling <- struct{}{}:
	default:
		return
	}
	s.wg.Go(func() {
		defer func() { <-s.telling }()
		f(g)
	})
}

// asker is the client whose call is under way; where that is not known, the only one.
func (s *Session) asker(ctx context.Context) *mcp.ServerSession {
	if req := requestOf(ctx); req != nil {
		return req.Session
	}
	s.mu.Lock()
	clients := s.clients
	s.mu.Unlock()
	if clients == nil {
		return nil
	}
	var only *mcp.ServerSession
	for ss := range clients() {
		if only != nil {
			return nil
		}
		only = ss
	}
	return only
}
