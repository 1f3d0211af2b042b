package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
)

const (
	// renewBefore is how long before its end a token is renewed.
	renewBefore = 30 * time.Second
	// maxTokenAnswer bounds the body of an authorization server's answer.
	maxTokenAnswer = 1 << 20
	tokenPatience  = 20 * time.Second
	// renewPatience is less than other processes wait before they take the lock of one that
	// renews for that of a dead process.
	renewPatience = 8 * time.Second
)

// A bearer is the Bearer of one server: it gives the stored token, and renews it
// when it ends or is refused.
type bearer struct {
	store       *Store
	server, url string

	mu     sync.Mutex // one renewal at a time
	loaded bool
	news   int64 // of the store, when it was read
	grant  *Grant
}

// token has the signature of source.Spec.Bearer.
func (b *bearer) token(ctx context.Context, refused string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loaded || refused != "" || b.news != b.store.news.Load() {
		// Another process may have renewed it, or the user signed in.
		if err := b.load(ctx); err != nil {
			return "", err
		}
	}
	switch g := b.grant; {
	case g == nil && (refused == "" || refused == source.NoToken):
		return "", nil
	case g == nil:
		return "", b.needsLogin("")
	case g.lasts(refused):
		return g.AccessToken, nil
	case g.renewable():
		return b.renew(ctx, refused)
	case refused == "":
		return g.AccessToken, nil // the clocks may differ: let the server decide
	}
	return "", b.needsLogin("the login ran out")
}

func (b *bearer) load(ctx context.Context) error {
	news := b.store.news.Load()
	g, err := b.store.Load(ctx, b.server, b.url)
	if err == nil {
		b.grant, b.loaded, b.news = g, true, news
	}
	return err
}

// renew gets and keeps another token. All processes of the user share the login, and one
// alone may renew it: a refresh token is often good once, and whoever shows it a second time
// is taken for a thief, which ends the login. mu is held.
func (b *bearer) renew(ctx context.Context, refused string) (string, error) {
	defer b.store.exclusive(b.server, b.url)()
	if err := b.load(ctx); err != nil {
		return "", err
	}
	switch g := b.grant; {
	case g == nil: // the user signed out
		return "", b.needsLogin("")
	case g.lasts(refused):
		return g.AccessToken, nil
	}
	// A call that is given up must not leave a token that was replaced and not kept.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewPatience)
	defer cancel()
	renewed, err := renew(ctx, b.grant)
	if errors.Is(err, source.ErrNeedsSignIn) {
		return "", b.needsLogin("the login ran out")
	}
	if err != nil {
		return "", err
	}
	b.grant = renewed
	if err := b.store.Save(ctx, b.server, b.url, renewed); err != nil {
		return "", fmt.Errorf("keep the renewed login: %w", err)
	}
	return renewed.AccessToken, nil
}

// lasts reports whether the access token may be sent for a while, and is another one than
// was refused.
func (g *Grant) lasts(refused string) bool {
	return g.AccessToken != refused && (g.Expiry.IsZero() || time.Until(g.Expiry) >= renewBefore)
}

func (g *Grant) renewable() bool { return g.RefreshToken != "" && g.TokenURL != "" }

func (b *bearer) needsLogin(why string) error {
	if why != "" {
		why += ": "
	}
	return fmt.Errorf("%w: %srun aster mcp login %s", source.ErrNeedsSignIn, why, b.server)
}

// renew trades a refresh token for another grant (RFC 6749, section 6).
func renew(ctx context.Context, g *Grant) (*Grant, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken}}
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	if !g.BasicAuth {
		form.Set("client_id", g.ClientID)
		if g.ClientSecret != "" {
			form.Set("client_secret", g.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("renew the login: the address of the token endpoint is bad")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if g.BasicAuth {
		req.SetBasicAuth(url.QueryEscape(g.ClientID), url.QueryEscape(g.ClientSecret))
	}
	client := newGuard(g.TokenURL).client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("renew the login: %w", hideURL(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer))
	if err != nil {
		return nil, fmt.Errorf("renew the login: %w", err)
	}
	return readGrant(resp.StatusCode, body, g)
}

// readGrant reads the answer of a token endpoint.
func readGrant(status int, body []byte, old *Grant) (*Grant, error) {
	var answer struct {
		AccessToken  string  `json:"access_token"`
		RefreshToken string  `json:"refresh_token"`
		ExpiresIn    float64 `json:"expires_in"`
		Error        string  `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	switch {
	case status == http.StatusBadRequest || status == http.StatusUnauthorized || answer.Error == "invalid_grant":
		return nil, source.ErrNeedsSignIn
	case status != http.StatusOK:
		return nil, fmt.Errorf("renew the login: the authorization server answers %d", status)
	case err != nil || answer.AccessToken == "":
		return nil, errors.New("renew the login: the authorization server's answer holds no token")
	}
	g := *old
	g.AccessToken, g.Expiry = answer.AccessToken, time.Time{}
	if answer.RefreshToken != "" {
		g.RefreshToken = answer.RefreshToken
	}
	if answer.ExpiresIn > 0 {
		g.Expiry = time.Now().Add(time.Duration(min(answer.ExpiresIn, 1e9)) * time.Second).Round(time.Second)
	}
	return &g, nil
}

// hideURL is an HTTP client's error without the URL.
func hideURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
