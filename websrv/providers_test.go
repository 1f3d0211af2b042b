package websrv

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSearchRequests checks what the filters of a query become at each provider.
func TestSearchRequests(t *testing.T) {
	f := newFakes(t)
	q := &Query{Text: "oil lamps", Limit: 5, Domains: []string{"a.net"}, Since: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), Region: "de", Language: "de", Safe: "strict"}
	for _, tc := range []struct {
		id, want string
		q        *Query
		applied  string
	}{
		{idExa, `{"query":"oil lamps","numResults":5,"type":"auto","contents":{"highlights":true},"includeDomains":["a.net"],"startPublishedDate":"2026-01-02T00:00:00Z","endPublishedDate":"2026-03-04T23:59:59Z","userLocation":"DE","moderation":true}`, q,
			"domains excludeDomains since until recency region safe"},
		{idPerplexity, `{"query":"oil lamps","max_results":5,"search_domain_filter":["a.net"],"search_after_date_filter":"01/02/2026","search_before_date_filter":"03/05/2026","country":"DE","search_language_filter":["de"]}`, q,
			"domains since until recency region language"},
		{idPerplexity, `{"query":"x","max_results":5,"search_domain_filter":["-b.net"],"search_recency_filter":"week"}`, &Query{Text: "x", Limit: 5, ExcludeDomains: []string{"b.net"}, Recency: "week"}, "excludeDomains recency"},
		{idContextDev, `{"query":"x","numResults":10,"freshness":"last_24_hours","country":"us"}`, &Query{Text: "x", Limit: 3, Recency: "day", Region: "us"}, "domains excludeDomains recency region"},
		{idFirecrawl, `{"query":"oil lamps","limit":5,"sources":["web"],"origin":"aster","includeDomains":["a.net"],"tbs":"cdr:1,cd_min:01/02/2026,cd_max:03/04/2026","country":"DE"}`, q, "domains since until recency region"},
		{idFirecrawl, `{"query":"x","limit":5,"sources":["web"],"origin":"aster","tbs":"qdr:m","excludeDomains":["b.net"]}`, &Query{Text: "x", Limit: 5, ExcludeDomains: []string{"b.net"}, Recency: "month"}, "excludeDomains since until recency"},
		{idBrowserbase, `{"query":"oil lamps","numResults":25}`, q, ""},
	} {
		s := f.server(t, f.only(allKeys(), tc.id))
		f.by[tc.id].script(jsonAnswer(200, `{"success":true,"results":[],"data":{"web":[]}}`))
		a, err := s.dispatcher.Search(testContext(t, time.Minute), tc.q)
		if err != nil {
			t.Fatalf("%s: %v", tc.id, err)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
			t.Fatal(err)
		}
		r := f.by[tc.id].requests()[0]
		if diff := cmp.Diff(want, r.json(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.id, diff)
		}
		if got := strings.Join(a.Value.Applied, " "); got != tc.applied {
			t.Errorf("%s says it applied %q, want %q", tc.id, got, tc.applied)
		}
		if r.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(r.Header.Get("User-Agent"), "aster/") {
			t.Errorf("%s: headers %v", tc.id, r.Header)
		}
	}
}

// TestExtractRequests checks what a request for a page becomes.
func TestExtractRequests(t *testing.T) {
	f := newFakes(t)
	r := &PageRequest{URL: "http://page.net/a?b=c", Include: []string{"main"}, Exclude: []string{".ad", "nav"}, Render: renderAuto, MaxAge: -1}
	ask := func(id string, r *PageRequest, ok string) seen {
		t.Helper()
		s := f.server(t, f.only(allKeys(), id))
		f.by[id].script(jsonAnswer(200, ok))
		if _, err := s.dispatcher.Extract(testContext(t, time.Minute), r, false, ""); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		return f.by[id].requests()[0]
	}
	page := map[string]string{}
	for _, c := range clients() {
		if c.op == OpExtract {
			page[c.id] = c.ok
		}
	}
	got := ask(idFirecrawl, r, page[idFirecrawl])
	body := got.json(t)
	delete(body, "timeout")
	want := map[string]any{"url": r.URL, "formats": []any{"markdown"}, "onlyMainContent": false, "includeTags": []any{"main"}, "excludeTags": []any{".ad", "nav"}, "maxAge": 0.0, "origin": "aster"}
	if diff := cmp.Diff(want, body); diff != "" || got.Path != "/v2/scrape" {
		t.Errorf("Firecrawl %s (-want +got):\n%s", got.Path, diff)
	}
	got = ask(idJina, r, page[idJina])
	if got.Path != "/http://page.net/a" || got.Query != "b=c" || got.Header.Get("X-Target-Selector") != "main" || got.Header.Get("X-Remove-Selector") != ".ad, nav" || got.Header.Get("X-No-Cache") != "true" {
		t.Errorf("Jina: %+v", got)
	}
	got = ask(idJina, &PageRequest{URL: "http://page.net/#part"}, page[idJina])
	if got.Method != "POST" || got.Body != `{"url":"http://page.net/#part"}` {
		t.Errorf("Jina with a fragment: %+v", got)
	}
	got = ask(idContextDev, r, page[idContextDev])
	q, _ := url.ParseQuery(got.Query)
	if q.Get("url") != r.URL || q.Get("includeSelectors") != "main" || q.Get("excludeSelectors") != ".ad,nav" || q.Get("maxAgeMs") != "0" || q.Get("timeoutOpts[milliseconds]") == "" {
		t.Errorf("Context.dev: %v", q)
	}
	got = ask(idBrowserbase, &PageRequest{URL: r.URL}, page[idBrowserbase])
	if b := got.json(t); b["allowRedirects"] != true || b["format"] != "markdown" || got.Header.Get("X-Bb-Api-Key") != "key-browserbase" {
		t.Errorf("Browserbase: %+v", got)
	}
	// Selectors are ours to apply where Cloudflare gives HTML.
	got = ask(idCloudflare, r, fmt.Sprintf(`{"success":true,"result":%q}`, lampPage))
	if got.Path != "/accounts/account/browser-rendering/content" {
		t.Errorf("Cloudflare with selectors: %s", got.Path)
	}
	// Who cannot do what is asked is passed over without a call.
	s := f.server(t, f.only(allKeys(), idExa))
	f.by[idExa].script(jsonAnswer(200, page[idExa]))
	if _, err := s.dispatcher.Extract(testContext(t, time.Minute), r, false, ""); err == nil || !strings.Contains(err.Error(), "it knows no selectors") || len(f.by[idExa].requests()) > 0 {
		t.Errorf("Exa with selectors: %v", err)
	}
}

