package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// LoginTimeout bounds a whole login, the user's part included.
const LoginTimeout = 5 * time.Minute

const (
	callbackPath = "/callback"
	maxReason    = 400 // bytes of why a login failed
)

var (
	errNobody   = fmt.Errorf("nobody signed in within %v", LoginTimeout)
	errNotTaken = errors.New("the server does not take the token that its authorization server gave")
)

// A Prompt gets the page at which the user signs in: https, or http on this
// machine. It opens the page or shows its address, and does not wait for the user.
type Prompt func(ctx context.Context, page string) error

// Login signs the user in to a remote server and keeps the grant in opts.Store.
// It reports false if the server let the client in without. It connects to the
// server as a call would, and answers its demand for authorization.
func Login(ctx context.Context, cfg *config.Config, server *config.Server, prompt Prompt, opts *Options) (bool, error) {
	s, err := remote(server, opts)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, LoginTimeout, errNobody)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cb, err := listen(s.OAuth.CallbackPort)
	if err != nil {
		return false, err
	}
	defer cb.close()
	g := newGuard(s.URL)
	watch := &watcher{next: g.client()}
	defer watch.next.CloseIdleConnections()
	sdk, err := newHandler(s, cb, prompt, &http.Client{Transport: watch, Timeout: tokenPatience})
	if err != nil {
		return false, err
	}
	handler := &flow{AuthorizationCodeHandler: sdk, stop: stop}
	spec, err := Spec(cfg, server, opts)
	if err != nil {
		return false, err
	}
	spec.Bearer, spec.OAuth, spec.StartTimeout = nil, handler, -1
	src, err := source.New(spec, nil)
	if err != nil {
		return false, err
	}
	err = src.Start(ctx)
	src.Close() // so that no request renews the token after it was taken
	if err != nil {
		return false, signInError(ctx, s, cb, err)
	}
	tokens, err := handler.TokenSource(ctx)
	if err != nil || tokens == nil {
		return false, err
	}
	token, err := tokens.Token()
	if err != nil {
		return false, fmt.Errorf("sign in to %s: %w", s.Name, hideURL(err))
	}
	grant := watch.grant()
	grant.AccessToken, grant.RefreshToken, grant.Expiry = token.AccessToken, token.RefreshToken, token.Expiry
	return true, opts.Store.Save(ctx, s.Name, s.URL, &grant)
}

// signInError says why nobody is signed in: the login's own reason, where it came to one,
// else what the server did.
func signInError(ctx context.Context, s *config.Server, cb *callback, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	text, _, _ := strings.Cut(hideURL(err).Error(), "\n") // what follows is a body
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	reached := !errors.As(err, new(*url.Error)) && !errors.Is(err, context.Canceled)
	if s.OAuth.ClientID == "" && !cb.shown() && ctx.Err() != nil && reached {
		text += fmt.Sprintf("; a server that takes only clients it knows needs oauth.client_id under mcp.servers.%s", s.Name)
	}
	return &loginError{fmt.Sprintf("sign in to %s: %s", s.Name, text), err}
}

// A loginError is a bounded text over its cause.
type loginError struct {
	text string
	err  error
}

// Error is the text.
func (e *loginError) Error() string { return e.text }

// Unwrap returns the cause, whose text is a stranger's.
func (e *loginError) Unwrap() error { return e.err }

// A flow ends a login with the first thing that goes wrong. Its requests are made again in
// another revision of the protocol, and would send the user who said no to a second page.
type flow struct {
	*auth.AuthorizationCodeHandler
	stop context.CancelCauseFunc

	mu     sync.Mutex
	signed bool
	err    error // of the attempt that failed
}

// Authorize asks the user once, and again only for rights that one tool needs.
func (f *flow) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil && f.signed && resp.StatusCode == http.StatusUnauthorized {
		f.err = errNotTaken
	}
	if f.err != nil {
		resp.Body.Close()
	} else if f.err = f.AuthorizationCodeHandler.Authorize(ctx, req, resp); f.err == nil {
		f.signed = true
		return nil
	}
	f.stop(f.err)
	return f.err
}

