package websrv

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// cloudflare is Cloudflare's Browser Rendering.
type cloudflare struct{ api }

func newCloudflare(n *network, o *Options) *cloudflare {
	return &cloudflare{api{net: n, name: "Cloudflare", base: o.baseURL(idCloudflare) + "/accounts/" + url.PathEscape(o.Keys.CloudflareAccount) + "/browser-rendering",
		keyVar: "CLOUDFLARE_BR_ACCOUNT_ID and CLOUDFLARE_BR_API_TOKEN", secrets: o.Keys.secrets(),
		auth: map[string]string{"Authorization": "Bearer " + o.Keys.CloudflareToken}, refine: refineCloudflare}}
}

func (*cloudflare) Name() string { return "Cloudflare" }
func (*cloudflare) Local() bool  { return false }

// refineCloudflare reads 422, which is a page that could not be rendered.
func refineCloudflare(f *Failure, resp *response, _ *apiError) *Failure {
	if resp.Status == http.StatusUnprocessableEntity {
		return &Failure{Class: ErrTargetFailed, Reason: f.Reason}
	}
	return f
}

func (*cloudflare) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderNever {
		return "it runs a page's scripts always"
	}
	return ""
}

// cloudflareCall makes a call and unwraps its envelope; success:false can come with any status.
func (p *cloudflare) cloudflareCall(ctx context.Context, c *call, result any) error {
	var out struct {
		Success *bool           `json:"success"`
		Result  json.RawMessage `json:"result"`
		Errors  []struct {
			Message text `json:"message"`
		} `json:"errors"`
	}
	if err := p.json(ctx, c, &out); err != nil {
		return err
	}
	if out.Success != nil && !*out.Success {
		f := failf(ErrTargetFailed, "the page could not be rendered")
		if len(out.Errors) > 0 {
			f.Reason = p.clean(string(out.Errors[0].Message))
		}
		return f
	}
	if json.Unmarshal(out.Result, result) != nil {
		return failf(ErrUnavailable, "its answer is not the JSON that was expected")
	}
	return nil
}

// Extract implements [Extractor].
func (p *cloudflare) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	body := map[string]any{"url": r.URL, "gotoOptions": map[string]any{"waitUntil": "networkidle2", "timeout": 30_000}, "bestAttempt": true}
	q := url.Values{}
	if r.MaxAge != 0 {
		q.Set("cacheTTL", strconv.Itoa(int(max(0, min(r.MaxAge.Seconds(), 86_400)))))
	}
	var result string
	if r.HTML || len(r.Include)+len(r.Exclude) > 0 { // its Markdown knows no selectors: ours does
		if err := p.cloudflareCall(ctx, &call{method: "POST", path: "/content", query: q, body: body}, &result); err != nil {
			return nil, err
		}
		page, err := pageOf(ctx, r, []byte(result), "text/html; charset=utf-8", r.URL)
		if page != nil {
			page.Rendered = true
		}
		return page, err
	}
	if err := p.cloudflareCall(ctx, &call{method: "POST", path: "/markdown", query: q, body: body}, &result); err != nil {
		return nil, err
	}
	return &Page{URL: r.URL, Markdown: result, Rendered: true}, nil
}

func (p *cloudflare) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	shot := map[string]any{"fullPage": args.FullPage, "type": args.Format}
	if args.Quality > 0 && args.Format != "png" {
		shot["quality"] = args.Quality
	}
	body := map[string]any{"url": args.URL, "viewport": map[string]any{"width": args.Width, "height": args.Height, "deviceScaleFactor": args.DeviceScale}, "screenshotOptions": shot}
	if args.Selector != "" {
		body["selector"] = args.Selector
	}
	if args.WaitFor != "" {
		body["waitForSelector"] = map[string]any{"selector": args.WaitFor}
	}
	if args.WaitMillis > 0 {
		body["waitForTimeout"] = args.WaitMillis
	}
	resp, err := p.send(ctx, &call{method: "POST", path: "/screenshot", body: body, accept: "image/*,application/json"})
	switch {
	case err != nil:
		return nil, err
	case resp.Status != http.StatusOK:
		return nil, p.failure(resp)
	case strings.Contains(resp.Media, "json"): // the envelope of a failure
		var envelope struct {
			Errors []json.RawMessage `json:"errors"`
		}
		if err := json.Unmarshal(resp.Body, &envelope); err != nil {
			return nil, failf(ErrUnavailable, "its answer is neither a picture nor a reason")
		}
		return nil, failf(ErrTargetFailed, "%s", p.clean(parseAPIError(resp.Body).Text))
	}
	return decodePicture(resp.Body)
}

