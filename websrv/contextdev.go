package websrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// contextDev is Context.dev. Some of its calls have successors: one that is gone is not
// tried again.
type contextDev struct {
	api
	newScrape, newURLs, newShot atomic.Bool // the older call answered 404 or 410
}

func newContextDev(n *network, o *Options) *contextDev {
	return &contextDev{api: api{net: n, name: "Context.dev", base: o.baseURL(idContextDev), keyVar: "CONTEXT_DEV_API_KEY", secrets: o.Keys.secrets(),
		auth: map[string]string{"Authorization": "Bearer " + o.Keys.ContextDev}, refine: refineContextDev}}
}

func (*contextDev) Name() string { return "Context.dev" }
func (*contextDev) Local() bool  { return false }

// refineContextDev reads its error codes.
func refineContextDev(f *Failure, resp *response, e *apiError) *Failure {
	target := func() *Failure { return &Failure{Class: ErrTargetFailed, Reason: f.Reason} }
	switch e.Tag {
	case "USAGE_EXCEEDED":
		f.Class = ErrNoCredit
		return f
	case "WEBSITE_ACCESS_ERROR", "WEBSITE_BLOCKED", "PDF_SKIPPED", "NOT_FOUND":
		return target()
	case "DISABLED", "INSUFFICIENT_PERMISSIONS":
		f.Class = ErrRefused
		return f
	}
	switch resp.Status {
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return target()
	case http.StatusNotFound:
		return target()
	}
	return f
}

func (p *contextDev) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderNever {
		return "it decides itself whether a page's scripts are run"
	}
	if a, ok := request.(*screenshotArgs); ok && (a.Selector != "" || a.WaitFor != "" || a.DeviceScale != 1 || a.Format != "png") {
		return "it takes pictures of whole viewports or pages in PNG only"
	}
	return ""
}

// gone reports whether an older call is no longer there. A page that is not found has an error
// code of its own, so an answer without one counts.
func (p *contextDev) gone(resp *response, flag *atomic.Bool) bool {
	if resp.Status != http.StatusGone && (resp.Status != http.StatusNotFound || parseAPIError(resp.Body).Tag != "") {
		return false
	}
	flag.Store(true)
	return true
}

// get makes an older call; ok is false if it is gone.
func (p *contextDev) get(ctx context.Context, path string, q url.Values, flag *atomic.Bool, out any) (ok bool, err error) {
	if flag.Load() {
		return false, nil
	}
	resp, err := p.send(ctx, &call{method: "GET", path: path, query: q})
	switch {
	case err != nil:
		return true, err
	case resp.Status == http.StatusOK:
		return true, p.decode(resp, out)
	case p.gone(resp, flag):
		return false, nil
	}
	return true, p.failure(resp)
}

