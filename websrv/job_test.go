package websrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// No test is to wait for a slow machine to send what takes a job back.
func init() { jobDelete = time.Minute }

// jobClient is a provider whose crawl is a job.
type jobClient struct {
	id, path string
	start    string
	running  string
	// page is the answer of a look: the pages from n on, and the place of the next one, "" at the end.
	page func(n int, next string) string
}

func jobClients() []jobClient {
	return []jobClient{
		{idFirecrawl, "/v2/crawl", `{"success":true,"id":"job1","url":"http://x/"}`, `{"success":true,"status":"scraping","total":3,"completed":1,"data":[{"markdown":"` + lampText + `","metadata":{"sourceURL":"http://page.net/0","statusCode":200}}]}`,
			func(n int, next string) string {
				if next != "" {
					next = "http://firecrawl.fake.net/v2/crawl/job1?skip=" + next
				}
				link, _ := json.Marshal(next)
				if next == "" {
					link = []byte("null")
				}
				return fmt.Sprintf(`{"success":true,"status":"completed","total":3,"completed":3,"creditsUsed":3,"next":%s,"data":[{"markdown":"%s","metadata":{"title":"Page %d","sourceURL":"http://page.net/%d","statusCode":200}}]}`, link, lampText, n, n)
			}},
		{idCloudflare, "/accounts/account/browser-rendering/crawl", `{"success":true,"result":"job1"}`, `{"success":true,"result":{"status":"running","total":3,"finished":1,"records":[{"url":"http://page.net/0","status":"completed","markdown":"` + lampText + `","metadata":{"status":200}}]}}`,
			func(n int, next string) string {
				return fmt.Sprintf(`{"success":true,"result":{"status":"completed","total":3,"finished":3,"cursor":%q,"records":[{"url":"http://page.net/%d","status":"completed","markdown":"%s","metadata":{"status":200,"title":"Page %d"}},{"url":"http://page.net/no","status":"disallowed"}]}}`, next, n, lampText, n)
			}},
	}
}

func (j *jobClient) server(t *testing.T, f *fakes) *Server {
	return f.server(t, f.only(allKeys(), j.id))
}

// deletes counts the requests that take the job back.
func (j *jobClient) deletes(f *fakes) (n int) {
	for _, r := range f.by[j.id].requests() {
		if r.Method == http.MethodDelete && r.Path == j.path+"/job1" {
			n++
		}
	}
	return n
}

func crawlOf(ctx context.Context, s *Server, args string) (*crawlReply, error) {
	r, err := s.Call(ctx, toolCrawl, json.RawMessage(args), nil)
	if err != nil {
		return nil, err
	}
	return r.Structured.(*crawlReply), nil
}

