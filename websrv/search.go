package websrv

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds of search.
const (
	defaultHits   = 10
	maxHits       = 20
	maxQuery      = 500 // bytes
	maxDomains    = 50
	maxSnippet    = 500 // bytes; longer ones are cut
	minSnippet    = 60
	maxHitURL     = 1_000
	maxDomainName = 253
)

// searchArgs are the arguments of the tool search.
type searchArgs struct {
	Query          string   `json:"query"`
	Limit          int      `json:"limit,omitempty"`
	Domains        []string `json:"domains,omitempty"`
	ExcludeDomains []string `json:"excludeDomains,omitempty"`
	Since          string   `json:"since,omitempty"` // a day
	Until          string   `json:"until,omitempty"`
	Recency        string   `json:"recency,omitempty"`
	Region         string   `json:"region,omitempty"`
	Language       string   `json:"language,omitempty"`
	Safe           string   `json:"safe,omitempty"`
	MaxTokens      int      `json:"maxTokens,omitempty"`
}

// searchReply is the structured part of its answer.
type searchReply struct {
	Provider string    `json:"provider"`
	Results  []Hit     `json:"results"`
	Ignored  []string  `json:"ignored,omitempty"`  // arguments that neither provider nor server could honour
	Notes    []string  `json:"notes,omitempty"`    // in plain words
	Failures []Attempt `json:"failures,omitempty"` // before the answer
}

// query checks the arguments.
func (a *searchArgs) query() (*Query, error) {
	q := &Query{Text: strings.TrimSpace(a.Query), Limit: a.Limit, Recency: strings.ToLower(a.Recency), Region: strings.ToLower(a.Region), Language: strings.ToLower(a.Language), Safe: strings.ToLower(a.Safe)}
	switch {
	case q.Text == "":
		return nil, invalidf("query: say what to search for")
	case len(q.Text) > maxQuery:
		return nil, invalidf("query: %d bytes are too long, the most is %d", len(q.Text), maxQuery)
	}
	if err := intRange("limit", &q.Limit, defaultHits, 1, maxHits); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name, value string
		allowed     []string
	}{{"recency", q.Recency, []string{"day", "week", "month", "year"}}, {"safe", q.Safe, []string{"strict", "moderate", "off"}}} {
		if c.value != "" && !slices.Contains(c.allowed, c.value) {
			return nil, invalidf("%s %q: choose one of %s", c.name, plain(c.value, 40), strings.Join(c.allowed, ", "))
		}
	}
	for _, c := range []struct{ name, value string }{{"region", q.Region}, {"language", q.Language}} {
		if c.value != "" && (len(c.value) != 2 || strings.Trim(c.value, "abcdefghijklmnopqrstuvwxyz") != "") {
			return nil, invalidf("%s %q: give two letters, such as \"de\"", c.name, plain(c.value, 40))
		}
	}
	var err error
	if q.Domains, err = domains("domains", a.Domains); err != nil {
		return nil, err
	}
	if q.ExcludeDomains, err = domains("excludeDomains", a.ExcludeDomains); err != nil {
		return nil, err
	}
	if q.Since, err = day("since", a.Since); err != nil {
		return nil, err
	}
	if q.Until, err = day("until", a.Until); err != nil {
		return nil, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		return nil, invalidf("until %s lies before since %s", a.Until, a.Since)
	}
	return q, nil
}

// domains checks a list of domains.
func domains(name string, list []string) (clean []string, err error) {
	if len(list) > maxDomains {
		return nil, invalidf("%s: %d are too many, the most is %d", name, len(list), maxDomains)
	}
	for _, d := range list {
		c := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(d)), "https://"), "http://")
		c = strings.TrimPrefix(strings.TrimSuffix(c, "/"), "*.")
		if c == "" || len(c) > maxDomainName || strings.ContainsAny(c, "/ :?#@\"'()|\\,;") || strings.ContainsFunc(c, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, invalidf("%s: %q is not a domain such as \"example.com\"", name, plain(d, 60))
		}
		clean = append(clean, c)
	}
	return clean, nil
}

// day reads a date.
func day(name, s string) (time.Time, error) {
	if s = strings.TrimSpace(s); s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return t, nil
		}
	}
	return time.Time{}, invalidf("%s %q: give a day such as \"2026-01-31\"", name, plain(s, 40))
}

// search answers the tool search.
func (s *Server) search(ctx context.Context, args *searchArgs, plainText bool) (*Reply, error) {
	q, err := args.query()
	if err != nil {
		return nil, err
	}
	budget, err := s.budget(args.MaxTokens)
	if err != nil {
		return nil, err
	}
	if len(s.dispatcher.chains[OpSearch]) == 0 {
		return nil, &Failure{Class: ErrRefused, Reason: "no search provider is switched on: search needs a hosted one, and mcp.web.local_only or mcp.web.providers leaves none"}
	}
	answer, err := s.dispatcher.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	reply := &searchReply{Provider: answer.Provider, Failures: answer.Attempts, Results: []Hit{}}
	reply.Results, reply.Ignored = refine(answer.Value, q)
	if answer.Value.Note != "" {
		reply.Notes = append(reply.Notes, answer.Value.Note)
	}
	if n := len(answer.Value.List); len(reply.Results) == 0 && n > 0 {
		reply.Notes = append(reply.Notes, fmt.Sprintf("%d results were found and none passed the filters", n))
	}
	return s.searchText(reply, q, budget, plainText), nil
}

