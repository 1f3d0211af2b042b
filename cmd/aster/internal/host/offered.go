package host

import (
	"slices"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// handlers are the handlers that servers are told of: sampling only where the user turned
// it on for one of them.
func (s *Session) handlers() source.Handlers {
	h := s.allHandlers()
	if !slices.ContainsFunc(s.opts.Config.Servers, func(c *config.Server) bool { return c.Sampling && !c.Disabled }) {
		h.Sample = nil
	}
	return h
}
