package webmcp

import (
	"encoding/json"
	"errors"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// The shim speaks through the DevTools function inspect, which it was given before
// any script of the page ran: what it passes arrives as Runtime.inspectRequested, in
// order and stamped with its context. We speak to it by calling methods of the api
// object, a handle that no page can reach. See the decision on the shim's channel.

// objectGroup names our handles, so that they can be let go together.
const objectGroup = "aster"

// States of documents that were open before we came, for webmcp_tabs.
const (
	lateShim   = "opened before aster: reload the page if it should have tools"
	lateReload = "reload the page to enable its tools: it hides the browser's tools from us"
	// latePolicy is of one whose tools we have: its headers came before us.
	latePolicy = "opened before aster: a Permissions-Policy header of the page for tools is not known, and taken for the default (self)"
)

// shimSays handles one message of a shim, or the api object that goes before the first.
func (a *attachment) shimSays(s *cdp.Session, e *runtime.EventInspectRequested) {
	f := s.FrameOf(e.ExecutionContextID)
	if f == nil || e.Object == nil {
		return
	}
	switch e.Object.Type {
	case runtime.RemoteObjectTypeObject:
		a.arrive(f, string(e.Object.ObjectID))
	case runtime.RemoteObjectTypeString:
		var payload string
		if json.Unmarshal(e.Object.Value, &payload) != nil {
			return
		}
		msg, err := shim.Parse(payload)
		if err != nil {
			a.log.Warn("message of a page not understood", "url", f.URL, "err", err)
			return
		}
		a.hear(f, msg, len(payload))
	}
}

// pageSays handles a message that is for us.
func (a *attachment) pageSays(f *cdp.Frame, m *shim.Message) {
	switch {
	case m.Tools != nil:
		a.shimTools(f, m.Tools)
	case m.Result != nil:
		a.shimResult(f, m.Result)
	case m.Waiting != nil:
		a.shimWaiting(f, m.Waiting)
	}
}

func (a *attachment) shimTools(f *cdp.Frame, m *shim.Tools) {
	a.mu.Lock()
	d := a.document(f, false)
	if d == nil {
		a.mu.Unlock()
		return
	}
	if p := a.broker.parties[f]; p != nil && d.api == "" { // else an adapter speaks for another modelContext of the page
		d.api = p.api
	}
	var c Change
	if m.Reset {
		for _, t := range d.tools {
			c.Removed = append(c.Removed, t)
		}
		clear(d.tools)
	}
	for _, name := range m.Remove {
		if t := d.tools[name]; t != nil {
			c.Removed = append(c.Removed, t)
			delete(d.tools, name)
		}
	}
	for _, st := range m.Add {
		t := &PageTool{PageName: st.Name, Title: st.Title, Description: st.Description, rawSchema: st.InputSchema, rawOutput: st.OutputSchema}
		if h := st.Annotations; h != nil {
			t.Annotations = &Annotations{ReadOnly: h.ReadOnly, Consequential: h.Consequential, UntrustedContent: h.UntrustedContent, Debugging: h.Debugging}
		}
		if st.Form != nil {
			t.Declarative = true
			if st.Form.Autosubmit {
				t.Annotations = &Annotations{Autosubmit: true}
			}
		}
		if d.add(t) {
			c.Added = append(c.Added, t)
		}
	}
	a.mu.Unlock()
	a.registry.Apply(c)
}

func (a *attachment) shimResult(f *cdp.Frame, m *shim.Result) {
	a.mu.Lock()
	c := a.callOf(f, m.ID)
	a.mu.Unlock()
	if c == nil {
		return // answered too late: the call has ended otherwise
	}
	switch m.Status {
	case shim.StatusCompleted:
		c.finish(outcome{kind: outcomeText, text: m.Output})
	case shim.StatusCanceled:
		c.finish(outcome{kind: outcomeCanceled, text: m.Error})
	case shim.StatusSubmitted:
		a.submitted(f, c, m.Target)
	default:
		kind := outcomeError
		if m.NotFound {
			kind = outcomeNotFound
		}
		c.finish(outcome{kind: kind, text: m.Error})
	}
}

// callAPI calls a method of a document's api object.
func (d *document) callAPI(method string, done func(error), args ...string) {
	postAPI(d.session, d.api, method, done, args...)
}

// postAPI calls a method of an api object; done may be nil.
func postAPI(s *cdp.Session, api, method string, done func(error), args ...string) {
	params := runtime.CallFunctionOnParams{
		ObjectID:            runtime.RemoteObjectID(api),
		FunctionDeclaration: shim.CallMethod,
		Arguments:           []*runtime.CallArgument{{Value: quote(method)}},
	}
	for _, arg := range args {
		params.Arguments = append(params.Arguments, &runtime.CallArgument{Value: quote(arg)})
	}
	cdp.Post(s, runtime.CallFunctionOn, params, func(r runtime.CallFunctionOnResult, err error) {
		if err == nil && r.ExceptionDetails != nil {
			err = errors.New(exceptionText(r.ExceptionDetails.Exception))
		}
		if done != nil {
			done(err)
		}
	})
}

func quote(s string) jsonv2.Value {
	b, _ := jsonv2.Marshal(s, jsonv2.AllowInvalidUTF8(true)) // a string always marshals
	return b
}

// The names under which DevTools gives the function that leads to us, and what it
// says of them when they are genuine: this text is made from the source, so a page's
// own function of the name cannot have it.
var channels = []string{"inspect", "copy", "queryObjects"}

func genuine(name string, o *runtime.RemoteObject) bool {
	return o != nil && o.Type == runtime.RemoteObjectTypeFunction && o.Description == "function "+name+"() { [native code] }"
}

// adopt brings a document that was there before us into the fold: it installs the
// shim, or takes over the one that an earlier aster left.
func (a *attachment) adopt(f *cdp.Frame) {
	if !touchable(f) || !a.inScope(f) {
		return
	}
	d := &adoption{a: a, f: f, s: f.Session, context: f.Context}
	a.note(f, lateShim)
	native := false
	d.evaluate(shim.NativeProbe, func(o *runtime.RemoteObject) { native = o != nil && o.Description == shim.NativeGetter })
	d.evaluate("document.modelContext", func(o *runtime.RemoteObject) {
		switch {
		case native:
			d.refused(shim.ReasonNative)
		case o == nil || o.ObjectID == "":
			d.install()
		default:
			d.knock(o.ObjectID)
		}
	})
}

// evaluate hands over the value of an expression, nil where it has none; not at all
// when the document is gone by then.
func (d *adoption) evaluate(expression string, use func(*runtime.RemoteObject)) {
	cdp.Post(d.s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ContextID: d.context, ObjectGroup: objectGroup,
	}, tracked(d.a, func(r runtime.EvaluateResult, err error) {
		switch {
		case err != nil || !d.current():
		case r.ExceptionDetails != nil:
			use(nil)
		default:
			use(r.Result)
		}
	}))
}

