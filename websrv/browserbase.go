package websrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// browserbase is Browserbase: search without snippets, and pages without scripts.
type browserbase struct{ api }

func newBrowserbase(n *network, o *Options) *browserbase {
	return &browserbase{api{net: n, name: "Browserbase", base: o.baseURL(idBrowserbase), keyVar: "BROWSERBASE_API_KEY", secrets: o.Keys.secrets(),
		auth: map[string]string{"X-BB-API-Key": o.Keys.Browserbase}, refine: refineBrowserbase}}
}

func (*browserbase) Name() string { return "Browserbase" }
func (*browserbase) Local() bool  { return false }

// refineBrowserbase tells a page too large from a fault of the service: both are 502.
func refineBrowserbase(f *Failure, resp *response, e *apiError) *Failure {
	if resp.Status == http.StatusBadGateway && strings.Contains(strings.ToLower(e.Text), "large") {
		return &Failure{Class: ErrTargetFailed, Reason: "the page is too large for it", SiteOnly: true}
	}
	return f
}

const maxBrowserbaseQuery = 200 // characters

func (*browserbase) unable(request any) string {
	switch r := request.(type) {
	case *Query:
		if len([]rune(r.Text)) > maxBrowserbaseQuery {
			return "it takes queries of at most 200 characters"
		}
	case *PageRequest:
		return unableToSelect(r, true, false)
	}
	return ""
}

// Search implements [Searcher].
func (p *browserbase) Search(ctx context.Context, q *Query) (*Hits, error) {
	// It has no filters: what ours leave over should still be enough.
	limit := min(25, q.Limit)
	if len(q.Domains)+len(q.ExcludeDomains) > 0 {
		limit = 25
	}
	var out struct {
		Results []struct {
			URL           text `json:"url"`
			Title         text `json:"title"`
			PublishedDate text `json:"publishedDate"`
		} `json:"results"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/v1/search", body: map[string]any{"query": q.Text, "numResults": limit}}, &out); err != nil {
		return nil, err
	}
	hits := &Hits{Note: "this provider gives no snippets"}
	for _, r := range out.Results {
		hits.List = append(hits.List, Hit{Title: string(r.Title), URL: string(r.URL), Published: string(r.PublishedDate)})
	}
	return hits, nil
}

// Extract implements [Extractor].
func (p *browserbase) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	format := "markdown"
	if r.HTML {
		format = "raw"
	}
	var out struct {
		StatusCode  int             `json:"statusCode"`
		Content     json.RawMessage `json:"content"`
		ContentType text            `json:"contentType"`
		Encoding    text            `json:"encoding"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/v1/fetch", body: map[string]any{"url": r.URL, "format": format, "allowRedirects": true}}, &out); err != nil {
		return nil, err
	}
	if out.StatusCode >= 400 {
		return nil, failf(ErrTargetFailed, "the site answered HTTP %d", out.StatusCode)
	}
	var content string
	if json.Unmarshal(out.Content, &content) != nil {
		content = string(out.Content) // an object, for JSON
	}
	if out.Encoding == "base64" {
		raw, err := base64.StdEncoding.DecodeString(content)
		if err != nil {
			return nil, failf(ErrUnavailable, "its answer is not the base64 that it says")
		}
		return pageOf(ctx, r, raw, string(out.ContentType), r.URL)
	}
	if r.HTML {
		return pageOf(ctx, r, []byte(content), string(out.ContentType), r.URL)
	}
	return &Page{URL: r.URL, Status: out.StatusCode, ContentType: mediaOnly(string(out.ContentType)), Markdown: content}, nil
}

// mediaOnly is the media type of a Content-Type.
func mediaOnly(contentType string) string {
	media, _ := mediaType(contentType)
	return media
}