func TestJobPages(t *testing.T) {
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			f.by[j.id].script(func(w http.ResponseWriter, r *http.Request) {
				q := r.URL.Query()
				switch at := q.Get("skip") + q.Get("cursor"); {
				case r.Method == http.MethodPost:
					jsonAnswer(200, j.start)(w, r)
				case at == "":
					jsonAnswer(200, j.page(0, "1"))(w, r)
				case at == "1":
					jsonAnswer(200, j.page(1, "2"))(w, r)
				default:
					jsonAnswer(200, j.page(2, ""))(w, r)
				}
			})
			reply, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/","maxPages":10,"include":["/*"]}`)
			if err != nil {
				t.Fatal(err)
			}
			var urls []string
			for _, p := range reply.Pages {
				urls = append(urls, p.URL)
			}
			if got := strings.Join(urls, " "); got != "http://page.net/0 http://page.net/1 http://page.net/2" || reply.Next != "" || reply.Read != 3 {
				t.Errorf("pages %q, next %q, read %d", got, reply.Next, reply.Read)
			}
			if j.deletes(f) > 0 {
				t.Error("a finished job was taken back")
			}
			first := f.by[j.id].requests()[0]
			if body := first.json(t); body["limit"] != 10.0 {
				t.Errorf("the job's limit is %v: without one its default is charged", body["limit"])
			}
			if strings.Contains(first.Body, "maxPages") || strings.Contains(first.Body, "maxDepth\"") {
				t.Errorf("the job has names that its provider does not know: %s", first.Body)
			}
		})
	}
}

func TestJobCancelled(t *testing.T) {
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			f.by[j.id].script(func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodPost:
					jsonAnswer(200, j.start)(w, r)
				case http.MethodGet:
					jsonAnswer(200, j.running)(w, r)
					time.AfterFunc(20*time.Millisecond, cancel)
				default:
					jsonAnswer(200, `{"status":"cancelled"}`)(w, r)
				}
			})
			reply, err := crawlOf(ctx, s, `{"url":"http://page.net/"}`)
			if err != nil || reply.Stopped != "cancelled" || reply.Read != 1 {
				t.Errorf("got %+v, %v; want the page that was read", reply, err)
			}
			if n := j.deletes(f); n != 1 {
				t.Errorf("the job was taken back %d times, want once", n)
			}
		})
	}
}

// TestJobCancelledAtItsStart cancels while a job is being made: it is taken back all the same.
func TestJobCancelledAtItsStart(t *testing.T) {
	defer func(d time.Duration) { jobStartGrace = d }(jobStartGrace)
	jobStartGrace = time.Minute
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			f.by[j.id].script(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					cancel()
				}
				jsonAnswer(200, j.start)(w, r)
			})
			if _, err := crawlOf(ctx, s, `{"url":"http://page.net/"}`); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the context's error", err)
			}
			if n := j.deletes(f); n != 1 {
				t.Errorf("the job was taken back %d times, want once", n)
			}
		})
	}
}

// TestJobGoesOn continues a crawl at a provider that has had enough: it is left alone then, by
// new crawls as well.
func TestJobGoesOn(t *testing.T) {
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			f.by[j.id].script(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					jsonAnswer(200, j.start)(w, r)
					return
				}
				jsonAnswer(200, j.page(0, "1"))(w, r)
			})
			ctx := testContext(t, time.Minute)
			reply, err := crawlOf(ctx, s, `{"url":"http://page.net/","maxPages":1}`)
			if err != nil || reply.Next == "" {
				t.Fatalf("%+v, %v; want a cursor", reply, err)
			}
			f.by[j.id].script(jsonAnswer(401, `{"success":false,"error":"no"}`))
			if _, err := crawlOf(ctx, s, fmt.Sprintf(`{"cursor":%q}`, reply.Next)); !errors.Is(err, ErrUnauthorized) {
				t.Fatalf("got %v, want %v", err, ErrUnauthorized)
			}
			n := len(f.by[j.id].requests())
			if _, err := crawlOf(ctx, s, `{"url":"http://page.net/"}`); !errors.Is(err, ErrUnauthorized) || len(f.by[j.id].requests()) != n {
				t.Errorf("got %v after %d requests, want the provider left alone", err, len(f.by[j.id].requests())-n)
			}
		})
	}
}

func TestJobOutOfTime(t *testing.T) {
	t.Parallel() // it only waits
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			f.by[j.id].script(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					jsonAnswer(200, j.start)(w, r)
					return
				}
				jsonAnswer(200, j.running)(w, r)
			})
			reply, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/","timeoutSeconds":1}`)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Stopped != "time" || reply.Read != 1 || j.deletes(f) != 1 {
				t.Errorf("stopped by %q with %d pages, taken back %d times; want what was there, and the job gone", reply.Stopped, reply.Read, j.deletes(f))
			}
		})
	}
}

func TestJobStartsOnce(t *testing.T) {
	f := newFakes(t)
	for _, j := range jobClients() {
		t.Run(j.id, func(t *testing.T) {
			s := j.server(t, f)
			f.by[j.id].script(jsonAnswer(503, `{"error":"down"}`))
			if _, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/"}`); !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v, want %v", err, ErrUnavailable)
			}
			if n := len(f.by[j.id].requests()); n != 1 {
				t.Errorf("a job that may be charged was asked for %d times", n)
			}
		})
	}
}

func TestJobNextStaysAtHome(t *testing.T) {
	f := newFakes(t)
	thief := &fake{answer: jsonAnswer(200, `{}`)}
	f.web.host("thief.net", thief)
	j := jobClients()[0]
	s := j.server(t, f)
	f.by[idFirecrawl].script(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			jsonAnswer(200, j.start)(w, r)
			return
		}
		jsonAnswer(200, strings.Replace(j.page(0, "1"), "firecrawl.fake.net", "thief.net", 1))(w, r)
	})
	reply, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/"}`)
	if err != nil || reply.Read != 1 || len(thief.requests()) > 0 {
		t.Errorf("%+v, %v, and the other origin was asked %d times", reply, err, len(thief.requests()))
	}
}

func TestJobFailed(t *testing.T) {
	f := newFakes(t)
	for _, tc := range []struct{ id, state string }{
		{idFirecrawl, `{"success":true,"status":"failed","data":[]}`},
		{idCloudflare, `{"success":true,"result":{"status":"errored","records":[]}}`},
		{idCloudflare, `{"success":true,"result":{"status":"cancelled_due_to_limits","records":[]}}`},
		{idCloudflare, `{"success":true,"result":{"status":"cancelled_due_to_timeout","records":[]}}`},
		{idCloudflare, `{"success":true,"result":{"status":"cancelled_by_user","records":[]}}`},
	} {
		j := jobClients()[0]
		if tc.id == idCloudflare {
			j = jobClients()[1]
		}
		s := j.server(t, f)
		f.by[tc.id].script(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				jsonAnswer(200, j.start)(w, r)
				return
			}
			jsonAnswer(200, tc.state)(w, r)
		})
		if _, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/"}`); !errors.Is(err, ErrTargetFailed) {
			t.Errorf("%s: got %v, want %v", tc.state, err, ErrTargetFailed)
		}
	}
}

func TestContextCrawlAndSitemaps(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.only(allKeys(), idContextDev))
	c := f.by[idContextDev]
	c.script(jsonAnswer(200, `{"results":[{"markdown":"`+lampText+`","metadata":{"url":"http://page.net/","title":"Of lamps","crawlDepth":0,"statusCode":200,"success":true}},{"markdown":"","metadata":{"url":"http://page.net/x","crawlDepth":1,"statusCode":500,"success":false}}],"metadata":{"numSkipped":2},"partial":true}`))
	reply, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://page.net/","maxPages":7,"maxDepth":0}`)
	if err != nil || reply.Read != 1 || reply.Failed != 1 || reply.Skipped != 2 || reply.Stopped != "time" {
		t.Errorf("crawl: %+v, %v", reply, err)
	}
	if body := c.requests()[0].json(t); body["maxPages"] != 7.0 || body["maxDepth"] != 0.0 {
		t.Errorf("crawl asked for %v", body)
	}
	// The older call is gone: the newer one is used, and remembered.
	c.script(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/web/scrape/sitemap" {
			jsonAnswer(404, `{}`)(w, r)
			return
		}
		jsonAnswer(200, `{"success":true,"domain":"page.net","urls":["http://page.net/a",{"url":"http://page.net/b","title":"B"}]}`)(w, r)
	})
	for range 2 {
		r, err := s.Call(testContext(t, time.Minute), toolSitemap, json.RawMessage(`{"url":"page.net"}`), nil)
		if err != nil || len(r.Structured.(*sitemapReply).Entries) != 2 {
			t.Fatalf("sitemap: %+v, %v", r, err)
		}
	}
	if n := len(c.requests()); n != 3 {
		t.Errorf("two sitemaps cost %d requests, want 3: the older call is not tried again", n)
	}
	// Firecrawl's map, read on by cursor.
	s = f.server(t, f.only(allKeys(), idFirecrawl))
	f.by[idFirecrawl].script(jsonAnswer(200, `{"success":true,"links":["http://page.net/1",{"url":"http://page.net/2","title":"Two"},{"url":"http://page.net/3"}]}`))
	args, urls := `{"url":"http://page.net/","limit":2}`, ""
	for range 3 {
		r, err := s.Call(testContext(t, time.Minute), toolSitemap, json.RawMessage(args), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Structured.(*sitemapReply)
		for _, e := range m.Entries {
			urls += e.URL + " "
		}
		if m.Next == "" {
			break
		}
		args = fmt.Sprintf(`{"cursor":%q}`, m.Next)
	}
	if urls != "http://page.net/1 http://page.net/2 http://page.net/3 " {
		t.Errorf("map read on by cursor: %s", urls)
	}
}
