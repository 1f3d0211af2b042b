package websrv

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/time/rate"
)

// duckDuckGo is DuckDuckGo's two pages for browsers without JavaScript. They are no
// interface for programs: one request for each query, at a slow pace, and minutes of rest
// after a challenge.
type duckDuckGo struct {
	html, lite api
	every      *rate.Limiter // between two requests; nil without pacing
	minute     *rate.Limiter // requests a minute; nil without pacing
}

const (
	duckInterval  = 2 * time.Second
	duckPerMinute = 20
	duckMaxWait   = 6 * time.Second // for our turn; a longer queue is a rate limit
	duckRest      = 10 * time.Minute
	duckMaxQuery  = 499 // characters
	// duckAgent is constant: an agent that changes looks like many clients behind one address.
	duckAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)

func newDuckDuckGo(n *network, o *Options) *duckDuckGo {
	p := &duckDuckGo{html: api{net: n, name: "DuckDuckGo", base: o.baseURL(idDuckDuckGo)}, lite: api{net: n, name: "DuckDuckGo", base: o.baseURL(idDuckDuckGoLite)}}
	if o.PaceInterval >= 0 {
		p.every = rate.NewLimiter(rate.Every(duckInterval), 1)
		p.minute = rate.NewLimiter(rate.Every(time.Minute/duckPerMinute), duckPerMinute)
	}
	return p
}

func (*duckDuckGo) Name() string { return "DuckDuckGo" }
func (*duckDuckGo) Local() bool  { return false }

// pace waits for our turn.
func (p *duckDuckGo) pace(ctx context.Context) error {
	if p.every == nil {
		return nil
	}
	now := time.Now()
	if !p.minute.AllowN(now, 1) {
		return &Failure{Class: ErrRateLimited, Reason: fmt.Sprintf("%d searches a minute are all that it is asked for", duckPerMinute), RetryAfter: 5 * time.Second}
	}
	r := p.every.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > duckMaxWait {
		r.Cancel()
		return &Failure{Class: ErrRateLimited, Reason: "too many searches are waiting for their turn", RetryAfter: duckMaxWait}
	}
	if sleep(ctx, wait) != nil {
		return failf(ErrTimeout, "no time was left for its turn")
	}
	return nil
}

// Search implements [Searcher]. The second page is asked only where the first is broken: a
// challenge is not answered by another request.
func (p *duckDuckGo) Search(ctx context.Context, q *Query) (*Hits, error) {
	form, hits := duckForm(q)
	var first error
	for _, page := range []struct {
		api   *api
		parse func(*goquery.Document) []Hit
	}{{&p.html, parseDuckHTML}, {&p.lite, parseDuckLite}} {
		if err := p.pace(ctx); err != nil {
			if first != nil {
				err = first
			}
			return nil, err
		}
		list, f := duckAsk(ctx, page.api, form, page.parse)
		if f == nil {
			hits.List = list
			return hits, nil
		}
		if f.Class != ErrUnavailable && f.Class != ErrTimeout || ctx.Err() != nil {
			return nil, f
		}
		if first == nil {
			first = f
		}
	}
	f := *first.(*Failure)
	f.Once = true // its other page was the second try
	return nil, &f
}

// duckAsk asks one of the pages.
func duckAsk(ctx context.Context, a *api, form url.Values, parse func(*goquery.Document) []Hit) ([]Hit, *Failure) {
	referer := a.base
	resp, err := a.send(ctx, &call{method: "POST", form: form, accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", noRedirect: true,
		header: map[string]string{"User-Agent": duckAgent, "Referer": referer, "Accept-Language": "en-US,en;q=0.7", "Sec-Fetch-Mode": "navigate"}})
	if err != nil {
		f := asFailure(ctx, err)
		if f == nil {
			f = &Failure{Class: ErrTimeout, Reason: "cancelled"}
		}
		return nil, f
	}
	if isRedirect(resp.Status) { // a bang, or a way to say that there is nothing
		return nil, nil
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(resp.Body))
	if err != nil {
		return nil, failf(ErrUnavailable, "its answer is not HTML")
	}
	return duckRead(resp.Status, doc, parse)
}

// duckRead decides by the page, not by the status: 202 is both a challenge and an empty list.
func duckRead(status int, doc *goquery.Document, parse func(*goquery.Document) []Hit) ([]Hit, *Failure) {
	if list := parse(doc); len(list) > 0 {
		return list, nil
	}
	switch {
	case doc.Find(`form#challenge-form, [class*="anomaly-modal"], script[src*="anomaly.js"], [action*="anomaly.js"]`).Length() > 0,
		status == http.StatusTeapot, status == http.StatusTooManyRequests, status == http.StatusForbidden:
		return nil, &Failure{Class: ErrRateLimited, Reason: "it asks this address for proof that a person searches", RetryAfter: duckRest,
			Next: "wait, or set a key of a search provider such as EXA_API_KEY or FIRECRAWL_API_KEY"}
	case duckEmpty(doc):
		return nil, nil
	case status >= 500:
		return nil, failf(ErrUnavailable, "HTTP %d", status)
	}
	return nil, failf(ErrUnavailable, "its page has changed and cannot be read")
}

// duckEmpty reports whether the page says that nothing was found.
func duckEmpty(doc *goquery.Document) bool {
	if doc.Find("div.no-results, .no-results").Length() > 0 {
		return true
	}
	text := strings.ToLower(doc.Find("body").Text())
	return strings.Contains(text, "no results found") || strings.Contains(text, "no results.") || strings.Contains(text, "no more results")
}

