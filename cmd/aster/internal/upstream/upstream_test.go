package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/upstream"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/zalando/go-keyring"
)

const patience = 60 * time.Second

func TestSpec(t *testing.T) {
	cfg := config.Default()
	cfg.CallTimeout = 7 * time.Second
	cfg.Servers = []*config.Server{
		{Name: "child", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "${PKG}"}, Env: map[string]string{"KEY": "${KEY}"}, Cwd: "/w", StartTimeout: 3 * time.Second},
		{Name: "lost", Transport: config.Stdio, Command: "${NOWHERE}"},
		{Name: "off", Transport: config.Stdio, Command: "x", Disabled: true},
		{Name: "old", Transport: config.SSE, URL: "https://x.example/sse"},
		{Name: "web", Transport: config.StreamableHTTP, URL: "https://x.example/mcp", Headers: map[string]string{"X": "y"}, Timeout: time.Second},
	}
	env := map[string]string{"PKG": "pkg", "KEY": "k3y"}
	opts := &upstream.Options{Getenv: func(k string) string { return env[k] }, Store: upstream.NewStore(t.TempDir(), false)}
	var got []string
	for _, server := range cfg.Servers {
		s, err := upstream.Spec(cfg, server, opts)
		if server.Name == "lost" {
			if err == nil || !strings.Contains(err.Error(), "NOWHERE") {
				t.Errorf("%s: %v", server.Name, err)
			}
			continue
		}
		got = append(got, fmt.Sprint(s.Name, " ", s.Command, s.Args, s.Env, s.Dir, s.URL, s.SSE, s.Headers, s.StartTimeout, s.CallTimeout, s.Bearer != nil, s.Secrets))
		if _, err := source.New(s, nil); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	want := []string{
		"child npx[-y pkg] map[KEY:k3y]/wfalse map[] 3s 7s false [k3y pkg]",
		"off x[] map[]false map[] 10s 7s false []",
		"old [] map[]https://x.example/ssetrue map[] 10s 7s true []",
		"web [] map[]https://x.example/mcpfalse map[X:y] 10s 1s true []",
	}
	if !slices.Equal(got, want) {
		t.Errorf("specs\n%q, want\n%q", got, want)
	}
}

// A realm is an MCP server with the authorization server that it names.
type realm struct {
	*httptest.Server
	mu       sync.Mutex
	codes    map[string]url.Values // requests to authorize, by code
	access   string                // the token that counts
	refresh  string
	tokens   int // given out
	expires  int // seconds; 0 says nothing
	grants   []string
	register int
	denies   bool // whoever asks for access
	knows    bool // its clients, and registers none
	forgets  bool // the tokens that it gives
	renewing func()
}

