package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// Look calls a tool of aster's own that only reads and takes no arguments, to show the user
// how things stand: nothing is decided or recorded, for nobody else gets the result, an MCP
// CallToolResult. Tools of pages and of configured servers are not to be had in this way:
// [ErrNoSuchServer].
func (s *Session) Look(ctx context.Context, server, tool string) (json.RawMessage, error) {
	sv := s.servers[server]
	if sv == nil || sv.builtin == nil || sv.builtin.Effect == nil || sv.builtin.Effect(tool) != guard.EffectRead {
		return nil, fmt.Errorf("%s: %w", server, ErrNoSuchServer)
	}
	if origin := sv.builtin.Origin; origin != nil {
		if _, pages := origin(tool); pages {
			return nil, fmt.Errorf("%s/%s: %w", server, tool, ErrNoSuchServer)
		}
	}
	return s.set.Source(server).Call(ctx, tool, json.RawMessage("{}"), &source.CallOptions{})
}
