package websrv

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// firecrawl is Firecrawl v2 with a key.
type firecrawl struct{ api }

func newFirecrawl(n *network, o *Options) *firecrawl {
	return &firecrawl{api{net: n, name: "Firecrawl", base: o.baseURL(idFirecrawl), keyVar: "FIRECRAWL_API_KEY", secrets: o.Keys.secrets(),
		auth: map[string]string{"Authorization": "Bearer " + o.Keys.Firecrawl}, refine: refineFirecrawl}}
}

func (*firecrawl) Name() string { return "Firecrawl" }
func (*firecrawl) Local() bool  { return false }

// originTag tells Firecrawl's statistics which program calls.
const originTag = "aster"

// refineFirecrawl reads Firecrawl's codes.
func refineFirecrawl(f *Failure, resp *response, e *apiError) *Failure {
	lower := strings.ToLower(e.Text)
	switch {
	case resp.Status == http.StatusForbidden && firecrawlSite(e.Tag, lower):
		return &Failure{Class: ErrRefused, Reason: f.Reason, SiteOnly: true}
	case resp.Status == http.StatusNotFound && strings.HasPrefix(e.Tag, "SCRAPE_"):
		return &Failure{Class: ErrTargetFailed, Reason: f.Reason}
	case resp.Status == http.StatusBadRequest && (e.Tag == "SCRAPE_ACTIONS_NOT_SUPPORTED" || e.Tag == "SCRAPE_JSON_CONTENT_TOO_LARGE"):
		return &Failure{Class: ErrTargetFailed, Reason: f.Reason}
	}
	return f
}

// firecrawlSite reports whether a 403 is about the site and not about the key.
func firecrawlSite(tag, lower string) bool {
	switch tag {
	case "UNSUPPORTED_SITE", "unsafe_domain_blocked", "SCRAPE_PROMPT_INJECTION_DETECTED":
		return true
	}
	return strings.Contains(lower, "site") && (strings.Contains(lower, "support") || strings.Contains(lower, "block"))
}

// unable says what of a page request it cannot do.
func (*firecrawl) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderNever {
		return "it runs a page's scripts always"
	}
	if a, ok := request.(*screenshotArgs); ok && (a.Selector != "" || a.WaitFor != "" || a.DeviceScale != 1 || a.Format != "png") {
		return "it takes pictures of whole viewports or pages in PNG only"
	}
	return ""
}

// Search implements [Searcher].
func (p *firecrawl) Search(ctx context.Context, q *Query) (*Hits, error) {
	return p.api.firecrawlSearch(ctx, q)
}

// Extract implements [Extractor].
func (p *firecrawl) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	return p.api.firecrawlScrape(ctx, r)
}

func (p *firecrawl) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	return p.api.firecrawlShot(ctx, args)
}

// firecrawlAnswer is the envelope of Firecrawl's answers. A 200 can be a failure.
type firecrawlAnswer struct {
	Success *bool           `json:"success"`
	Code    text            `json:"code"`
	Error   text            `json:"error"`
	Data    json.RawMessage `json:"data"`
	Credits float64         `json:"creditsUsed"`
}

// firecrawlCall makes a call whose answer has the envelope.
func (a *api) firecrawlCall(ctx context.Context, path string, body any) (*firecrawlAnswer, error) {
	var out firecrawlAnswer
	if err := a.json(ctx, &call{method: "POST", path: path, body: body}, &out); err != nil {
		return nil, err
	}
	if out.Success != nil && !*out.Success {
		return nil, failf(ErrTargetFailed, "%s", strings.TrimSpace(a.clean(string(out.Code))+" "+a.clean(string(out.Error))))
	}
	return &out, nil
}

// firecrawlSearch is a search with or without a key.
func (a *api) firecrawlSearch(ctx context.Context, q *Query) (*Hits, error) {
	body := map[string]any{"query": q.Text, "limit": q.Limit, "sources": []string{"web"}, "origin": originTag}
	var applied []string
	switch { // one or the other
	case len(q.Domains) > 0:
		body["includeDomains"] = q.Domains
		applied = append(applied, "domains")
	case len(q.ExcludeDomains) > 0:
		body["excludeDomains"] = q.ExcludeDomains
		applied = append(applied, "excludeDomains")
	}
	if tbs := firecrawlDates(q, a.net.o.Now()); tbs != "" {
		body["tbs"] = tbs
		applied = append(applied, "since", "until", "recency")
	}
	if q.Region != "" {
		body["country"] = strings.ToUpper(q.Region)
		applied = append(applied, "region")
	}
	out, err := a.firecrawlCall(ctx, "/v2/search", body)
	if err != nil {
		return nil, err
	}
	type result struct {
		URL         text `json:"url"`
		Title       text `json:"title"`
		Description text `json:"description"`
		Markdown    text `json:"markdown"`
	}
	var bySource struct {
		Web []result `json:"web"`
	}
	var list []result // the shape of v1
	if err := json.Unmarshal(out.Data, &bySource); err == nil {
		list = bySource.Web
	} else if json.Unmarshal(out.Data, &list) != nil {
		return nil, failf(ErrUnavailable, "its answer has no list of results")
	}
	hits := &Hits{Applied: applied}
	for _, r := range list {
		snippet := r.Description
		if snippet == "" {
			snippet = r.Markdown
		}
		hits.List = append(hits.List, Hit{Title: string(r.Title), URL: string(r.URL), Snippet: string(snippet)})
	}
	return hits, nil
}