func newRealm(t *testing.T) *realm {
	t.Helper()
	r := &realm{codes: map[string]url.Values{}}
	srv := mcp.NewServer(&mcp.Implementation{Name: "locked", Version: "1"}, nil)
	srv.AddTool(&mcp.Tool{Name: "open", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		ok := r.access != "" && req.Header.Get("Authorization") == "Bearer "+r.access
		r.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+r.URL+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, req)
	})
	reply := func(path string, f func(*http.Request) (int, any)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) {
			r.mu.Lock()
			status, v := f(req)
			r.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			json.NewEncoder(w).Encode(v)
		})
	}
	reply("/.well-known/oauth-protected-resource/mcp", func(*http.Request) (int, any) {
		return 200, map[string]any{"resource": r.URL + "/mcp", "authorization_servers": []string{r.URL}, "scopes_supported": []string{"read"}}
	})
	reply("/.well-known/oauth-authorization-server", func(*http.Request) (int, any) {
		register := r.URL + "/register"
		if r.knows {
			register = ""
		}
		return 200, map[string]any{"issuer": r.URL, "authorization_endpoint": r.URL + "/authorize", "token_endpoint": r.URL + "/token",
			"registration_endpoint": register, "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"scopes_supported": []string{"read", "offline_access"}}
	})
	reply("/register", func(req *http.Request) (int, any) {
		r.register++
		var m map[string]any
		json.NewDecoder(req.Body).Decode(&m)
		m["client_id"] = "registered"
		return 201, m
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		r.mu.Lock()
		code := fmt.Sprint("code", len(r.codes))
		r.codes[code] = q
		denies := r.denies
		r.mu.Unlock()
		if denies {
			http.Redirect(w, req, q.Get("redirect_uri")+"?error=access_denied&error_description=the+user+said+no&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
			return
		}
		http.Redirect(w, req, q.Get("redirect_uri")+"?code="+code+"&state="+url.QueryEscape(q.Get("state"))+"&iss="+url.QueryEscape(r.URL), http.StatusFound)
	})
	reply("/token", func(req *http.Request) (int, any) {
		req.ParseForm()
		grant := req.Form.Get("grant_type")
		if r.renewing != nil {
			r.renewing()
		}
		client := req.Form.Get("client_id")
		if id, _, ok := req.BasicAuth(); ok {
			client = id
		}
		r.grants = append(r.grants, grant+":"+client)
		if grant == "refresh_token" && req.Form.Get("refresh_token") != r.refresh || grant == "authorization_code" && r.codes[req.Form.Get("code")] == nil {
			return 400, map[string]any{"error": "invalid_grant"}
		}
		r.tokens++
		r.access, r.refresh = fmt.Sprint("secret-access-", r.tokens), fmt.Sprint("secret-refresh-", r.tokens)
		v := map[string]any{"access_token": r.access, "refresh_token": r.refresh, "token_type": "Bearer"}
		if r.expires > 0 {
			v["expires_in"] = r.expires
		}
		if r.forgets {
			r.access = ""
		}
		return 200, v
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

// browse is a user who signs in at once.
func browse(_ context.Context, page string) error {
	resp, err := http.Get(page)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "signed in") {
		return fmt.Errorf("the page says %q", body)
	}
	return nil
}

// scopesOf sorts the scopes of a request: a set, which the SDK gives in any order.
func scopesOf(v url.Values) string {
	list := strings.Fields(v.Get("scope"))
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestLogin(t *testing.T) {
	r := newRealm(t)
	dir := t.TempDir()
	opts := &upstream.Options{Store: upstream.NewStore(dir, false)}
	cfg := config.Default()
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
	start := func() error {
		t.Helper()
		spec, err := upstream.Spec(cfg, server, opts)
		if err != nil {
			t.Fatal(err)
		}
		spec.StartTimeout = patience
		src, err := source.New(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if err := src.Start(t.Context()); err != nil {
			return err
		}
		_, err = src.Call(t.Context(), "open", nil, nil)
		return err
	}
	var f *source.Failure
	if err := start(); !errors.As(err, &f) || f.Kind != source.NeedsSignIn {
		t.Fatalf("before: %v", err)
	}
	if ok, err := upstream.Login(t.Context(), cfg, server, browse, opts); !ok || err != nil {
		t.Fatalf("Login: %v, %v", ok, err)
	}
	if scopes := scopesOf(r.codes["code0"]); scopes != "offline_access read" {
		t.Errorf("scopes %q", scopes)
	}
	info, err := os.Stat(filepath.Join(dir, "tokens.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("tokens.json: %v, %v", info, err)
	}
	if err := start(); err != nil {
		t.Errorf("after: %v", err)
	}

	// The token that the server no longer takes is renewed, by another process.
	r.mu.Lock()
	r.access = "another"
	r.mu.Unlock()
	if err := start(); err != nil {
		t.Errorf("renewed: %v", err)
	}
	if want := "authorization_code:registered refresh_token:registered"; strings.Join(r.grants, " ") != want || r.register != 1 {
		t.Errorf("grants %q, %d registrations", r.grants, r.register)
	}
	g, err := opts.Store.Load(t.Context(), "locked", server.URL)
	if err != nil || g == nil || g.AccessToken != "secret-access-2" || g.RefreshToken != "secret-refresh-2" {
		t.Errorf("kept %#v, %v", g, err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", g, *g, g), "secret") {
		t.Error("a grant prints its tokens")
	}

	// A refresh token that ran out needs the user again.
	r.mu.Lock()
	r.access, r.refresh = "x", "y"
	r.mu.Unlock()
	if err := start(); !errors.Is(err, source.ErrNeedsSignIn) || strings.Contains(err.Error(), "secret") {
		t.Errorf("ran out: %v", err)
	}

	// Another URL under the same name gets nothing.
	moved := *server
	moved.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if g, err := opts.Store.Load(t.Context(), "locked", moved.URL); g != nil || err != nil {
		t.Errorf("the moved server has %v, %v", g, err)
	}
	for _, want := range []bool{true, false} {
		if had, err := upstream.Logout(t.Context(), server, opts); had != want || err != nil {
			t.Errorf("Logout: %v, %v, want %v", had, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tokens.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

// TestExpiry renews a token before it ends, without a refusal.
func TestExpiry(t *testing.T) {
	r := newRealm(t)
	r.expires = 1
	opts := &upstream.Options{Store: upstream.NewStore(t.TempDir(), false)}
	cfg := config.Default()
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp",
		OAuth: config.OAuth{ClientID: "mine", Scopes: []string{"write"}}}
	if _, err := upstream.Login(t.Context(), cfg, server, browse, opts); err != nil {
		t.Fatal(err)
	}
	if scopes := scopesOf(r.codes["code0"]); scopes != "offline_access write" || r.register != 0 {
		t.Errorf("scopes %q, %d registrations", scopes, r.register)
	}
	spec, err := upstream.Spec(cfg, server, opts)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.expires = 3600
	r.mu.Unlock()
	for range 2 {
		token, err := spec.Bearer(t.Context(), "")
		if err != nil || token != r.access {
			t.Errorf("token %q, %v", token, err)
		}
	}
	if n := strings.Join(r.grants, " "); !strings.HasSuffix(n, "refresh_token:mine") || strings.Contains(n, ": ") {
		t.Errorf("grants %q", n)
	}
}

// TestLoginRefused gives nothing to pages that are not the sign-in's, and sends the user nowhere odd.
func TestLoginRefused(t *testing.T) {
	opts := &upstream.Options{Store: upstream.NewStore(t.TempDir(), false)}
	cfg := config.Default()
	r := newRealm(t)
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
	forged := func(ctx context.Context, page string) error {
		u, _ := url.Parse(page)
		back := u.Query().Get("redirect_uri")
		for _, q := range []string{"?code=evil&state=guess", "?error=evil&state=guess", "?code=evil"} {
			resp, err := http.Get(back + q)
			if err != nil {
				return err
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", q, resp.Status)
			}
		}
		return browse(ctx, page)
	}
	if ok, err := upstream.Login(t.Context(), cfg, server, forged, opts); !ok || err != nil {
		t.Errorf("Login: %v, %v", ok, err)
	}
	gone := errors.New("no browser")
	if _, err := upstream.Login(t.Context(), cfg, server, func(context.Context, string) error { return gone }, opts); !errors.Is(err, gone) {
		t.Errorf("Login: %v", err)
	}
	for _, s := range []*config.Server{{Name: "c", Transport: config.Stdio, Command: "x"}} {
		if _, err := upstream.Login(t.Context(), cfg, s, browse, opts); err == nil || !strings.Contains(err.Error(), "remote") {
			t.Errorf("Login of a command: %v", err)
		}
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	a, b := upstream.NewStore(dir, false), upstream.NewStore(dir, false)
	if err := a.Save(t.Context(), "s", "https://x", &upstream.Grant{AccessToken: "t"}); err != nil {
		t.Fatal(err)
	}
	if g, err := b.Load(t.Context(), "s", "https://x"); err != nil || g == nil || g.AccessToken != "t" {
		t.Errorf("Load: %v, %v", g, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"secret-token`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Load(t.Context(), "s", "https://x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Load of a broken file: %v", err)
	}
	if err := a.Save(t.Context(), "s", "https://x", &upstream.Grant{}); err == nil {
		t.Error("a broken file was overwritten")
	}
}

// TestKeychain keeps grants in the system's keychain, and in the file where that refuses.
func TestKeychain(t *testing.T) {
	dir := t.TempDir()
	s := upstream.NewStore(dir, true)
	check := func(where string, inFile bool) {
		t.Helper()
		if err := s.Save(t.Context(), "s", "https://x", &upstream.Grant{AccessToken: where}); err != nil {
			t.Fatal(err)
		}
		if g, err := s.Load(t.Context(), "s", "https://x"); err != nil || g == nil || g.AccessToken != where {
			t.Errorf("%s: Load: %v, %v", where, g, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "tokens.json")); (err == nil) != inFile {
			t.Errorf("%s: the file: %v", where, err)
		}
	}
	keyring.MockInitWithError(errors.New("no keychain"))
	check("file", true)
	keyring.MockInit()
	check("keychain", false)
	if had, err := s.Delete(t.Context(), "s", "https://x"); !had || err != nil {
		t.Errorf("Delete: %v, %v", had, err)
	}
	if g, err := s.Load(t.Context(), "s", "https://x"); g != nil || err != nil {
		t.Errorf("Load: %v, %v", g, err)
	}
}
