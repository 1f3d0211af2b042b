package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NoToken is what [Spec.Bearer] is told to be refused where no token was sent: the login may
// have been made since the last request. No token is like it.
const NoToken = "(none)"

const (
	maxRedirects  = 10
	maxErrorBytes = 64 << 10 // of the body of an HTTP error
)

var (
	errOtherOrigin = errors.New("leads to another origin")
	errSilent      = errors.New("no answer to the request")
)

// A web is the HTTP side of one connection. It is the RoundTripper of the SDK's
// client: whatever is sent or followed passes it, and only to the one origin.
type web struct {
	tap     *tap
	base    http.RoundTripper
	own     *http.Transport // base, where it is ours to close
	origin  string
	headers http.Header
	spec    *Spec
	// limit bounds the wait for the headers of requests that the SDK sends
	// without a context that ends.
	limit time.Duration

	mu      sync.Mutex
	closed  bool
	cancels map[*http.Request]context.CancelFunc // requests under way, bodies included
	status  int                                  // of the last HTTP error that explains a failure
	refused string                               // the origin that a redirect named
	first   string                               // the first bytes of a body that is not MCP
}

// newWeb expects a checked URL.
func newWeb(spec *Spec, base http.RoundTripper, t *tap, limit time.Duration) *web {
	w := &web{tap: t, base: base, spec: spec, limit: limit, headers: http.Header{}, cancels: map[*http.Request]context.CancelFunc{}}
	if base == nil {
		w.own = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    DefaultStartTimeout,
			IdleConnTimeout:        90 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}
		w.base = w.own
	}
	if u, err := url.Parse(spec.URL); err == nil {
		w.origin = origin(u)
	}
	for k, v := range spec.Headers {
		w.headers.Set(k, v)
	}
	return w
}

// client is what the SDK uses.
func (w *web) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: w.checkRedirect}
}

// transport is the SDK's transport over w.
func (w *web) transport() mcp.Transport {
	if w.spec.SSE {
		return detached{&mcp.SSEClientTransport{Endpoint: w.spec.URL, HTTPClient: w.client(), MaxEventSize: 2 * MaxMessageBytes}}
	}
	return &mcp.StreamableClientTransport{Endpoint: w.spec.URL, HTTPClient: w.client(), OAuthHandler: w.spec.OAuth, MaxEventSize: 2 * MaxMessageBytes}
}

// detached keeps the stream of the old transport, which the SDK binds to the
// context of Connect, open beyond it. kill ends it.
type detached struct{ mcp.Transport }

// Connect opens the stream.
func (d detached) Connect(ctx context.Context) (mcp.Connection, error) {
	return d.Transport.Connect(context.WithoutCancel(ctx))
}

// origin is scheme, host and port in one spelling.
func origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.TrimSuffix(host, ".") + ":" + port
}

// checkRedirect follows redirects inside the origin only.
func (w *web) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("over %d redirects", maxRedirects)
	}
	return w.checkOrigin(req.URL)
}

func (w *web) checkOrigin(u *url.URL) error {
	if origin(u) == w.origin {
		return nil
	}
	w.mu.Lock()
	w.refused = origin(u)
	w.mu.Unlock()
	return fmt.Errorf("%w, %s", errOtherOrigin, origin(u))
}

// RoundTrip sends one request, with the spec's headers, to the spec's origin.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := w.checkOrigin(req.URL); err != nil {
		return nil, err
	}
	method, id := w.look(req)
	ctx, cancel := context.WithCancel(req.Context())
	out := req.Clone(ctx)
	for _, k := range slices.Sorted(maps.Keys(w.headers)) {
		if out.Header.Get(k) == "" || k == "User-Agent" {
			out.Header[k] = w.headers[k]
		}
	}
	if !w.track(req, cancel) {
		cancel()
		return nil, ErrClosed
	}
	var timer *time.Timer
	if bounded := method == methodDiscover || method == methodListen; bounded && w.limit > 0 {
		timer = time.AfterFunc(w.limit, cancel)
	}
	resp, err := w.send(out)
	if timer != nil && !timer.Stop() && err != nil && req.Context().Err() == nil {
		err = errSilent
	}
	if err != nil {
		w.untrack(req)
		return nil, err
	}
	w.read(resp, req, id)
	return resp, nil
}

