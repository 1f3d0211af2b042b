package websrv

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// duckPage answers with a page of testdata/duckduckgo, which we made ourselves after the
// markup that the two sites have.
func duckPage(t *testing.T, status int, name string) http.HandlerFunc {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("testdata", "duckduckgo", name))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(status)
		w.Write(page)
	}
}

func TestDuckDuckGo(t *testing.T) {
	f := newFakes(t)
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://bang.net/", http.StatusFound)
	}
	broken := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, "<html><body><p>all new</p></body></html>")
		}
	}
	full := []Hit{
		{Title: "Of lamps & light", URL: "https://lamps.example/of?x=1&y=2", Snippet: "A lamp gives light."},
		{Title: "Direct", URL: "https://direct.example/", Snippet: "No redirect in between."},
	}
	lite := []Hit{
		{Title: "Of lamps", URL: "https://lamps.example/", Snippet: "A lamp gives light.", Published: "2026-11-01T00:00:00"},
		{Title: "Second", URL: "https://second.example/", Snippet: "Another one."},
	}
	bang := &fake{answer: jsonAnswer(200, "{}")}
	f.web.host("bang.net", bang)
	for _, tc := range []struct {
		name       string
		html, lite http.HandlerFunc
		want       []Hit
		class      error
		calls      [2]int
	}{
		{"results", duckPage(t, 200, "html.html"), nil, full, nil, [2]int{1, 0}},
		{"none found, 202", duckPage(t, 202, "none.html"), nil, nil, nil, [2]int{1, 0}},
		{"challenge, 202", duckPage(t, 202, "challenge.html"), nil, nil, ErrRateLimited, [2]int{1, 0}},
		{"challenge, 200", duckPage(t, 200, "challenge.html"), nil, nil, ErrRateLimited, [2]int{1, 0}},
		{"418", broken(418), nil, nil, ErrRateLimited, [2]int{1, 0}},
		{"bang", redirect, nil, nil, nil, [2]int{1, 0}},
		{"new markup, then lite", broken(200), duckPage(t, 200, "lite.html"), lite, nil, [2]int{1, 1}},
		{"down, then lite", broken(503), duckPage(t, 200, "lite.html"), lite, nil, [2]int{1, 1}},
		{"new markup, then a challenge", broken(200), duckPage(t, 202, "challenge.html"), nil, ErrRateLimited, [2]int{1, 1}},
		{"both new", broken(200), broken(200), nil, ErrUnavailable, [2]int{1, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := f.server(t, f.only(Keys{}, idDuckDuckGo))
			f.by[idDuckDuckGo].script(tc.html)
			f.by[idDuckDuckGoLite].script(tc.lite)
			a, err := s.dispatcher.Search(testContext(t, time.Minute), &Query{Text: "lamps", Limit: 10})
			if tc.class != nil {
				if !errors.Is(err, tc.class) {
					t.Fatalf("got %v, want %v", err, tc.class)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if diff := cmp.Diff(tc.want, a.Value.List); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			got := [2]int{len(f.by[idDuckDuckGo].requests()), len(f.by[idDuckDuckGoLite].requests())}
			if got != tc.calls {
				t.Errorf("asked html and lite %v times, want %v", got, tc.calls)
			}
			if tc.class == ErrRateLimited {
				var d *DispatchError
				if errors.As(err, &d); d.Attempts[0].RetryAfterSeconds != int(duckRest.Seconds()) {
					t.Errorf("left alone for %d s after a challenge", d.Attempts[0].RetryAfterSeconds)
				}
			}
		})
	}
	if len(bang.requests()) > 0 {
		t.Error("a bang was followed")
	}
}

func TestDuckForm(t *testing.T) {
	form, hits := duckForm(&Query{Text: "!w oil lamps", Region: "gb", Recency: "week", Safe: "strict", Domains: []string{"a.net"}, ExcludeDomains: []string{"b.net"}})
	want := url.Values{"q": {`"w" oil lamps site:a.net -site:b.net`}, "b": {""}, "kl": {"uk-en"}, "df": {"w"}, "kp": {"1"}}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"region", "recency", "safe"}, hits.Applied); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if form, _ := duckForm(&Query{Text: "x", Region: "de", Language: "fr"}); form.Get("kl") != "wt-wt" {
		t.Errorf("an unknown region is %q", form.Get("kl"))
	}
}

func TestDuckPace(t *testing.T) {
	t.Parallel() // it only waits
	f := newFakes(t)
	o := f.only(Keys{}, idDuckDuckGo)
	o.PaceInterval = 0
	s := f.server(t, o)
	f.by[idDuckDuckGo].script(duckPage(t, 202, "none.html"))
	start := time.Now()
	for range 2 {
		if _, err := s.dispatcher.Search(testContext(t, time.Minute), &Query{Text: "x", Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < duckInterval-100*time.Millisecond {
		t.Errorf("two searches took %v, the pace is one in %v", took, duckInterval)
	}
}
