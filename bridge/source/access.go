//lint:file-ignore SA1019 logging is deprecated, and servers of older revisions have it; a gateway passes it on.

package source

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods below give a gateway the rest of a server. Each starts the server
// if it is not connected, ends with the call limit of the Spec, and has the
// errors of [Source.Call]. Lists hold at most MaxPages pages of MaxTools entries in all; a
// server without the feature has empty ones.

// over makes a request on the session of a live connection. The options of the
// context, if it has any, go with prompts and resources; see [CallOptions].
func over[R any](ctx context.Context, s *Source, f func(context.Context, *mcp.ClientSession) (R, error)) (R, error) {
	return request(ctx, s, func(ctx context.Context, c *conn, _ *clock) (R, error) { return f(ctx, c.session) })
}

// asking makes a request whose result may want input of the client first.
func asking[R any](ctx context.Context, s *Source, meta *mcp.Meta, f func(context.Context, *mcp.ClientSession) (R, error)) (R, error) {
	opts := optionsOf(ctx)
	return request(ctx, s, func(ctx context.Context, c *conn, k *clock) (R, error) {
		slot := c.slot(k, opts)
		*meta = c.meta(slot, opts)
		res, err := f(ctx, c.session)
		raw := c.tap.release(slot)
		var none R
		switch {
		case slot.refused != "":
			return none, badAnswer(slot)
		case err == nil && slot.input:
			return none, inputOf(raw)
		}
		return res, err
	})
}

// pages collects a list. A repeated cursor or too many pages end it; so does an
// unknown method, on the first.
func pages[T any](next func(cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	for cursor := ""; ; {
		items, more, err := next(cursor)
		rpc := answerOf(err)
		if rpc != nil && rpc.Code == jsonrpc.CodeMethodNotFound && len(seen) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(all) > MaxTools {
			return nil, fmt.Errorf("the list has over %d entries", MaxTools)
		}
		if more == "" {
			return all, nil
		}
		if seen[more] || len(seen) == MaxPages {
			return nil, fmt.Errorf("the list repeats a cursor or has over %d pages", MaxPages)
		}
		seen[more] = true
		cursor = more
	}
}

// Resources lists the server's resources.
func (s *Source) Resources(ctx context.Context) ([]*mcp.Resource, error) {
	return over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) ([]*mcp.Resource, error) {
		return pages(func(cursor string) ([]*mcp.Resource, string, error) {
			r, err := cs.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		})
	})
}

// ResourceTemplates lists the server's resource templates.
func (s *Source) ResourceTemplates(ctx context.Context) ([]*mcp.ResourceTemplate, error) {
	return over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) ([]*mcp.ResourceTemplate, error) {
		return pages(func(cursor string) ([]*mcp.ResourceTemplate, string, error) {
			r, err := cs.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.ResourceTemplates, r.NextCursor, nil
		})
	})
}

// ReadResource reads a resource. [WithCallOptions] holds for it.
func (s *Source) ReadResource(ctx context.Context, p *mcp.ReadResourceParams) (*mcp.ReadResourceResult, error) {
	params := *p
	return asking(ctx, s, &params.Meta, func(ctx context.Context, cs *mcp.ClientSession) (*mcp.ReadResourceResult, error) {
		return cs.ReadResource(ctx, &params)
	})
}

// Subscribe asks to hear of changes of a resource; see Handlers.ResourceUpdated.
// A subscription ends with the connection.
func (s *Source) Subscribe(ctx context.Context, uri string) error {
	_, err := over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) (struct{}, error) {
		return struct{}{}, cs.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
	})
	return err
}

// Unsubscribe ends a subscription.
func (s *Source) Unsubscribe(ctx context.Context, uri string) error {
	_, err := over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) (struct{}, error) {
		return struct{}{}, cs.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
	})
	return err
}

// Prompts lists the server's prompts.
func (s *Source) Prompts(ctx context.Context) ([]*mcp.Prompt, error) {
	return over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) ([]*mcp.Prompt, error) {
		return pages(func(cursor string) ([]*mcp.Prompt, string, error) {
			r, err := cs.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
	})
}

// Prompt gets a prompt. [WithCallOptions] holds for it.
func (s *Source) Prompt(ctx context.Context, p *mcp.GetPromptParams) (*mcp.GetPromptResult, error) {
	params := *p
	return asking(ctx, s, &params.Meta, func(ctx context.Context, cs *mcp.ClientSession) (*mcp.GetPromptResult, error) {
		return cs.GetPrompt(ctx, &params)
	})
}

// Complete asks for completions of an argument.
func (s *Source) Complete(ctx context.Context, p *mcp.CompleteParams) (*mcp.CompleteResult, error) {
	return over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) (*mcp.CompleteResult, error) {
		return cs.Complete(ctx, p)
	})
}

// SetLogLevel sets the least severity of log messages, for servers of revisions
// before 2026-07-28.
func (s *Source) SetLogLevel(ctx context.Context, level mcp.LoggingLevel) error {
	_, err := over(ctx, s, func(ctx context.Context, cs *mcp.ClientSession) (struct{}, error) {
		return struct{}{}, cs.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: level})
	})
	return err
}