// refine applies what the provider did not: hosts and dates, doubles, the limit. ignored are
// the arguments that could not be honoured.
func refine(h *Hits, q *Query) (kept []Hit, ignored []string) {
	kept, undated, seen := []Hit{}, false, map[string]bool{}
	applied := func(name string) bool { return slices.Contains(h.Applied, name) }
	since, until := q.Since, q.Until
	if applied("since") {
		since = time.Time{}
	}
	if applied("until") {
		until = time.Time{}
	}
	for _, hit := range h.List {
		u, err := url.Parse(strings.TrimSpace(hit.URL))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(hit.URL) > maxHitURL || seen[u.String()] {
			continue
		}
		host := strings.ToLower(u.Hostname())
		if len(q.Domains) > 0 && !inDomains(host, q.Domains) || inDomains(host, q.ExcludeDomains) {
			continue
		}
		if !since.IsZero() || !until.IsZero() {
			switch at, ok := published(hit.Published); {
			case !ok:
				undated = true
			case !since.IsZero() && at.Before(since), !until.IsZero() && !at.Before(until.Add(24*time.Hour)):
				continue
			}
		}
		seen[u.String()] = true
		hit.URL, hit.Title = u.String(), plain(hit.Title, maxTitle)
		hit.Snippet, hit.Published = plain(hit.Snippet, maxSnippet), plain(hit.Published, 40)
		if kept = append(kept, hit); len(kept) == q.Limit {
			break
		}
	}
	for _, a := range []struct {
		name string
		set  bool
	}{{"since", undated && !since.IsZero()}, {"until", undated && !until.IsZero()}, {"recency", q.Recency != ""}, {"region", q.Region != ""}, {"language", q.Language != ""}, {"safe", q.Safe != ""}} {
		if a.set && !applied(a.name) {
			ignored = append(ignored, a.name)
		}
	}
	return kept, ignored
}

// inDomains reports whether a host is one of the domains or below one.
func inDomains(host string, list []string) bool {
	return slices.ContainsFunc(list, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}

// published reads the date of a hit.
func published(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, time.DateOnly, "2006-01", "Jan 2, 2006", "January 2, 2006", "2 Jan 2006", time.RFC1123, time.RFC1123Z} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// searchText makes the reply. Text and structured part both count, so snippets are
// shortened until both fit, then hits are left out, which a note tells.
func (s *Server) searchText(reply *searchReply, q *Query, budget int, plainText bool) *Reply {
	f, all := newFence(), reply.Results
	for snippet := maxSnippet; ; {
		for i, h := range reply.Results {
			reply.Results[i].Snippet = plain(h.Snippet, snippet)
		}
		r := &Reply{Structured: reply, Blocks: []string{searchLines(reply, q, f, plainText)}}
		if plainText {
			r.Notes = notes(reply.Provider, nil, reply.Ignored, reply.Notes, false)
		}
		if plainText || r.tokens() <= budget {
			return r
		}
		switch {
		case snippet > minSnippet:
			snippet = max(minSnippet, snippet*2/3)
		case len(reply.Results) > 1:
			if len(reply.Results) == len(all) {
				reply.Notes = append(reply.Notes, "some results were left out: the reply would be too long")
			}
			reply.Results = reply.Results[:len(reply.Results)-1]
		case len(reply.Failures) > 0:
			reply.Failures = nil
		default:
			return r
		}
	}
}

// searchLines is the text of the reply.
func searchLines(reply *searchReply, q *Query, f fence, plainText bool) string {
	var b strings.Builder
	for i, h := range reply.Results {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, orDefault(h.Title, h.URL), h.URL)
		if h.Published != "" {
			fmt.Fprintf(&b, "   published %s\n", h.Published)
		}
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
	}
	text := strings.TrimSuffix(b.String(), "\n")
	switch {
	case text == "":
		text = "Nothing was found."
	case !plainText:
		text = f.wrap(reply.Provider, "Results", text)
	}
	return strings.Join(append([]string{text}, notes(reply.Provider, reply.Failures, reply.Ignored, reply.Notes, plainText)...), "\n\n")
}

// notes are what a reply says beside its content.
func notes(provider string, failures []Attempt, ignored, more []string, plainText bool) (lines []string) {
	if plainText {
		return nil
	}
	if len(failures) > 0 {
		lines = append(lines, "Answered by "+provider+" after:\n"+attemptLines(failures))
	}
	if len(ignored) > 0 {
		lines = append(lines, "Ignored, since this provider has no such filter: "+strings.Join(ignored, ", ")+".")
	}
	for _, n := range more {
		lines = append(lines, "Note: "+n+".")
	}
	return lines
}

func attemptLines(list []Attempt) string {
	var lines []string
	for _, a := range list {
		lines = append(lines, "- "+a.String())
	}
	return strings.Join(lines, "\n")
}
