package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
)

const (
	keychainService = "aster-mcp"
	tokensFile      = "tokens.json"
	maxTokensBytes  = 4 << 20
	// keychainPatience is how long the system's keychain may take, which may ask the user.
	keychainPatience = 10 * time.Second
)

// A Grant is what an authorization server granted, and what is needed to renew it.
type Grant struct {
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"` // zero: not known
	TokenURL     string    `json:"token_url,omitempty"`
	ClientID     string    `json:"client_id,omitempty"`
	ClientSecret string    `json:"client_secret,omitempty"`
	BasicAuth    bool      `json:"basic_auth,omitempty"` // the client names itself in a header
	Resource     string    `json:"resource,omitempty"`
}

// String says nothing of the tokens, so that a log cannot.
func (g Grant) String() string { return "grant of " + g.TokenURL }

// GoString is String.
func (g Grant) GoString() string { return g.String() }

// A Store keeps grants, in the system's keychain if there is one that works,
// else in a file that only the user can read. It is safe for concurrent use, between
// processes too.
type Store struct {
	dir      string
	keychain bool

	mu sync.Mutex // serializes access to the file

	news atomic.Int64 // how often the grants are to be read again
}

// Changed says that the user signed in or out in another process: what was read of the store
// is read again.
func (s *Store) Changed() { s.news.Add(1) }

// NewStore makes a store whose file is tokens.json in dir, which is made when it
// is needed. keychain says to try the system's first.
func NewStore(dir string, keychain bool) *Store { return &Store{dir: dir, keychain: keychain} }

// key names a grant. It holds no part of the URL, which may hold a secret.
func key(server, url string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + url))
	return server + "#" + hex.EncodeToString(sum[:8])
}

// Load returns the grant for a server at a URL, nil if there is none.
func (s *Store) Load(ctx context.Context, server, url string) (*Grant, error) {
	k := key(server, url)
	if s.keychain {
		text, err := within(ctx, func() (string, error) { return keyring.Get(keychainService, k) })
		if g := new(Grant); err == nil && json.Unmarshal([]byte(text), g) == nil {
			return g, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	return all[k], err
}

// Save keeps a grant.
func (s *Store) Save(ctx context.Context, server, url string, g *Grant) error {
	k := key(server, url)
	if s.keychain {
		text, err := json.Marshal(g)
		if err != nil {
			return err
		}
		_, err = within(ctx, func() (string, error) { return "", keyring.Set(keychainService, k, string(text)) })
		if err == nil {
			return s.edit(func(all map[string]*Grant) bool { _, ok := all[k]; delete(all, k); return ok })
		}
		// A grant too big for the keychain must not leave an older one there.
		within(ctx, func() (string, error) { return "", keyring.Delete(keychainService, k) })
	}
	return s.edit(func(all map[string]*Grant) bool { all[k] = g; return true })
}

// Delete forgets a grant, wherever it is, and reports whether there was one.
func (s *Store) Delete(ctx context.Context, server, url string) (bool, error) {
	k, had := key(server, url), false
	if s.keychain {
		_, err := within(ctx, func() (string, error) { return "", keyring.Delete(keychainService, k) })
		had = err == nil
	}
	err := s.edit(func(all map[string]*Grant) bool {
		_, ok := all[k]
		had = had || ok
		delete(all, k)
		return ok
	})
	return had, err
}

// within bounds a call of the keychain. One that hangs keeps its goroutine: the
// system offers no way to give it up.
func within(ctx context.Context, f func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keychainPatience)
	defer cancel()
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		text, err := f()
		done <- outcome{text, err}
	}()
	select {
	case o := <-done:
		return o.text, o.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// read reads the file. mu is held. The map is never nil.
func (s *Store) read() (map[string]*Grant, error) {
	all := map[string]*Grant{}
	path := filepath.Join(s.dir, tokensFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if info.Size() > maxTokensBytes {
		return all, fmt.Errorf("%s: over %d bytes", path, maxTokensBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return all, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return map[string]*Grant{}, fmt.Errorf("%s: not readable", path) // the error would show a part
	}
	for k, g := range all {
		if g == nil {
			delete(all, k)
		}
	}
	return all, nil
}

// exclusive keeps other processes from renewing a grant until unlock is called. One that
// cannot be kept away, since the directory cannot be written to or the other takes too long,
// is not: a login that may be renewed twice is better than none.
func (s *Store) exclusive(server, url string) (unlock func()) {
	sum := sha256.Sum256([]byte(key(server, url)))
	unlock, err := filelock.Take(filepath.Join(s.dir, tokensFile+"."+hex.EncodeToString(sum[:8])+".lock"))
	if err != nil {
		return func() {}
	}
	return unlock
}

// edit changes the file, by rename, if change reports that something changed.
func (s *Store) edit(change func(map[string]*Grant) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) && !change(map[string]*Grant{}) {
		return nil // nothing to change, and no directory to make for it
	}
	unlock, err := filelock.Take(filepath.Join(s.dir, tokensFile+".lock"))
	if err != nil {
		return fmt.Errorf("logins: %w", err)
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	if !change(all) {
		return nil
	}
	path := filepath.Join(s.dir, tokensFile)
	if len(all) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.dir, tokensFile+".*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
