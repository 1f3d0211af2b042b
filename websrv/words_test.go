package websrv

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWordsOfFailures reads and crawls what cannot be, and looks at what the user is told.
func TestWordsOfFailures(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/binary":
			w.Write([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
		case "/picture":
			w.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"))
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/wait":
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/app":
			htmlPage(`<title>App</title><div id=root></div><script src=a.js></script>`)(w, r)
		case "/":
			htmlPage(sitePage("home", "/a"))(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	o := f.options(Keys{})
	for _, id := range ProviderIDs() {
		if id != idHTTP && id != idLocal {
			o.Off = append(o.Off, id)
		}
	}
	s := f.server(t, o)
	for _, tt := range []struct{ name, tool, args, want, without string }{
		{"binary", toolExtract, `{"url":"http://site.net/binary"}`, "9 bytes: it cannot be read as text", "9 bytes: binary"},
		{"picture", toolExtract, `{"url":"http://site.net/picture"}`, "PNG image of 1 × 1 pixels, 33 bytes: it cannot be read as text; screenshot gives", ""},
		{"redirect to a file", toolExtract, `{"url":"http://site.net/file"}`, "page failed: site.net redirects to where nothing is read", "invalid request"},
		{"metadata of a cloud", toolExtract, `{"url":"http://site.net/metadata"}`, "link-local", "to allow it"},
		{"a site that asks to wait", toolExtract, `{"url":"http://site.net/wait"}`, "HTTP 429; the site asks to try again in 30 s", ""},
		{"scripts", toolExtract, `{"url":"http://site.net/app"}`, "seems to need JavaScript", ""},
		{"no page wanted", toolCrawl, `{"url":"http://site.net/","include":["/nothing/**"]}`, "include and exclude let none pass", ""},
		{"no such host", toolSitemap, `{"url":"http://nowhere.net/"}`, "could not be read", "does not allow"},
	} {
		_, err := s.Call(testContext(t, time.Minute), tt.tool, json.RawMessage(tt.args), nil)
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		if text := ErrorText(err); !strings.Contains(text, tt.want) || tt.without != "" && strings.Contains(text, tt.without) {
			t.Errorf("%s: %s\nwant %q, not %q", tt.name, text, tt.want, tt.without)
		}
	}
}

// TestNoBrowserForNothing reads what a browser would not read either: it is not started, and
// not named among those that failed.
func TestNoBrowserForNothing(t *testing.T) {
	f := newFakes(t)
	f.web.host("site.net", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken.pdf":
			w.Write([]byte("%PDF-1.4 broken"))
		case "/forbidden":
			w.WriteHeader(http.StatusForbidden)
		case "/empty":
			htmlPage("")(w, r)
		case "/wait":
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/inside":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	o := f.options(Keys{})
	for _, id := range ProviderIDs() {
		if id != idHTTP && id != idChromium {
			o.Off = append(o.Off, id)
		}
	}
	o.Chromium = filepath.Join(t.TempDir(), "none")
	s := f.server(t, o)
	for path, want := range map[string]bool{"/broken.pdf": false, "/gone": false, "/inside": false, "/wait": false, "/forbidden": true, "/empty": true} {
		_, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://site.net" + path, Render: renderAuto}, false, "")
		if err == nil {
			t.Errorf("%s: no error", path)
		} else if got := strings.Contains(err.Error(), "local Chromium"); got != want {
			t.Errorf("%s: the browser was asked: %v, want %v: %v", path, got, want, err)
		}
	}
}
