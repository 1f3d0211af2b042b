//lint:file-ignore SA1019 sampling and roots are deprecated, and servers of older revisions ask for them; a gateway passes them on.

package host

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/webmcp"
)

// On MCP 2026-07-28 a server asks by its result, and the client sends its request again
// with the answers: multi round-trip requests. What a server asks in the middle of a call
// goes to such a client as it is. The state that the client carries from one round to the
// next is ours, around the server's: signed, for this call only, and good for one use.

const (
	roundPrefix = "aster2."
	// roundLifetime is how long a client may take for a round.
	roundLifetime  = 15 * time.Minute
	maxRoundBytes  = 128 << 10
	maxUsedRounds  = 10_000
	version2026728 = "2026-07-28"
)

// errRoundState is answered to a client that changed a state, used it twice or for another
// request, or took too long.
var errRoundState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not of this request, was used before or is too old"}

// A round is what is carried from one round of a call to the next.
type round struct {
	Binding string `json:"b"`
	Expires int64  `json:"e"` // seconds since 1970
	Nonce   string `json:"n"`
	State   string `json:"u,omitempty"` // the server's own
	Agreed  bool   `json:"a,omitempty"` // the user agreed to this call
	Parked  string `json:"p,omitempty"` // the call that waits for the answers
}

// rounds makes and opens states. The zero rounds is not usable.
type rounds struct {
	key [32]byte

	mu     sync.Mutex
	used   map[string]time.Time // nonces until they expire; guarded by mu
	parked map[string]*parked   // calls that wait for their client; guarded by mu
}

func newRounds() *rounds {
	r := &rounds{used: map[string]time.Time{}, parked: map[string]*parked{}}
	rand.Read(r.key[:]) // never fails
	return r
}

func (r *rounds) sign(body []byte) []byte {
	m := hmac.New(sha256.New, r.key[:])
	m.Write(body)
	return m.Sum(nil)
}

func (r *rounds) seal(st round) string {
	st.Expires, st.Nonce = time.Now().Add(roundLifetime).Unix(), rand.Text()
	body, err := json.Marshal(st)
	if err != nil { // strings, a bool and a number
		return ""
	}
	return roundPrefix + base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(r.sign(body))
}

// open reads the state of a request, once. A first round has none; the guard's own is the
// guard's to check.
func (r *rounds) open(state, binding string) (round, error) {
	if state == "" || strings.HasPrefix(state, guard.StatePrefix) {
		return round{}, nil
	}
	rest, ours := strings.CutPrefix(state, roundPrefix)
	left, right, _ := strings.Cut(rest, ".")
	body, err1 := base64.RawURLEncoding.DecodeString(left)
	sum, err2 := base64.RawURLEncoding.DecodeString(right)
	var st round
	if !ours || len(state) > maxRoundBytes || err1 != nil || err2 != nil || !hmac.Equal(sum, r.sign(body)) ||
		json.Unmarshal(body, &st) != nil || st.Binding != binding || !r.use(st) {
		return round{}, errRoundState
	}
	return st, nil
}