// TestJinaText reads the plain form of an answer.
func TestJinaText(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.only(Keys{}, idJina))
	answer := func(warning string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprintf(w, "Title: Of lamps\n\nURL Source: http://page.net/\n\n%sPublished Time: 2026-01-01\n\nMarkdown Content:\n%s", warning, strings.ReplaceAll(lampText, `\n`, "\n"))
		}
	}
	f.by[idJina].script(answer(""))
	a, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, "")
	if err != nil || a.Value.Title != "Of lamps" || a.Value.Published != "2026-01-01" || !strings.HasPrefix(a.Value.Markdown, "# Of lamps") {
		t.Errorf("%+v, %v", a, err)
	}
	f.by[idJina].script(answer("Warning: Target URL returned error 403: Forbidden\n\n"))
	if _, err = s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, ""); !errors.Is(err, ErrTargetFailed) {
		t.Errorf("a 200 with a warning: %v", err)
	}
	// Its allowance without a key is kept before it has to say so.
	f.by[idJina].script(answer(""))
	for range jinaPerMinute {
		_, err = s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, "")
	}
	if n := len(f.by[idJina].requests()); !errors.Is(err, ErrRateLimited) || n != jinaPerMinute-2 {
		t.Errorf("%d calls, then %v", n, err)
	}
}

// TestContextSuccessor uses the newer call where the published one is gone, and tells that from a
// page that is not there.
func TestContextSuccessor(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.only(allKeys(), idContextDev))
	f.by[idContextDev].script(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			jsonAnswer(410, `{}`)(w, r)
			return
		}
		jsonAnswer(200, `{"url":"http://page.net/z","markdown":{"requested":true,"success":true,"data":"`+lampText+`"},"html":{"requested":false,"success":null,"data":null},"metadata":{"title":"Of lamps"}}`)(w, r)
	})
	for range 2 {
		a, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, "")
		if err != nil || a.Value.FinalURL != "http://page.net/z" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if n := len(f.by[idContextDev].requests()); n != 3 {
		t.Errorf("%d requests for two pages, want 3", n)
	}
	s = f.server(t, f.only(allKeys(), idContextDev))
	f.by[idContextDev].script(jsonAnswer(404, `{"status":"error","error_code":"NOT_FOUND","message":"page not found"}`))
	if _, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, ""); !errors.Is(err, ErrTargetFailed) {
		t.Errorf("a page that is not there: %v", err)
	}
	if n := len(f.by[idContextDev].requests()); n != 1 {
		t.Errorf("%d requests for a page that is not there", n)
	}
}

