package websrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen is a request that a fake got.
type seen struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// json is the request's body as an object.
func (s *seen) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(s.Body), &m); err != nil {
		t.Fatalf("body %q: %v", s.Body, err)
	}
	return m
}

// fake is a provider's server: it records what it gets and answers by script.
type fake struct {
	mu     sync.Mutex
	seen   []seen // guarded by mu
	answer http.HandlerFunc
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	f.mu.Lock()
	f.seen = append(f.seen, seen{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), string(body)})
	answer := f.answer
	f.mu.Unlock()
	answer(w, r)
}

func (f *fake) script(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer, f.seen = h, nil
}

func (f *fake) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.seen...)
}

// jsonAnswer answers with a status and a JSON text.
func jsonAnswer(status int, text string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

// inSeconds is an HTTP date that lies ahead.
func inSeconds(n int) string {
	return time.Now().Add(time.Duration(n) * time.Second).UTC().Format(http.TimeFormat)
}

// providerNames are the hosted providers of the fakes, by ID.
func providerNames() []string {
	return []string{idExa, idPerplexity, idContextDev, idFirecrawl, idBrowserbase, idCloudflare, idJina, idDuckDuckGo, idDuckDuckGoLite}
}

// allKeys are the keys of the tests; none may be seen anywhere but at its fake.
func allKeys() Keys {
	return Keys{Exa: "key-exa", Perplexity: "key-perplexity", ContextDev: "key-contextdev", Firecrawl: "key-firecrawl", Browserbase: "key-browserbase",
		CloudflareAccount: "account", CloudflareToken: "key-cloudflare", Jina: "key-jina"}
}

// fakes are all hosted providers, and a web for their targets.
type fakes struct {
	web *fakeWeb
	by  map[string]*fake
}

// newFakes starts the fakes; each refuses until a test gives it a script.
func newFakes(t testing.TB) *fakes {
	t.Helper()
	f := &fakes{web: newFakeWeb(t), by: map[string]*fake{}}
	for _, id := range providerNames() {
		f.by[id] = &fake{answer: jsonAnswer(http.StatusInternalServerError, `{"error":"no script"}`)}
		f.web.host(id+".fake.net", f.by[id])
	}
	f.web.host("page.net", htmlPage(lampPage))
	f.web.host("store.net", http.HandlerFunc(serveDot))
	return f
}

// options are those of a server over the fakes.
func (f *fakes) options(keys Keys) *Options {
	o := &Options{Keys: keys, BaseURLs: map[string]string{}, Chromium: chromiumOff, PaceInterval: -1, Version: "test"}
	for _, id := range providerNames() {
		o.BaseURLs[id] = "http://" + id + ".fake.net"
	}
	o.network.Resolver, o.network.Dial = f.web, f.web.dial
	return o
}

// server is a server over the fakes that does not really sleep.
func (f *fakes) server(t testing.TB, o *Options) *Server {
	t.Helper()
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := &testClock{now: time.Now()}
	s.dispatcher.now, s.dispatcher.sleep = c.time, c.sleep
	return s
}

// testClock stands still but for the sleep of others.
type testClock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *testClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

// only are the options of a server with one provider.
func (f *fakes) only(keys Keys, id string) *Options {
	o := f.options(keys)
	for _, other := range ProviderIDs() {
		if other != id {
			o.Off = append(o.Off, other)
		}
	}
	return o
}

// lampPage is a page with enough text.
const lampPage = `<title>Of lamps</title><main><h1>Of lamps</h1><p>A lamp gives light, and a good lamp gives it where it is wanted, which is why so many people have
more than one of them in a room, and turn them as they like.</p><h2>Oil</h2><p>Lamps burned oil for some thousands of years before anything else was tried.</p></main>`

// lampText is a text with enough words, as JSON text without quotes.
const lampText = "# Of lamps\\n\\nA lamp gives light, and a good lamp gives it where it is wanted, which is why so many people have more than one of them in a room."

// client is one provider at one kind of work, for the tests that hold for all.
type client struct {
	id   string
	op   Op
	keys Keys
	ok   string // an answer that is a success
	fail string // a 200 that is a failure; "" if it has none
	// classes replaces the class of a status, where the provider has its own.
	classes map[int]error
	// once says that it is never asked twice, because a second call may be charged.
	once bool
}

// dotPNG is a picture of one pixel, as base64.
const dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func serveDot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/png")
	dot, _ := base64.StdEncoding.DecodeString(dotPNG)
	w.Write(dot)
}

