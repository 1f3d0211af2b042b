package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// list is what the daemon's server lists, by page.
type list struct {
	pages []*mcp.ListToolsResult
	tools map[string]listedTool
}

// listedTool is a tool of the list, and what its definition comes to where it is a page's.
type listedTool struct {
	tool       *mcp.Tool
	definition string
}

// maxListPages bounds one listing.
const maxListPages = 64

// listTools answers from the list that was last told, which is asked for where it changed.
func (c *Client) listTools(ctx context.Context, req *mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	n := 0
	if req.Params != nil && req.Params.Cursor != "" {
		var err error
		if n, err = strconv.Atoi(req.Params.Cursor); err != nil {
			n = -1
		}
	}
	l, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(l.pages) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params"} // the SDK's words
	}
	page := *l.pages[n] // the SDK may fill in more
	return &page, nil
}

// tools is the list of this moment.
func (c *Client) tools(ctx context.Context) (*list, error) {
	for {
		c.mu.Lock()
		if l := c.list; l != nil {
			c.mu.Unlock()
			return l, nil
		}
		if wait := c.listing; wait != nil { // somebody asks already
			c.mu.Unlock()
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c.listing = make(chan struct{})
		c.mu.Unlock()
		l, err := c.fetch(ctx)
		c.mu.Lock()
		close(c.listing)
		c.listing = nil
		c.mu.Unlock()
		return l, err
	}
}

// fetch asks for the list and keeps it, unless it changed meanwhile.
func (c *Client) fetch(ctx context.Context) (*list, error) {
	var last error
	for range joinTries {
		w, err := c.current(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		at := c.lists
		c.mu.Unlock()
		l, err := fetchPages(ctx, w)
		if errors.Is(err, errLinkLost) {
			last = err
			<-w.done
			if !sleep(ctx, pollEvery) {
				return nil, ctx.Err()
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		if c.lists == at {
			c.list = l
		}
		c.mu.Unlock()
		return l, nil
	}
	return nil, last
}

func fetchPages(ctx context.Context, w *wire) (*list, error) {
	l := &list{tools: map[string]listedTool{}}
	for cursor := ""; len(l.pages) < maxListPages; {
		raw, err := w.call(ctx, "tools/list", &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		page, err := l.decode(raw)
		if err != nil {
			return nil, fmt.Errorf("the daemon's list: %w", err)
		}
		cursor = page.NextCursor
		page.NextCursor = ""
		l.pages = append(l.pages, page)
		if cursor == "" {
			break
		}
		page.NextCursor = strconv.Itoa(len(l.pages))
	}
	return l, nil
}

// decode reads a page of the list. Schemas stay as they were sent: decoded and encoded
// again, their keys would come in another order, and numbers would lose precision.
func (l *list) decode(raw json.RawMessage) (*mcp.ListToolsResult, error) {
	page := &mcp.ListToolsResult{}
	var schemas struct {
		Tools []rawSchemas `json:"tools"`
	}
	if err := json.Unmarshal(raw, page); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &schemas); err != nil {
		return nil, err
	}
	for i, t := range page.Tools {
		l.tools[t.Name] = schemas.Tools[i].listed(t)
	}
	return page, nil
}

type rawSchemas struct {
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// listed puts the schemas into a tool, and takes out what is between the daemon and us.
func (s *rawSchemas) listed(t *mcp.Tool) listedTool {
	if t.InputSchema = s.InputSchema; len(s.OutputSchema) > 0 {
		t.OutputSchema = s.OutputSchema
	}
	sum, _ := t.Meta[metaDefinition].(string)
	delete(t.Meta, metaDefinition)
	return listedTool{t, sum}
}

// originOf is the origin that a tool's definition names, "" for the server's own.
func originOf(t *mcp.Tool) string {
	origin, _ := t.Meta["aster/origin"].(string)
	return origin
}
