package websrv

import (
	"context"
	"strings"
	"time"
)

// perplexity is Perplexity's search.
type perplexity struct{ api }

func newPerplexity(n *network, o *Options) *perplexity {
	return &perplexity{api{net: n, name: "Perplexity", base: o.baseURL(idPerplexity), keyVar: "PERPLEXITY_API_KEY", secrets: o.Keys.secrets(),
		auth: map[string]string{"Authorization": "Bearer " + o.Keys.Perplexity}}}
}

func (*perplexity) Name() string { return "Perplexity" }
func (*perplexity) Local() bool  { return false }

// maxPerplexityDomains is the longest domain filter it takes.
const maxPerplexityDomains = 20

// Search implements [Searcher].
func (p *perplexity) Search(ctx context.Context, q *Query) (*Hits, error) {
	body := map[string]any{"query": q.Text, "max_results": min(q.Limit, 20)}
	var applied []string
	// One list either allows or denies; what it cannot hold is applied to the answer.
	switch {
	case len(q.Domains) > 0 && len(q.Domains) <= maxPerplexityDomains:
		body["search_domain_filter"] = q.Domains
		applied = append(applied, "domains")
	case len(q.Domains) == 0 && len(q.ExcludeDomains) > 0 && len(q.ExcludeDomains) <= maxPerplexityDomains:
		var list []string
		for _, d := range q.ExcludeDomains {
			list = append(list, "-"+d)
		}
		body["search_domain_filter"] = list
		applied = append(applied, "excludeDomains")
	}
	const day = "01/02/2006"
	switch {
	case !q.Since.IsZero() || !q.Until.IsZero():
		since := q.Since
		if from := recencyStart(q.Recency, p.net.o.Now()); from.After(since) {
			since = from
		}
		if !since.IsZero() {
			body["search_after_date_filter"] = since.Format(day)
		}
		if !q.Until.IsZero() {
			body["search_before_date_filter"] = q.Until.Add(24 * time.Hour).Format(day) // before, and the day itself counts
		}
		applied = append(applied, "since", "until", "recency")
	case q.Recency != "":
		body["search_recency_filter"] = q.Recency
		applied = append(applied, "recency")
	}
	if q.Region != "" {
		body["country"] = strings.ToUpper(q.Region)
		applied = append(applied, "region")
	}
	if q.Language != "" {
		body["search_language_filter"] = []string{q.Language}
		applied = append(applied, "language")
	}
	var out struct {
		Results []struct {
			Title       text `json:"title"`
			URL         text `json:"url"`
			Snippet     text `json:"snippet"`
			Date        text `json:"date"`
			LastUpdated text `json:"last_updated"`
		} `json:"results"`
	}
	if err := p.json(ctx, &call{method: "POST", path: "/search", body: body}, &out); err != nil {
		return nil, err
	}
	hits := &Hits{Applied: applied}
	for _, r := range out.Results {
		date := r.Date
		if date == "" {
			date = r.LastUpdated
		}
		hits.List = append(hits.List, Hit{Title: string(r.Title), URL: string(r.URL), Snippet: string(r.Snippet), Published: string(date)})
	}
	return hits, nil
}