func clients() []client {
	keyed := map[int]error{401: ErrUnauthorized, 403: ErrUnauthorized}
	keyless := map[int]error{401: ErrRefused, 403: ErrRefused}
	page422 := map[int]error{401: ErrUnauthorized, 403: ErrUnauthorized, 422: ErrTargetFailed}
	jina := map[int]error{401: ErrUnauthorized, 403: ErrRefused, 422: ErrTargetFailed, 451: ErrRefused}
	return []client{
		{idExa, OpSearch, allKeys(), `{"results":[{"title":null,"url":"https://a.net/","score":null,"highlights":["x"]},{"title":"B","url":"https://b.net/"}],"new":1}`, "", keyed, false},
		{idExa, OpExtract, allKeys(), `{"results":[{"url":"http://page.net/","title":"Of lamps","text":"` + lampText + `"}],"statuses":[{"id":"http://page.net/","status":"success"}]}`,
			`{"results":[],"statuses":[{"id":"http://page.net/","status":"error","error":{"tag":"CRAWL_NOT_FOUND","httpStatusCode":404}}]}`, keyed, false},
		{idPerplexity, OpSearch, allKeys(), `{"id":"1","results":[{"title":"A","url":"https://a.net/","snippet":"s","date":null,"last_updated":null}]}`, "", keyed, false},
		{idContextDev, OpSearch, allKeys(), `{"query":"q","results":[{"url":"https://a.net/","title":"A","description":"","relevance":"high","markdown":{"code":"NOT_REQUESTED","markdown":null}}]}`, "", keyed, false},
		{idContextDev, OpExtract, allKeys(), `{"success":true,"url":"http://page.net/","markdown":"` + lampText + `","metadata":{"title":"Of lamps","language":null}}`, `{"success":false,"markdown":""}`, keyed, false},
		{idFirecrawl, OpSearch, allKeys(), `{"success":true,"data":{"web":[{"url":"https://a.net/","title":"A","description":"d","position":1}]}}`, `{"success":false,"error":"it failed"}`, keyed, false},
		{idFirecrawl, OpExtract, allKeys(), `{"success":true,"data":{"markdown":"` + lampText + `","metadata":{"title":["Of lamps","x"],"statusCode":200,"url":"http://page.net/"}}}`,
			`{"success":false,"code":"SCRAPE_DNS_RESOLUTION_ERROR","error":"no such host"}`, keyed, false},
		{idFirecrawlKeyless, OpSearch, Keys{}, `{"success":true,"data":[{"url":"https://a.net/","title":"A","description":"d"}]}`, `{"success":false,"error":"it failed"}`, keyless, false},
		{idFirecrawlKeyless, OpExtract, Keys{}, `{"success":true,"data":{"markdown":"` + lampText + `","metadata":{"statusCode":200}}}`, `{"success":true,"data":{"markdown":"Not found","metadata":{"statusCode":404}}}`, keyless, false},
		{idBrowserbase, OpSearch, allKeys(), `{"requestId":"1","query":"q","results":[{"id":"1","url":"https://a.net/","title":"A"}]}`, "", keyed, false},
		{idBrowserbase, OpExtract, allKeys(), `{"id":"1","statusCode":200,"headers":{},"content":"` + lampText + `","contentType":"text/markdown","encoding":"utf-8"}`, `{"statusCode":403,"content":"no"}`, keyed, false},
		{idCloudflare, OpExtract, allKeys(), `{"success":true,"result":"` + lampText + `","errors":[]}`, `{"success":false,"result":null,"errors":[{"code":1,"message":"not rendered"}]}`, page422, false},
		{idJina, OpExtract, allKeys(), `{"code":200,"status":20000,"data":{"title":"Of lamps","url":"http://page.net/","content":"` + lampText + `"}}`,
			`{"code":200,"data":{"title":"x","content":"` + lampText + `","warning":"Target URL returned error 403: Forbidden"}}`, jina, false},

		{idContextDev, OpCrawl, allKeys(), `{"results":[{"markdown":"` + lampText + `","metadata":{"url":"http://page.net/","title":"Of lamps","crawlDepth":0,"statusCode":200,"success":true}}],"metadata":{"numSkipped":0}}`, "", keyed, true},
		{idContextDev, OpSitemap, allKeys(), `{"success":true,"domain":"page.net","urls":["http://page.net/a"],"meta":{}}`, "", keyed, false},
		{idContextDev, OpScreenshot, allKeys(), `{"screenshot":"data:image/png;base64,` + dotPNG + `","screenshotType":"viewport"}`, "", keyed, false},
		{idFirecrawl, OpCrawl, allKeys(), `{"success":true,"id":"job1","status":"completed","total":1,"completed":1,"next":null,"data":[{"markdown":"` + lampText + `","metadata":{"sourceURL":"http://page.net/","statusCode":200}}]}`, "", keyed, true},
		{idFirecrawl, OpSitemap, allKeys(), `{"success":true,"links":["http://page.net/1",{"url":"http://page.net/2","title":"Two"}]}`, "", keyed, false},
		{idFirecrawl, OpScreenshot, allKeys(), `{"success":true,"data":{"screenshot":"http://store.net/dot.png","metadata":{"statusCode":200}}}`, `{"success":false,"error":"it failed"}`, keyed, false},
		{idFirecrawlKeyless, OpScreenshot, Keys{}, `{"success":true,"data":{"screenshot":"http://store.net/dot.png","metadata":{"statusCode":200}}}`, `{"success":false,"error":"it failed"}`, keyless, false},
		{idCloudflare, OpScreenshot, allKeys(), "", `{"success":false,"result":null,"errors":[{"code":1,"message":"not rendered"}]}`, page422, false},
	}
}

