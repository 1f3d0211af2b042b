package host

import (
	"context"
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/chat"
)

const (
	maxPageStores = 64 // of clients over HTTP, and of results of those that have no session
	// maxRemotePages bounds the texts that one of them keeps; a client of stdio, the only
	// one, has the default.
	maxRemotePages = 8 << 20
)

// pageStores keeps the rest of long results for the clients that got them. Several clients
// share a gateway over HTTP: each reads what its own session was given. The clients of
// 2026-07-28 have no sessions there, so the handles of their results cannot be guessed.
// It is safe for concurrent use, and its ReadPage suits bridge.Config.Pages.
type pageStores struct {
	mu     sync.Mutex
	stores map[string]*chat.Pages
	used   []string // keys of stores, the one used last at the end
}

// owner is the key of a client's store; "" for one whose results each have their own.
func owner(req *mcp.CallToolRequest) string {
	switch {
	case req == nil || req.Session == nil:
		return "local"
	case req.Session.ID() != "":
		return "session " + req.Session.ID()
	case req.Extra != nil && req.Extra.Header != nil:
		return ""
	}
	return "local"
}

// store is the store of a key, made if make says so; else nil if there is none.
func (p *pageStores) store(key string, make bool) *chat.Pages {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stores[key]
	if s == nil && !make {
		return nil
	}
	if s == nil {
		bytes := maxRemotePages
		if key == "local" {
			bytes = chat.DefaultKeptBytes
		}
		s = chat.NewPages(bytes)
		p.stores[key] = s
	}
	p.used = append(slices.DeleteFunc(p.used, func(k string) bool { return k == key }), key)
	if len(p.used) > maxPageStores {
		delete(p.stores, p.used[0])
		p.used = p.used[1:]
	}
	return s
}

// cut is the first page of a text that is over a limit, with a handle to read on for the
// client of a request.
func (p *pageStores) cut(req *mcp.CallToolRequest, text string, tokens int) string {
	key, secret := owner(req), ""
	if key == "" {
		secret = rand.Text()
		key = "result " + secret
	}
	cut := chat.Messages([]chat.Call{{Text: text}}, &chat.Options{
		Limits: chat.Limits{MaxTokens: tokens}, CountTokens: bridge.EstimateTokens, Pages: p.store(key, true)})
	return withSecret(cut[0].Text, secret)
}

// ReadPage is the page that a handle stands for, if the client of the request in ctx was
// given it.
func (p *pageStores) ReadPage(ctx context.Context, handle string) (string, error) {
	key, rest, secret := owner(requestOf(ctx)), handle, ""
	if key == "" {
		secret, rest, _ = strings.Cut(strings.TrimSpace(handle), "-")
		key = "result " + secret
	}
	s := p.store(key, false)
	if s == nil {
		s = chat.NewPages(0) // which knows how to say that there is none
	}
	text, err := s.ReadPage(ctx, rest)
	return withSecret(text, secret), err
}

var endOfPage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"handle":"(r[0-9]+\.[0-9]+"\}\])$`) })

// withSecret writes a secret before the handle at the end of a page.
func withSecret(page, secret string) string {
	at := endOfPage().FindStringSubmatchIndex(page)
	if at == nil || secret == "" {
		return page
	}
	return page[:at[2]] + secret + "-" + page[at[2]:]
}