// firecrawlDates is the tbs parameter for a query's dates.
func firecrawlDates(q *Query, now time.Time) string {
	const day = "01/02/2006"
	if q.Since.IsZero() && q.Until.IsZero() {
		if q.Recency == "" {
			return ""
		}
		return "qdr:" + q.Recency[:1]
	}
	since := q.Since
	if from := recencyStart(q.Recency, now); from.After(since) {
		since = from
	}
	tbs := "cdr:1"
	if !since.IsZero() {
		tbs += ",cd_min:" + since.Format(day)
	}
	if !q.Until.IsZero() {
		tbs += ",cd_max:" + q.Until.Format(day)
	}
	return tbs
}

// firecrawlDoc is a page of a scrape or a crawl.
type firecrawlDoc struct {
	Markdown   text     `json:"markdown"`
	HTML       text     `json:"html"`
	RawHTML    text     `json:"rawHtml"`
	Links      []string `json:"links"`
	Screenshot text     `json:"screenshot"`
	Warning    text     `json:"warning"`
	Metadata   struct {
		Title         text    `json:"title"`
		Description   text    `json:"description"`
		Language      text    `json:"language"`
		Author        text    `json:"author"`
		SiteName      text    `json:"ogSiteName"`
		PublishedTime text    `json:"publishedTime"`
		SourceURL     text    `json:"sourceURL"`
		URL           text    `json:"url"`
		StatusCode    int     `json:"statusCode"`
		ContentType   text    `json:"contentType"`
		Error         text    `json:"error"`
		CreditsUsed   float64 `json:"creditsUsed"`
	} `json:"metadata"`
}

// firecrawlScrape reads a page with or without a key.
func (a *api) firecrawlScrape(ctx context.Context, r *PageRequest) (*Page, error) {
	formats := []any{"markdown"}
	if r.HTML {
		formats = append(formats, "html")
	}
	doc, err := a.firecrawlDoc(ctx, r.URL, map[string]any{"formats": formats, "onlyMainContent": len(r.Include) == 0, "includeTags": r.Include, "excludeTags": r.Exclude}, r.MaxAge)
	if err != nil {
		return nil, err
	}
	m := &doc.Metadata
	page := &Page{URL: r.URL, FinalURL: string(m.URL), Title: string(m.Title), Byline: string(m.Author), Site: string(m.SiteName), Description: string(m.Description), Published: string(m.PublishedTime),
		Language: string(m.Language), ContentType: mediaOnly(string(m.ContentType)), Status: m.StatusCode, Markdown: string(doc.Markdown), HTML: string(doc.HTML), Rendered: true, Credits: m.CreditsUsed}
	if doc.Warning != "" {
		page.Warnings = []string{a.clean(string(doc.Warning))}
	}
	return page, nil
}

// firecrawlDoc makes a scrape and checks that the page itself was read.
func (a *api) firecrawlDoc(ctx context.Context, target string, body map[string]any, maxAge time.Duration) (*firecrawlDoc, error) {
	body["url"], body["origin"] = target, originTag
	for _, k := range []string{"includeTags", "excludeTags"} {
		if list, ok := body[k].([]string); ok && len(list) == 0 {
			delete(body, k)
		}
	}
	if maxAge != 0 {
		body["maxAge"] = max(0, maxAge.Milliseconds())
	}
	if deadline, ok := ctx.Deadline(); ok {
		body["timeout"] = min(max(time.Until(deadline)-2*time.Second, time.Second), 300*time.Second).Milliseconds()
	}
	out, err := a.firecrawlCall(ctx, "/v2/scrape", body)
	if err != nil {
		return nil, err
	}
	var doc firecrawlDoc
	if err := json.Unmarshal(out.Data, &doc); err != nil {
		return nil, failf(ErrUnavailable, "its answer has no page")
	}
	if m := &doc.Metadata; m.StatusCode >= 400 { // the error page is in the text, and charged
		return nil, failf(ErrTargetFailed, "the site answered HTTP %d", m.StatusCode)
	}
	return &doc, nil
}

// firecrawlShot takes a picture with or without a key.
func (a *api) firecrawlShot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	shot := map[string]any{"type": "screenshot", "fullPage": args.FullPage, "viewport": map[string]int{"width": args.Width, "height": args.Height}}
	if args.Quality > 0 {
		shot["quality"] = args.Quality
	}
	doc, err := a.firecrawlDoc(ctx, args.URL, map[string]any{"formats": []any{shot}, "waitFor": args.WaitMillis}, -1)
	if err != nil {
		return nil, err
	}
	if doc.Screenshot == "" {
		return nil, failf(ErrTargetFailed, "it gave no picture")
	}
	pic, err := a.fetchPicture(ctx, string(doc.Screenshot))
	if err != nil {
		return nil, err
	}
	pic.Title, pic.FinalURL = string(doc.Metadata.Title), string(doc.Metadata.URL)
	return pic, nil
}