func (c *client) name() string { return c.id + " " + string(c.op) }

// fakeID is the fake that serves the client.
func (c *client) fakeID() string {
	if c.id == idFirecrawlKeyless {
		return idFirecrawl
	}
	return c.id
}

// ask makes one call of the client's tool.
func (c *client) ask(ctx context.Context, s *Server) (attempts []Attempt, err error) {
	if c.op == OpSearch {
		a, err := s.dispatcher.Search(ctx, &Query{Text: "q", Limit: 5})
		if err != nil {
			return nil, err
		}
		return a.Attempts, nil
	}
	if c.op != OpExtract {
		return askTool(ctx, s, c.op)
	}
	a, err := s.dispatcher.Extract(ctx, &PageRequest{URL: "http://page.net/", Render: renderAuto}, false, "")
	if err != nil {
		return nil, err
	}
	return a.Attempts, nil
}

// TestFailureClasses holds every provider to the table of classes: what a status means, how
// often the provider is asked, and how long it then rests.
func TestFailureClasses(t *testing.T) {
	f := newFakes(t)
	cases := []struct {
		name   string
		answer func(c *client) http.HandlerFunc
		class  func(c *client) error
		calls  int
		rest   time.Duration // 0 means none, below 0 for ever
	}{
		{"429 with seconds", status(429, `{"error":"slow down"}`, "Retry-After", "7"), always(ErrRateLimited), 1, 7 * time.Second},
		{"429 with a date", func(*client) http.HandlerFunc {
			return jsonAnswer(429, `{"error":{"message":"slow down"}}`, "Retry-After", inSeconds(300))
		}, always(ErrRateLimited), 1, 300 * time.Second},
		{"429 without a word", status(429, ``), always(ErrRateLimited), 1, restRateLimited},
		{"429 with a short wait", status(429, `{}`, "Retry-After", "1"), always(ErrRateLimited), 2, time.Second},
		{"402", status(402, `{"error":"no credit"}`), always(ErrNoCredit), 1, restNoCredit},
		{"401", status(401, `{"message":"key-exa key-firecrawl key-jina key-cloudflare key-browserbase key-contextdev key-perplexity is wrong"}`), byStatus(401, ErrUnauthorized), 1, 1},
		{"403", status(403, `{"error":"no"}`), byStatus(403, ErrUnauthorized), 1, 1},
		{"408", status(408, `{"error":"late"}`), always(ErrTimeout), 2, 0},
		{"504", status(504, `late`), always(ErrTimeout), 2, 0},
		{"524", status(524, `<html>late</html>`), always(ErrTimeout), 2, 0},
		{"500", status(500, `{"error":"broken"}`), always(ErrUnavailable), 2, restUnavailable},
		{"503", status(503, `<!DOCTYPE html><p>down`), always(ErrUnavailable), 2, restUnavailable},
		{"truncated JSON", func(c *client) http.HandlerFunc {
			return jsonAnswer(200, strings.TrimSuffix(orDefault(c.ok, c.fail), "}"))
		}, always(ErrUnavailable), 2, restUnavailable},
		{"another shape", status(200, `[[1]]`), always(ErrUnavailable), 2, restUnavailable},
		{"422", status(422, `{"error":"bad"}`), byStatus(422, ErrInvalid), 1, 0},
		{"redirect to another origin", func(*client) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://thief.net/", http.StatusTemporaryRedirect)
			}
		}, always(ErrUnavailable), 2, restUnavailable},
	}
	thief := &fake{answer: jsonAnswer(200, `{}`)}
	f.web.host("thief.net", thief)
	for _, c := range clients() {
		for _, tc := range cases {
			t.Run(c.name()+"/"+tc.name, func(t *testing.T) {
				s, server := f.server(t, f.only(c.keys, c.id)), f.by[c.fakeID()]
				server.script(tc.answer(&c))
				_, err := c.ask(testContext(t, time.Minute), s)
				want := tc.class(&c)
				var d *DispatchError
				if !errors.As(err, &d) || !errors.Is(err, want) || len(d.Attempts) > 2 || len(d.Attempts) == 2 && !d.Attempts[1].Skipped { // by the browser that is switched off
					t.Fatalf("got %v, want one attempt of class %q", err, want)
				}
				calls, rest := tc.calls, tc.rest
				if c.once && calls > 1 {
					calls = 1
					if want == ErrUnavailable { // it rests after two in a row
						rest = 0
					}
				}
				if got := len(server.requests()); got != calls {
					t.Errorf("asked %d times, want %d", got, calls)
				}
				noKeys(t, ErrorText(err))
				checkRest(t, s, rest, want, d.Attempts[0])
			})
		}
	}
	if n := len(thief.requests()); n > 0 {
		t.Errorf("%d redirects to another origin were followed: %v", n, thief.requests()[0].Header)
	}
}

