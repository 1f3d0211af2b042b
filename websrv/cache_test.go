package websrv

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Now().UnixNano())
	return c
}
func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) forward(d time.Duration) { c.ns.Add(int64(d)) }

// TestCache asks twice, with a pause between, and counts what reached the host.
func TestCache(t *testing.T) {
	type h = map[string]string
	date := func(c *clock, d time.Duration) string { return c.now().Add(d).UTC().Format(http.TimeFormat) }
	c := newClock()
	for _, tt := range []struct {
		name    string
		status  int
		headers h
		pause   time.Duration
		r       request
		want    int // requests that the host gets
	}{
		{"fresh", 200, h{"Cache-Control": "max-age=60"}, 59 * time.Second, request{}, 1},
		{"over", 200, h{"Cache-Control": "max-age=60"}, 61 * time.Second, request{}, 2},
		{"no-store", 200, h{"Cache-Control": "no-store, max-age=60"}, 0, request{}, 2},
		{"no-cache", 200, h{"Cache-Control": "max-age=60, no-cache"}, 0, request{}, 2},
		{"private is ours", 200, h{"Cache-Control": "private, max-age=60"}, 0, request{}, 1},
		{"s-maxage is not ours", 200, h{"Cache-Control": "s-maxage=60"}, time.Second, request{}, 2},
		{"junk is stale", 200, h{"Cache-Control": "max-age=soon"}, time.Second, request{}, 2},
		{"age", 200, h{"Cache-Control": "max-age=60", "Age": "50"}, 11 * time.Second, request{}, 2},
		{"expires", 200, h{"Expires": "@1m"}, 50 * time.Second, request{}, 1},
		{"expired", 200, h{"Expires": "@-1m"}, 0, request{}, 2},
		{"expires 0", 200, h{"Expires": "0"}, 0, request{}, 2},
		{"heuristic", 200, h{"Last-Modified": "@-100h"}, 9 * time.Hour, request{}, 1},
		{"heuristic over", 200, h{"Last-Modified": "@-100h"}, 11 * time.Hour, request{}, 2},
		{"heuristic top", 200, h{"Last-Modified": "@-10000h"}, 25 * time.Hour, request{}, 2},
		{"nothing said", 200, h{}, time.Second, request{}, 2},
		{"nothing said, kept for a while", 200, h{"X-Fallback": "1h"}, 59 * time.Minute, request{}, 1},
		{"nothing said, kept too long", 200, h{"X-Fallback": "1h"}, 61 * time.Minute, request{}, 2},
		{"it says something", 200, h{"X-Fallback": "1h", "Cache-Control": "max-age=60"}, 2 * time.Minute, request{}, 2},
		{"it says what is old", 200, h{"X-Fallback": "1h", "Pragma": "no-cache"}, time.Second, request{}, 2},
		{"no page", 404, h{"X-Fallback": "1h"}, time.Second, request{}, 2},
		{"own measure", 200, h{}, time.Hour, request{MaxAge: 2 * time.Hour}, 1},
		{"own measure over", 200, h{"Cache-Control": "max-age=9999"}, time.Hour, request{MaxAge: time.Minute}, 2},
		{"no cache asked", 200, h{"Cache-Control": "max-age=60"}, 0, request{MaxAge: -1}, 2},
		{"key", 200, h{"Cache-Control": "max-age=60"}, 0, request{Header: http.Header{"Authorization": {"x"}}}, 2},
		{"cookie", 200, h{"Cache-Control": "max-age=60"}, 0, request{Header: http.Header{"Cookie": {"x"}}}, 2},
		{"post", 200, h{"Cache-Control": "max-age=60"}, 0, request{Method: "POST", Body: []byte("x")}, 2},
		{"vary any", 200, h{"Cache-Control": "max-age=60", "Vary": "*"}, 0, request{}, 2},
		{"vary same", 200, h{"Cache-Control": "max-age=60", "Vary": "Accept, Accept-Encoding"}, 0, request{}, 1},
		{"gone", 404, h{"Cache-Control": "max-age=60"}, 0, request{}, 1},
		{"error", 500, h{}, 0, request{}, 2},
		{"redirect stated", 302, h{"Cache-Control": "max-age=60", "Location": ""}, 0, request{}, 1},
		{"redirect", 302, h{"Location": ""}, 0, request{}, 2},
	} {
		hits := 0
		w := newFakeWeb(t)
		w.host("cache.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			hits++
			rw.Header().Set("Date", date(c, 0))
			for k, v := range tt.headers {
				if d, ok := strings.CutPrefix(v, "@"); ok { // a time, from now
					ago, _ := time.ParseDuration(d)
					v = date(c, ago)
				}
				rw.Header().Set(k, v)
			}
			rw.WriteHeader(tt.status)
			fmt.Fprint(rw, "body")
		}))
		fallback, _ := time.ParseDuration(tt.headers["X-Fallback"])
		n := w.open(networkOptions{Now: c.now, CacheMaxAge: fallback})
		tt.r.URL = "http://cache.example/"
		for i := range 2 {
			resp, err := n.do(testContext(t, time.Minute), &tt.r)
			if err != nil || string(resp.Body) != "body" || resp.Status != tt.status {
				t.Fatalf("%s: %v %+v", tt.name, err, resp)
			}
			if want := i == 1 && tt.want == 1; resp.FromCache != want {
				t.Errorf("%s: from the cache %v, want %v", tt.name, resp.FromCache, want)
			}
			resp.Body[0] = 'X' // the caller's own
			c.forward(tt.pause)
		}
		if hits != tt.want {
			t.Errorf("%s: the host got %d requests, want %d", tt.name, hits, tt.want)
		}
	}
}

