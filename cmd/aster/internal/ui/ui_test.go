package ui_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
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
	c := config.Default()
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
	go func() { done <- ui.Serve(ctx, l, &ui.Options{Session: s, Config: c, Token: "right", Audit: audit}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	s.Start(t.Context())
	return "http://" + l.Addr().String()
}

// newClient keeps cookies, and its connections until the test ends.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: tr}
}

func TestWhoIsServed(t *testing.T) {
	base, client := serve(t, ""), newClient(t)
	for _, tt := range []struct {
		name, method, path, host, header, value string
		want                                    int
	}{
		{"no cookie", "GET", "/", "", "", "", 401},
		{"events without a cookie", "GET", "/events", "", "", "", 401},
		{"events with the token in place of the cookie", "GET", "/events?token=right", "", "", "", 401},
		{"script without a cookie", "GET", "/page.js", "", "", "", 401},
		{"wrong token", "GET", "/?token=wrong", "", "", "", 401},
		{"empty token", "GET", "/?token=", "", "", "", 401},
		{"foreign host", "GET", "/?token=right", "evil.example", "", "", 403},
		{"foreign origin", "GET", "/?token=right", "", "Origin", "http://evil.example", 403},
		{"foreign site", "GET", "/?token=right", "", "Sec-Fetch-Site", "cross-site", 403},
		{"another port of this machine", "GET", "/?token=right", "", "Sec-Fetch-Site", "same-site", 403},
		{"forged cookie", "GET", "/events", "", "Cookie", "aster_ui_" + base[strings.LastIndex(base, ":")+1:] + "=right", 401},
		{"token", "GET", "/?token=right", "", "", "", 200},
		{"cookie", "GET", "/", "", "", "", 200},
		{"cookie of another site's request", "GET", "/", "", "Sec-Fetch-Site", "cross-site", 403},
		{"events of another site's request", "GET", "/events", "", "Sec-Fetch-Site", "cross-site", 403},
		{"cookie under a foreign host", "GET", "/", "evil.example", "", "", 403},
		{"post", "POST", "/", "", "", "", 405},
		{"no such file", "GET", "/ui.go", "", "", "", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		if tt.header != "" {
			req.Header.Set(tt.header, tt.value)
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
		if p := res.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", tt.name, p)
		}
	}
}

// open opens the stream and returns its status and its body.
func open(t *testing.T, client *http.Client, base string) (int, io.ReadCloser) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", base+"/events", nil)
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

func TestStreams(t *testing.T) {
	base, client := serve(t, ""), newClient(t)
	res, err := client.Get(base + "/?token=right")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	var first io.ReadCloser
	for i := range ui.MaxStreams {
		code, body := open(t, client, base)
		if line, err := bufio.NewReader(body).ReadString('\n'); code != 200 || err != nil || !strings.HasPrefix(line, `data: {"servers":`) {
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
