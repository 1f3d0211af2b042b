package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/chat"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// Values of GatewayOptions.Expose.
const (
	ExposeBridge = "bridge" // the one tool aster_mcp
	ExposeTools  = "tools"  // every tool under a name of its own
	ExposeBoth   = "both"
)

// StartWait is how long a gateway waits for its servers before it answers its client.
// Servers that need longer join later.
const StartWait = time.Second

// GatewayOptions configure a [Gateway]. Nil means the zero GatewayOptions.
type GatewayOptions struct {
	Expose string // "" is ExposeBridge
	// Own are the names of tools without their server: for the gateway of one server.
	Own bool
}

// A Gateway serves the tools of a session to one MCP client: behind aster_mcp, under
// their own names, or both.
type Gateway struct {
	s        *Session
	log      *slog.Logger
	expose   string
	own      bool
	bridge   string // the name of aster_mcp, "" where it is not served
	server   *mcp.Server
	injector *bridge.Injector
	pages    *pageStores

	features map[string]*features // by server; the map never changes

	settled atomic.Bool // the lists need not wait any more

	mu     sync.Mutex
	served map[string]bridge.Tool // by wire name; guarded by mu
}

// NewGateway makes the gateway of a session. Call it when the servers have had their time
// to start: what its instructions say stays as it is then. From then on servers that could
// not be started are tried again; the tools of one that comes up are served.
func NewGateway(s *Session, o *GatewayOptions) (*Gateway, error) {
	if o == nil {
		o = &GatewayOptions{}
	}
	g := &Gateway{s: s, log: s.log, expose: orDefault(o.Expose, ExposeBridge), own: o.Own, pages: &pageStores{stores: map[string]*chat.Pages{}}, served: map[string]bridge.Tool{}, features: map[string]*features{}}
	switch g.expose {
	case ExposeBridge, ExposeTools, ExposeBoth:
	default:
		return nil, fmt.Errorf("expose %q: choose one of %q", g.expose, []string{ExposeBridge, ExposeTools, ExposeBoth})
	}
	config := BridgeConfig(s.opts.Config)
	config.Pages = g.pages
	if s.audit != nil {
		config.Metrics = s.audit
	}
	var err error
	if g.injector, err = bridge.NewInjector(s.Catalog(), config); err != nil {
		return nil, err
	}
	g.server = mcp.NewServer(&mcp.Implementation{Name: "aster", Version: orDefault(s.opts.Version, "dev")}, &mcp.ServerOptions{
		Instructions: g.instructions(), Logger: s.log, Capabilities: g.capabilities(),
		CompletionHandler: g.complete, SubscribeHandler: g.subscribe, UnsubscribeHandler: g.unsubscribe,
	})
	g.server.AddReceivingMiddleware(Recover(s.log), g.awaitStart, g.mindNames)
	if g.expose != ExposeTools {
		if err := g.addBridge(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.logTo, s.clients = g.tellLog, g.server.Sessions
	s.mu.Unlock()
	for _, src := range s.set.Sources() {
		g.features[src.Name()] = &features{}
	}
	s.mu.Lock()
	s.gateway = g
	s.mu.Unlock()
	g.awaitFeatures()
	s.OnCatalog(g.follow)
	g.follow(nil)
	s.set.KeepTrying()
	return g, nil
}

// BridgeConfig is what a configuration says about what the model is given.
func BridgeConfig(c *config.Config) bridge.Config {
	out := bridge.DefaultConfig()
	out.AvailableContextTokens, out.InventoryThresholdPercent = c.ContextTokens, c.InventoryPercent
	out.SearchDefaultLimit = c.SearchLimit
	out.Tokenizer = bridge.TokenizerFunc(bridge.EstimateTokens)
	return out
}

// Server is the MCP server, to be connected to transports.
func (g *Gateway) Server() *mcp.Server { return g.server }

// instructions are what the model reads at the start: the section with the tools, and
// the servers that are not up yet.
func (g *Gateway) instructions() string {
	if g.expose == ExposeTools {
		return ""
	}
	var b strings.Builder
	if in := g.injector.Inject(); in != nil {
		b.WriteString(in.Prompt)
	}
	var late, off []string
	for _, sv := range g.s.Servers() {
		if !sv.Status.Listed && sv.Status.Failure == nil && sv.Tools == 0 {
			late = append(late, CleanText(sv.Name))
		}
	}
	if len(late) > 0 {
		fmt.Fprintf(&b, "Still starting: %s. Search again later for their tools.\n", strings.Join(late, ", "))
	}
	if g.s.opts.Config.ShowDisabled {
		for _, sv := range g.s.opts.Config.Servers {
			if sv.Disabled {
				off = append(off, CleanText(sv.Name))
			}
		}
	}
	if len(off) > 0 {
		fmt.Fprintf(&b, "Configured but disabled: %s. Only the user can enable them, with aster mcp enable.\n", strings.Join(off, ", "))
	}
	return b.String()
}

func (g *Gateway) addBridge() error {
	var tool mcp.Tool
	if err := json.Unmarshal(bridge.MCPTool(true), &tool); err != nil {
		return err
	}
	open := true
	tool.Annotations = &mcp.ToolAnnotations{OpenWorldHint: &open}
	g.server.AddTool(&tool, g.call)
	g.bridge = tool.Name
	return nil
}

// call answers one call of aster_mcp.
func (g *Gateway) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller := &Caller{Request: req}
	var asking *guard.InputRequired
	var protocol error
	invoker := bridge.InvokerFunc(func(ctx context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
		result, err := g.s.Call(ctx, tool, arguments, caller)
		errors.As(err, &asking)
		protocol = protocolError(err)
		return result, err
	})
	raw := req.Params.Arguments
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	reply, err := g.injector.Handle(withRequest(ctx, req), raw, invoker)
	reply = g.mind(ctx, reply, raw, func() (anew bridge.Reply) {
		anew, err = g.injector.Handle(withRequest(ctx, req), raw, invoker)
		return anew
	})
	if asking != nil {
		return asking.Result()
	}
	if protocol != nil {
		return nil, protocol
	}
	if err != nil && ctx.Err() != nil {
		return failed("cancelled"), nil
	}
	if len(reply.Result) == 0 {
		res := &mcp.CallToolResult{IsError: reply.IsError, Content: []mcp.Content{&mcp.TextContent{Text: reply.Text}}}
		return withNote(res, reply.Note), nil
	}
	return withNote(g.result(req, reply.Result), reply.Note), nil
}

func withNote(res *mcp.CallToolResult, note string) *mcp.CallToolResult {
	if note != "" {
		res.Content = append(res.Content, &mcp.TextContent{Text: note})
	}
	return res
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// result is a server's result for the client: as it is, but for text that is too long,
// which is cut, with a handle to read on.
func (g *Gateway) result(req *mcp.CallToolRequest, raw json.RawMessage) *mcp.CallToolResult {
	var res mcp.CallToolResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return g.cut(req, &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}})
	}
	if res.Content == nil {
		res.Content = []mcp.Content{}
	}
	return g.cut(req, &res)
}