// use reports whether the round is in time and was not used, and uses it.
func (r *rounds) use(st round) bool {
	now, expires := time.Now(), time.Unix(st.Expires, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.used[st.Nonce]; again || !now.Before(expires) {
		return false
	}
	if len(r.used) >= maxUsedRounds {
		for n, t := range r.used {
			if !now.Before(t) {
				delete(r.used, n)
			}
		}
		if len(r.used) >= maxUsedRounds {
			return false
		}
	}
	r.used[st.Nonce] = expires
	return true
}

// bindingOf names one request, so that a state is good for no other.
func bindingOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// callBinding is the binding of a call as the guard judges it.
func callBinding(req *guard.Request) string {
	var args bytes.Buffer
	if json.Compact(&args, req.Arguments) != nil {
		args.Reset()
		args.Write(req.Arguments)
	}
	return bindingOf("call", string(req.ID()), guard.Digest(req.Tool), req.Identity, req.Origin, args.String())
}

// modern reports whether a session's client knows rounds.
func modern(ss *mcp.ServerSession) bool {
	if ss == nil {
		return false
	}
	p := ss.InitializeParams()
	return p != nil && p.ProtocolVersion >= version2026728
}

// asksOf is what a server may ask of a client: forms and pages, and where the
// configuration says so, its model and its roots.
func (sv *server) asksOf(client *mcp.ClientCapabilities) *mcp.ClientCapabilities {
	caps := &mcp.ClientCapabilities{}
	if client == nil {
		return caps
	}
	caps.Elicitation = client.Elicitation
	if sv.sampling {
		caps.Sampling, caps.RootsV2 = client.Sampling, client.RootsV2
	}
	return caps
}

var errNotOffered = errors.New("the server asks its client for something that the client does not offer, or that mcp.servers.NAME.sampling does not allow")

// offered checks what a server asks for.
func offered(caps *mcp.ClientCapabilities, requests mcp.InputRequestMap) error {
	for _, q := range requests {
		ok := false
		switch q := q.(type) {
		case *mcp.ElicitParams:
			e := caps.Elicitation
			if url := q.Mode == "url" || q.URL != ""; url {
				ok = e != nil && e.URL != nil
			} else {
				ok = e != nil && (e.Form != nil || e.URL == nil)
			}
		case *mcp.ListRootsParams:
			ok = caps.RootsV2 != nil
		default:
			ok = caps.Sampling != nil
		}
		if !ok {
			return errNotOffered
		}
	}
	return nil
}

// answersFor are the answers of a request that are for the server.
func answersFor(state string, all mcp.InputResponseMap) mcp.InputResponseMap {
	if !strings.HasPrefix(state, guard.StatePrefix) {
		return all
	}
	rest := mcp.InputResponseMap{}
	for name, r := range all {
		if name != guard.InputName {
			rest[name] = r
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// An agreement is an approver that remembers that the user agreed, and, once they have,
// agrees for the further rounds of the same call.
type agreement struct {
	guard.Approver
	agreed bool
}

// Approve asks unless the user has agreed to this very call.
func (a *agreement) Approve(ctx context.Context, q guard.Question) (guard.Answer, error) {
	if a.agreed {
		return guard.AnswerOnce, nil
	}
	answer, err := a.Approver.Approve(ctx, q)
	a.agreed = err == nil && answer == guard.AnswerOnce
	return answer, err
}

// protocolError is the error of a call that its client must have as one of the protocol;
// nil if the model is to read it in a result.
func protocolError(err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return nil
	}
	switch {
	case wire == errRoundState:
		return wire
	case wire.Code == mcp.CodeMissingRequiredClientCapabilities:
		return &jsonrpc.Error{Code: wire.Code, Message: err.Error(), Data: wire.Data}
	}
	return nil
}

// callRounds makes the call of a client that knows rounds: what the server asks for comes
// back as a *guard.InputRequired.
func (s *Session) callRounds(ctx context.Context, src *source.Source, req *guard.Request, c *mcp.CallToolRequest) (json.RawMessage, error) {
	sv, name := s.servers[src.Name()], req.Tool.Name
	binding := bindingOf(c.Session.ID(), callBinding(req))
	st, err := s.rounds.open(c.Params.RequestState, binding)
	if err != nil {
		return nil, err
	}
	caps := sv.asksOf(c.ClientCapabilities())
	if st.Parked != "" {
		return s.resume(ctx, st, c)
	}
	user := &agreement{req.Approver, st.Agreed}
	req.Approver = user
	opts := &source.CallOptions{PassInput: true, Capabilities: caps, RequestState: st.State, InputResponses: answersFor(c.Params.RequestState, c.Params.InputResponses)}
	make := func(ctx context.Context, opts *source.CallOptions) (json.RawMessage, error) {
		var result json.RawMessage
		var input *source.InputRequired
		err := s.guard.Invoke(ctx, *req, func(ctx context.Context, arguments json.RawMessage) (guard.Report, error) {
			var err error
			result, err = src.Call(ctx, name, arguments, opts)
			if errors.As(err, &input) {
				return guard.Report{Input: true}, offered(caps, input.Requests)
			}
			if err != nil {
				return guard.Report{}, err
			}
			return guard.RawReport(result), nil
		})
		if err == nil && input != nil {
			return nil, &guard.InputRequired{Requests: input.Requests, State: s.rounds.seal(round{Binding: binding, State: input.State, Agreed: user.agreed})}
		}
		return result, err
	}
	if src.Era() != source.EraModern {
		return s.park(ctx, c, caps, binding, opts, make)
	}
	var flush func()
	opts.Progress, flush = webmcp.Progress(ctx, c)
	defer flush()
	return make(withRequest(ctx, c), opts)
}

// inRounds is a prompt or a resource of a client that knows rounds. ask makes the request,
// under a context whose options pass questions on, with the server's own state. Where the
// server asks for something input is what and state ours, else both are empty.
func inRounds[R any](ctx context.Context, s *Session, src *source.Source, client *mcp.ClientCapabilities, state string, answers mcp.InputResponseMap, binding string, ask func(ctx context.Context, state string, answers mcp.InputResponseMap) (R, error)) (res R, input mcp.InputRequestMap, sealed string, err error) {
	st, err := s.rounds.open(state, binding)
	if err != nil {
		return res, nil, "", err
	}
	caps := s.servers[src.Name()].asksOf(client)
	ctx = source.WithCallOptions(ctx, &source.CallOptions{PassInput: true, Capabilities: caps})
	res, err = ask(ctx, st.State, answers)
	var asks *source.InputRequired
	if !errors.As(err, &asks) {
		return res, nil, "", orDefault(protocolError(err), err)
	}
	if err := offered(caps, asks.Requests); err != nil {
		return res, nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return res, asks.Requests, s.rounds.seal(round{Binding: binding, State: asks.State}), nil
}

// prompt gets a server's prompt.
func (g *Gateway) prompt(ctx context.Context, src *source.Source, own string, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	ask := func(ctx context.Context, state string, answers mcp.InputResponseMap) (*mcp.GetPromptResult, error) {
		return src.Prompt(ctx, &mcp.GetPromptParams{Name: own, Arguments: req.Params.Arguments, RequestState: state, InputResponses: answers})
	}
	if !modern(req.Session) {
		return ask(ctx, "", nil)
	}
	args, err := json.Marshal(req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	res, input, state, err := inRounds(ctx, g.s, src, req.ClientCapabilities(), req.Params.RequestState, req.Params.InputResponses,
		bindingOf(req.Session.ID(), "prompt", src.Name(), own, string(args)), ask)
	if err == nil && input != nil {
		return &mcp.GetPromptResult{InputRequests: input, RequestState: state}, nil
	}
	return res, err
}

// read reads a server's resource.
func (g *Gateway) read(ctx context.Context, src *source.Source, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	own := g.ownURI(src.Name(), req.Params.URI)
	ask := func(ctx context.Context, state string, answers mcp.InputResponseMap) (*mcp.ReadResourceResult, error) {
		return src.ReadResource(ctx, &mcp.ReadResourceParams{URI: own, RequestState: state, InputResponses: answers})
	}
	if !modern(req.Session) {
		return ask(ctx, "", nil)
	}
	res, input, state, err := inRounds(ctx, g.s, src, req.ClientCapabilities(), req.Params.RequestState, req.Params.InputResponses,
		bindingOf(req.Session.ID(), "resource", src.Name(), own), ask)
	if err == nil && input != nil {
		return &mcp.ReadResourceResult{InputRequests: input, RequestState: state}, nil
	}
	return res, err
}
