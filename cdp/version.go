package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// versionTimeout bounds one request for /json/version, answer included.
	versionTimeout = 2 * time.Second
	// loopbackDialTimeout bounds connecting to this machine: long only for a port that drops packets.
	loopbackDialTimeout = 300 * time.Millisecond
	// maxVersionBytes bounds the answer; Chromium 156 sends 444 bytes.
	maxVersionBytes = 64 << 10
	// maxProductRunes bounds the browser's name as the answer gives it.
	maxProductRunes = 64
)

// version is what asking for /json/version has shown.
type version struct {
	host    string // of address.hosts, the one that answered
	status  int    // 0 without an answer
	bare    bool   // the answer has no Date and no Server header, as Chrome's 404 has not
	browser string // product; of status 200
	path    string // of the browser's websocket; of status 200
}

// newVersionClient makes the client that sends the requests. A proxy must not see
// them, a redirect could lead elsewhere, and an idle connection would be a leak.
func newVersionClient(given *http.Client) *http.Client {
	c := &http.Client{}
	if given != nil {
		*c = *given
	}
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Transport == nil {
		c.Transport = &http.Transport{
			DialContext:            dialVersion,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxVersionBytes,
		}
	}
	return c
}

func dialVersion(ctx context.Context, network, hostport string) (net.Conn, error) {
	d := net.Dialer{}
	if host, _, err := net.SplitHostPort(hostport); err == nil && isLoopback(host) {
		d.Timeout = loopbackDialTimeout
	}
	return d.DialContext(ctx, network, hostport)
}

// version asks for /json/version. With an error, status tells whether something
// answered and host which address it was, or was last tried.
func (f *Finder) version(ctx context.Context, a address) (version, error) {
	var v version
	var err error
	for _, host := range a.hosts {
		if v, err = f.versionAt(ctx, a, host); !isDialError(err) {
			break
		}
	}
	return v, err
}

// isDialError reports whether nothing listens.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func (f *Finder) versionAt(ctx context.Context, a address, host string) (version, error) {
	v := version{host: host}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.httpURL(host)+"/json/version", nil)
	if err != nil {
		return v, err
	}
	req.Host = a.hostHdr
	resp, err := f.client.Do(req)
	if err != nil {
		return v, tersely(err)
	}
	defer resp.Body.Close()
	v.status = resp.StatusCode
	v.bare = resp.Header.Get("Date") == "" && resp.Header.Get("Server") == ""
	switch {
	case v.status >= 300 && v.status < 400:
		return v, fmt.Errorf("/json/version answers with a redirect (%d), which is not followed", v.status)
	case v.status == http.StatusNotFound:
		return v, errors.New("/json/version is not served (404)")
	case v.status != http.StatusOK:
		return v, fmt.Errorf("/json/version answers with status %d", v.status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxVersionBytes+1))
	if err != nil {
		return v, fmt.Errorf("reading /json/version: %w", tersely(err))
	}
	if len(body) > maxVersionBytes {
		return v, fmt.Errorf("/json/version is larger than %d bytes", maxVersionBytes)
	}
	return v, v.parse(body, a)
}

// tersely drops the method and URL that net/http puts before an error.
func tersely(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, context.DeadlineExceeded) && !isDialError(err) {
		return fmt.Errorf("no answer within %v", versionTimeout)
	}
	return err
}

func (v *version) parse(body []byte, a address) error {
	var answer struct {
		Browser              string
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return errors.New("/json/version is not that of a browser (no JSON object)")
	}
	if answer.WebSocketDebuggerURL == "" {
		return errors.New("/json/version is not that of a browser (no webSocketDebuggerUrl)")
	}
	path, err := a.debuggerPath(answer.WebSocketDebuggerURL)
	if err != nil {
		return err
	}
	v.browser, v.path = productName(answer.Browser), path
	return nil
}

// debuggerPath checks that a webSocketDebuggerUrl stays where it was asked for, and
// returns its path. Chrome builds the URL from the request's Host header.
func (a address) debuggerPath(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "ws" && u.Scheme != "wss":
		return "", fmt.Errorf("/json/version: webSocketDebuggerUrl %.100q is not a websocket's address", text)
	case u.User != nil:
		return "", errors.New("/json/version: webSocketDebuggerUrl carries a name or password")
	case !a.sameHost(u):
		return "", fmt.Errorf("/json/version points elsewhere, to %.100q, and is not followed: %w", u.Host, ErrRemote)
	case !isBrowserPath(u.EscapedPath()) || u.RawQuery != "":
		return "", fmt.Errorf("/json/version: webSocketDebuggerUrl %.100q is not a browser's", text)
	}
	return u.Path, nil
}

// sameHost compares with what was asked, this machine's names for itself being one.
// Where we sent another Host header, Chrome repeats that one, without our port.
func (a address) sameHost(u *url.URL) bool {
	name, port := u.Hostname(), u.Port()
	if port == "" && a.hostHdr != "localhost" {
		port = map[string]string{"ws": "80", "wss": "443"}[u.Scheme]
	}
	same := normalHost(name) == normalHost(a.name) || isLoopback(name) && isLoopback(a.name)
	if a.hostHdr == "localhost" {
		return (same || isLoopback(name)) && (port == "" || port == a.port)
	}
	return same && port == a.port
}

// productName turns "Chrome/156.0.8078.114" into "Chrome". The text is a stranger's.
func productName(s string) string {
	s, _, _ = strings.Cut(s, "/")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	switch s = strings.TrimSpace(s); s {
	case "Edg":
		return "Edge"
	case "HeadlessChrome":
		return "Chrome"
	}
	return s[:min(len(s), maxProductRunes)]
}