// What is read anew is what later questions get.
func TestCacheKeepsTheNewest(t *testing.T) {
	w := newFakeWeb(t)
	hits := 0
	w.host("cache.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits++
		rw.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(rw, hits)
	}))
	n := w.open(networkOptions{})
	for i, tt := range []struct {
		age  time.Duration
		want string
	}{{0, "1"}, {0, "1"}, {-1, "2"}, {0, "2"}} {
		resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://cache.example/", MaxAge: tt.age})
		if err != nil || string(resp.Body) != tt.want {
			t.Fatalf("%d: %v, %+v", i, err, resp)
		}
	}
}

func TestCacheVariants(t *testing.T) {
	w := newFakeWeb(t)
	hits := 0
	w.host("vary.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits++
		rw.Header().Set("Cache-Control", "max-age=60")
		rw.Header().Set("Vary", "accept")
		fmt.Fprint(rw, r.Header.Get("Accept"))
	}))
	n := w.open(networkOptions{})
	for range 2 {
		for _, accept := range []string{"text/html", "text/markdown"} {
			resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://vary.example/", Accept: accept})
			if err != nil || string(resp.Body) != accept {
				t.Errorf("%s: %v %s", accept, err, resp.Body)
			}
		}
	}
	if hits != 2 {
		t.Errorf("the host got %d requests, want 2", hits)
	}
}

func TestRevalidation(t *testing.T) {
	for _, validator := range []string{"ETag", "Last-Modified"} {
		c := newClock()
		w := newFakeWeb(t)
		full, not := 0, 0
		stamp := c.now().Add(-time.Minute).UTC().Format(http.TimeFormat)
		w.host("valid.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=10")
			rw.Header().Set("Date", c.now().UTC().Format(http.TimeFormat))
			rw.Header().Set(validator, map[string]string{"ETag": `"1"`, "Last-Modified": stamp}[validator])
			if r.Header.Get("If-None-Match") == `"1"` || r.Header.Get("If-Modified-Since") == stamp {
				not++
				rw.Header().Set("X-New", "yes")
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			full++
			fmt.Fprint(rw, "body")
		}))
		n := w.open(networkOptions{Now: c.now})
		for i := range 4 {
			resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://valid.example/"})
			if err != nil || string(resp.Body) != "body" || resp.Status != 200 {
				t.Fatalf("%s, %d: %v %+v", validator, i, err, resp)
			}
			if i == 2 && resp.Header.Get("X-New") != "yes" {
				t.Errorf("%s: the headers of the 304 were not taken over", validator)
			}
			if i%2 == 1 {
				c.forward(11 * time.Second)
			}
		}
		if full != 1 || not != 1 {
			t.Errorf("%s: %d answers with a body and %d without, want 1 and 1", validator, full, not)
		}
	}
}