func status(code int, text string, header ...string) func(*client) http.HandlerFunc {
	return func(*client) http.HandlerFunc { return jsonAnswer(code, text, header...) }
}

func always(class error) func(*client) error { return func(*client) error { return class } }

func byStatus(code int, byDefault error) func(*client) error {
	return func(c *client) error {
		if class := c.classes[code]; class != nil {
			return class
		}
		return byDefault
	}
}

// noKeys checks that a text holds none of the keys.
func noKeys(t *testing.T, text string) {
	t.Helper()
	k := allKeys()
	for _, secret := range k.secrets() {
		if strings.Contains(text, secret) {
			t.Errorf("a key is in %q", text)
		}
	}
}

// checkRest checks how long the one provider of a server is left alone. A want of 1 stands for
// what the class says.
func checkRest(t *testing.T, s *Server, want time.Duration, class error, a Attempt) {
	t.Helper()
	if want == 1 {
		switch class {
		case ErrUnauthorized:
			want = -1
		case ErrRefused:
			want = restRefused
		}
		if class == ErrRefused && a.RetryAfterSeconds == 0 {
			return // about the site
		}
	}
	var r *rest
	for _, x := range s.dispatcher.rests {
		r = x
	}
	if r == nil {
		t.Fatal("nothing was booked")
	}
	switch left := r.until.Sub(s.dispatcher.now()); {
	case want < 0 && !r.forever, want >= 0 && r.forever:
		t.Errorf("left alone for ever: %v", r.forever)
	case want == 0 && left > 0:
		t.Errorf("left alone for %v, want not at all", left)
	case want > 0 && (left > want+time.Second || left < want-10*time.Second):
		t.Errorf("left alone for %v, want %v", left, want)
	}
}

