package webmcp

import (
	"encoding/json"
	"time"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	cdpwebmcp "github.com/chromedp/cdproto/webmcp"

	"github.com/aster-mcp/aster/cdp"
)

// worldName is the isolated world in which we ask a native page for what DevTools
// does not tell: titles, and the tools of frames that were there before us. The
// registry is the same there (measured in Chromium 156), and the page sees nothing.
const worldName = "aster"

// MaxEarlyAnswers is the number of answers kept for calls whose identifier is not known yet.
const MaxEarlyAnswers = 256

// nativeAnswer is a toolResponded event.
type nativeAnswer = cdpwebmcp.EventToolResponded

// nativeAdded handles tools that the browser's own WebMCP reports.
func (a *attachment) nativeAdded(s *cdp.Session, e *cdpwebmcp.EventToolsAdded) {
	byFrame := map[*cdp.Frame][]*cdpwebmcp.Tool{}
	var order []*cdp.Frame
	for _, t := range e.Tools {
		if t == nil || t.Name == "" {
			continue
		}
		f := s.Frame(t.FrameID)
		if f == nil { // reported by a parent's session too, or before its frame: expect duplicates
			continue
		}
		if byFrame[f] == nil {
			order = append(order, f)
		}
		byFrame[f] = append(byFrame[f], t)
	}
	for _, f := range order {
		a.addNative(f, byFrame[f])
		a.askTitles(f)
		a.foundNative(f)
	}
}

func (a *attachment) addNative(f *cdp.Frame, tools []*cdpwebmcp.Tool) {
	var c Change
	a.mu.Lock()
	d := a.document(f, true)
	if d == nil {
		a.mu.Unlock()
		return
	}
	d.native = true
	for _, nt := range tools {
		t := &PageTool{
			PageName: nt.Name, Description: nt.Description, rawSchema: json.RawMessage(nt.InputSchema), rawOutput: json.RawMessage(nt.OutputSchema),
			Native: true, Declarative: nt.BackendNodeID != 0, toolID: string(nt.ToolID),
		}
		if h := nt.Annotations; h != nil {
			t.Annotations = &Annotations{ReadOnly: h.ReadOnly, Consequential: h.Consequential, UntrustedContent: h.UntrustedContent, Debugging: h.Debugging, Autosubmit: h.Autosubmit}
		}
		if old := d.tools[nt.Name]; old != nil {
			t.Title = old.Title
			if old.toolID == t.toolID && sameDefinition(old, t) {
				continue // enabling again, or a parent's session, told it once more
			}
			c.Removed = append(c.Removed, old)
		}
		if d.add(t) {
			c.Added = append(c.Added, t)
		}
	}
	a.mu.Unlock()
	if len(c.Added)+len(c.Removed) > 0 {
		a.registry.Apply(c)
	}
}

func sameDefinition(a, b *PageTool) bool {
	return a.Description == b.Description && a.Declarative == b.Declarative && sameHints(a.Annotations, b.Annotations) && string(a.rawSchema) == string(b.rawSchema) && string(a.rawOutput) == string(b.rawOutput)
}

func (a *attachment) nativeRemoved(s *cdp.Session, e *cdpwebmcp.EventToolsRemoved) {
	var c Change
	a.mu.Lock()
	t := a.tabs[s.Page()]
	for _, rt := range e.Tools {
		if rt == nil || t == nil {
			continue
		}
		d := t.docs[s.Frame(rt.FrameID)]
		if d == nil {
			continue
		}
		// A removal that names another registration than the live one is an old one.
		if live := d.tools[rt.Name]; live != nil && (rt.ToolID == "" || live.toolID == "" || live.toolID == string(rt.ToolID)) {
			c.Removed = append(c.Removed, live)
			delete(d.tools, rt.Name)
		}
	}
	a.mu.Unlock()
	if len(c.Removed) > 0 {
		a.registry.Apply(c)
	}
}

// invokeParams are those of WebMCP.invokeTool in every generation of the browser:
// by toolId where the tool has one, else by toolName, never both.
type invokeParams struct {
	FrameID  cdpproto.FrameID `json:"frameId"`
	ToolID   string           `json:"toolId,omitempty,omitzero"`
	ToolName string           `json:"toolName,omitempty,omitzero"`
	Input    jsonv2.Value     `json:"input"`
}

// invokeNative starts a call under native WebMCP.
func (a *attachment) invokeNative(c *call, args json.RawMessage) {
	p := invokeParams{FrameID: cdpproto.FrameID(c.tool.FrameID), ToolID: c.tool.toolID, Input: jsonv2.Value(args)}
	if p.ToolID == "" {
		p.ToolName = c.tool.PageName
	}
	cdp.Post(c.doc.session, cdpproto.Command[invokeParams, cdpwebmcp.InvokeToolResult]{Method: cdpwebmcp.CommandInvokeTool}, p,
		func(r cdpwebmcp.InvokeToolResult, err error) { a.nativeInvoked(c, r.InvocationID, err) })
}

