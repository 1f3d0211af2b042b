//lint:file-ignore SA1019 sampling and logging are deprecated, and servers of older revisions have them; a gateway passes them on.

package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handlers answer what servers ask of their client, and hear what they tell. A
// nil one is not offered to servers. Elicit and Sample run in goroutines of
// their own; the others must not block, since they hold up the connection. If
// exactly one call of the server is under way, the context of Elicit and Sample
// carries the values of that call's context. A panic is an error to the server.
type Handlers struct {
	// Elicit asks the user, with a form or, if ElicitURL is set, with a page, whose
	// address is https, or http on this machine: others are refused to the server.
	// What a form asks for and what the user answers are checked by the SDK.
	Elicit    func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
	ElicitURL bool
	// ElicitDone hears that the user finished what a page was opened for.
	ElicitDone func(server, elicitationID string)
	// Sample asks the host's model.
	Sample func(ctx context.Context, server string, p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error)
	// Log hears log messages.
	Log func(server string, p *mcp.LoggingMessageParams)
	// ToolsChanged hears that the server said that its tools changed. The source lists them
	// anew by itself, and Options.OnChange hears of what came of it.
	ToolsChanged func(server string)
	// PromptsChanged, ResourcesChanged and ResourceUpdated hear of changes.
	PromptsChanged   func(server string)
	ResourcesChanged func(server string)
	ResourceUpdated  func(server, uri string)
}

// client makes the SDK's client of one connection.
func (s *Source) client(c *conn) *mcp.Client {
	h, name := s.opts.Handlers, s.spec.Name
	impl := s.opts.Client
	if impl == nil {
		impl = &mcp.Implementation{Name: "aster"}
	}
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			c.signalChanged()
			if h.ToolsChanged != nil {
				h.ToolsChanged(name)
			}
		},
	}
	if h.Elicit != nil {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		if h.ElicitURL {
			o.Capabilities.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
		o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			err := checkForm(r.Params.RequestedSchema)
			if err == nil && (r.Params.Mode == "url" || r.Params.URL != "") {
				err = checkPage(r.Params.URL)
			}
			if err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
			}
			return ask(ctx, c, func(ctx context.Context) (*mcp.ElicitResult, error) { return h.Elicit(ctx, name, r.Params) })
		}
	}
	if h.Sample != nil {
		o.CreateMessageWithToolsHandler = func(ctx context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return ask(ctx, c, func(ctx context.Context) (*mcp.CreateMessageWithToolsResult, error) {
				return h.Sample(ctx, name, r.Params)
			})
		}
	}
	if h.ElicitDone != nil {
		o.ElicitationCompleteHandler = func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
			h.ElicitDone(name, r.Params.ElicitationID)
		}
	}
	if h.Log != nil {
		o.LoggingMessageHandler = func(_ context.Context, r *mcp.LoggingMessageRequest) { h.Log(name, r.Params) }
	}
	if h.PromptsChanged != nil {
		o.PromptListChangedHandler = func(context.Context, *mcp.PromptListChangedRequest) { h.PromptsChanged(name) }
	}
	if h.ResourcesChanged != nil {
		o.ResourceListChangedHandler = func(context.Context, *mcp.ResourceListChangedRequest) { h.ResourcesChanged(name) }
	}
	if h.ResourceUpdated != nil {
		o.ResourceUpdatedHandler = func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			h.ResourceUpdated(name, r.Params.URI)
		}
	}
	client := mcp.NewClient(impl, o)
	client.AddReceivingMiddleware(recoverPanics, normalForms)
	return client
}

// recoverPanics keeps a panic of a handler from ending the process.
func recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if recover() != nil {
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		return next(ctx, method, req)
	}
}

// normalForms writes the forms of servers as the SDK, and the specification, want them.
func normalForms(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ElicitParams); ok && p != nil {
			p.RequestedSchema = normalForm(p.RequestedSchema)
		}
		return next(ctx, method, req)
	}
}

// normalForm drops the type from the items of fields with several titled choices: some
// servers write it, and the SDK then takes the choices for untitled ones and refuses the
// form.
func normalForm(schema any) any {
	form, _ := schema.(map[string]any)
	fields, _ := form["properties"].(map[string]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		items, _ := field["items"].(map[string]any)
		if _, untitled := items["enum"]; items["anyOf"] != nil && !untitled && items["type"] == "string" {
			delete(items, "type")
		}
	}
	return schema
}

// ask runs a handler that may wait for the user: meanwhile the clocks of the
// connection's calls stand. It ends with the connection.
func ask[R any](ctx context.Context, c *conn, f func(context.Context) (R, error)) (res R, err error) {
	ctx, cancel := until(c.withCall(ctx), c.closing)
	defer cancel()
	c.asking.Add(1)
	defer c.asking.Add(-1)
	defer func() {
		if recover() != nil { // input requests of 2026-07-28 do not pass the middleware
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		}
	}()
	return f(ctx)
}

// Bounds on the schema of a form. MCP allows flat objects of simple values.
const (
	maxFormBytes = 64 << 10
	maxFormDepth = 8
)

// checkForm refuses a schema that must not reach the SDK's validation of the
// answer: a reference to itself ends the process there, by a stack overflow
// (measured with jsonschema-go 0.4.3).
func checkForm(schema any) error {
	if schema == nil {
		return nil
	}
	b, err := json.Marshal(schema)
	if err != nil || len(b) > maxFormBytes {
		return errors.New("the requested schema is over 64 KiB")
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return errors.New("the requested schema cannot be read")
	}
	return checkFormValue(v, 0)
}

func checkFormValue(v any, depth int) error {
	if depth > maxFormDepth {
		return errors.New("the requested schema is too deep")
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if _, ok := v[k]; ok {
				return fmt.Errorf("the requested schema uses %s", k)
			}
		}
		for _, e := range v {
			if err := checkFormValue(e, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := checkFormValue(e, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