// install runs the shim in the document, unless there is something in its way.
func (d *adoption) install() {
	d.evaluate(d.a.late, func(o *runtime.RemoteObject) {
		switch {
		case o == nil:
			d.a.log.Debug("shim not installed", "url", d.f.URL)
		case o.Type == runtime.RemoteObjectTypeObject:
			d.connect(o.ObjectID, 0)
		case o.Type == runtime.RemoteObjectTypeString:
			var reason string
			json.Unmarshal(o.Value, &reason)
			d.refused(reason)
		}
	})
}

// withoutDomain reports whether the browser's DevTools do not know WebMCP.
func (a *attachment) withoutDomain(s *cdp.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tabs[s.Page()]
	return t != nil && t.noDomain
}

// note remembers what became of a document that was there before us.
func (a *attachment) note(f *cdp.Frame, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tabs[f.Session.Page()]; t != nil {
		if text == "" {
			delete(t.late, f)
		} else {
			t.late[f] = text
		}
	}
}

// adoption is one run of adopt. All of it happens on the reading goroutine.
type adoption struct {
	a       *attachment
	f       *cdp.Frame
	s       *cdp.Session
	context runtime.ExecutionContextID
	adapter bool           // the api is that of an adapter, not of a shim
	inspect *channelAnswer // what the first of channels gave, where it was asked for ahead; else nil
}

// channelAnswer is what the evaluation of a channel's name gave.
type channelAnswer struct {
	result runtime.EvaluateResult
	err    error
}

// current reports whether the document is still the one that the adoption began with.
func (d *adoption) current() bool { return d.f.Context == d.context }

