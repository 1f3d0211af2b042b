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

// handlers answer what servers ask for, through the client whose call is under way.
func (s *Session) handlers() source.Handlers {
	return source.Handlers{
		ElicitURL: true,
		Elicit: func(ctx context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			req := requestOf(ctx)
			if req == nil {
				return nil, errNobodyToAsk
			}
			return req.Session.Elicit(ctx, p)
		},
		Sample: func(ctx context.Context, server string, p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
			req := requestOf(ctx)
			if sv := s.servers[server]; req == nil || sv == nil || !sv.sampling {
				return nil, errNobodyToAsk
			}
			return req.Session.CreateMessageWithTools(ctx, p)
		},
	}
}

// progressTo passes a call's progress on; nil where the client gave no token.
func progressTo(ctx context.Context, req *mcp.CallToolRequest) func(progress, total float64, message string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(progress, total float64, message string) {
		p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: total, Message: message}
		go req.Session.NotifyProgress(ctx, p) // must not block the server's connection
	}
}
