package ui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

// serve serves the page under the token "right" until the test ends, and returns its origin.
func serve(t *testing.T, audit string, builtins ...host.Builtin) string {
	t.Helper()
	return serveWith(t, &ui.Options{Audit: audit}, builtins...)
}

// serveWith is serve with options.
func serveWith(t *testing.T, o *ui.Options, builtins ...host.Builtin) string {
	t.Helper()
	c := o.Config
	if c == nil {
		c = config.Default()
	}
	c.Audit.Enabled = false // the session makes no calls
	s, err := host.NewSession(&host.SessionOptions{Config: c, Builtins: builtins})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	o.Session, o.Config, o.Token = s, c, "right"
	go func() { done <- ui.Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	s.Start(t.Context())
	return "http://" + l.Addr().String()
}

// newClient keeps its connections until the test ends.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestWhoIsServed(t *testing.T) {
	base, client := serve(t, ""), newClient(t)
	for _, tt := range []struct {
		name, method, path, host string
		header                   []string // names and values
		want                     int
	}{
		{"page", "GET", "/", "", nil, 200},
		{"script", "GET", "/page.js", "", nil, 200},
		{"events without a token", "GET", "/events", "", nil, 401},
		{"events with an empty token", "GET", "/events?token=", "", nil, 401},
		{"events with a wrong token", "GET", "/events?token=wrong", "", nil, 401},
		{"page under a foreign host", "GET", "/", "evil.example", nil, 403},
		{"events under a foreign host", "GET", "/events?token=right", "evil.example", nil, 403},
		{"events of a foreign origin", "GET", "/events?token=right", "", []string{"Origin", "http://evil.example"}, 403},
		{"events of a foreign site", "GET", "/events?token=right", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"events of another port of this machine", "GET", "/events?token=right", "", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"post", "POST", "/", "", []string{"Authorization", "Bearer right"}, 405},
		{"answer without a token", "POST", "/answer", "", []string{"Content-Type", "application/json"}, 401},
		{"answer with a wrong token", "POST", "/answer", "", []string{"Authorization", "Bearer wrong", "Content-Type", "application/json"}, 401},
		{"answer with the token in its address", "POST", "/answer?token=right", "", []string{"Content-Type", "application/json"}, 401},
		{"answer of another site", "POST", "/answer", "", []string{"Authorization", "Bearer right", "Origin", "http://evil.example"}, 403},
		{"answer of a form", "POST", "/answer", "", []string{"Authorization", "Bearer right", "Content-Type", "text/plain"}, 415},
		{"answer without words", "POST", "/answer", "", []string{"Authorization", "Bearer right", "Content-Type", "application/json"}, 400},
		{"answer by get", "GET", "/answer", "", []string{"Authorization", "Bearer right"}, 404},
		{"no such file", "GET", "/ui.go", "", nil, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		for h := tt.header; len(h) > 0; h = h[2:] {
			req.Header.Set(h[0], h[1])
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: got %d, want %d: %s", tt.name, res.StatusCode, tt.want, body)
		}
		if p := res.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || !strings.Contains(p, "frame-ancestors 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", tt.name, p)
		}
		if c := res.Header.Values("Set-Cookie"); len(c) > 0 {
			t.Errorf("%s: a cookie, which every port of this host gets: %q", tt.name, c)
		}
	}
}

// open opens the stream and returns its status and its body.
func open(t *testing.T, client *http.Client, base string) (int, io.ReadCloser) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", base+"/events?token=right", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res.StatusCode, res.Body
}

// newEvents returns a function that decodes the next event of a stream.
func newEvents(body io.Reader) func(v any) error {
	r := bufio.NewReader(body)
	return func(v any) error {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return json.Unmarshal([]byte(data), v)
			}
		}
	}
}

func TestStreams(t *testing.T) {
	base, client := serve(t, ""), newClient(t)
	var first io.ReadCloser
	for i := range ui.MaxStreams {
		code, body := open(t, client, base)
		if line, err := bufio.NewReader(body).ReadString('\n'); code != 200 || err != nil || !strings.HasPrefix(line, `data: {"asks":`) {
			t.Fatalf("stream %d: %d, %q, %v", i, code, line, err)
		}
		if first == nil {
			first = body
		}
	}
	if code, _ := open(t, client, base); code != 503 {
		t.Errorf("stream %d: %d, want 503", ui.MaxStreams, code)
	}
	first.Close() // a page that goes leaves its place
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		code, body := open(t, client, base)
		body.Close()
		if code == 200 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after a page went: %d, want 200", code)
		}
	}
}
