package websrv

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFinalFailures pins that a page whose failure another try would only repeat is asked for
// once, and that no browser is started for it.
func TestFinalFailures(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		browser bool // is tried
		want    string
	}{
		{"bomb", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		}, false, "larger than 1 MiB"},
		{"too long", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write(make([]byte, 2<<20))
		}, false, "larger than 1 MiB"},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Length", "5000")
			w.Write([]byte("<p>The first words of a page"))
		}, false, "before the answer was complete"},
		{"silent", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, "did not answer in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				tt.handler(w, r)
			}))
			t.Cleanup(site.Close)
			s, err := NewServer(&Options{AllowPrivate: []string{strings.TrimPrefix(site.URL, "http://")}, FetchTimeout: 2 * time.Second,
				MaxBodyBytes: 1 << 20, NoCache: true, Chromium: "/nonexistent/chromium"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			_, err = s.Call(testContext(t, time.Minute), toolExtract, json.RawMessage(fmt.Sprintf(`{"url": %q}`, site.URL)), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
			if got := strings.Contains(err.Error(), "Chromium"); got != tt.browser {
				t.Errorf("the browser was tried: %v, want %v, in: %v", got, tt.browser, err)
			}
			if got := asked.Load(); got != 1 {
				t.Errorf("the page was asked for %d times, want once", got)
			}
		})
	}
}

// TestCallTime pins that a call ends before clients give up, which many do after a minute.
func TestCallTime(t *testing.T) {
	s, err := NewServer(&Options{Chromium: chromiumOff})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if s.opts.Timeout > 45*time.Second {
		t.Errorf("a call may take %v", s.opts.Timeout)
	}
}

// bareProvider is a hosted provider that gives a page's text, and its HTML if it has some.
type bareProvider struct{ name, html string }

func (p *bareProvider) Name() string { return p.name }
func (p *bareProvider) Local() bool  { return false }
func (p *bareProvider) Extract(_ context.Context, r *PageRequest) (*Page, error) {
	return &Page{URL: r.URL, FinalURL: r.URL, Markdown: strings.Repeat("Words of the page. ", 40), HTML: p.html}, nil
}

// TestNoHTMLGoesOn asks for HTML where the first provider gives text alone: the next one is asked.
func TestNoHTMLGoesOn(t *testing.T) {
	d := NewDispatcher([]Provider{&bareProvider{name: "text"}, &bareProvider{name: "both", html: "<p>Words"}}, nil)
	for _, tt := range []struct {
		html bool
		want string
	}{{true, "both"}, {false, "text"}} {
		a, err := d.Extract(t.Context(), &PageRequest{URL: "https://a.net/", HTML: tt.html}, false, "")
		if err != nil || a.Provider != tt.want {
			t.Errorf("HTML %v: got %+v, %v, want the answer of %q", tt.html, a, err, tt.want)
		}
	}
}
