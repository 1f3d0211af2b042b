package websrv

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func coding(t testing.TB, name string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriterLevel(&b, brotli.BestSpeed)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case "zlib":
		w = zlib.NewWriter(&b)
	case "raw":
		z, err := flate.NewWriter(&b, 6)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return body
	}
	w.Write(body)
	w.Close()
	return b.Bytes()
}

// codedBy serves body in codings.
func codedBy(header string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", header)
		w.Header().Set("Content-Type", "text/plain")
		w.Write(body)
	}
}

func TestContentCodings(t *testing.T) {
	text := bytes.Repeat([]byte("to be or not to be. "), 5000)
	for _, tt := range []struct {
		header string
		body   []byte
	}{
		{"gzip", coding(t, "gzip", text)}, {"x-gzip", coding(t, "gzip", text)}, {"br", coding(t, "br", text)}, {"zstd", coding(t, "zstd", text)},
		{"deflate", coding(t, "zlib", text)}, {"deflate", coding(t, "raw", text)}, {"identity", text}, {"GZIP", coding(t, "gzip", text)},
		{"gzip, br", coding(t, "br", coding(t, "gzip", text))},
	} {
		w := newFakeWeb(t)
		w.host("coded.example", codedBy(tt.header, tt.body))
		n := w.open(networkOptions{})
		resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://coded.example/"})
		if err != nil {
			t.Errorf("%s: %v", tt.header, err)
			continue
		}
		if !bytes.Equal(resp.Body, text) || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes, want %d; coding %q", tt.header, len(resp.Body), len(text), resp.Header.Get("Content-Encoding"))
		}
		w.noneInside(t)
	}
}

func TestBrokenCodings(t *testing.T) {
	text := bytes.Repeat([]byte("to be or not to be. "), 5000)
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for _, tt := range []struct {
		name, header string
		body         []byte
		ok           bool
	}{
		{"empty", "gzip", nil, true}, {"empty", "br", nil, true}, {"empty", "zstd", nil, true},
		{"no gzip", "gzip", []byte("plain text"), false}, {"no zstd", "zstd", []byte("plain text"), false}, {"no brotli", "br", []byte("\xff\xff plain text"), false},
		{"cut", "gzip", cut(coding(t, "gzip", text)), false}, {"cut", "br", cut(coding(t, "br", text)), false}, {"cut", "zstd", cut(coding(t, "zstd", text)), false},
		{"unknown", "lzma", text, false}, {"many", "gzip, gzip, gzip", coding(t, "gzip", coding(t, "gzip", coding(t, "gzip", text))), false},
	} {
		w := newFakeWeb(t)
		w.host("coded.example", codedBy(tt.header, tt.body))
		_, err := w.open(networkOptions{}).do(testContext(t, time.Minute), &request{URL: "http://coded.example/"})
		if tt.ok != (err == nil) || !tt.ok && !errors.Is(err, errEncoding) {
			t.Errorf("%s %s: got %v", tt.name, tt.header, err)
		}
	}
}

func TestBombs(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, name := range []string{"gzip", "br", "zstd", "zlib"} {
		header := name
		if name == "zlib" {
			header = "deflate"
		}
		w := newFakeWeb(t)
		w.host("bomb.example", codedBy(header, coding(t, name, zeros)))
		n := w.open(networkOptions{MaxBodyBytes: 1 << 20})
		if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://bomb.example/"}); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: got %v, want errTooLarge", name, err)
		}
		resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://bomb.example/", Truncate: true, MaxBytes: 1000})
		if err != nil || len(resp.Body) != 1000 || !resp.Truncated {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	for _, tt := range []struct {
		size, limit int
		truncate    bool
		want        int // -1 for errTooLarge
	}{
		{1000, 1000, false, 1000}, {1001, 1000, false, -1}, {1001, 1000, true, 1000}, {1000, 1000, true, 1000}, {0, 1000, false, 0},
	} {
		for _, chunked := range []bool{false, true} {
			w := newFakeWeb(t)
			w.host("big.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if chunked {
					rw.WriteHeader(http.StatusOK)
					rw.(http.Flusher).Flush()
				}
				rw.Write(bytes.Repeat([]byte("x"), tt.size))
			}))
			n := w.open(networkOptions{})
			resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://big.example/", MaxBytes: int64(tt.limit), Truncate: tt.truncate})
			switch {
			case tt.want < 0:
				if !errors.Is(err, errTooLarge) {
					t.Errorf("%+v: got %v, want errTooLarge", tt, err)
				}
			case err != nil || len(resp.Body) != tt.want || resp.Truncated != (tt.size > tt.limit):
				t.Errorf("%+v: got %v, %+v", tt, err, resp)
			}
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	w := newFakeWeb(t)
	w.host("headers.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for i := range 40 {
			rw.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 10<<10))
		}
	}))
	if _, err := w.open(networkOptions{}).do(testContext(t, time.Minute), &request{URL: "http://headers.example/"}); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v, want errTooLarge", err)
	}
}