// Search implements [Searcher].
func (p *contextDev) Search(ctx context.Context, q *Query) (*Hits, error) {
	body := map[string]any{"query": q.Text, "numResults": max(10, q.Limit)} // its least is 10
	applied := []string{"domains", "excludeDomains"}
	if len(q.Domains) > 0 {
		body["includeDomains"] = q.Domains
	}
	if len(q.ExcludeDomains) > 0 {
		body["excludeDomains"] = q.ExcludeDomains
	}
	if q.Recency != "" {
		body["freshness"] = map[string]string{"day": "last_24_hours", "week": "last_week", "month": "last_month", "year": "last_year"}[q.Recency]
		applied = append(applied, "recency")
	}
	if q.Region != "" {
		body["country"] = strings.ToLower(q.Region)
		applied = append(applied, "region")
	}
	var out struct {
		Results []struct {
			URL         text `json:"url"`
			Title       text `json:"title"`
			Description text `json:"description"`
		} `json:"results"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/web/search", body: body}, &out); err != nil {
		return nil, err
	}
	hits := &Hits{Applied: applied}
	for _, r := range out.Results {
		hits.List = append(hits.List, Hit{Title: string(r.Title), URL: string(r.URL), Snippet: string(r.Description)})
	}
	return hits, nil
}

type contextMeta struct {
	SourceURL     text `json:"sourceUrl"`
	FinalURL      text `json:"finalUrl"`
	Title         text `json:"title"`
	Description   text `json:"description"`
	Language      text `json:"language"`
	Author        text `json:"author"`
	SiteName      text `json:"siteName"`
	PublishedTime text `json:"publishedTime"`
}

func (m *contextMeta) page(r *PageRequest) *Page {
	return &Page{URL: r.URL, FinalURL: string(m.FinalURL), Title: string(m.Title), Byline: string(m.Author), Site: string(m.SiteName),
		Description: string(m.Description), Published: string(m.PublishedTime), Language: string(m.Language)}
}

// Extract implements [Extractor].
func (p *contextDev) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	q := url.Values{"url": {r.URL}, "includeLinks": {"true"}, "useMainContentOnly": {strconv.FormatBool(len(r.Include) == 0)}}
	for k, list := range map[string][]string{"includeSelectors": r.Include, "excludeSelectors": r.Exclude} {
		if len(list) > 0 {
			q.Set(k, strings.Join(list, ","))
		}
	}
	if r.MaxAge != 0 {
		q.Set("maxAgeMs", strconv.FormatInt(max(0, r.MaxAge.Milliseconds()), 10))
	}
	if r.HTML {
		q.Set("includeHTML", "true")
	}
	if deadline, ok := ctx.Deadline(); ok {
		q.Set("timeoutOpts[milliseconds]", strconv.FormatInt(max(1000, time.Until(deadline).Milliseconds()-2000), 10))
	}
	var out struct {
		Success  *bool       `json:"success"`
		Markdown text        `json:"markdown"`
		HTML     text        `json:"html"`
		Metadata contextMeta `json:"metadata"`
		KeyMeta  struct {
			Credits float64 `json:"credits_consumed"`
		} `json:"key_metadata"`
	}
	ok, err := p.get(ctx, "/web/scrape/markdown", q, &p.newScrape, &out)
	if err != nil {
		return nil, err
	}
	if !ok {
		return p.scrape(ctx, r)
	}
	if out.Success != nil && !*out.Success {
		return nil, failf(ErrTargetFailed, "the page could not be read")
	}
	page := out.Metadata.page(r)
	page.Markdown, page.HTML, page.Rendered, page.Credits = string(out.Markdown), string(out.HTML), true, out.KeyMeta.Credits
	return page, nil
}

// contextPart is one format of the newer scrape.
type contextPart struct {
	Success *bool           `json:"success"`
	Data    json.RawMessage `json:"data"`
	Code    text            `json:"error_code"`
	Message text            `json:"message"`
}

func (c *contextPart) text() (s string) {
	json.Unmarshal(c.Data, &s) // no text leaves it empty
	return s
}

// scrape is the newer call for a page.
func (p *contextDev) scrape(ctx context.Context, r *PageRequest) (*Page, error) {
	body := map[string]any{"url": r.URL, "formats": map[string]bool{"markdown": true, "html": r.HTML},
		"sharedParams": map[string]any{"mainContentOnly": len(r.Include) == 0}}
	if len(r.Include)+len(r.Exclude) > 0 {
		return nil, &Failure{Class: ErrTargetFailed, Reason: "it knows no selectors", SiteOnly: true}
	}
	if r.MaxAge != 0 {
		body["maxAgeMs"] = max(0, r.MaxAge.Milliseconds())
	}
	var out struct {
		URL      text        `json:"url"`
		Markdown contextPart `json:"markdown"`
		HTML     contextPart `json:"html"`
		Metadata contextMeta `json:"metadata"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/web/scrape", body: body}, &out); err != nil {
		return nil, err
	}
	if out.Markdown.Success != nil && !*out.Markdown.Success {
		return nil, failf(ErrTargetFailed, "%s", p.clean(string(out.Markdown.Code)+" "+string(out.Markdown.Message)))
	}
	page := out.Metadata.page(r)
	page.FinalURL = orDefault(page.FinalURL, string(out.URL))
	page.Markdown, page.HTML, page.Rendered = out.Markdown.text(), out.HTML.text(), true
	return page, nil
}

// Bounds of its crawl, which answers in one piece.
const (
	maxContextPages   = 500
	minContextCrawl   = 10 * time.Second
	maxContextCrawl   = 110 * time.Second
	maxContextMapURLs = 100_000
)