// Bounds of a crawl job.
const (
	maxJobPages  = 10_000           // read into one result at most
	jobPoll      = 2 * time.Second  // between two looks at a job
	jobPollFails = 5                // failed looks in a row before a job is given up
	maxJobChain  = 1_000            // pages of a job's answer
	jobPollTime  = 20 * time.Second // one look
)

// After we were cancelled: jobDelete bounds taking a job back, jobStartGrace the wait for the
// name of one whose start was under way. Only tests change them.
var jobDelete, jobStartGrace = time.Second, 400 * time.Millisecond

func (p *cloudflare) crawl(ctx context.Context, args *crawlArgs, progress crawlProgress) (*crawlResult, error) {
	opts := map[string]any{"includeSubdomains": args.Subdomains}
	if pats := urlPatterns(args.URL, args.Include); len(pats) > 0 {
		opts["includePatterns"] = pats
	}
	if pats := urlPatterns(args.URL, args.Exclude); len(pats) > 0 {
		opts["excludePatterns"] = pats
	}
	body := map[string]any{"url": args.URL, "limit": args.MaxPages, "depth": *args.MaxDepth, "source": "all", "formats": []string{"markdown"}, "render": args.Render != renderNever,
		"crawlPurposes": []string{"search", "ai-input"}, "options": opts} // the default purposes include training, which many sites forbid
	return runJob(ctx, args, progress, &cloudflareJob{p}, body)
}

// cloudflareJob is a crawl at Cloudflare.
type cloudflareJob struct{ *cloudflare }

func (j *cloudflareJob) start(ctx context.Context, body any) (id string, err error) {
	err = j.cloudflareCall(ctx, &call{method: "POST", path: "/crawl", body: body}, &id)
	return id, err
}

func (j *cloudflareJob) look(ctx context.Context, id, cursor string, probe bool) (*jobState, error) {
	q := url.Values{}
	if probe {
		q.Set("limit", "1")
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	var out struct {
		Status   string  `json:"status"`
		Total    int     `json:"total"`
		Finished int     `json:"finished"`
		Skipped  int     `json:"skipped"`
		Cursor   text    `json:"cursor"`
		Seconds  float64 `json:"browserSecondsUsed"`
		Records  []struct {
			URL      text `json:"url"`
			Status   text `json:"status"`
			Markdown text `json:"markdown"`
			Metadata struct {
				Status int  `json:"status"`
				Title  text `json:"title"`
				URL    text `json:"url"`
			} `json:"metadata"`
		} `json:"records"`
	}
	if err := j.cloudflareCall(ctx, &call{method: "GET", path: "/crawl/" + url.PathEscape(id), query: q, timeout: jobPollTime}, &out); err != nil {
		return nil, err
	}
	s := &jobState{done: out.Finished, total: out.Total, skipped: out.Skipped, running: out.Status == "running" || out.Status == "queued", next: string(out.Cursor)}
	switch out.Status {
	case "errored":
		s.failed = "the crawl failed on its side"
	case "cancelled_due_to_timeout", "cancelled_due_to_limits", "cancelled_by_user":
		s.stopped = strings.ReplaceAll(out.Status, "_", " ")
	}
	for _, r := range out.Records {
		page := crawlPage{URL: string(r.URL), FinalURL: string(r.Metadata.URL), Title: string(r.Metadata.Title), Status: r.Metadata.Status, Markdown: string(r.Markdown)}
		switch r.Status {
		case "queued":
			continue
		case "skipped", "disallowed":
			s.skipped++
			continue
		case "errored", "cancelled":
			page.Error = "the page could not be read"
		}
		if page.Status >= 400 {
			page.Error, page.Markdown = "the site answered HTTP "+strconv.Itoa(page.Status), ""
		}
		s.pages = append(s.pages, page)
	}
	return s, nil
}

func (j *cloudflareJob) drop(ctx context.Context, id string) error {
	_, err := j.send(ctx, &call{method: "DELETE", path: "/crawl/" + url.PathEscape(id), timeout: jobDelete})
	return err
}