func (a *attachment) nativeInvoked(c *call, invocation string, err error) {
	if err != nil {
		c.finish(outcome{kind: outcomeRefused, text: err.Error()})
		return
	}
	a.mu.Lock()
	c.invocation = invocation
	answer := a.early[invocation]
	delete(a.early, invocation)
	if answer == nil {
		a.calls[invocation] = c
	}
	ended := c.ended
	a.mu.Unlock()
	switch {
	case answer != nil:
		a.finishNative(c, answer)
	case ended: // cancelled or timed out before the browser had a name for it
		a.cancelNative(c)
	}
}

func (a *attachment) nativeResponded(_ *cdp.Session, e *cdpwebmcp.EventToolResponded) {
	a.mu.Lock()
	c := a.calls[e.InvocationID]
	delete(a.calls, e.InvocationID)
	if c == nil && len(a.early) < MaxEarlyAnswers {
		a.early[e.InvocationID] = e // a page's own run, or one of ours whose reply is on its way
		if len(a.early) > MaxEarlyAnswers/2 {
			clear(a.early)
			a.early[e.InvocationID] = e
		}
	}
	a.mu.Unlock()
	if c != nil {
		a.finishNative(c, e)
	}
}

func (a *attachment) finishNative(c *call, e *nativeAnswer) {
	switch e.Status {
	case cdpwebmcp.InvocationStatusCompleted:
		c.finish(outcome{kind: outcomeOutput, output: json.RawMessage(e.Output)})
	case cdpwebmcp.InvocationStatusCanceled:
		c.finish(outcome{kind: outcomeCanceled, text: e.ErrorText})
	default:
		text := e.ErrorText
		if x := e.Exception; x != nil {
			text = exceptionText(x)
			if x.ObjectID != "" {
				cdp.Post(c.doc.session, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: x.ObjectID}, nil)
			}
		}
		c.finish(outcome{kind: outcomeError, text: text})
	}
}

// exceptionText is what a page threw, in words: a description with the stack for an
// object, the value itself for a primitive.
func exceptionText(x *runtime.RemoteObject) string {
	if x == nil {
		return "the page threw something"
	}
	if x.Description != "" {
		return x.Description
	}
	var s string
	switch {
	case len(x.Value) == 0:
		return cmpOr(string(x.UnserializableValue), string(x.Type)) // undefined has no value
	case x.Value[0] == '"' && json.Unmarshal(x.Value, &s) == nil:
		return s
	}
	return string(x.Value)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// cancelNative aborts a run in the page.
func (a *attachment) cancelNative(c *call) {
	a.mu.Lock()
	invocation := c.invocation
	delete(a.calls, invocation)
	a.mu.Unlock()
	if invocation != "" {
		cdp.Post(c.doc.session, cdpwebmcp.CancelInvocation, cdpwebmcp.CancelInvocationParams{InvocationID: invocation}, nil)
	}
}

// nativeTool is a tool as document.modelContext.getTools gives it.
type nativeTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is null before Chromium 159.
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  *struct {
		ReadOnlyHint         bool `json:"readOnlyHint"`
		UntrustedContentHint bool `json:"untrustedContentHint"`
		ConsequentialHint    bool `json:"consequentialHint"`
		Debugging            bool `json:"debugging"`
	} `json:"annotations"`
}

// listScript lists the tools of the document that it runs in; schemas may be objects,
// strings (before Chromium 154) or absent, and tools have window or source (160).
const listScript = `(async () => {
  const mc = document.modelContext || navigator.modelContext;
  if (!mc || !mc.getTools) return '[]';
  const own = (await mc.getTools()).filter((t) => (t.window === undefined && t.source === undefined) || (t.window || t.source) === window);
  return JSON.stringify(own.map((t) => ({
    name: t.name, title: t.title || '', description: t.description,
    inputSchema: typeof t.inputSchema === 'string' ? JSON.parse(t.inputSchema) : t.inputSchema ?? undefined,
    outputSchema: t.outputSchema ?? undefined,
    annotations: t.annotations ? { readOnlyHint: !!t.annotations.readOnlyHint, untrustedContentHint: !!t.annotations.untrustedContentHint,
      consequentialHint: !!t.annotations.consequentialHint, debugging: !!t.annotations.debugging } : undefined,
  })));
})()`

