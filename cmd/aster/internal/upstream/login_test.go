package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/upstream"
)

// TestLoginFails ends a login with the first thing that goes wrong, says what that was, and
// sends the user to one page at most.
func TestLoginFails(t *testing.T) {
	open := func(_ context.Context, page string) error {
		resp, err := http.Get(page)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	tests := []struct {
		name  string
		set   func(*realm)
		want  string // a part of the error
		pages int
	}{
		{"denied", func(r *realm) { r.denies = true }, `access was not granted: the authorization server says "access_denied" ("the user said no")`, 1},
		{"a server that knows its clients", func(r *realm) { r.knows = true }, "needs oauth.client_id under mcp.servers.locked", 0},
		{"a token that is not taken", func(r *realm) { r.forgets = true }, "the server does not take the token", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r := newRealm(t)
			tt.set(r)
			opts := &upstream.Options{Store: upstream.NewStore(t.TempDir(), false)}
			server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
			pages := 0
			ok, err := upstream.Login(ctx, config.Default(), server, func(ctx context.Context, page string) error { pages++; return open(ctx, page) }, opts)
			if ok || err == nil || !strings.Contains(err.Error(), tt.want) || pages != tt.pages {
				t.Errorf("Login: %v, %v after %d pages", ok, err, pages)
			}
			if g, err := opts.Store.Load(t.Context(), "locked", server.URL); g != nil || err != nil {
				t.Errorf("kept %v, %v", g, err)
			}
		})
	}
}

// TestLoginGivenUp ends a login whose user goes away.
func TestLoginGivenUp(t *testing.T) {
	r := newRealm(t)
	opts := &upstream.Options{Store: upstream.NewStore(t.TempDir(), false)}
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := upstream.Login(ctx, config.Default(), server, func(context.Context, string) error { cancel(); return nil }, opts)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Login: %v", err)
	}
}

// TestRenewedOnce has one of many processes renew the login that they share, and all use
// what it got. A refresh token that is shown twice ends the login.
func TestRenewedOnce(t *testing.T) {
	const processes = 8
	tests := []struct {
		name    string
		expiry  time.Duration // of the first token
		refused bool          // the server takes it no more
	}{
		{"refused", time.Hour, true},
		{"at its end", 30*time.Second + 200*time.Millisecond, false}, // tokens are renewed half a minute before
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRealm(t)
			r.access, r.refresh, r.expires = "first", "good once", 3600
			dir := t.TempDir()
			server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
			end := time.Now().Add(tt.expiry)
			old := &upstream.Grant{AccessToken: "first", RefreshToken: "good once", Expiry: end, TokenURL: r.URL + "/token", ClientID: "c"}
			if err := upstream.NewStore(dir, false).Save(t.Context(), "locked", server.URL, old); err != nil {
				t.Fatal(err)
			}
			var bearers []func(context.Context, string) (string, error)
			for range processes {
				spec, err := upstream.Spec(config.Default(), server, &upstream.Options{Store: upstream.NewStore(dir, false)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := spec.Bearer(t.Context(), ""); err != nil { // it has read the login by now
					t.Fatal(err)
				}
				bearers = append(bearers, spec.Bearer)
			}
			refused := ""
			if tt.refused {
				refused = "first"
			} else {
				time.Sleep(time.Until(end.Add(-30 * time.Second)))
			}
			var wg sync.WaitGroup
			for i, bearer := range bearers {
				wg.Go(func() {
					if token, err := bearer(t.Context(), refused); err != nil || token != "secret-access-1" {
						t.Errorf("process %d: %q, %v", i, token, err)
					}
				})
			}
			wg.Wait()
			if got := strings.Join(r.grants, " "); got != "refresh_token:c" {
				t.Errorf("grants %q", got)
			}
		})
	}
}

// TestRenewedAndGivenUp keeps what came of a renewal whose call was given up: the old
// refresh token is good no more.
func TestRenewedAndGivenUp(t *testing.T) {
	r := newRealm(t)
	r.access, r.refresh = "first", "good once"
	ctx, cancel := context.WithCancel(t.Context())
	r.renewing = cancel
	store := upstream.NewStore(t.TempDir(), false)
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: r.URL + "/mcp"}
	old := &upstream.Grant{AccessToken: "first", RefreshToken: "good once", TokenURL: r.URL + "/token", ClientID: "c"}
	if err := store.Save(t.Context(), "locked", server.URL, old); err != nil {
		t.Fatal(err)
	}
	spec, err := upstream.Spec(config.Default(), server, &upstream.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	spec.Bearer(ctx, "first")
	if g, err := store.Load(t.Context(), "locked", server.URL); err != nil || g == nil || g.RefreshToken != "secret-refresh-1" {
		t.Errorf("kept %#v, %v", g, err)
	}
}

// TestLoginComesLater lets a process that runs without a login have the one that the user
// makes meanwhile, once the server wants one.
func TestLoginComesLater(t *testing.T) {
	store := upstream.NewStore(t.TempDir(), false)
	server := &config.Server{Name: "locked", Transport: config.StreamableHTTP, URL: "https://locked.example/mcp"}
	spec, err := upstream.Spec(config.Default(), server, &upstream.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	for _, refused := range []string{"", source.NoToken} {
		if token, err := spec.Bearer(t.Context(), refused); token != "" || err != nil {
			t.Errorf("before: %q, %v", token, err)
		}
	}
	if err := store.Save(t.Context(), "locked", server.URL, &upstream.Grant{AccessToken: "new"}); err != nil {
		t.Fatal(err)
	}
	if token, err := spec.Bearer(t.Context(), source.NoToken); token != "new" || err != nil {
		t.Errorf("after: %q, %v", token, err)
	}
}

// TestStoreShared loses no grant where several processes save at once.
func TestStoreShared(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const processes = 8
	for i := range processes {
		wg.Go(func() {
			if err := upstream.NewStore(dir, false).Save(t.Context(), fmt.Sprint("s", i), "https://x", &upstream.Grant{AccessToken: "t"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range processes {
		if g, err := upstream.NewStore(dir, false).Load(t.Context(), fmt.Sprint("s", i), "https://x"); g == nil || err != nil {
			t.Errorf("s%d: %v, %v", i, g, err)
		}
	}
}
