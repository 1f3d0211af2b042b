//go:build unix

package hard_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	openSession = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hard","version":"1"}}}`
	listTools   = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
	// maxBody is the longest body that the endpoint takes: host.MaxHTTPBodyBytes.
	maxBody = 4 << 20
)

// endpoint is a running "aster mcp serve --http".
type endpoint struct {
	*program
	addr, token string
}

var listening = regexp.MustCompile(`http://([\d.]+:\d+)/mcp`)

// serveHTTP starts the gateway on a free port with a token that the test knows.
func (a *arena) serveHTTP(args ...string) *endpoint {
	a.Helper()
	e := &endpoint{token: a.secret("token")}
	file := a.write("token", e.token+"\n")
	e.program = a.start(nil, append([]string{"mcp", "serve", "--http", "127.0.0.1:0", "--token-file", file, "--expose", "both"}, args...)...)
	a.eventually(awaitTimeout, "the program does not say where it listens", func() bool {
		m := listening.FindStringSubmatch(e.stderr.String())
		if m != nil {
			e.addr = m[1]
		}
		return m != nil
	})
	return e
}

// request is one HTTP request and what its answer must be.
type request struct {
	name, method, path, body string
	header                   map[string]string // "" takes a header away
	want                     int
}

// raw sends a request as it is, without a library that would mend it.
func (e *endpoint) raw(r request, session string) (code int, header textproto.MIMEHeader, body string, err error) {
	conn, err := net.DialTimeout("tcp", e.addr, callTimeout)
	if err != nil {
		return 0, nil, "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(callTimeout))
	h := map[string]string{"Host": e.addr, "Authorization": "Bearer " + e.token, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Content-Length": fmt.Sprint(len(r.body)), "Connection": "close"}
	if session != "" {
		h["Mcp-Session-Id"], h["MCP-Protocol-Version"] = session, "2025-11-25"
	}
	for k, v := range r.header {
		h[k] = v
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.method, r.path)
	for k, v := range h {
		if v != "" {
			fmt.Fprintf(&b, "%s: %s\r\n", k, v)
		}
	}
	b.WriteString("\r\n" + r.body)
	go conn.Write(b.Bytes())
	tp := textproto.NewReader(bufio.NewReader(conn))
	line, err := tp.ReadLine()
	if err != nil {
		return 0, nil, "", err
	}
	if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &code); err != nil {
		return 0, nil, "", fmt.Errorf("status line %q", line)
	}
	header, _ = tp.ReadMIMEHeader()
	rest, _ := io.ReadAll(io.LimitReader(tp.R, 1<<20))
	return code, header, string(rest), nil
}

var endpointRequests = []request{
	{name: "a request as it should be", method: "POST", path: "/mcp", body: openSession, want: 200},
	{name: "Host of another name (DNS rebinding)", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": "evil.example"}, want: 403},
	{name: "Host of another name, right port", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": "evil.example:PORT"}, want: 403},
	{name: "Host that ends like ours", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": "127.0.0.1.evil.example:PORT"}, want: 403},
	{name: "Host with userinfo", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": "127.0.0.1@evil.example:PORT"}, want: 400},
	{name: "Host of another port", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": "127.0.0.1:1"}, want: 403},
	{name: "no Host", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Host": ""}, want: 400},
	{name: "an absolute address of another host", method: "POST", path: "http://evil.example/mcp", body: openSession, want: 403},
	{name: "Origin of another site", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Origin": "https://evil.example"}, want: 403},
	{name: "Origin null", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Origin": "null"}, want: 403},
	{name: "Origin of another port here", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Origin": "http://127.0.0.1:1"}, want: 403},
	{name: "Sec-Fetch-Site cross-site", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 403},
	{name: "a preflight of a page", method: "OPTIONS", path: "/mcp", header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, want: 403},
	{name: "no token", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Authorization": ""}, want: 401},
	{name: "a wrong token", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Authorization": "Bearer wrong"}, want: 401},
	{name: "the beginning of the token", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Authorization": "Bearer canary-"}, want: 401},
	{name: "the token under another scheme", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Authorization": "Basic TOKEN"}, want: 401},
	{name: "the token in the address", method: "POST", path: "/mcp?access_token=TOKEN&token=TOKEN", body: openSession, header: map[string]string{"Authorization": ""}, want: 401},
	{name: "no token, a session that is somebody's", method: "POST", path: "/mcp", body: listTools, header: map[string]string{"Authorization": "", "Mcp-Session-Id": "SESSION"}, want: 401},
	{name: "a session that nobody opened", method: "POST", path: "/mcp", body: listTools, header: map[string]string{"Mcp-Session-Id": "fixed-by-me"}, want: 404},
	{name: "a session id chosen at the opening", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Mcp-Session-Id": "fixed-by-me"}, want: 404},
	{name: "another path", method: "POST", path: "/", body: openSession, want: 404},
	{name: "a path that goes up", method: "POST", path: "/mcp/../mcp", body: openSession, want: 404},
	{name: "a path with an encoded slash", method: "POST", path: "/mcp%2f..%2fetc%2fpasswd", body: openSession, want: 404},
	{name: "a path with two slashes", method: "POST", path: "//mcp", body: openSession, want: 404},
	{name: "the debugging paths of Go", method: "GET", path: "/debug/pprof/", want: 404},
	{name: "another method", method: "PUT", path: "/mcp", body: openSession, want: 405},
	{name: "TRACE", method: "TRACE", path: "/mcp", want: 405},
	{name: "a body that is too long", method: "POST", path: "/mcp", body: strings.Repeat("x", maxBody+1), want: 413},
	{name: "a length that lies about a huge body", method: "POST", path: "/mcp", body: "{}", header: map[string]string{"Content-Length": "99999999999"}, want: 413},
	{name: "two ways to say the length (smuggling)", method: "POST", path: "/mcp", body: "0\r\n\r\nGET /mcp HTTP/1.1\r\n\r\n", header: map[string]string{"Transfer-Encoding": "chunked, identity"}, want: 501},
	{name: "a body that is no JSON", method: "POST", path: "/mcp", body: "hello", want: 400},
	{name: "a body of another type", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"Content-Type": "text/plain"}, want: 415},
	{name: "headers that are too long", method: "POST", path: "/mcp", body: openSession, header: map[string]string{"X-Long": strings.Repeat("h", 128<<10)}, want: 431},
	{name: "a compressed body", method: "POST", path: "/mcp", body: "\x1f\x8b\x08\x00", header: map[string]string{"Content-Encoding": "gzip"}, want: 400},
}

func TestEndpoint(t *testing.T) { play(t, "endpoint", endpointAttacks()) }

func endpointAttacks() []attack {
	return []attack{
		{name: "requests", rows: []int{18}, did: fmt.Sprintf("%d requests: rebinding Hosts, Origins, tokens, fixed sessions, paths, methods, sizes, smuggling", len(endpointRequests)), run: endpointRequest},
		{name: "slow", did: "100 connections that send headers or bodies byte by byte", run: endpointSlow},
		{name: "sessions", did: "two clients, one of which guesses and ends the other's session without the token; more sessions than there may be", run: endpointSessions},
		{name: "listen", rows: []int{18}, did: "addresses that other machines could reach, without --http-host", run: endpointListen},
	}
}

func endpointRequest(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	e := a.serveHTTP()
	_, h, _, err := e.raw(request{method: "POST", path: "/mcp", body: openSession}, "")
	if err != nil {
		a.Fatal(err)
	}
	session := h.Get("Mcp-Session-Id")
	if len(session) < 20 {
		a.Errorf("the session's id is %q", session)
	}
	port := e.addr[strings.LastIndexByte(e.addr, ':')+1:]
	fill := strings.NewReplacer("PORT", port, "TOKEN", e.token, "SESSION", session)
	for _, r := range endpointRequests {
		filled := map[string]string{}
		for k, v := range r.header {
			filled[k] = fill.Replace(v)
		}
		r.header, r.path = filled, fill.Replace(r.path)
		code, h, body, err := e.raw(r, "")
		if err != nil {
			a.Errorf("%s: %v", r.name, err)
			continue
		}
		if code != r.want {
			a.Errorf("%s: %d, want %d: %.200s", r.name, code, r.want, body)
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			a.Errorf("%s: pages may read the answer", r.name)
		}
		if code != 200 && (h.Get("Mcp-Session-Id") != "" || strings.Contains(body, "aster_mcp")) {
			a.Errorf("%s: %d, but it was served: %.200s", r.name, code, body)
		}
		a.clean(r.name, body)
	}
	a.holds("each refused with its own code, no CORS header, no token in an answer")
	e.stop()
}

// stop ends the endpoint with TERM.
func (e *endpoint) stop() {
	e.a.Helper()
	begun := time.Now()
	e.signal(syscall.SIGTERM)
	if !e.ended(leaveTimeout) {
		e.a.Fatalf("the endpoint did not end; stderr:\n%s", e.stderr.String())
	}
	if e.err != nil {
		e.a.Errorf("the endpoint ended with %v; stderr:\n%s", e.err, e.stderr.String())
	}
	e.a.figure("end %s", ms(time.Since(begun)))
}

// endpointSlow holds connections half open; the endpoint serves others meanwhile and cuts
// them off within its time limit.
func endpointSlow(a *arena) {
	const slow = 100
	a.config([]string{"good: good"}, "policy: {approve: never}")
	e := a.serveHTTP()
	cut := make(chan time.Duration, slow)
	begun := time.Now()
	for i := range slow {
		conn, err := net.Dial("tcp", e.addr)
		if err != nil {
			a.Fatal(err)
		}
		defer conn.Close()
		head := "POST /mcp HTTP/1.1\r\nHost: " + e.addr + "\r\nAuthorization: Bearer " + e.token + "\r\n"
		if i%2 == 0 {
			head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{"
		}
		io.WriteString(conn, head)
		go func() { // a byte now and then, which must buy no time
			for {
				if _, err := conn.Write([]byte{' '}); err != nil {
					return
				}
				time.Sleep(500 * time.Millisecond)
			}
		}()
		go func() {
			io.Copy(io.Discard, conn)
			cut <- time.Since(begun)
		}()
	}
	code, _, body, err := e.raw(request{method: "POST", path: "/mcp", body: openSession}, "")
	if err != nil || code != 200 {
		a.Errorf("meanwhile: %d %v %.200s", code, err, body)
	}
	var last time.Duration
	for range slow {
		select {
		case last = <-cut:
		case <-time.After(10*time.Second + slackTime):
			a.Fatal("slow connections are left open")
		}
	}
	a.holds("others served meanwhile, slow ones cut off")
	a.figure("%d slow connections gone after %s", slow, ms(last))
	e.stop()
}

func endpointSessions(a *arena) {
	const most = 64 // host.MaxHTTPSessions
	a.config([]string{"good: good"}, "policy: {approve: never}")
	e := a.serveHTTP()
	ids := map[string]bool{}
	refused := 0
	for range most + 8 {
		code, h, _, err := e.raw(request{method: "POST", path: "/mcp", body: openSession}, "")
		switch {
		case err != nil:
			a.Fatal(err)
		case code == 200:
			ids[h.Get("Mcp-Session-Id")] = true
		case code == 503:
			refused++
		default:
			a.Fatalf("opening a session: %d", code)
		}
	}
	if len(ids) != most || refused != 8 {
		a.Errorf("%d sessions, all different, and %d refused", len(ids), refused)
	}
	for id := range ids {
		if code, _, _, err := e.raw(request{method: "DELETE", path: "/mcp", header: map[string]string{"Authorization": ""}}, id); err != nil || code != 401 {
			a.Fatalf("ending a session without the token: %d %v", code, err)
		}
		if code, _, body, err := e.raw(request{method: "POST", path: "/mcp", body: listTools}, id); err != nil || code != 200 || !strings.Contains(body, "good__echo") {
			a.Fatalf("the session after that: %d %v %.200s", code, err, body)
		}
		if code, _, _, err := e.raw(request{method: "DELETE", path: "/mcp"}, id); err != nil || code >= 300 {
			a.Fatalf("ending a session: %d %v", code, err)
		}
		if code, _, _, err := e.raw(request{method: "POST", path: "/mcp", body: listTools}, id); err != nil || code != 404 {
			a.Fatalf("a session that has ended: %d %v", code, err)
		}
		if code, _, _, err := e.raw(request{method: "POST", path: "/mcp", body: openSession}, ""); err != nil || code != 200 {
			a.Fatalf("opening a session in its place: %d %v", code, err)
		}
		break
	}
	a.holds("%d sessions with ids of their own, then 503; an ended one is gone and makes room", most)
	e.stop()
}

func endpointListen(a *arena) {
	a.config(nil)
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "evil.example:80", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:-1", "unix:/tmp/x", "http://127.0.0.1:0", "127.0.0.1:0/mcp"} {
		out, errs, code := a.run(nil, "mcp", "serve", "--http", addr)
		if code == 0 || errs == "" || out != "" {
			a.Errorf("--http %s: exit code %d, %q, %q", addr, code, out, errs)
		}
	}
	a.holds("each refused with a reason")
}

// httpClient is an MCP client of the endpoint, for load.
type httpClient struct {
	e       *endpoint
	http    *http.Client
	session string
	next    int
}

// open starts a session.
func (e *endpoint) open() (*httpClient, error) {
	c := &httpClient{e: e, http: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}}
	_, err := c.post(openSession)
	if err == nil && c.session == "" {
		err = errors.New("no session")
	}
	if err == nil {
		_, err = c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c, err
}

func (c *httpClient) post(body string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+c.e.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.e.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, text)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return string(text), err
}

// call calls a tool and returns the text of the answer.
func (c *httpClient) call(tool, arguments string) (string, error) {
	c.next++
	text, err := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, c.next, quote(tool), arguments))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok && !strings.HasPrefix(line, "{") {
			continue
		}
		var r answer
		if json.Unmarshal([]byte(data), &r) == nil && string(r.ID) == fmt.Sprint(c.next) {
			if why, failed := r.isError(); failed {
				return "", errors.New(why)
			}
			return r.text(), nil
		}
	}
	return "", fmt.Errorf("%w in %.200q", errNoAnswer, text)
}

// close ends the session.
func (c *httpClient) close() {
	c.e.raw(request{method: http.MethodDelete, path: "/mcp"}, c.session)
	c.http.CloseIdleConnections()
}
