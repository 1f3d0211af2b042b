package websrv

import (
	"context"
	"strings"
	"time"
)

// exa is Exa: search and, from its index, pages.
type exa struct{ api }

func newExa(n *network, o *Options) *exa {
	return &exa{api{net: n, name: "Exa", base: o.baseURL(idExa), keyVar: "EXA_API_KEY", secrets: o.Keys.secrets(),
		auth: map[string]string{"x-api-key": o.Keys.Exa}, refine: refineExa}}
}

func (*exa) Name() string { return "Exa" }
func (*exa) Local() bool  { return false }

// refineExa reads Exa's tags.
func refineExa(f *Failure, _ *response, e *apiError) *Failure {
	switch e.Tag {
	case "NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED":
		f.Class = ErrNoCredit
	}
	return f
}

type exaResult struct {
	URL           string   `json:"url"`
	Title         text     `json:"title"`
	PublishedDate text     `json:"publishedDate"`
	Author        text     `json:"author"`
	Score         float64  `json:"score"`
	Text          text     `json:"text"`
	Highlights    []string `json:"highlights"`
	Summary       text     `json:"summary"`
}

// Search implements [Searcher].
func (p *exa) Search(ctx context.Context, q *Query) (*Hits, error) {
	since, applied := q.Since, []string{"domains", "excludeDomains"}
	body := map[string]any{"query": q.Text, "numResults": q.Limit, "type": "auto", "contents": map[string]any{"highlights": true}}
	if len(q.Domains) > 0 {
		body["includeDomains"] = q.Domains
	}
	if len(q.ExcludeDomains) > 0 {
		body["excludeDomains"] = q.ExcludeDomains
	}
	if q.Recency != "" {
		if from := recencyStart(q.Recency, p.net.o.Now()); from.After(since) {
			since = from
		}
	}
	if !since.IsZero() {
		body["startPublishedDate"] = since.UTC().Format(time.RFC3339)
	}
	if !q.Until.IsZero() {
		body["endPublishedDate"] = q.Until.UTC().Add(24*time.Hour - time.Second).Format(time.RFC3339) // the day itself counts
	}
	applied = append(applied, "since", "until", "recency")
	if q.Region != "" {
		body["userLocation"] = strings.ToUpper(q.Region)
		applied = append(applied, "region")
	}
	if q.Safe == "strict" {
		body["moderation"] = true
		applied = append(applied, "safe")
	}
	var out struct {
		Results []exaResult `json:"results"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/search", body: body}, &out); err != nil {
		return nil, err
	}
	hits := &Hits{Applied: applied}
	for _, r := range out.Results {
		snippet := strings.Join(r.Highlights, " … ")
		if snippet == "" {
			snippet = string(r.Summary)
		}
		if snippet == "" {
			snippet = string(r.Text)
		}
		hits.List = append(hits.List, Hit{Title: string(r.Title), URL: r.URL, Snippet: snippet, Published: string(r.PublishedDate), Score: r.Score})
	}
	return hits, nil
}

// recencyStart is the moment that a recency reaches back to.
func recencyStart(recency string, now time.Time) time.Time {
	switch recency {
	case "day":
		return now.AddDate(0, 0, -1)
	case "week":
		return now.AddDate(0, 0, -7)
	case "month":
		return now.AddDate(0, -1, 0)
	case "year":
		return now.AddDate(-1, 0, 0)
	}
	return time.Time{}
}

func (*exa) unable(request any) string {
	if r, ok := request.(*PageRequest); ok {
		return unableToSelect(r, false, false)
	}
	return ""
}

// unableToSelect says what of a page request a provider cannot do that gives no HTML or knows no
// selectors, and runs no scripts on demand.
func unableToSelect(r *PageRequest, html, selectors bool) string {
	switch {
	case r.HTML && !html:
		return "it gives no HTML"
	case !selectors && len(r.Include)+len(r.Exclude) > 0:
		return "it knows no selectors"
	case r.Render == renderAlways:
		return "it does not run a page's scripts on demand"
	}
	return ""
}

// Extract implements [Extractor].
func (p *exa) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	body := map[string]any{"urls": []string{r.URL}, "text": true}
	if r.MaxAge != 0 {
		body["maxAgeHours"] = max(0, int(r.MaxAge.Hours()))
	}
	var out struct {
		Results  []exaResult `json:"results"`
		Statuses []struct {
			Status string `json:"status"`
			Error  *struct {
				Tag  string `json:"tag"`
				Code int    `json:"httpStatusCode"`
			} `json:"error"`
		} `json:"statuses"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/contents", body: body}, &out); err != nil {
		return nil, err
	}
	for _, s := range out.Statuses { // 200 even when the page failed
		if s.Status == "error" {
			f := failf(ErrTargetFailed, "the page could not be read")
			if s.Error != nil {
				f.Reason = "the page could not be read (" + plain(s.Error.Tag, 60) + ")"
			}
			return nil, f
		}
	}
	if len(out.Results) == 0 {
		return nil, failf(ErrTargetFailed, "it has no text of the page")
	}
	res := out.Results[0]
	return &Page{URL: r.URL, FinalURL: res.URL, Title: string(res.Title), Byline: string(res.Author), Published: string(res.PublishedDate), Markdown: string(res.Text)}, nil
}
