package websrv

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestCrawlRuns crawls a site whose pages have neither text nor links before their scripts ran.
func TestCrawlRuns(t *testing.T) {
	needChromium(t)
	t.Parallel()
	w := newFakeWeb(t)
	w.host("app.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/", "/two":
			htmlPage(fmt.Sprintf(`<!doctype html><title>App</title><div id=root></div><script>
				const text = "The page %s of an application says something at some length, so that it counts as a text with many words. ";
				document.title = "App %[1]s";
				document.getElementById("root").innerHTML = "<main><h1>App %[1]s</h1><p>" + text.repeat(3) + "</p><p>It goes on at <a href='/two'>the second page</a> and at <a href='/plain'>a plain one</a>.</p></main>";
			</script>`, r.URL.Path))(rw, r)
		case "/plain":
			htmlPage(sitePage("plain")+`<script>document.querySelector("h1").textContent = "drawn"</script>`)(rw, r)
		default:
			http.NotFound(rw, r)
		}
	}))
	n := w.open(networkOptions{PaceInterval: -1, NoCache: true, Timeout: browserTime})
	for _, tt := range []struct {
		render  string
		pages   int
		has     string
		without string
	}{
		{renderAuto, 3, "The page /two of an application", "drawn"},
		{renderAlways, 3, "drawn", ""},
	} {
		res, err := newSiteCrawler(n).crawl(testContext(t, 2*browserTime), &crawlArgs{URL: "http://app.example/", MaxPages: 5, Render: tt.render, TimeoutSeconds: 200}, noCrawlProgress)
		if err != nil {
			t.Fatalf("%s: %v", tt.render, err)
		}
		var all strings.Builder
		for _, p := range res.Pages {
			fmt.Fprintf(&all, "%s %s %s\n%s\n", p.URL, p.Title, p.Error, p.Markdown)
		}
		if len(res.Pages) != tt.pages || !strings.Contains(all.String(), "App /two") || !strings.Contains(all.String(), tt.has) || tt.without != "" && strings.Contains(all.String(), tt.without) {
			t.Errorf("%s: %d pages, stopped %q\n%s", tt.render, len(res.Pages), res.Stopped, all.String())
		}
	}
	if res, err := newSiteCrawler(n).crawl(testContext(t, time.Minute), &crawlArgs{URL: "http://app.example/", MaxPages: 5, Render: renderNever}, noCrawlProgress); err == nil {
		t.Errorf("never: got %+v, want a failure that tells of the scripts", res.Pages)
	}
	off := w.open(networkOptions{PaceInterval: -1, NoCache: true, Chromium: chromiumOff})
	res, err := newSiteCrawler(off).crawl(testContext(t, time.Minute), &crawlArgs{URL: "http://app.example/", MaxPages: 5, Render: renderAuto}, noCrawlProgress)
	if text := fmt.Sprint(err, res); !strings.Contains(text, "JavaScript") {
		t.Errorf("without a browser: %s; want that the page needs JavaScript", text)
	}
}
