package webmcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

// A call that was decided on for one page's tool does not reach another's of the same
// name, tab and frame: mcp-host.md §5, row 20.
func TestCallStaysWithItsTarget(t *testing.T) {
	r := newRig(t, false, func(o *webmcp.Options) { o.Hide = func(name string) bool { return name == "hidden" } })
	p := r.browser.NewPage(t, r.Page("/a", script(register("pay", "(x) => 'a' + x.n")+register("hidden", "() => 1"))))
	other := r.At("b.localhost", "/b")
	r.Page("/b", script(register("pay", "(x) => 'b' + x.n")))
	r.awaitNames(t, "pay")
	between := func() {}
	var targets []webmcp.Target
	r.bridge.Server().AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, ok := req.(*mcp.CallToolRequest)
			if !ok || call.Params.Name == "webmcp_tabs" {
				return next(ctx, method, req)
			}
			target, err := r.bridge.Target(ctx, call)
			if err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			targets = append(targets, target)
			between()
			return next(target.Bind(ctx), method, req)
		}
	})
	envelope := func(name string) map[string]any {
		return map[string]any{"name": name, "arguments": `{"n": 1}`} // in a string, as some models send it
	}
	wantText(t, r.call(t, "webmcp_call", envelope("pay")), false, "a1")
	if got := targets[0]; got.Direct || got.Definition.Name != "pay" || got.Tool.Origin != r.browserOrigin("/a") || string(got.Arguments) != `{"n": 1}` {
		t.Errorf("the target is %+v", got)
	}
	if raw, err := targets[0].Envelope(json.RawMessage(`{"n":1}`)); err != nil || string(raw) != `{"name":"pay","arguments":{"n":1}}` {
		t.Errorf("the envelope is %s, %v", raw, err)
	}
	wantText(t, r.call(t, "pay", map[string]any{"n": 2}), false, "a2")
	if !targets[1].Direct {
		t.Error("a call under the tool's own name is not direct")
	}
	if targets[0].Definition != targets[1].Definition {
		t.Error("the definition of an unchanged tool was made twice")
	}
	p.Eval(t, "document.title = 'another'")
	r.await(t, "the title", func() bool { return strings.Contains(text(r.call(t, "webmcp_tabs", nil)), `"another"`) })
	wantText(t, r.call(t, "pay", map[string]any{"n": 2}), false, "a2")
	if now := targets[2].Definition; now == targets[1].Definition || now.Meta["aster/tabTitle"] != "another" {
		t.Errorf("in a tab of another title the definition is %+v", now)
	}
	wantText(t, r.call(t, "webmcp_call", envelope("hidden")), true, "no open page has a tool")
	for _, name := range []string{"webmcp_call", "pay"} {
		between = func() {
			p.Navigate(t, other)
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // no Fatal here: it is a handler's goroutine
				if tool := r.bridge.Lookup("pay"); tool == nil || strings.Contains(tool.Origin, "b.localhost") {
					return
				}
			}
		}
		args := any(map[string]any{"n": 3})
		if name == "webmcp_call" {
			args = envelope("pay")
		}
		res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err == nil && !res.IsError {
			t.Errorf("%s reached another page's tool: %v", name, res.Content)
		}
		between = func() {}
		p.Navigate(t, r.Page("/a", script(register("pay", "(x) => 'a' + x.n"))))
		r.awaitNames(t, "pay")
		r.await(t, "the first page again", func() bool {
			tool := r.bridge.Lookup("pay")
			return tool != nil && !strings.Contains(tool.Origin, "b.localhost")
		})
	}

	// One that was not there when the call was decided on is not called either.
	between = func() {
		p.Navigate(t, r.Page("/late", script(register("late", "() => 'late'"))))
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			list, err := r.client.ListTools(t.Context(), nil)
			if err == nil && slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "late" }) {
				return
			}
		}
	}
	if res, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "late"}); err == nil && !res.IsError {
		t.Errorf("a call reached a tool that nobody had decided on: %v", res.Content)
	}
	between = func() {}
	wantText(t, r.call(t, "late", nil), false, "late")
}

// browserOrigin is the origin of the rig's own pages.
func (r *rig) browserOrigin(path string) string {
	return strings.TrimSuffix(r.At("localhost", path), path)
}