func TestRedirects(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	note := func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, strings.TrimSpace(fmt.Sprintf("%s %s%s key=%s cookie=%s %s", r.Method, r.Host, r.URL, r.Header.Get("X-Key"), r.Header.Get("Cookie"), body)))
	}
	w := newFakeWeb(t)
	w.host("a.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		note(rw, r)
		rw.Header().Set("Set-Cookie", "id=1")
		switch r.URL.Path {
		case "/same":
			http.Redirect(rw, r, "/b?c=d", http.StatusFound)
		case "/other":
			http.Redirect(rw, r, "http://b.example/x", http.StatusFound)
		case "/keep":
			http.Redirect(rw, r, "http://b.example/x", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(rw, r, "/loop", http.StatusMovedPermanently)
		case "/bad":
			rw.Header().Set("Location", "http://[broken/")
			rw.WriteHeader(http.StatusFound)
		case "/none":
			rw.WriteHeader(http.StatusFound)
		case "/refresh":
			htmlPage(`<html><head><meta http-equiv=refresh content="3;url=/b"></head>`)(rw, r)
		case "/late":
			htmlPage(`<html><head><meta http-equiv=refresh content="30;url=/b"></head>`)(rw, r)
		case "/self":
			htmlPage(`<html><head><meta http-equiv=refresh content="1;url=/self"></head>`)(rw, r)
		}
	}))
	w.host("b.example", http.HandlerFunc(note))
	n := w.open(networkOptions{NoCache: true})
	key := http.Header{"X-Key": {"k"}, "Cookie": {"c=1"}}
	for _, tt := range []struct {
		r     request
		final string
		seen  []string
		err   error
	}{
		{r: request{URL: "http://a.example/same", Header: key}, final: "http://a.example/b?c=d", seen: []string{"GET a.example/same key=k cookie=c=1", "GET a.example/b?c=d key=k cookie=c=1"}},
		{r: request{URL: "http://a.example/other", Header: key}, final: "http://b.example/x", seen: []string{"GET a.example/other key=k cookie=c=1", "GET b.example/x key= cookie="}},
		{r: request{URL: "http://a.example/other", Method: "POST", Body: []byte("body"), Header: key}, final: "http://b.example/x", seen: []string{"POST a.example/other key=k cookie=c=1 body", "GET b.example/x key= cookie="}},
		{r: request{URL: "http://a.example/keep", Method: "POST", Body: []byte("body"), Header: key}, final: "http://b.example/x", seen: []string{"POST a.example/keep key=k cookie=c=1 body", "POST b.example/x key= cookie= body"}},
		{r: request{URL: "http://a.example/other", NoRedirect: true}, final: "http://a.example/other", seen: []string{"GET a.example/other key= cookie="}},
		{r: request{URL: "http://a.example/none"}, final: "http://a.example/none", seen: []string{"GET a.example/none key= cookie="}},
		{r: request{URL: "http://a.example/refresh", RefreshRedirect: true}, final: "http://a.example/b", seen: []string{"GET a.example/refresh key= cookie=", "GET a.example/b key= cookie="}},
		{r: request{URL: "http://a.example/refresh"}, final: "http://a.example/refresh", seen: []string{"GET a.example/refresh key= cookie="}},
		{r: request{URL: "http://a.example/late", RefreshRedirect: true}, final: "http://a.example/late", seen: []string{"GET a.example/late key= cookie="}},
		{r: request{URL: "http://a.example/self", RefreshRedirect: true}, final: "http://a.example/self", seen: []string{"GET a.example/self key= cookie="}},
		{r: request{URL: "http://a.example/loop"}, err: errTooManyRedirects},
		{r: request{URL: "http://a.example/bad"}, err: errBlocked},
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		resp, err := n.do(testContext(t, time.Minute), &tt.r)
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.r.URL, err, tt.err)
		}
		if tt.err != nil {
			continue
		}
		if resp.FinalURL != tt.final || resp.URL != tt.r.URL || len(resp.Redirects) != len(tt.seen)-1 || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got %+v", tt.r.URL, resp)
		}
		if d := cmp.Diff(tt.seen, seen); d != "" {
			t.Errorf("%s: requests (-want +got):\n%s", tt.r.URL, d)
		}
	}
}