// TestProvidersAnswer checks each provider's success, and its failures in the form of one.
func TestProvidersAnswer(t *testing.T) {
	f := newFakes(t)
	for _, c := range clients() {
		t.Run(c.name(), func(t *testing.T) {
			s, server := f.server(t, f.only(c.keys, c.id)), f.by[c.fakeID()]
			if c.ok == "" {
				server.script(serveDot)
			} else {
				server.script(jsonAnswer(200, c.ok))
			}
			if attempts, err := c.ask(testContext(t, time.Minute), s); err != nil || len(attempts) > 0 {
				t.Fatalf("got %v after %v", err, attempts)
			}
			r := server.requests()
			if len(r) != 1 && (c.id != idFirecrawl || c.op != OpCrawl) { // a job is asked how far it is
				t.Fatalf("asked %d times", len(r))
			}
			for name, values := range r[0].Header {
				for _, v := range values {
					if c.keys == (Keys{}) && name == "Authorization" {
						t.Errorf("a keyless call had the header %s: %q", name, v)
					}
					for _, secret := range c.keys.secrets() {
						if strings.Contains(v, secret) && secret != "key-"+c.id {
							t.Errorf("the key of another provider was sent: %s: %s", name, v)
						}
					}
				}
			}
			if c.keys != (Keys{}) && !strings.Contains(fmt.Sprint(r[0].Header), "key-"+c.id) {
				t.Errorf("the key was not sent: %v", r[0].Header)
			}
			if c.fail == "" {
				return
			}
			server.script(jsonAnswer(200, c.fail))
			if _, err := c.ask(testContext(t, time.Minute), s); !errors.Is(err, ErrTargetFailed) {
				t.Errorf("a 200 that is a failure gave %v, want %v", err, ErrTargetFailed)
			}
			if n := len(server.requests()); n != 1 {
				t.Errorf("a failed page was asked for %d times", n)
			}
			if _, resting := s.dispatcher.resting(s.dispatcher.chains[c.op][0]); resting {
				t.Error("a failed page let its provider rest")
			}
		})
	}
}

// TestSlowBody checks that a body without an end costs no more than the time there is.
func TestSlowBody(t *testing.T) {
	t.Parallel() // it only waits
	f := newFakes(t)
	for _, c := range clients() {
		t.Run("security row 17: "+c.name(), func(t *testing.T) {
			s, server := f.server(t, f.only(c.keys, c.id)), f.by[c.fakeID()]
			release := make(chan struct{})
			defer close(release)
			server.script(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"results":[`)
				w.(http.Flusher).Flush()
				select {
				case <-release:
				case <-r.Context().Done():
				}
			})
			start := time.Now()
			_, err := c.ask(testContext(t, 300*time.Millisecond), s)
			if !errors.Is(err, ErrTimeout) || time.Since(start) > 20*time.Second {
				t.Errorf("got %v after %v, want %v", err, time.Since(start), ErrTimeout)
			}
		})
	}
}

// TestCancelled checks that the end of a call's context ends the dispatch with that.
func TestCancelled(t *testing.T) {
	f := newFakes(t)
	for _, c := range clients() {
		t.Run(c.name(), func(t *testing.T) {
			s := f.server(t, f.options(c.keys))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for _, other := range f.by {
				other.script(func(_ http.ResponseWriter, r *http.Request) {
					cancel()
					<-r.Context().Done()
				})
			}
			if _, err := c.ask(ctx, s); !errors.Is(err, context.Canceled) || errors.As(err, new(*DispatchError)) {
				t.Errorf("got %v, want the context's error alone", err)
			}
		})
	}
}
