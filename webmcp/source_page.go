package webmcp

import (
	"encoding/json"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
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

// probeStarted looks after the documents that are in a new target already. The browser
// says that it holds the target, but a tab that was not opened by a script goes on to its
// address all the same, and its document may have come before the shim (measured in
// Chromium 156). Such a document is as one that was there before us.
func (a *attachment) probeStarted(s *cdp.Session) {
	// The answer comes after the contexts that were there, and after the shim was brought.
	// That of WebMCP.enable, which is asked for anyway, does not always.
	s.Post(page.CommandGetFrameTree, nil, func(_ jsonv2.Value, err error) {
		if err != nil {
			return
		}
		for _, f := range s.Frames() {
			// What a script opened is held at about:blank. Another may have run the shim, which
			// was not heard then.
			if f.URL != "" && f.URL != "about:blank" && f.Context != 0 && a.broker.parties[f] == nil {
				a.adopt(f)
			}
		}
	})
}

// hasAdapter reports whether an adapter speaks for a document.
func (a *attachment) hasAdapter(f *cdp.Frame) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tabs[f.Session.Page()]
	return t != nil && t.docs[f] != nil && t.docs[f].api != ""
}

// probe looks whether a document has a modelContext that only an adapter can speak for,
// or none at all, once a page has loaded.
func (a *attachment) probe(f *cdp.Frame) {
	if f == nil || f.Context == 0 || !touchable(f) || !a.inScope(f) {
		return
	}
	s := f.Session
	a.mu.Lock()
	t := a.tabs[s.Page()]
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