// inWorld evaluates a script in our isolated world of a frame and awaits its promise.
// done is not called when the document is gone by then, or never answers.
func (a *attachment) inWorld(f *cdp.Frame, script string, done func(runtime.EvaluateResult, error)) {
	context := f.Context
	cdp.Post(f.Session, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: f.ID, WorldName: worldName},
		tracked(a, func(w page.CreateIsolatedWorldResult, err error) {
			if err != nil || f.Context != context {
				return
			}
			await, byValue := true, true
			cdp.Post(f.Session, runtime.Evaluate, runtime.EvaluateParams{
				Expression: script, ContextID: w.ExecutionContextID, AwaitPromise: &await, ReturnByValue: &byValue,
			}, tracked(a, func(r runtime.EvaluateResult, err error) {
				if f.Context == context {
					done(r, err)
				}
			}))
		}))
}

// listNative asks a document for its tools in our isolated world.
func (a *attachment) listNative(f *cdp.Frame, use func([]nativeTool)) {
	a.inWorld(f, listScript, func(r runtime.EvaluateResult, err error) {
		if err != nil || r.Result == nil || r.ExceptionDetails != nil {
			return
		}
		var text string
		var tools []nativeTool
		if json.Unmarshal(r.Result.Value, &text) == nil && json.Unmarshal([]byte(text), &tools) == nil {
			use(tools)
		}
	})
}

// fillIn lists the tools of a child frame that was there before us: the browser does
// not (measured in Chromium 156).
func (a *attachment) fillIn(f *cdp.Frame) {
	a.foundNative(f)
	if f.Parent == nil {
		return
	}
	a.listNative(f, func(found []nativeTool) {
		var tools []*cdpwebmcp.Tool
		for _, n := range found {
			t := &cdpwebmcp.Tool{Name: n.Name, Description: n.Description, InputSchema: jsonv2.Value(n.InputSchema), OutputSchema: jsonv2.Value(n.OutputSchema), FrameID: f.ID}
			if h := n.Annotations; h != nil {
				t.Annotations = &cdpwebmcp.Annotation{ReadOnly: h.ReadOnlyHint, UntrustedContent: h.UntrustedContentHint, Consequential: h.ConsequentialHint, Debugging: h.Debugging}
			}
			tools = append(tools, t)
		}
		if len(tools) > 0 {
			a.addNative(f, tools)
			a.setTitles(f, found)
		}
	})
}

// titleScript gives the titles of the document's own tools, where they have one.
const titleScript = `(async () => {
  const mc = document.modelContext || navigator.modelContext;
  if (!mc || !mc.getTools) return '[]';
  return JSON.stringify((await mc.getTools()).filter((t) => t.title && (t.window || t.source || window) === window).map((t) => ({ name: t.name, title: t.title })));
})()`

// TitleEvery is the least time between two questions for the titles of one document.
const TitleEvery = 200 * time.Millisecond

// askTitles fetches what toolsAdded leaves out: at once, then at most every TitleEvery.
func (a *attachment) askTitles(f *cdp.Frame) {
	if f.Context == 0 {
		return
	}
	a.mu.Lock()
	var d *document
	if t := a.tabs[f.Session.Page()]; t != nil {
		d = t.docs[f]
	}
	ask := d != nil && !d.asking
	if d != nil {
		d.asking, d.askAgain = true, !ask
	}
	a.mu.Unlock()
	if !ask {
		return
	}
	a.inWorld(f, titleScript, func(r runtime.EvaluateResult, err error) {
		var text string
		var tools []nativeTool
		if err == nil && r.Result != nil && json.Unmarshal(r.Result.Value, &text) == nil && json.Unmarshal([]byte(text), &tools) == nil {
			a.setTitles(f, tools)
		}
	})
	time.AfterFunc(TitleEvery, func() {
		// Back onto the reading goroutine, which owns the frame.
		f.Session.Post(page.CommandGetFrameTree, nil, func(jsonv2.Value, error) {
			a.mu.Lock()
			again := d.askAgain && !d.gone
			d.asking = false
			a.mu.Unlock()
			if again {
				a.askTitles(f)
			}
		})
	})
}

func (a *attachment) setTitles(f *cdp.Frame, found []nativeTool) {
	var c Change
	a.mu.Lock()
	t := a.tabs[f.Session.Page()]
	if t == nil || t.docs[f] == nil {
		a.mu.Unlock()
		return
	}
	d := t.docs[f]
	for _, n := range found {
		old := d.tools[n.Name]
		if old == nil || old.Title == n.Title || len(n.Title) > maxTitle {
			continue
		}
		titled := old.withTitle(n.Title)
		d.tools[n.Name] = titled
		c.Removed = append(c.Removed, old)
		c.Added = append(c.Added, titled)
	}
	a.mu.Unlock()
	if len(c.Added) > 0 {
		a.registry.Apply(c)
	}
}