func TestStaleIfError(t *testing.T) {
	for _, tt := range []struct {
		name, control string
		pause         time.Duration
		want          bool
	}{
		{"default", "max-age=10", time.Hour, true}, {"too old", "max-age=10", 25 * time.Hour, false}, {"stated", "max-age=10, stale-if-error=60", 50 * time.Second, true},
		{"stated over", "max-age=10, stale-if-error=60", 80 * time.Second, false}, {"must-revalidate", "max-age=10, must-revalidate", time.Minute, false},
	} {
		for _, fault := range []string{"503", "reset"} {
			c := newClock()
			w := newFakeWeb(t)
			broken := false
			w.host("stale.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Date", c.now().UTC().Format(http.TimeFormat))
				switch {
				case !broken:
					rw.Header().Set("Cache-Control", tt.control)
					fmt.Fprint(rw, "body")
				case fault == "reset":
					panic(http.ErrAbortHandler)
				default:
					rw.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			n := w.open(networkOptions{Now: c.now})
			if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://stale.example/"}); err != nil {
				t.Fatal(err)
			}
			broken = true
			c.forward(tt.pause)
			resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://stale.example/"})
			if got := err == nil && resp.Stale && string(resp.Body) == "body"; got != tt.want {
				t.Errorf("%s, %s: %v %+v, want the stored answer %v", tt.name, fault, err, resp, tt.want)
			}
		}
	}
}

func TestCacheBounds(t *testing.T) {
	w := newFakeWeb(t)
	w.host("many.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "max-age=600")
		size := 100 << 10
		if r.URL.Path == "/big" {
			size = maxEntryBytes + 1
		}
		rw.Write(make([]byte, size))
	}))
	n := w.open(networkOptions{CacheBytes: 1 << 20})
	get := func(path string) *response {
		t.Helper()
		resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://many.example" + path})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	get("/big")
	if get("/big").FromCache {
		t.Error("a body beyond the limit was kept")
	}
	for i := range 30 {
		get(fmt.Sprintf("/%d", i))
		get("/0")
	}
	if n.cache.bytes > 1<<20 || n.cache.order.Len() > 10 || len(n.cache.byURL) != n.cache.order.Len() {
		t.Errorf("%d bytes in %d entries", n.cache.bytes, n.cache.order.Len())
	}
	if !get("/0").FromCache || !get("/29").FromCache || get("/1").FromCache {
		t.Error("what was used last was not what was kept")
	}
}

func TestCacheOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	w := newFakeWeb(t)
	s := w.host("disk.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprint(rw, "body of ", r.URL.Path)
	}))
	w.resolve("private.example", "10.0.0.1")
	w.connect("10.0.0.1:80", s.Listener.Addr().String())
	o := networkOptions{CacheDir: dir, AllowPrivate: []string{"private.example"}}
	ask := func(n *network, url string) bool {
		t.Helper()
		resp, err := n.do(testContext(t, time.Minute), &request{URL: url})
		if err != nil || !strings.HasPrefix(string(resp.Body), "body of /") {
			t.Fatal(err, resp)
		}
		return resp.FromCache
	}
	first := w.open(o)
	ask(first, "http://disk.example/a\u00a0b")
	ask(first, "http://private.example/")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %d files, want that of the public host only", err, len(files))
	}
	if info, _ := files[0].Info(); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
	second := w.open(o)
	if !ask(second, "http://disk.example/a\u00a0b") {
		t.Error("the answer did not outlive its process")
	}
	if err := os.WriteFile(filepath.Join(dir, files[0].Name()), []byte("{broken\nx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ask(w.open(o), "http://disk.example/a\u00a0b") {
		t.Error("a broken file was an answer")
	}
	denied := w.open(networkOptions{CacheDir: dir, DenyDomains: []string{"disk.example"}})
	if _, err := denied.do(testContext(t, time.Second), &request{URL: "http://disk.example/a\u00a0b"}); err == nil {
		t.Error("a denied host's stored answer was given")
	}
}