// cut brings a result under the limit: its texts one by one, and structured content
// only if it fits beside them.
func (g *Gateway) cut(req *mcp.CallToolRequest, res *mcp.CallToolResult) *mcp.CallToolResult {
	left := g.s.opts.Config.ResultTokens
	for i, part := range res.Content {
		text, ok := part.(*mcp.TextContent)
		if !ok {
			continue
		}
		n := bridge.EstimateTokens(text.Text)
		if n > left {
			cut := g.pages.cut(req, text.Text, max(left, minCutTokens))
			res.Content[i] = &mcp.TextContent{Meta: text.Meta, Annotations: text.Annotations, Text: cut}
			n = left
		}
		left -= n
	}
	if res.StructuredContent != nil {
		if b, err := json.Marshal(res.StructuredContent); err != nil || bridge.EstimateTokens(string(b)) > g.s.opts.Config.ResultTokens {
			res.StructuredContent = nil
			res.Content = append(res.Content, &mcp.TextContent{Text: "[the structured content is left out: it is over the limit of a result]"})
		}
	}
	return res
}

// minCutTokens is what of a text is shown at least when there is no room any more.
const minCutTokens = 200

// follow takes over the session's catalogue, the one of this moment: two that follow at once
// must not end with the older one. A change of it may also be a server that came up.
func (g *Gateway) follow(*bridge.Catalog) {
	g.s.tell(func(g *Gateway) { g.addFeatures(context.Background()) })
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.s.Catalog()
	g.injector.SetCatalog(c)
	if g.expose == ExposeBridge {
		return
	}
	want := map[string]bridge.Tool{}
	for t := range c.All() {
		want[g.wireName(t)] = t
	}
	var gone []string
	for name := range g.served {
		if _, ok := want[name]; !ok {
			gone = append(gone, name)
			delete(g.served, name)
		}
	}
	g.server.RemoveTools(gone...)
	for name, t := range want {
		if old, ok := g.served[name]; ok && old.ID() == t.ID() && old.Hash() == t.Hash() {
			continue
		}
		if err := g.addTool(name, t); err != nil {
			g.log.Warn("tool not served", "tool", t.ID(), "err", err)
			continue
		}
		g.served[name] = t
	}
}

// addTool serves one tool under a name of its own. The SDK panics on definitions that it
// does not like, and they are a stranger's.
func (g *Gateway) addTool(name string, t bridge.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("refused by the MCP library: %v", r)
		}
	}()
	tool := &mcp.Tool{Name: name, Title: t.Title, Description: t.Description, InputSchema: objectSchema(t.InputSchema)}
	if len(t.OutputSchema) > 0 {
		tool.OutputSchema = t.OutputSchema
	}
	if a := t.Annotations; a != nil {
		tool.Annotations = &mcp.ToolAnnotations{Title: a.Title, ReadOnlyHint: a.ReadOnlyHint, DestructiveHint: a.DestructiveHint, IdempotentHint: a.IdempotentHint, OpenWorldHint: a.OpenWorldHint}
	}
	g.server.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw, err := g.s.Call(ctx, t, req.Params.Arguments, &Caller{Request: req, Direct: true})
		var asking *guard.InputRequired
		switch {
		case errors.As(err, &asking):
			return asking.Result()
		case protocolError(err) != nil:
			return nil, protocolError(err)
		case err != nil:
			return failed(err.Error()), nil
		}
		return g.result(req, raw), nil
	})
	return nil
}