func (d *adoption) refused(reason string) {
	switch reason {
	case shim.ReasonPage: // or a shim that came since we looked
		d.evaluate("document.modelContext", func(o *runtime.RemoteObject) {
			if o == nil || o.ObjectID == "" {
				d.a.adapt(d.f, true)
			} else {
				d.knock(o.ObjectID)
			}
		})
	case shim.ReasonNative:
		d.a.note(d.f, "")
		if d.a.withoutDomain(d.s) {
			d.a.adapt(d.f, true)
		} else {
			d.a.fillIn(d.f)
		}
	default:
		d.a.note(d.f, "")
	}
}

// knock looks for the shim of an earlier aster behind the page's modelContext: its api
// object lies in a private field that DevTools can see and no page can.
func (d *adoption) knock(context runtime.RemoteObjectID) {
	own := true
	defer d.askAhead()
	cdp.Post(d.s, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: context, OwnProperties: &own},
		tracked(d.a, func(r runtime.GetPropertiesResult, err error) {
			for _, p := range r.PrivateProperties {
				if err == nil && p.Name == shim.DoorField && p.Value != nil && p.Value.ObjectID != "" {
					d.enter(p.Value.ObjectID)
					return
				}
			}
			d.a.adapt(d.f, true) // a modelContext of the page's own
		}))
}

// enter takes over an api object, once the secret in it has proved that it is ours.
func (d *adoption) enter(api runtime.RemoteObjectID) {
	own := true
	cdp.Post(d.s, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: api, OwnProperties: &own},
		tracked(d.a, func(p runtime.GetPropertiesResult, err error) {
			if err != nil || !d.ours(p.Result) {
				d.a.adapt(d.f, true) // another user's, or a page that poses as one
				return
			}
			if d.a.broker.policies.heard[d.f.LoaderID] {
				d.a.note(d.f, "")
			} else {
				d.a.note(d.f, latePolicy)
			}
			d.connect(api, 0)
		}))
}

// ours reports whether an api object speaks our protocol and knows our secret.
func (d *adoption) ours(props []*runtime.PropertyDescriptor) bool {
	var protocol float64
	var secret string
	for _, p := range props {
		if p.Value == nil {
			continue
		}
		switch p.Name {
		case "protocol":
			json.Unmarshal(p.Value.Value, &protocol)
		case "secret":
			json.Unmarshal(p.Value.Value, &secret)
		}
	}
	return protocol == shim.Protocol && secret != "" && secret == d.a.opts.Secret
}

// connect gives the shim a genuine channel, the first that the page does not shadow.
func (d *adoption) connect(api runtime.RemoteObjectID, channel int) {
	if !d.current() {
		return
	}
	if channel == len(channels) {
		d.a.note(d.f, lateReload)
		return
	}
	use := func(r runtime.EvaluateResult, err error) {
		if err != nil || r.ExceptionDetails != nil || !genuine(channels[channel], r.Result) || !d.current() {
			if err == nil {
				d.connect(api, channel+1)
			}
			return
		}
		if d.adapter {
			if p := d.a.broker.parties[d.f]; p != nil && p.api == "" { // what spoke cannot be reached
				d.a.partyGone(d.f)
			}
			d.a.mu.Lock()
			if doc := d.a.document(d.f, false); doc != nil {
				doc.api = string(api)
			}
			d.a.mu.Unlock()
		} else {
			d.a.arrive(d.f, string(api))
		}
		cdp.Post(d.s, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			ObjectID: api, FunctionDeclaration: "function(f) { return this.connect(f) }",
			Arguments: []*runtime.CallArgument{{ObjectID: r.Result.ObjectID}},
		}, tracked(d.a, func(runtime.CallFunctionOnResult, error) {}))
	}
	if channel == 0 && d.inspect != nil {
		use(d.inspect.result, d.inspect.err)
		return
	}
	d.askChannel(channel, use)
}

// askAhead asks for the first channel right after the question that was just sent, which
// saves a round trip: the answers come in the order of the questions.
func (d *adoption) askAhead() {
	d.askChannel(0, func(r runtime.EvaluateResult, err error) { d.inspect = &channelAnswer{r, err} })
}

func (d *adoption) askChannel(channel int, use func(runtime.EvaluateResult, error)) {
	commandLine := true
	cdp.Post(d.s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: channels[channel], ContextID: d.context, IncludeCommandLineAPI: &commandLine, ObjectGroup: objectGroup,
	}, tracked(d.a, use))
}