func TestTrusted(t *testing.T) {
	var hits int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(rw, r, other.URL, http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(rw, r, "/done", http.StatusFound)
		default:
			fmt.Fprint(rw, "key="+r.Header.Get("Authorization"))
		}
	}))
	defer s.Close()
	n, err := newNetwork(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	h := http.Header{"Authorization": {"Bearer secret"}}
	resp, err := n.do(testContext(t, time.Minute), &request{URL: s.URL + "/here", Header: h, Trusted: true, IPv4: true})
	if err != nil || string(resp.Body) != "key=Bearer secret" {
		t.Errorf("got %v, %+v", err, resp)
	}
	_, err = n.do(testContext(t, time.Minute), &request{URL: s.URL + "/away", Header: h, Trusted: true})
	if !errors.Is(err, errBlocked) || hits != 0 {
		t.Errorf("another origin: %v, %d hits", err, hits)
	}
	// The connection that is open now must not serve a request that may not go there.
	if _, err := n.do(testContext(t, time.Minute), &request{URL: s.URL}); !errors.Is(err, errBlocked) {
		t.Errorf("untrusted: got %v, want errBlocked", err)
	}
}

func TestFailures(t *testing.T) {
	w := newFakeWeb(t)
	secure := httptest.NewUnstartedServer(htmlPage("x"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	w.route("tls.example", "443", secure.Listener.Addr().String())
	w.host("plain.example", htmlPage("x"))
	plain := httptest.NewServer(htmlPage("x"))
	defer plain.Close()
	w.route("notls.example", "443", plain.Listener.Addr().String())
	w.host("slow.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	w.host("cut.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "100")
		rw.Write([]byte("x"))
	}))
	junk, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer junk.Close()
	go func() {
		for {
			c, err := junk.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("SSH-2.0-OpenSSH\r\n"))
			c.Close()
		}
	}()
	w.route("junk.example", "80", junk.Addr().String())
	w.route("closed.example", "80", "")
	n := w.open(networkOptions{})
	for u, want := range map[string]error{
		"http://nowhere.example/?key=secret": errDNS, "http://closed.example/?key=secret": errRefused, "https://tls.example/?key=secret": errTLS, "https://notls.example/?key=secret": errTLS,
		"http://slow.example/?key=secret": errTimeout, "http://cut.example/?key=secret": errNetwork, "http://junk.example/?key=secret": errNetwork, "http://u:secret@nowhere.example/": errDNS,
	} {
		timeout := time.Minute
		if want == errTimeout {
			timeout = 200 * time.Millisecond
		}
		_, err := n.do(testContext(t, 2*time.Minute), &request{URL: u, Timeout: timeout})
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", u, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds a secret: %v", u, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := n.do(ctx, &request{URL: "http://slow.example/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestClientTLS(t *testing.T) {
	w := newFakeWeb(t)
	s := httptest.NewUnstartedServer(htmlPage("secure"))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	w.route("example.com", "443", s.Listener.Addr().String())
	n := w.open(networkOptions{Client: s.Client()})
	resp, err := n.do(testContext(t, time.Minute), &request{URL: "https://example.com/"})
	if err != nil || string(resp.Body) != "secure" {
		t.Errorf("got %v, %+v", err, resp)
	}
	if _, err := newNetwork(&networkOptions{Client: &http.Client{Transport: http.NewFileTransport(http.Dir("."))}}); err == nil {
		t.Error("a transport that cannot be guarded is accepted")
	}
}

func TestMediaType(t *testing.T) {
	for in, want := range map[string][2]string{
		"text/html; charset=UTF-8": {"text/html", "utf-8"}, "TEXT/HTML": {"text/html", ""}, "": {"", ""}, "text/html; charset": {"text/html", ""},
		"text/html;charset=\"utf-8\"": {"text/html", "utf-8"}, "text/html; charset=utf-8; charset=latin1": {"text/html", ""}, "nonsense": {"nonsense", ""},
	} {
		if m, c := mediaType(in); m != want[0] || c != want[1] {
			t.Errorf("mediaType(%q) = %q, %q; want %q", in, m, c, want)
		}
	}
}