// send authorizes a request, unless the SDK does or a header of the spec.
func (w *web) send(req *http.Request) (*http.Response, error) {
	h, bearer := w.spec.OAuth, w.spec.Bearer
	if req.Header.Get("Authorization") != "" || bearer == nil && (h == nil || !w.spec.SSE) {
		return w.base.RoundTrip(req)
	}
	if bearer == nil {
		bearer = oauthBearer(h)
	}
	token, err := bearer(req.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := w.sendWith(req, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	if w.spec.Bearer == nil {
		if err := h.Authorize(req.Context(), req, resp); err != nil { // closes the body
			return nil, err
		}
		token = ""
	}
	refused := token
	if refused == "" {
		refused = NoToken
	}
	again, err := bearer(req.Context(), refused)
	switch {
	case err != nil:
		resp.Body.Close()
		return nil, err
	case again == "" || again == token:
		return resp, nil
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, maxErrorBytes))
	resp.Body.Close()
	return w.sendWith(req, again)
}

func (w *web) sendWith(req *http.Request, token string) (*http.Response, error) {
	out := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	return w.base.RoundTrip(out)
}

// oauthBearer is the SDK's handler as a Bearer.
func oauthBearer(h auth.OAuthHandler) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		tokens, err := h.TokenSource(ctx)
		if err != nil || tokens == nil {
			return "", err
		}
		token, err := tokens.Token()
		if err != nil || token == nil {
			return "", nil // the server will refuse, and the handler ask
		}
		return token.AccessToken, nil
	}
}

// look shows the tap what is sent and returns its method and id.
func (w *web) look(req *http.Request) (method, id string) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return "", ""
	}
	body, err := req.GetBody()
	if err != nil {
		return "", ""
	}
	defer body.Close()
	message, err := io.ReadAll(body)
	if err != nil {
		return "", ""
	}
	return w.tap.outgoing(message)
}

func (w *web) track(req *http.Request, cancel context.CancelFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.cancels[req] = cancel
	return true
}

func (w *web) untrack(req *http.Request) {
	w.mu.Lock()
	cancel := w.cancels[req]
	delete(w.cancels, req)
	w.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// read puts a bounded body that passes the tap in place of the server's. id is that of the
// request, "" if it has none.
func (w *web) read(resp *http.Response, req *http.Request, id string) {
	body := &webBody{r: resp.Body, raw: resp.Body, done: func() { w.untrack(req) }}
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch media = strings.ToLower(strings.TrimSpace(media)); {
	case resp.StatusCode >= 300:
		if w.explains(req, resp.StatusCode) {
			w.mu.Lock()
			w.status = resp.StatusCode
			w.mu.Unlock()
		}
		body.r = io.LimitReader(resp.Body, maxErrorBytes)
	case media == "text/event-stream":
		body.r = newEventFilter(resp.Body, w.tap, id)
	case media == "application/json":
		body.r = &jsonBody{r: resp.Body, tap: w.tap, id: id}
	case req.Method == http.MethodPost && resp.StatusCode != http.StatusAccepted && resp.StatusCode != http.StatusNoContent:
		// The SDK refuses other types unread.
		first, _ := io.ReadAll(io.LimitReader(resp.Body, maxFirstBytes))
		w.mu.Lock()
		if w.first == "" {
			w.first = string(first)
		}
		w.mu.Unlock()
		body.r = http.NoBody
	default:
		body.r = io.LimitReader(resp.Body, maxErrorBytes)
	}
	resp.Body, resp.ContentLength = body, -1
	resp.Header.Del("Content-Length")
}

// explains reports whether a status may be why something fails. Servers without a stream
// beside the calls, and those that end no session, refuse the GET and the DELETE and are
// well: that must not be taken for the reason of what fails later.
func (w *web) explains(req *http.Request, status int) bool {
	return req.Method == http.MethodPost || w.spec.SSE || status == http.StatusUnauthorized
}

// kill ends all requests under way.
func (w *web) kill() {
	w.mu.Lock()
	w.closed = true
	cancels := slices.Collect(maps.Values(w.cancels))
	w.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
	if w.own != nil {
		w.own.CloseIdleConnections()
	}
}

// A webBody is a response's body that says when it is done with.
type webBody struct {
	r    io.Reader
	raw  io.Closer
	once sync.Once
	done func()
}

// Read reads what the tap lets pass.
func (b *webBody) Read(p []byte) (int, error) { return b.r.Read(p) }

// Close closes the server's body.
func (b *webBody) Close() error {
	err := b.raw.Close()
	b.once.Do(b.done)
	return err
}

// A jsonBody is one message. It is read when it is asked for.
type jsonBody struct {
	r    io.Reader
	tap  *tap
	id   string // of the request, "" if it has none
	rest []byte
	err  error
}

// Read reads the message as the tap gives it. What cannot be taken ends the request.
func (b *jsonBody) Read(p []byte) (int, error) {
	if b.err == nil && b.rest == nil {
		b.rest, b.err = b.message()
	}
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	return 0, b.err
}

// message reads it all. The error is io.EOF after a message.
func (b *jsonBody) message() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(b.r, MaxMessageBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > MaxMessageBytes:
		_, m := b.tap.skip(b.id, text)
		if m == nil {
			return nil, errLong
		}
		return m, io.EOF
	}
	if out := b.tap.incoming(text); len(out) > 0 {
		return out[0], io.EOF
	}
	if b.id == "" || len(bytes.TrimSpace(text)) == 0 {
		return nil, io.EOF
	}
	return b.tap.refusal(b.id, whyNotMessage(text)), io.EOF
}
