package cdptest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Server serves pages to a test browser. It answers to every host name; "localhost"
// and "*.localhost" are secure contexts, so WebMCP works there.
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]page
}

type page struct {
	header http.Header
	body   string
}

// Serve starts a server of testdata/pages (at /) and of the pages given to Page.
func Serve(t testing.TB) *Server {
	t.Helper()
	s := &Server{pages: map[string]page{}}
	files := http.FileServer(http.Dir(PagesDir()))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		p, ok := s.pages[r.URL.Path]
		s.mu.Unlock()
		if !ok {
			files.ServeHTTP(w, r)
			return
		}
		for k, v := range p.header {
			w.Header()[k] = v
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		fmt.Fprint(w, p.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// Page makes body available at path and returns its URL on localhost. Header lines
// have the form "Name: value".
func (s *Server) Page(path, body string, header ...string) string {
	h := http.Header{}
	for _, line := range header {
		k, v, _ := strings.Cut(line, ":")
		h.Add(strings.TrimSpace(k), strings.TrimSpace(v))
	}
	s.mu.Lock()
	s.pages[path] = page{h, body}
	s.mu.Unlock()
	return s.At("localhost", path)
}

// At is the URL of path under another host name. "a.localhost" and "b.localhost" are
// two sites; both are secure contexts.
func (s *Server) At(host, path string) string {
	u, _ := url.Parse(s.URL)
	return "http://" + host + ":" + u.Port() + path
}

// PagesDir is the directory testdata/pages at the top of the module.
func PagesDir() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), "..", "..", "testdata", "pages")
	if _, err := os.Stat(dir); err != nil {
		panic(err)
	}
	return dir
}
