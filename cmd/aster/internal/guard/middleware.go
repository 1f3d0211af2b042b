package guard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const methodCallTool = "tools/call"

// A Resolved is what a tools/call of a client comes to.
type Resolved struct {
	// Request is the real call: the tool, its class, the arguments for it. The guard fills
	// in Client, Session and Approver where they are empty.
	Request Request
	// Wrap, if not nil, puts the decoded arguments back into those of the envelope that
	// was called. Nil forwards them as they are.
	Wrap func(arguments json.RawMessage) (json.RawMessage, error)
	// Bind, if not nil, gives the context of the call what was decided on.
	Bind func(context.Context) context.Context
	// Free lets the call pass without the guard, for tools of the server's own that reach
	// nothing, or that pass the guard themselves, as aster_mcp does.
	Free bool
}

// Middleware returns a receiving middleware that lets every tools/call pass the guard
// once; other methods pass freely. resolve says what a request really calls. Its error is
// answered to the client as a result flagged as error, and nothing is called.
//
// The user is asked by [FirstAnswer] of the client ([Guard.Elicit]) and the guard's own
// approver, unless resolve names another. Where the server itself asks for
// input on 2026-07-28, its rounds belong to one call, to which the user agrees once.
func (g *Guard) Middleware(resolve func(context.Context, *mcp.CallToolRequest) (Resolved, error)) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			req, ok := r.(*mcp.CallToolRequest)
			if method != methodCallTool || !ok || req.Params == nil {
				if method == methodCallTool {
					return nil, errors.New("a tools/call without parameters")
				}
				return next(ctx, method, r)
			}
			res, err := resolved(ctx, req, resolve)
			if err != nil {
				return errorResult(err), nil
			}
			if res.Free {
				if res.Bind != nil {
					ctx = res.Bind(ctx)
				}
				return next(ctx, method, r)
			}
			return g.serve(ctx, req, res, next)
		}
	}
}

// resolved keeps what is resolved, which is large, off the stack of the call.
//
//go:noinline
func resolved(ctx context.Context, req *mcp.CallToolRequest, resolve func(context.Context, *mcp.CallToolRequest) (Resolved, error)) (*Resolved, error) {
	res, err := resolve(ctx, req)
	return &res, err
}

// serve lets one resolved request pass.
func (g *Guard) serve(ctx context.Context, req *mcp.CallToolRequest, res *Resolved, next mcp.MethodHandler) (mcp.Result, error) {
	g.fill(req, res)
	upstream, agreed := req.Params.RequestState, false
	if !foreign(upstream) && upstream != "" {
		if name, err := bound(&res.Request); err == nil {
			upstream, err = g.states.open(upstream, stateGoOn, name)
			agreed = err == nil
		}
	}
	var result mcp.Result
	asked, err := g.pass(ctx, &res.Request, agreed, func(ctx context.Context, raw json.RawMessage) (Report, error) {
		inner, err := rewrap(req, res, raw, upstream)
		if err != nil {
			return Report{}, err
		}
		if res.Bind != nil {
			ctx = res.Bind(ctx)
		}
		result, err = next(ctx, methodCallTool, inner)
		return reportOf(result), err
	})
	var input *InputRequired
	var refusal *Refusal
	switch {
	case errors.As(err, &input):
		return input.Result()
	case errors.As(err, &refusal):
		return errorResult(refusal), nil
	case err != nil:
		return nil, err
	}
	if call, ok := result.(*mcp.CallToolResult); ok && call.NeedsInput() && asked {
		name, err := bound(&res.Request)
		if err != nil {
			return nil, err
		}
		return goOn(call, g.states.seal(stateGoOn, name, call.RequestState)), nil
	}
	return result, nil
}

// bound is what the state of a call's further rounds is bound to. Few calls have any.
func bound(r *Request) (string, error) {
	_, raw, err := DecodeArguments(r.Arguments)
	if err != nil {
		return "", err
	}
	return binding(newGrantKey(r, r.Session), raw), nil
}

// fill completes what the request's own session says.
func (g *Guard) fill(req *mcp.CallToolRequest, res *Resolved) {
	r := &res.Request
	if p := sessionParams(req); p != nil && p.ClientInfo != nil && r.Client == (Client{}) {
		r.Client = Client{p.ClientInfo.Name, p.ClientInfo.Version}
	}
	if r.Session == "" && req.Session != nil {
		r.Session = g.SessionName(req.Session)
	}
	if r.Approver == nil {
		r.Approver = FirstAnswer(g.Elicit(req), g.o.Approver)
	}
}