func (p *contextDev) crawl(ctx context.Context, args *crawlArgs, progress crawlProgress) (*crawlResult, error) {
	if args.MaxPages > maxContextPages {
		return nil, &Failure{Class: ErrRefused, Reason: "it crawls at most 500 pages", SiteOnly: true}
	}
	stop := min(max(time.Duration(args.TimeoutSeconds)*time.Second, minContextCrawl), maxContextCrawl)
	body := map[string]any{"url": args.URL, "maxPages": args.MaxPages, "maxDepth": *args.MaxDepth, "followSubdomains": args.Subdomains, "stopAfterMs": stop.Milliseconds(),
		"timeoutOpts": map[string]any{"milliseconds": (stop + 20*time.Second).Milliseconds(), "behavior": "return-partial"}}
	if re := includeRegex(args.URL, args.Include); re != "" {
		body["urlRegex"] = re
	}
	var out struct {
		Results []struct {
			Markdown text `json:"markdown"`
			Metadata struct {
				URL        text  `json:"url"`
				FinalURL   text  `json:"finalUrl"`
				Title      text  `json:"title"`
				Depth      int   `json:"crawlDepth"`
				StatusCode int   `json:"statusCode"`
				Success    *bool `json:"success"`
			} `json:"metadata"`
		} `json:"results"`
		Metadata struct {
			Skipped int `json:"numSkipped"`
		} `json:"metadata"`
		Partial bool `json:"partial"`
		KeyMeta struct {
			Credits float64 `json:"credits_consumed"`
		} `json:"key_metadata"`
	}
	stopTicks := tick(progress, "waiting for "+p.name)
	err := p.json(ctx, &call{method: "POST", path: "/web/crawl", body: body}, &out)
	stopTicks()
	if err != nil {
		return nil, err
	}
	res := &crawlResult{Skipped: out.Metadata.Skipped, Credits: out.KeyMeta.Credits}
	if out.Partial {
		res.Stopped = "time"
	}
	for _, r := range out.Results {
		m := &r.Metadata
		page := crawlPage{URL: string(m.URL), FinalURL: string(m.FinalURL), Title: string(m.Title), Status: m.StatusCode, Depth: m.Depth, Markdown: string(r.Markdown)}
		if m.Success != nil && !*m.Success || r.Markdown == "" {
			page.Error = "the page could not be read"
		}
		res.add(args, page)
	}
	return res, nil
}

func (p *contextDev) sitemap(ctx context.Context, args *sitemapArgs) (*sitemapResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, failf(ErrInvalid, "the address is not a URL")
	}
	skip := remoteOffset(args.Cursor)
	q := url.Values{"domain": {u.Hostname()}, "maxLinks": {strconv.Itoa(min(maxContextMapURLs, skip+args.Limit+1))}, "includeSubdomains": {strconv.FormatBool(args.Subdomains)}}
	if args.Search != "" {
		q.Set("search", args.Search)
	}
	var out struct {
		URLs []json.RawMessage `json:"urls"` // strings or objects
	}
	ok, err := p.get(ctx, "/web/scrape/sitemap", q, &p.newURLs, &out)
	if err == nil && !ok {
		err = p.json(ctx, &call{method: "GET", path: "/web/urls", query: q}, &out)
	}
	if err != nil {
		return nil, err
	}
	var all []sitemapEntry
	for _, raw := range out.URLs {
		var e struct {
			URL   text `json:"url"`
			Title text `json:"title"`
		}
		var s string
		if json.Unmarshal(raw, &s) == nil {
			e.URL = text(s)
		} else if json.Unmarshal(raw, &e) != nil {
			continue
		}
		all = append(all, sitemapEntry{URL: string(e.URL), Title: string(e.Title)})
	}
	return pageEntries(p.name, all, args), nil
}

func (p *contextDev) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	q := url.Values{"directUrl": {args.URL}, "fullScreenshot": {strconv.FormatBool(args.FullPage)}, "viewport[width]": {strconv.Itoa(args.Width)}, "viewport[height]": {strconv.Itoa(args.Height)},
		"waitForMs": {strconv.Itoa(args.WaitMillis)}, "maxAgeMs": {"0"}}
	var out struct {
		Screenshot text `json:"screenshot"`
	}
	ok, err := p.get(ctx, "/web/screenshot", q, &p.newShot, &out)
	if err == nil && !ok {
		q.Set("url", args.URL)
		q.Del("directUrl")
		err = p.json(ctx, &call{method: "GET", path: "/web/scrape/screenshot", query: q}, &out)
	}
	if err != nil {
		return nil, err
	}
	if out.Screenshot == "" {
		return nil, failf(ErrTargetFailed, "it gave no picture")
	}
	if _, data, ok := strings.Cut(string(out.Screenshot), ";base64,"); ok && strings.HasPrefix(string(out.Screenshot), "data:") {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, failf(ErrUnavailable, "its picture is not the base64 that it says")
		}
		return decodePicture(raw)
	}
	return p.fetchPicture(ctx, string(out.Screenshot))
}
