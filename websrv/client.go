package websrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// request is one request of [network.do]. Only URL is needed.
type request struct {
	URL       string
	Method    string // "" means GET
	Accept    string // "" prefers HTML and takes anything
	UserAgent string // "" means the network's
	Header    http.Header
	Body      []byte
	MaxBytes  int64         // decoded body; 0 means the network's limit
	Timeout   time.Duration // redirects and body included; 0 means the network's
	// MaxAge of an answer from the cache: 0 follows the answer's own headers, negative
	// reads nothing from the cache, and writes there only in place of an older answer.
	MaxAge time.Duration
	// Pace waits for the host's turn: at most one request per PaceInterval and PacePerHost
	// at a time. Interval, when longer, replaces PaceInterval (Crawl-delay).
	Pace     bool
	Interval time.Duration
	// Trusted says that the URL's origin comes from the configuration (a provider's base
	// URL): it may be private and have any port, but no redirect leaves the origin, and
	// neither cache nor pace apply. Never set it for an address from a tool or a page.
	Trusted bool
	IPv4    bool // connect by IPv4 only; for trusted requests
	// NoRedirect returns a redirect as it is; RefreshRedirect follows <meta refresh> of
	// at most 5 s as a redirect, too.
	NoRedirect, RefreshRedirect bool
	// Truncate cuts a longer body at MaxBytes and sets Truncated, instead of errTooLarge.
	Truncate bool
}

// response is an answer, whatever its status. Header and Body belong to the caller.
type response struct {
	URL, FinalURL  string // as asked (cleaned), and after redirects
	Status         int
	Header         http.Header // of the last hop, without Set-Cookie
	Body           []byte      // content codings removed, bounded
	Media, Charset string      // of Content-Type, lower case; "" when absent
	Truncated      bool
	FromCache      bool // no byte of the body came from the network this time
	Stale          bool // and it stands in for an error of the host
	FetchedAt      time.Time
	Redirects      []string // the URLs before FinalURL, in order
}

// do makes a request: the guard decides on every hop, redirects are followed, the body is
// decoded and bounded, no cookie is kept. An error wraps one of the sentinels of
// guard_errors.go or the context's error; its text never holds a key, a query or userinfo.
func (n *network) do(ctx context.Context, r *request) (*response, error) {
	u, err := cleanURL(r.URL)
	if err != nil {
		return nil, err
	}
	timeout := min(orDefault(r.Timeout, n.o.Timeout), topRequestTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, &netError{errTimeout, fmt.Sprintf("%s did not answer within %v", u.Host, timeout)})
	defer cancel()
	h := &hop{method: orDefault(r.Method, http.MethodGet), url: u, header: n.headers(r), body: r.Body, request: r}
	resp := &response{URL: u.String()}
	for {
		a, err := n.fetch(ctx, h)
		if err != nil {
			return nil, err
		}
		next, err := n.redirect(h, a)
		if err != nil {
			return nil, err
		}
		if next == nil {
			a.fill(resp, h.url)
			return resp, nil
		}
		resp.Redirects = append(resp.Redirects, h.url.String())
		if len(resp.Redirects) > n.o.MaxRedirects {
			return nil, &netError{errTooManyRedirects, fmt.Sprintf("%s redirects more than %d times", u.Host, max(n.o.MaxRedirects, 0))}
		}
		h = next
	}
}

func orDefault[T comparable](v, d T) T {
	setDefault(&v, d)
	return v
}

// headers are those of the first hop.
func (n *network) headers(r *request) http.Header {
	h := http.Header{}
	for k, v := range r.Header {
		h[http.CanonicalHeaderKey(k)] = append([]string(nil), v...)
	}
	for k, v := range map[string]string{
		"User-Agent": orDefault(r.UserAgent, n.o.UserAgent), "Accept": orDefault(r.Accept, defaultAccept), "Accept-Encoding": acceptEncoding,
	} {
		if h.Get(k) == "" {
			h.Set(k, v)
		}
	}
	return h
}

// hop is one request of a chain of redirects.
type hop struct {
	method  string
	url     *url.URL
	header  http.Header
	body    []byte
	request *request // the options of the whole
}

// answer is what a hop gave.
type answer struct {
	status    int
	header    http.Header
	body      []byte
	truncated bool
	fromCache bool
	stale     bool
	at        time.Time
}

func (a *answer) fill(r *response, u *url.URL) {
	r.FinalURL, r.Status, r.Header, r.Body = u.String(), a.status, a.header, a.body
	r.Truncated, r.FromCache, r.FetchedAt = a.truncated, a.fromCache, a.at
	r.Stale = a.stale
	r.Media, r.Charset = mediaType(a.header.Get("Content-Type"))
}

// mediaType splits a Content-Type. A broken parameter does not hide the type.
func mediaType(contentType string) (media, charset string) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media == "" {
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	return media, strings.ToLower(params["charset"])
}

// paced sends one hop when it is the host's turn.
func (n *network) paced(ctx context.Context, h *hop) (*answer, error) {
	if h.request.Trusted {
		return n.roundTrip(ctx, h)
	}
	leave, err := n.pacer.enter(ctx, origin(h.url), h.request.Pace, h.request.Interval)
	if err != nil {
		return nil, classify(ctx, h.url.Host, err)
	}
	defer leave()
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
	case <-ctx.Done():
		return nil, classify(ctx, h.url.Host, ctx.Err())
	}
	a, err := n.roundTrip(ctx, h)
	if err == nil {
		n.pacer.note(origin(h.url), a, n.o.Now())
	}
	return a, err
}

// roundTrip sends one hop and reads its body.
func (n *network) roundTrip(ctx context.Context, h *hop) (*answer, error) {
	transport := n.plain
	switch {
	case h.request.Trusted && h.request.IPv4:
		transport = n.trusted4
	case h.request.Trusted:
		transport = n.trusted
	default:
		if err := n.guard.allowed(h.url); err != nil {
			return nil, err
		}
	}
	var body io.Reader
	if h.body != nil {
		body = bytes.NewReader(h.body)
	}
	req, err := http.NewRequestWithContext(ctx, h.method, h.url.String(), body)
	if err != nil {
		return nil, badURL("the request for %s cannot be made", h.url.Host)
	}
	req.Header = h.header
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, classify(ctx, h.url.Host, err)
	}
	defer resp.Body.Close()
	return n.read(ctx, h, resp)
}

// read takes over what a hop answered.
func (n *network) read(ctx context.Context, h *hop, resp *http.Response) (*answer, error) {
	limit := orDefault(h.request.MaxBytes, n.o.MaxBodyBytes)
	limit = max(0, min(limit, topMaxBodyBytes))
	body, truncated, err := readBody(resp, limit, h.request.Truncate)
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		err = &netError{errCut, h.url.Host + " closed the connection before the answer was complete"}
	}
	if err != nil {
		return nil, classify(ctx, h.url.Host, err)
	}
	header := resp.Header.Clone()
	header.Del("Set-Cookie")
	if header.Get("Content-Encoding") != "" {
		header.Del("Content-Length")
		header.Del("Content-Encoding")
	}
	return &answer{status: resp.StatusCode, header: header, body: body, truncated: truncated, at: n.o.Now()}, nil
}