// SessionName is a name for a client's session, for [Request.Session]. It is not the ID
// that the session has over HTTP: who knows that one can speak for the client, and the
// record of calls is no place for it. What was answered for the session is forgotten with
// it.
func (g *Guard) SessionName(s *mcp.ServerSession) string {
	p := weak.Make(s)
	g.mu.Lock()
	defer g.mu.Unlock()
	name, known := g.sessions[p]
	if !known {
		name = rand.Text()
		g.sessions[p] = name
		runtime.AddCleanup(s, func(name string) {
			g.mu.Lock()
			delete(g.sessions, p)
			g.mu.Unlock()
			g.EndSession(name)
		}, name)
	}
	return name
}

func sessionParams(req *mcp.CallToolRequest) *mcp.InitializeParams {
	if req.Session == nil {
		return nil
	}
	return req.Session.InitializeParams()
}

// rewrap is the request that is forwarded: with the arguments that were decided on, and
// without our own question and state.
func rewrap(req *mcp.CallToolRequest, res *Resolved, raw json.RawMessage, upstream string) (*mcp.CallToolRequest, error) {
	if res.Wrap != nil {
		var err error
		if raw, err = res.Wrap(raw); err != nil {
			return nil, err
		}
	}
	inner, params := *req, *req.Params
	params.Arguments = raw
	params.RequestState = upstream
	if _, ours := params.InputResponses[InputName]; ours {
		params.InputResponses = maps.Clone(params.InputResponses)
		delete(params.InputResponses, InputName)
		if len(params.InputResponses) == 0 {
			params.InputResponses = nil
		}
	}
	inner.Params = &params
	return &inner, nil
}

// goOn is a copy of a result that wants input, with our state around the server's.
func goOn(call *mcp.CallToolResult, state string) *mcp.CallToolResult {
	c := *call
	c.RequestState = state
	return &c
}

// maxReportedError is what is kept of an error result's text, in bytes.
const maxReportedError = 2_000

// reportOf measures a result: the bytes of its text, data and structured content.
func reportOf(result mcp.Result) Report {
	call, ok := result.(*mcp.CallToolResult)
	if !ok || call == nil {
		return Report{}
	}
	return ReportOf(call)
}

// ReportOf is what a result comes to, for the record.
func ReportOf(call *mcp.CallToolResult) Report {
	rep := Report{IsError: call.IsError, Input: call.NeedsInput()}
	for _, c := range call.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			rep.Bytes += len(c.Text)
			if rep.IsError && rep.Error == "" {
				rep.Error = cutBytes(c.Text, maxReportedError)
			}
		case *mcp.ImageContent:
			rep.Bytes += len(c.Data)
		case *mcp.AudioContent:
			rep.Bytes += len(c.Data)
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				rep.Bytes += len(c.Resource.Text) + len(c.Resource.Blob)
			}
		case *mcp.ResourceLink:
			rep.Bytes += len(c.URI)
		}
	}
	if raw, ok := call.StructuredContent.(json.RawMessage); ok {
		rep.Bytes += len(raw)
	} else if call.StructuredContent != nil && len(call.Content) == 0 {
		if raw, err := json.Marshal(call.StructuredContent); err == nil {
			rep.Bytes += len(raw)
		}
	}
	return rep
}

// RawReport is what a result comes to that is still JSON, such as a bridge.Invoker
// returns.
func RawReport(result json.RawMessage) Report {
	var r struct {
		IsError    bool   `json:"isError"`
		ResultType string `json:"resultType"`
	}
	rep := Report{Bytes: len(result)}
	if json.Unmarshal(result, &r) != nil {
		return rep
	}
	rep.IsError, rep.Input = r.IsError, r.ResultType == "input_required"
	if r.IsError {
		rep.Error = firstText(result)
	}
	return rep
}

// firstText is the beginning of the first text of a result, which is only read where it is
// wanted: results are long.
func firstText(result json.RawMessage) string {
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return cutBytes(r.Content[0].Text, maxReportedError)
}

func errorResult(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}
