package webmcp

import (
	"context"
	"sync"

	"github.com/aster-mcp/aster/bridge"
)

// searcher keeps the catalogue of the last search, for the next one over the same tools.
type searcher struct {
	mu      sync.Mutex
	tools   []NamedTool     // guarded by mu
	catalog *bridge.Catalog // guarded by mu
}

// serverName is the server in the tool IDs of the catalogue.
const serverName = "webmcp"

// search ranks tools for a query, best first; tools that do not match are left out.
func (s *searcher) search(ctx context.Context, tools []NamedTool, query string, limit int) ([]NamedTool, error) {
	byID := make(map[bridge.ToolID]NamedTool, len(tools))
	for _, t := range tools {
		byID[bridge.NewToolID(serverName, t.Name)] = t
	}
	res, err := s.catalogOf(tools).Search(ctx, bridge.Query{Texts: []string{query}, Limit: limit})
	if err != nil {
		return nil, err
	}
	found := make([]NamedTool, 0, len(res.Matches))
	for _, m := range res.Matches {
		if t, ok := byID[m.ID]; ok {
			found = append(found, t)
		}
	}
	return found, nil
}

func (s *searcher) catalogOf(tools []NamedTool) *bridge.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != nil && sameTools(s.tools, tools) {
		return s.catalog
	}
	entries := make([]bridge.Tool, 0, len(tools))
	for _, t := range tools {
		entries = append(entries, bridge.Tool{Server: serverName, Name: t.Name, Title: t.Title, Description: t.Description + " " + t.TabTitle(), InputSchema: t.InputSchema})
	}
	s.catalog, _ = bridge.NewLenientCatalog(entries, nil)
	s.tools = append([]NamedTool(nil), tools...)
	return s.catalog
}

func sameTools(a, b []NamedTool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
