package websrv

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of the cache.
const (
	defaultCacheBytes = 64 << 20
	maxEntryBytes     = 4 << 20
	entryOverhead     = 512 // bytes that an entry costs beside its texts
	maxVariants       = 4   // of one URL, by Vary
	maxHeuristic      = 24 * time.Hour
	staleOnError      = 24 * time.Hour // where the answer does not say
)

// cache keeps answers to GET as RFC 9111 has it for a private cache, the latest used ones
// within a bound of bytes. It never keeps what was asked for with a key or cookie. It is
// safe for concurrent use.
type cache struct {
	now  func() time.Time
	disk *diskCache // nil without a directory
	max  int64
	age  time.Duration // for which a page is fresh that says nothing of it

	mu    sync.Mutex
	byURL map[string][]*list.Element // of *entry, latest first; guarded by mu
	order list.List                  // latest used first; guarded by mu
	bytes int64                      // guarded by mu
}

// entry is a stored answer. It does not change once it is stored.
type entry struct {
	URL    string
	Vary   http.Header // the request's headers that the answer depends on
	Status int
	Header http.Header
	Body   []byte
	Asked  time.Time // when the request was sent
	Came   time.Time // when the answer came
}

func newCache(o *networkOptions) *cache {
	if o.NoCache {
		return nil
	}
	c := &cache{now: o.Now, max: orDefault(o.CacheBytes, defaultCacheBytes), age: o.CacheMaxAge, byURL: map[string][]*list.Element{}}
	if o.CacheDir != "" {
		c.disk = &diskCache{dir: o.CacheDir, log: o.Logger}
	}
	return c
}

// fetch answers a hop from the cache or the network.
func (n *network) fetch(ctx context.Context, h *hop) (*answer, error) {
	c := n.cache
	if c == nil || !cacheableRequest(h) {
		return n.paced(ctx, h)
	}
	if err := n.guard.allowed(h.url); err != nil {
		return nil, err
	}
	e := c.find(h)
	if h.request.MaxAge < 0 { // asked for anew: it takes the place of what is kept, so that no later reply is older
		if e == nil {
			return n.paced(ctx, h)
		}
		e = nil
	}
	if e != nil && e.usable(h.request.MaxAge, c.age, c.now()) {
		return e.answer(), nil
	}
	asked := c.now()
	a, err := n.paced(ctx, e.conditional(h))
	switch {
	case e != nil && err == nil && a.status == http.StatusNotModified:
		e = e.revalidated(a, asked, c.now())
		c.store(e, n.public(ctx, h))
		return e.answer(), nil
	case e != nil && e.servesError(a, err, c.now()):
		n.log.Debug("a stored answer stands in for an error", "host", h.url.Host)
		stale := e.answer()
		stale.stale = true
		return stale, nil
	case err != nil:
		return nil, err
	}
	if e := newEntry(h, a, asked); e != nil {
		c.store(e, n.public(ctx, h))
	} else {
		c.drop(h.url.String())
	}
	return a, nil
}

// public reports whether an answer may be kept on disk, where it would outlive the
// configuration that let a private host be read.
func (n *network) public(ctx context.Context, h *hop) bool {
	if n.cache.disk == nil {
		return false
	}
	private, _ := n.guard.private(ctx, h.url)
	return !private
}

// cacheableRequest reports whether the cache has anything to do with a hop.
func cacheableRequest(h *hop) bool {
	if h.method != http.MethodGet || h.request.Trusted || h.body != nil {
		return false
	}
	for _, k := range []string{"Authorization", "Cookie", "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Range", "If-Unmodified-Since"} {
		if h.header.Get(k) != "" {
			return false
		}
	}
	return true
}

// newEntry is an answer to keep, nil if it may not or cannot be kept.
func newEntry(h *hop, a *answer, asked time.Time) *entry {
	cc := cacheControl(a.header)
	if _, no := cc["no-store"]; no || a.truncated || len(a.body) > maxEntryBytes || a.header.Get("Vary") == "*" {
		return nil
	}
	e := &entry{URL: h.url.String(), Vary: http.Header{}, Status: a.status, Header: a.header.Clone(), Body: slices.Clone(a.body), Asked: asked, Came: a.at}
	for _, k := range varies(a.header) {
		if k == "*" {
			return nil
		}
		e.Vary[k] = slices.Clone(h.header.Values(k))
	}
	switch a.status { // RFC 9110 §15.1; others only if they say how long
	case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501:
	case 206, 304:
		return nil
	default:
		if e.explicit() <= 0 {
			return nil
		}
	}
	return e
}

// varies are the names in Vary, canonical.
func varies(h http.Header) (names []string) {
	for _, v := range h.Values("Vary") {
		for _, k := range strings.Split(v, ",") {
			if k = strings.TrimSpace(k); k != "" && !strings.EqualFold(k, "Accept-Encoding") { // bodies are kept decoded
				names = append(names, http.CanonicalHeaderKey(k))
			}
		}
	}
	return names
}

