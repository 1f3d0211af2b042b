package cdptest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cdptest.EndpointTimeout)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, e *cdptest.Endpoint) *cdptest.Conn {
	t.Helper()
	c, err := cdptest.Dial(within(t), e.WS())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func get(t *testing.T, url, host string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// waitFor polls until ok.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(cdptest.EndpointTimeout); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s within %v", what, cdptest.EndpointTimeout)
		}
	}
}

func TestEndpointVersion(t *testing.T) {
	e := cdptest.NewEndpoint(t, nil)
	for _, host := range []string{"", "localhost", "a.localhost:5"} {
		resp, body := get(t, e.HTTP+"/json/version", host)
		var v struct {
			Browser              string
			WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
		}
		if err := json.Unmarshal([]byte(body), &v); err != nil || resp.StatusCode != 200 {
			t.Fatalf("host %q: %s, %v in %s", host, resp.Status, err, body)
		}
		want := "ws://" + host + e.Path()
		if host == "" {
			want = e.WS()
		}
		if v.WebSocketDebuggerURL != want || v.Browser == "" {
			t.Errorf("host %q: got %+v, want the URL %s", host, v, want)
		}
	}
	if resp, body := get(t, e.HTTP+"/json/version", "evil.example"); resp.StatusCode != 500 || !strings.Contains(body, "not an IP address") {
		t.Errorf("foreign host: %s %s", resp.Status, body)
	}
	e.SetVersion(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) })
	if resp, _ := get(t, e.HTTP+"/json/version", ""); resp.StatusCode != 302 {
		t.Errorf("own answer: %s", resp.Status)
	}
	if e.Gets() != 5 || e.Upgrades() != 0 || len(e.Hosts()) != 5 || e.Hosts()[1] != "localhost" {
		t.Errorf("%d gets, %d upgrades, hosts %v", e.Gets(), e.Upgrades(), e.Hosts())
	}
}

func TestEndpointCommandsAndEvents(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{
		OnConnect: func(c *cdptest.FakeConn) { c.Ping() },
		Handler: func(c *cdptest.FakeConn, m cdptest.Message) {
			switch m.Method {
			case "Fake.fail":
				c.Error(m.ID, -32000, "no such thing")
			case "Fake.event":
				c.Event(m.SessionID, "Fake.happened", map[string]int{"n": 1})
				c.Reply(m.ID, m.SessionID, struct{}{})
			default:
				c.Reply(m.ID, m.SessionID, m.Params)
			}
		},
	})
	c := dial(t, e)
	events := make(chan cdptest.Event, 1)
	c.Subscribe(func(ev cdptest.Event) { events <- ev })
	got, err := c.Call(within(t), "S1", "Fake.echo", map[string]int{"a": 1})
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("echo gave %s, %v", got, err)
	}
	if _, err := c.Call(within(t), "S1", "Fake.fail", nil); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("error was %v", err)
	}
	if _, err := c.Call(within(t), "S2", "Fake.event", nil); err != nil {
		t.Error(err)
	}
	if ev := <-events; ev.Session != "S2" || ev.Method != "Fake.happened" || string(ev.Params) != `{"n":1}` {
		t.Errorf("event was %+v", ev)
	}
	fc := e.Conn(t)
	if ms := fc.Messages(); len(ms) != 3 || ms[1].Method != "Fake.fail" || ms[1].SessionID != "S1" {
		t.Errorf("messages: %v", ms)
	}
	c.Close()
	<-fc.Done()
}

// TestEndpointLargeMessages sends each length form of RFC 6455 both ways.
func TestEndpointLargeMessages(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: func(c *cdptest.FakeConn, m cdptest.Message) {
		c.Reply(m.ID, m.SessionID, m.Params)
	}})
	c := dial(t, e)
	for _, n := range []int{1, 80, 124, 125, 126, 1 << 15, 1<<16 - 1, 1 << 16, 1 << 20} {
		s := strings.Repeat("x", n)
		got, err := c.Call(within(t), "", "Fake.echo", s)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if !bytes.Equal(got, []byte(`"`+s+`"`)) {
			t.Fatalf("%d bytes came back as %d", n, len(got)-2)
		}
	}
}