// newHandler is the SDK's handler for one login.
func newHandler(s *config.Server, cb *callback, prompt Prompt, client *http.Client) (*auth.AuthorizationCodeHandler, error) {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:         cb.url,
		RequestRefreshToken: true,
		Client:              client,
		// Servers send iss before they say so in their metadata; a wrong one is still refused.
		AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if err := checkPage(args.URL); err != nil {
				return nil, err
			}
			cb.expect(args.URL)
			if err := prompt(ctx, args.URL); err != nil {
				return nil, err
			}
			return cb.wait(ctx)
		},
	}
	if len(s.OAuth.Scopes) > 0 {
		c.ScopeFilter = func([]string) []string { return s.OAuth.Scopes }
	}
	if s.OAuth.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.OAuth.ClientID}
		if s.OAuth.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.OAuth.ClientSecret}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:              "aster",
			RedirectURIs:            []string{cb.url},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			ResponseTypes:           []string{"code"},
			TokenEndpointAuthMethod: "none",
		}}
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// A watcher notes what a login told the token endpoint, since renewal needs it
// again in another process.
type watcher struct {
	next *http.Client

	mu   sync.Mutex
	last Grant
}

// RoundTrip passes requests on, redirects included.
func (w *watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost && req.GetBody != nil {
		w.note(req)
	}
	return w.next.Do(req)
}

func (w *watcher) note(req *http.Request) {
	body, err := req.GetBody()
	if err != nil {
		return
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxTokenAnswer))
	form, ferr := url.ParseQuery(string(text))
	if err != nil || ferr != nil || form.Get("grant_type") != "authorization_code" {
		return
	}
	g := Grant{TokenURL: req.URL.String(), ClientID: form.Get("client_id"), ClientSecret: form.Get("client_secret"), Resource: form.Get("resource")}
	if id, secret, ok := req.BasicAuth(); ok {
		g.BasicAuth = true
		g.ClientID, _ = url.QueryUnescape(id)
		g.ClientSecret, _ = url.QueryUnescape(secret)
	}
	w.mu.Lock()
	w.last = g
	w.mu.Unlock()
}

func (w *watcher) grant() Grant {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// A callback waits on a loopback address for the browser to come back.
type callback struct {
	url    string
	server *http.Server
	result chan *auth.AuthorizationResult
	failed chan error
	done   chan struct{}

	mu    sync.Mutex
	state string // of the page that the user was sent to, "" before
}

// shown reports whether the user was sent to a page.
func (cb *callback) shown() bool {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return cb.state != ""
}

// expect names the page whose answer is waited for.
func (cb *callback) expect(page string) {
	if u, err := url.Parse(page); err == nil {
		cb.mu.Lock()
		cb.state = u.Query().Get("state")
		cb.mu.Unlock()
	}
}

// expected reports whether an answer belongs to that page. Any other page could
// send one as well.
func (cb *callback) expected(state string) bool {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return state != "" && state == cb.state
}

// listen opens the callback; port 0 is any.
func listen(port int) (*callback, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser to come back: %w", err)
	}
	host := l.Addr().String()
	cb := &callback{url: "http://" + host + callbackPath, result: make(chan *auth.AuthorizationResult, 1),
		failed: make(chan error, 1), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host {
			http.Error(w, "wrong host", http.StatusForbidden)
			return
		}
		cb.answer(w, r.URL.Query())
	})
	cb.server = &http.Server{Handler: mux, ReadHeaderTimeout: tokenPatience, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(cb.done)
		cb.server.Serve(l) // ends with close
	}()
	return cb, nil
}

// answer takes the first result with the right state; the SDK checks iss.
func (cb *callback) answer(w http.ResponseWriter, q url.Values) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !cb.expected(q.Get("state")):
		http.Error(w, "This is not an answer to a sign-in.", http.StatusBadRequest)
	case q.Get("error") != "":
		select {
		case cb.failed <- refusal(q):
		default:
		}
		io.WriteString(w, "The sign-in failed. You can close this window.\n")
	case q.Get("code") != "":
		select {
		case cb.result <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
		default:
		}
		io.WriteString(w, "You are signed in to aster. You can close this window.\n")
	default:
		http.Error(w, "There is no code.", http.StatusBadRequest)
	}
}

// refusal is the answer of an authorization server that gives nothing.
func refusal(q url.Values) error {
	why := fmt.Sprintf("%.100q", q.Get("error"))
	if text := q.Get("error_description"); text != "" {
		why += fmt.Sprintf(" (%.200q)", text)
	}
	if q.Get("error") == "access_denied" {
		return fmt.Errorf("access was not granted: the authorization server says %s", why)
	}
	return fmt.Errorf("the authorization server says %s", why)
}

func (cb *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case r := <-cb.result:
		return r, nil
	case err := <-cb.failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (cb *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if cb.server.Shutdown(ctx) != nil { // the browser's page is still being sent
		cb.server.Close()
	}
	<-cb.done
}