// parseDuckHTML reads the page of html.duckduckgo.com.
func parseDuckHTML(doc *goquery.Document) (hits []Hit) {
	doc.Find("div#links div.result, div.results div.result").Each(func(_ int, s *goquery.Selection) {
		a := s.Find("h2.result__title a.result__a, a.result__a").First()
		href, _ := a.Attr("href")
		if s.HasClass("result--ad") || s.HasClass("result--no-result") {
			return
		}
		if target := duckTarget(href); target != "" {
			hits = append(hits, Hit{Title: plain(a.Text(), maxTitle), URL: target, Snippet: strings.TrimSpace(s.Find(".result__snippet").First().Text())})
		}
	})
	return hits
}

// parseDuckLite reads the table of lite.duckduckgo.com: a row with the link, then rows with
// its snippet and address.
func parseDuckLite(doc *goquery.Document) (hits []Hit) {
	open := false // the last link is a result that waits for its snippet
	doc.Find("table tr").Each(func(_ int, row *goquery.Selection) {
		if row.HasClass("result-sponsored") {
			open = false
			return
		}
		if a := row.Find("a.result-link").First(); a.Length() > 0 {
			href, _ := a.Attr("href")
			target := duckTarget(href)
			if open = target != ""; open {
				hits = append(hits, Hit{Title: plain(a.Text(), maxTitle), URL: target})
			}
			return
		}
		if !open {
			return
		}
		last := &hits[len(hits)-1]
		if s := row.Find("td.result-snippet"); s.Length() > 0 && last.Snippet == "" {
			last.Snippet = strings.TrimSpace(s.First().Text())
		}
		if s := row.Find("span.timestamp"); s.Length() > 0 {
			last.Published = plain(s.First().Text(), 40)
		}
	})
	return hits
}

// duckTarget is where a link of a result leads, "" for an advert or a link inside DuckDuckGo.
func duckTarget(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil {
		return ""
	}
	if target := u.Query().Get("uddg"); target != "" && strings.HasPrefix(u.Path, "/l/") {
		if u, err = url.Parse(target); err != nil {
			return ""
		}
	}
	host := u.Hostname()
	if u.Scheme != "http" && u.Scheme != "https" || host == "" || strings.HasSuffix(u.Path, "/y.js") && strings.HasSuffix(host, "duckduckgo.com") {
		return ""
	}
	return u.String()
}

// duckForm is a query as the form of its pages, and what of its filters is in it.
func duckForm(q *Query) (url.Values, *Hits) {
	hits := &Hits{}
	words := strings.Fields(q.Text)
	for i, w := range words {
		if strings.HasPrefix(w, "!") || strings.HasPrefix(w, "\\") { // a bang leads to another site
			words[i] = `"` + strings.Trim(w, `!\"`) + `"`
		}
	}
	text := strings.Join(words, " ")
	// Filters by host are part of the query where they fit, and applied to the answer anyway.
	var sites []string
	for _, d := range q.Domains {
		sites = append(sites, "site:"+d)
	}
	if extra := strings.Join(sites, " OR "); extra != "" && len(text)+len(extra) < duckMaxQuery {
		text += " " + extra
	}
	for _, d := range q.ExcludeDomains {
		if len(text)+len(d)+7 < duckMaxQuery {
			text += " -site:" + d
		}
	}
	form := url.Values{"q": {cutRunes(text, duckMaxQuery)}, "b": {""}, "kl": {"wt-wt"}}
	if kl := duckRegion(q.Region, q.Language); kl != "" {
		form.Set("kl", kl)
		hits.Applied = append(hits.Applied, "region")
		if q.Language != "" {
			hits.Applied = append(hits.Applied, "language")
		}
	}
	if q.Recency != "" {
		form.Set("df", q.Recency[:1])
		hits.Applied = append(hits.Applied, "recency")
	}
	if kp := map[string]string{"strict": "1", "moderate": "-1", "off": "-2"}[q.Safe]; kp != "" {
		form.Set("kp", kp)
		hits.Applied = append(hits.Applied, "safe")
	}
	return form, hits
}

func cutRunes(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	return string([]rune(s)[:max])
}

// duckRegion is its name of a region, "" where country and language make none.
func duckRegion(country, language string) string {
	country = strings.ToLower(country)
	if country == "" {
		return ""
	}
	own := map[string]string{"us": "en", "gb": "en", "uk": "en", "ca": "en", "au": "en", "nz": "en", "ie": "en", "za": "en", "in": "en", "sg": "en", "at": "de", "ch": "de", "be": "fr",
		"br": "pt", "mx": "es", "ar": "es", "cl": "es", "co": "es", "pe": "es", "jp": "jp", "kr": "kr", "cn": "zh", "tw": "tzh", "hk": "tzh", "se": "sv", "dk": "da", "cz": "cs",
		"de": "de", "fr": "fr", "it": "it", "es": "es", "nl": "nl", "pl": "pl", "pt": "pt", "ru": "ru", "fi": "fi", "no": "no", "tr": "tr", "hu": "hu", "ro": "ro", "bg": "bg", "gr": "el", "ua": "uk", "il": "he"}[country]
	if own == "" {
		return ""
	}
	if country == "gb" {
		country = "uk"
	}
	both := map[string]string{"ch": "de fr it", "ca": "en fr", "be": "fr nl", "us": "en es"}[country]
	if language = strings.ToLower(language); language != "" && language != own {
		if !strings.Contains(both, language) {
			return ""
		}
		own = language
	}
	return country + "-" + own
}

// maxTitle bounds a title, in bytes.
const maxTitle = 300