// noise is a picture that does not compress.
func noise(t *testing.T, w, h int, format string) []byte {
	t.Helper()
	rng, img := rand.New(rand.NewPCG(1, 1)), image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(rng.Uint32())
	}
	img.Set(0, 0, color.White)
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, img) // noise does not get smaller
	if format == "jpeg" {
		out.Reset()
		err = jpeg.Encode(&out, img, &jpeg.Options{Quality: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPictures takes pictures from each provider in its own way: raw, as base64, by an address, and
// by a redirect; the key goes to none of the addresses.
func TestPictures(t *testing.T) {
	f := newFakes(t)
	small := noise(t, 40, 30, "png")
	store := &fake{answer: func(w http.ResponseWriter, _ *http.Request) { w.Write(small) }}
	f.web.host("store.net", store)
	raw := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(small)
	}
	for _, tc := range []struct {
		name, id string
		answer   http.HandlerFunc
	}{
		{"by an address", idFirecrawl, jsonAnswer(200, `{"success":true,"data":{"screenshot":"http://store.net/1.png","metadata":{"title":"T","statusCode":200}}}`)},
		{"as base64", idContextDev, jsonAnswer(200, `{"screenshot":"data:image/png;base64,`+base64.StdEncoding.EncodeToString(small)+`"}`)},
		{"by an address", idContextDev, jsonAnswer(200, `{"screenshot":"http://store.net/2.png"}`)},
		{"raw", idCloudflare, raw},
		{"raw", idJina, raw},
		{"by a redirect", idJina, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://store.net/3.png", http.StatusFound)
		}},
	} {
		t.Run(tc.id+" "+tc.name, func(t *testing.T) {
			s := f.server(t, f.only(allKeys(), tc.id))
			f.by[tc.id].script(tc.answer)
			r, err := s.Call(testContext(t, time.Minute), toolScreenshot, json.RawMessage(`{"url":"http://page.net/"}`), nil)
			if err != nil || !bytes.Equal(r.Image, small) || r.ImageType != "image/png" {
				t.Fatalf("%v", err)
			}
			if m := r.Structured.(*screenshotReply); m.Width != 40 || m.Height != 30 {
				t.Errorf("%+v", m)
			}
		})
	}
	for _, r := range store.requests() {
		noKeys(t, fmt.Sprint(r))
	}
	for _, bad := range []string{"http://127.0.0.1/x.png", "file:///etc/passwd", "http://page.net/", ""} {
		f.by[idFirecrawl].script(jsonAnswer(200, `{"success":true,"data":{"screenshot":"`+bad+`","metadata":{"statusCode":200}}}`))
		s := f.server(t, f.only(allKeys(), idFirecrawl))
		if r, err := s.Call(testContext(t, time.Minute), toolScreenshot, json.RawMessage(`{"url":"http://page.net/"}`), nil); err == nil {
			t.Errorf("%q gave a picture of %d bytes", bad, len(r.Image))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "NaN": 0, "inf": maxRest, "999999999": maxRest, "soon": 0,
		"Wed, 02 Dec 2026 12:01:00 GMT": time.Minute, "Wed, 02 Dec 2026 11:00:00 GMT": 0, "Wed, 02 Dec 2099 11:00:00 GMT": maxRest} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	k := allKeys()
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("keys", "keys", k, "in", []Keys{k})
	raw, _ := json.Marshal(map[string]any{"keys": k})
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%+v %#v %v", k, k, &k), log.String(), string(raw)} {
		noKeys(t, text)
		if !strings.Contains(text, "exa") {
			t.Errorf("%q does not name the providers", text)
		}
	}
	half := Keys{CloudflareToken: "key-cloudflare", Exa: "  "}
	if s := half.trimmed().String(); s != "keys of []" {
		t.Errorf("half a pair and a blank: %s", s)
	}
}

// TestEveryHostedProviderMoves checks that each provider takes a base URL, or says that it runs here.
func TestEveryHostedProviderMoves(t *testing.T) {
	for _, id := range append(ProviderIDs(), idDuckDuckGoLite) {
		o := &Options{BaseURLs: map[string]string{id: "http://moved.example"}}
		s, err := NewServer(o)
		if here := id == idHTTP || id == idLocal || id == idChromium; here != (err != nil) || here && !strings.Contains(err.Error(), "runs on this machine") {
			t.Errorf("%s: %v", id, err)
		}
		if err == nil {
			s.Close()
			if got := o.baseURL(id); got != "http://moved.example" {
				t.Errorf("%s is at %s", id, got)
			}
		}
	}
	o := &Options{BaseURLs: map[string]string{idFirecrawl: "http://moved.example"}}
	if got := o.baseURL(idFirecrawlKeyless); got != "http://moved.example" {
		t.Errorf("without a key Firecrawl is at %s", got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []*Options{
		{Keys: Keys{Exa: "two words"}}, {Keys: Keys{Exa: "line\nbreak"}}, {Off: []string{"nobody"}}, {Order: map[string][]string{"search": {"local"}}}, {Order: map[string][]string{"fly": {}}},
		{BaseURLs: map[string]string{"exa": "ftp://x"}}, {BaseURLs: map[string]string{"exa": "http://user:pw@x"}}, {BaseURLs: map[string]string{"http": "http://x"}}, {MaxTokens: 10}, {MaxTokens: 1 << 20}, {Timeout: -1},
		{AllowPrivate: []string{"a b"}}, {DenyDomains: []string{"/"}}, {MaxBodyBytes: -1},
	} {
		if s, err := NewServer(o); err == nil {
			s.Close()
			t.Errorf("%+v was taken", o)
		} else {
			noKeys(t, err.Error())
		}
	}
	s, err := NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
