package ui_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

func TestWhoIsServed(t *testing.T) {
	c := config.Default()
	c.Audit.Enabled = false
	s, err := host.NewSession(&host.SessionOptions{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ui.Serve(ctx, l, &ui.Options{Session: s, Config: c, Token: "right"}) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	jar, _ := cookiejar.New(nil)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	client := &http.Client{Jar: jar, Transport: tr}
	base := "http://" + l.Addr().String()
	for _, tt := range []struct {
		name, path, host, header, value string
		want                            int
	}{
		{"no cookie", "/", "", "", "", 401},
		{"wrong token", "/?token=wrong", "", "", "", 401},
		{"foreign host", "/?token=right", "evil.example", "", "", 403},
		{"foreign origin", "/?token=right", "", "Origin", "http://evil.example", 403},
		{"foreign site", "/?token=right", "", "Sec-Fetch-Site", "cross-site", 403},
		{"token", "/?token=right", "", "", "", 200},
		{"cookie", "/", "", "", "", 200},
		{"cookie of another site's request", "/", "", "Sec-Fetch-Site", "cross-site", 403},
	} {
		req, _ := http.NewRequestWithContext(ctx, "GET", base+tt.path, nil)
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
