package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Local is an MCP client of a server in the same process. Its methods may be called
// from any goroutine.
type Local struct {
	client  *mcp.ClientSession
	server  *mcp.ServerSession
	changed chan struct{}
}

// LocalTool is a tool as [Local.Tools] lists it.
type LocalTool struct {
	Name, Description string
	ReadOnly          bool
	Form              bool // a form of the page, not a script's tool
	InputSchema       json.RawMessage
}

// ConnectLocal connects a client of the given name to srv over an in-memory transport.
func ConnectLocal(ctx context.Context, srv *mcp.Server, name, version string) (*Local, error) {
	l := &Local{changed: make(chan struct{}, 1)}
	here, there := mcp.NewInMemoryTransports()
	var err error
	if l.server, err = srv.Connect(ctx, there, nil); err != nil {
		return nil, fmt.Errorf("in-process client: %w", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case l.changed <- struct{}{}:
			default:
			}
		},
	})
	if l.client, err = client.Connect(ctx, here, nil); err != nil {
		l.server.Close()
		return nil, fmt.Errorf("in-process client: %w", err)
	}
	return l, nil
}

// Changed yields a value after the list of tools has changed; several changes may share one.
func (l *Local) Changed() <-chan struct{} { return l.changed }

// maxToolPages bounds the pages of one listing.
const maxToolPages = 64

// Tools lists the server's tools, sorted by name.
func (l *Local) Tools(ctx context.Context) ([]LocalTool, error) {
	var list []LocalTool
	params := &mcp.ListToolsParams{}
	for range maxToolPages {
		res, err := l.client.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range res.Tools {
			schema, err := json.Marshal(t.InputSchema)
			if err != nil {
				return nil, fmt.Errorf("schema of tool %s: %w", t.Name, err)
			}
			list = append(list, LocalTool{t.Name, t.Description, t.Annotations != nil && t.Annotations.ReadOnlyHint, t.Meta["aster/form"] == true, schema})
		}
		if params.Cursor = res.NextCursor; params.Cursor == "" {
			return list, nil
		}
	}
	return nil, fmt.Errorf("the tools come in more than %d pages", maxToolPages)
}

// Call calls a tool and returns the text of its result, parts joined by line breaks.
// failed is the result's own flag; err means that there was no result.
func (l *Local) Call(ctx context.Context, name string, args any) (text string, failed bool, err error) {
	res, err := l.client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", false, err
	}
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n"), res.IsError, nil
}

// Close ends the client and its session of the server.
func (l *Local) Close() error {
	err := l.client.Close()
	l.server.Wait()
	return err
}
