package webmcp

import (
	"encoding/json"

	"github.com/chromedp/cdproto/runtime"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// Some documents have a modelContext that is not the shim's and of which DevTools tells
// nothing: a polyfill that the page brings, or that of a browser from before the DevTools
// domain WebMCP. An adapter speaks for it, over the shim's channel.

// adapt brings an adapter into a document, for document.modelContext or for what
// navigator has.
func (a *attachment) adapt(f *cdp.Frame, inDocument bool) {
	if !touchable(f) || !a.inScope(f) {
		return
	}
	d := &adoption{a: a, f: f, s: f.Session, context: f.Context, adapter: true}
	cdp.Post(d.s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: shim.AdapterScript(inDocument), ContextID: d.context, ObjectGroup: objectGroup,
	}, tracked(a, func(r runtime.EvaluateResult, err error) {
		if err == nil && r.ExceptionDetails == nil && r.Result != nil && r.Result.ObjectID != "" {
			a.note(f, "")
			d.connect(r.Result.ObjectID, 0)
		}
	}))
}

// probe looks, once a page has loaded, whether it has a modelContext that only an
// adapter can speak for.
func (a *attachment) probe(s *cdp.Session) {
	f := s.RootFrame()
	if f == nil || f.Context == 0 || !touchable(f) || !a.inScope(f) {
		return
	}
	a.mu.Lock()
	t := a.tabs[s]
	served := t == nil || t.docs[f] != nil // by the shim, the browser or an adapter
	bare := t != nil && t.noDomain
	a.mu.Unlock()
	if served {
		return
	}
	expression := shim.ForeignProbe
	if bare {
		expression = shim.BareProbe
	}
	context := f.Context
	byValue := true
	cdp.Post(s, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ContextID: context, ReturnByValue: &byValue},
		func(r runtime.EvaluateResult, err error) {
			if err != nil || r.Result == nil || f.Context != context {
				return
			}
			var where string
			json.Unmarshal(r.Result.Value, &where)
			switch where {
			case "":
			case shim.Missing:
				a.adopt(f) // the page was on its way when we attached
			default:
				a.adapt(f, where == shim.ForeignDocument)
			}
		})
}
