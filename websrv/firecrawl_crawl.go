package websrv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strings"
)

func (p *firecrawl) crawl(ctx context.Context, args *crawlArgs, progress crawlProgress) (*crawlResult, error) {
	body := map[string]any{"url": args.URL, "limit": args.MaxPages, // without it the credits for 10,000 pages must be there
		"maxDiscoveryDepth": *args.MaxDepth, "allowSubdomains": args.Subdomains, "sitemap": "include", "origin": originTag,
		"scrapeOptions": map[string]any{"formats": []string{"markdown"}}}
	for k, globs := range map[string][]string{"includePaths": args.Include, "excludePaths": args.Exclude} {
		var list []string
		for _, g := range globs {
			list = append(list, "^"+globRegex(g)+"$")
		}
		if list != nil {
			body[k] = list
		}
	}
	return runJob(ctx, args, progress, &firecrawlJob{p}, body)
}

// firecrawlJob is a crawl at Firecrawl.
type firecrawlJob struct{ *firecrawl }

func (j *firecrawlJob) start(ctx context.Context, body any) (id string, err error) {
	var out struct {
		Success *bool `json:"success"`
		ID      text  `json:"id"`
		Error   text  `json:"error"`
	}
	c := &call{method: "POST", path: "/v2/crawl", body: body, header: map[string]string{"x-idempotency-key": rand.Text()}}
	if err := j.json(ctx, c, &out); err != nil {
		return "", err
	}
	if out.Success != nil && !*out.Success {
		return "", failf(ErrTargetFailed, "%s", j.clean(string(out.Error)))
	}
	return string(out.ID), nil
}

func (j *firecrawlJob) look(ctx context.Context, id, cursor string, probe bool) (*jobState, error) {
	c := &call{method: "GET", path: "/v2/crawl/" + url.PathEscape(id), timeout: jobPollTime}
	if cursor != "" {
		c.query, _ = url.ParseQuery(cursor) // a broken part is left out
	}
	var out struct {
		Status    string            `json:"status"`
		Total     int               `json:"total"`
		Completed int               `json:"completed"`
		Credits   float64           `json:"creditsUsed"`
		Next      text              `json:"next"`
		Data      []json.RawMessage `json:"data"`
	}
	if err := j.json(ctx, c, &out); err != nil {
		return nil, err
	}
	s := &jobState{running: out.Status == "scraping", done: out.Completed, total: out.Total, credits: out.Credits}
	switch out.Status {
	case "failed":
		s.failed = "the crawl failed on its side"
	case "cancelled":
		s.stopped = "cancelled"
	}
	if probe {
		return s, nil
	}
	if s.next = j.nextQuery(string(out.Next), id); s.running && len(out.Data) == 0 {
		s.next = "" // taken back: nothing more will come
	}
	for _, raw := range out.Data {
		var doc firecrawlDoc
		if json.Unmarshal(raw, &doc) != nil {
			continue
		}
		s.pages = append(s.pages, doc.crawlPage())
	}
	return s, nil
}

// nextQuery is the query of a next address, "" unless it is this job at this origin.
func (j *firecrawlJob) nextQuery(next, id string) string {
	u, err := url.Parse(next)
	base, baseErr := url.Parse(j.base)
	if err != nil || baseErr != nil || next == "" || u.Host != "" && (u.Host != base.Host || u.Scheme != base.Scheme) || !strings.HasSuffix(u.Path, "/v2/crawl/"+id) {
		return ""
	}
	return u.RawQuery
}

func (d *firecrawlDoc) crawlPage() crawlPage {
	m := &d.Metadata
	p := crawlPage{URL: string(m.SourceURL), FinalURL: string(m.URL), Title: string(m.Title), Status: m.StatusCode, ContentType: mediaOnly(string(m.ContentType)), Markdown: string(d.Markdown)}
	p.URL = orDefault(p.URL, p.FinalURL)
	switch {
	case m.StatusCode >= 400:
		p.Error, p.Markdown = "the site answered an error", ""
	case p.Markdown == "":
		p.Error = orDefault(plain(string(m.Error), maxReason), "the page has no text")
	}
	return p
}

func (j *firecrawlJob) drop(ctx context.Context, id string) error {
	_, err := j.send(ctx, &call{method: "DELETE", path: "/v2/crawl/" + url.PathEscape(id), timeout: jobDelete})
	return err
}

func (p *firecrawl) sitemap(ctx context.Context, args *sitemapArgs) (*sitemapResult, error) {
	skip := remoteOffset(args.Cursor)
	body := map[string]any{"url": args.URL, "sitemap": "include", "includeSubdomains": args.Subdomains, "limit": min(maxContextMapURLs, skip+args.Limit+1), "origin": originTag}
	if args.Search != "" {
		body["search"] = args.Search
	}
	var out struct {
		Success *bool             `json:"success"`
		Error   text              `json:"error"`
		Links   []json.RawMessage `json:"links"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/v2/map", body: body}, &out); err != nil {
		return nil, err
	}
	if out.Success != nil && !*out.Success {
		return nil, failf(ErrTargetFailed, "%s", p.clean(string(out.Error)))
	}
	var all []sitemapEntry
	for _, raw := range out.Links {
		var e sitemapEntry
		if json.Unmarshal(raw, &e.URL) == nil || json.Unmarshal(raw, &e) == nil {
			all = append(all, sitemapEntry{URL: e.URL, Title: e.Title})
		}
	}
	return pageEntries(p.name, all, args), nil
}