// matches reports whether an entry answers a hop's request.
func (e *entry) matches(h *hop) bool {
	if e.URL != h.url.String() {
		return false
	}
	for k, v := range e.Vary {
		if !slices.Equal(v, h.header.Values(k)) {
			return false
		}
	}
	limit := h.request.MaxBytes
	return limit <= 0 || int64(len(e.Body)) <= limit
}

func (e *entry) answer() *answer {
	return &answer{status: e.Status, header: e.Header.Clone(), body: slices.Clone(e.Body), at: e.Came, fromCache: true}
}

// conditional is a hop that asks whether the entry is still good; e may be nil.
func (e *entry) conditional(h *hop) *hop {
	if e == nil {
		return h
	}
	etag, modified := e.Header.Get("ETag"), e.Header.Get("Last-Modified")
	if etag == "" && modified == "" {
		return h
	}
	c := *h
	c.header = h.header.Clone()
	if etag != "" {
		c.header.Set("If-None-Match", etag)
	}
	if modified != "" {
		c.header.Set("If-Modified-Since", modified)
	}
	return &c
}

// revalidated is the entry with the headers of a 304 (RFC 9111 §3.2).
func (e *entry) revalidated(a *answer, asked, now time.Time) *entry {
	fresh := *e
	fresh.Header = e.Header.Clone()
	for k, v := range a.header {
		switch k {
		case "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding", "Connection":
		default:
			fresh.Header[k] = slices.Clone(v)
		}
	}
	fresh.Asked, fresh.Came = asked, now
	return &fresh
}

// servesError reports whether the entry stands in for an error (RFC 5861 §4).
func (e *entry) servesError(a *answer, err error, now time.Time) bool {
	switch {
	case err == nil && a.status < 500:
		return false
	case err != nil && !errors.Is(err, errTimeout) && !errors.Is(err, errRefused) && !errors.Is(err, errNetwork) && !errors.Is(err, errDNS):
		return false
	}
	cc := cacheControl(e.Header)
	if has(cc, "no-cache") || has(cc, "must-revalidate") || e.Status >= 500 {
		return false
	}
	window := staleOnError
	if v, ok := directiveSeconds(cc, "stale-if-error"); ok {
		window = v
	}
	return e.age(now) <= e.lifetime()+window
}

// find is the stored answer to a hop, nil if there is none.
func (c *cache) find(h *hop) *entry {
	c.mu.Lock()
	for _, el := range c.byURL[h.url.String()] {
		if e := el.Value.(*entry); e.matches(h) {
			c.order.MoveToFront(el)
			c.mu.Unlock()
			return e
		}
	}
	c.mu.Unlock()
	if c.disk == nil {
		return nil
	}
	e := c.disk.load(h.url.String())
	if e == nil || !e.matches(h) {
		return nil
	}
	c.keep(e)
	return e
}

// store keeps an entry, on disk also if it may go there.
func (c *cache) store(e *entry, toDisk bool) {
	c.keep(e)
	if c.disk != nil && toDisk {
		c.disk.save(e)
	}
}

func (e *entry) size() int64 {
	n := len(e.Body) + len(e.URL) + entryOverhead
	for k, v := range e.Header {
		n += len(k)
		for _, s := range v {
			n += len(s)
		}
	}
	return int64(n)
}

// keep keeps an entry in memory; the ones that were not used for longest make room.
func (c *cache) keep(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, el := range c.byURL[e.URL] {
		if sameVariant(el.Value.(*entry), e) {
			c.removeLocked(el)
			break
		}
	}
	if e.size() > c.max {
		return
	}
	c.byURL[e.URL] = slices.Insert(c.byURL[e.URL], 0, c.order.PushFront(e))
	c.bytes += e.size()
	if v := c.byURL[e.URL]; len(v) > maxVariants {
		c.removeLocked(v[len(v)-1])
	}
	for c.bytes > c.max && c.order.Len() > 0 {
		c.removeLocked(c.order.Back())
	}
}

func sameVariant(a, b *entry) bool {
	if len(a.Vary) != len(b.Vary) {
		return false
	}
	for k, v := range a.Vary {
		w, ok := b.Vary[k]
		if !ok || !slices.Equal(v, w) {
			return false
		}
	}
	return true
}

func (c *cache) removeLocked(el *list.Element) {
	e := c.order.Remove(el).(*entry)
	c.bytes -= e.size()
	rest := slices.DeleteFunc(c.byURL[e.URL], func(x *list.Element) bool { return x == el })
	if c.byURL[e.URL] = rest; len(rest) == 0 {
		delete(c.byURL, e.URL)
	}
}

// drop forgets a URL: its latest answer may not be kept.
func (c *cache) drop(url string) {
	c.mu.Lock()
	for _, el := range slices.Clone(c.byURL[url]) {
		c.removeLocked(el)
	}
	c.mu.Unlock()
	if c.disk != nil {
		c.disk.remove(url)
	}
}