func TestEndpointDrop(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: func(c *cdptest.FakeConn, m cdptest.Message) { c.Drop() }})
	c := dial(t, e)
	if _, err := c.Call(within(t), "", "Fake.any", nil); err == nil {
		t.Error("a call on a cut connection succeeded")
	}
	before := e.WS()
	dial(t, e)
	e.Conn(t) // the one that was cut
	fc := e.Conn(t)
	e.Restart()
	<-fc.Done()
	if e.WS() == before {
		t.Error("a restart kept the websocket path")
	}
	if _, err := cdptest.Dial(within(t), before); err == nil {
		t.Error("the path of the earlier start is still accepted")
	}
	dial(t, e)
}

func TestEndpointConsent(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true, Hold: true})
	resp, body := get(t, e.HTTP+"/json/version", "")
	if resp.StatusCode != 404 || body != "" || resp.Header.Get("Date") != "" {
		t.Errorf("/json/version: %s %v %q", resp.Status, resp.Header, body)
	}
	type result struct {
		c   *cdptest.Conn
		err error
	}
	try := func() chan result {
		ch := make(chan result, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), cdptest.EndpointTimeout)
			defer cancel()
			c, err := cdptest.Dial(ctx, strings.TrimSuffix(e.WS(), e.Path())+"/devtools/browser/any")
			ch <- result{c, err}
		}()
		return ch
	}
	first := try()
	waitFor(t, "held handshake", func() bool { return e.Waiting() == 1 })
	e.Refuse()
	if r := <-first; r.err == nil || !strings.Contains(r.err.Error(), "403") {
		t.Errorf("refused handshake gave %v", r.err)
	}
	e.Hold()
	second := try()
	waitFor(t, "held handshake", func() bool { return e.Waiting() == 1 })
	e.Allow()
	r := <-second
	if r.err != nil {
		t.Fatal(r.err)
	}
	defer r.c.Close()
	if _, err := r.c.Call(within(t), "", "Fake.any", nil); err != nil {
		t.Error(err)
	}
	if e.Upgrades() != 2 || e.Waiting() != 0 {
		t.Errorf("%d upgrades, %d waiting", e.Upgrades(), e.Waiting())
	}
	// A handshake that is given up, and one that is held when the test ends, hold up nobody.
	e.Hold()
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { defer close(gone); cdptest.Dial(ctx, e.WS()) }()
	waitFor(t, "held handshake", func() bool { return e.Waiting() == 1 })
	cancel()
	<-gone
	waitFor(t, "end of the handshake", func() bool { return e.Waiting() == 0 })
	go cdptest.Dial(context.Background(), e.WS())
	waitFor(t, "held handshake", func() bool { return e.Waiting() == 1 })
	e.Close()
}

func TestEndpointPortFile(t *testing.T) {
	e := cdptest.NewEndpoint(t, nil)
	dir := filepath.Join(t.TempDir(), "profile")
	e.WritePortFile(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
	if err != nil {
		t.Fatal(err)
	}
	port, path, _ := strings.Cut(string(b), "\n")
	if "ws://"+net.JoinHostPort("127.0.0.1", port)+path != e.WS() {
		t.Errorf("file is %q, the URL is %s", b, e.WS())
	}
}

// TestEndpointRefusesBadFrames sends what Chrome refuses.
func TestEndpointRefusesBadFrames(t *testing.T) {
	for name, frame := range map[string]string{
		"unmasked":   "\x81\x02{}",
		"fragmented": "\x01\x82\x00\x00\x00\x00{}",
		"reserved":   "\xc1\x82\x00\x00\x00\x00{}",
		"too long":   "\x81\xff\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00",
		"not json":   "\x81\x82\x00\x00\x00\x00}{",
	} {
		e := cdptest.NewEndpoint(t, nil)
		conn, err := net.Dial("tcp", strings.TrimPrefix(e.HTTP, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "GET "+e.Path()+" HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		fc := e.Conn(t)
		io.WriteString(conn, frame)
		select {
		case <-fc.Done():
		case <-time.After(cdptest.EndpointTimeout):
			t.Errorf("%s: the connection stayed open", name)
		}
	}
}
