package websrv

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/content"
	"github.com/aster-mcp/aster/websrv/internal/readable"
)

const (
	maxCrawlPageBytes = 8 << 20
	crawlAccept       = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1"
	crawlWait         = 5 * time.Second  // before a page is asked for again whose site asks to wait and does not say how long
	maxCrawlWait      = 30 * time.Second // the longest that is waited for
	maxCrawlTries     = 2                // times that a page is asked for again
	maxPageLinks      = 2_000            // links of one page that are looked at
)

// visit is what became of a link.
type visit struct {
	page      crawlPage
	links     []readable.Link
	final     *url.URL // where the page is, after redirects
	canonical *url.URL // where it says to be, nil if it does not
	hash      [32]byte // of its text
	bytes     int      // of the answer
	skip      bool     // left out by robots.txt or for its scope, and not listed
	note      string   // a warning
	shell     string   // why there may be no text: its scripts were not run
	undone    bool     // the crawl ended before the page was read
}

// visit asks for a page and reads it. It never fails: the reason is in the page.
func (r *crawlRun) visit(ctx context.Context, l *link) *visit {
	v := &visit{page: crawlPage{URL: l.url.String(), Depth: r.f.depth}, final: l.url}
	rules, reason, err := r.c.robots.rules(ctx, l.url)
	switch {
	case err != nil:
		v.undone = true
		return v
	case reason != "":
		v.page.Error = "robots.txt of " + l.url.Host + " could not be read, so nothing of it is crawled: " + reason
		return v
	case !rules.Allowed(v.page.URL):
		v.skip, v.note = true, "robots.txt does not allow "+plain(l.url.EscapedPath(), maxReason)
		return v
	}
	resp, err := r.fetch(ctx, v.page.URL, min(rules.Delay(), maxCrawlDelay))
	if err != nil {
		v.undone = ctx.Err() != nil
		v.page.Error = plain(err.Error(), maxReason)
		return v
	}
	if !r.settle(ctx, v, resp) {
		return v
	}
	r.read(ctx, v, resp)
	return v
}

// fetch asks for a page at the site's pace, and again where the site asks to wait.
func (r *crawlRun) fetch(ctx context.Context, address string, delay time.Duration) (*response, error) {
	for try := 0; ; try++ {
		resp, err := r.c.n.do(ctx, &request{URL: address, Accept: crawlAccept, MaxBytes: min(maxCrawlPageBytes, r.c.n.o.MaxBodyBytes), Pace: true, Interval: delay, RefreshRedirect: true})
		var wait time.Duration
		switch {
		case err != nil:
			return nil, err
		case resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusServiceUnavailable, try == maxCrawlTries:
			return resp, nil
		}
		if wait = retryAfter(resp.Header.Get("Retry-After"), r.c.n.o.Now()); wait == 0 {
			wait = crawlWait
		}
		if deadline, ok := ctx.Deadline(); wait > maxCrawlWait || ok && time.Until(deadline) < wait {
			return resp, nil
		}
		if err := r.c.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// settle checks where an answer came from and what it is; it reports whether it is to be read.
func (r *crawlRun) settle(ctx context.Context, v *visit, resp *response) bool {
	v.page.Status, v.page.ContentType, v.bytes = resp.Status, resp.Media, len(resp.Body)
	if final, ok := cleanLink(resp.FinalURL); ok {
		v.final = final
	}
	if moved := v.final.String(); moved != v.page.URL {
		v.page.FinalURL = moved
		if r.f.depth == 0 && len(r.f.titles) == 0 {
			r.f.scope = newScope(v.final, r.f.scope.Subdomains) // a site that has moved as a whole
		}
		if !r.f.scope.covers(v.final) {
			v.page.Error = "the page leads to another site: " + v.final.Host
			return false
		}
		if rules, reason, err := r.c.robots.rules(ctx, v.final); err != nil || reason != "" || !rules.Allowed(moved) {
			v.skip, v.note, v.undone = true, "robots.txt does not allow "+plain(v.final.EscapedPath(), maxReason), err != nil
			return false
		}
	}
	if whose, yes := challenge(resp); yes {
		v.page.Error = "the site shows a check for robots instead of the page (" + whose + ")"
		return false
	}
	if resp.Status >= 400 || resp.Status < 200 || resp.Status == http.StatusNoContent {
		v.page.Error = strings.TrimSpace("the site answered " + strconv.Itoa(resp.Status) + " " + http.StatusText(resp.Status))
		return false
	}
	return true
}

// read turns an answer into text and links.
func (r *crawlRun) read(ctx context.Context, v *visit, resp *response) {
	contentType := resp.Header.Get("Content-Type")
	kind := content.Sniff(resp.Body, contentType)
	noFollow := headerNoFollow(resp.Header)
	if kind == content.KindHTML {
		noFollow = r.readHTML(ctx, v, resp, contentType) || noFollow
	} else {
		r.readOther(ctx, v, resp, kind)
	}
	if noFollow {
		v.links = nil
	}
	v.links = v.links[:min(len(v.links), maxPageLinks)]
	if v.page.Markdown == "" && v.page.Error == "" {
		v.page.Error = orDefault(v.shell, "the page has no text")
	}
	v.page.Tokens = estimateTokens(v.page.Markdown)
	v.hash = sha256.Sum256([]byte(v.page.Title + "\x00" + strings.Join(strings.Fields(v.page.Markdown), " ")))
}

// readHTML reads a page, with its scripts run where it has no text without them. It reports whether the page
// asks not to follow its links.
func (r *crawlRun) readHTML(ctx context.Context, v *visit, resp *response, contentType string) (noFollow bool) {
	body, _, err := content.Decode(resp.Body, contentType)
	if err != nil {
		v.page.Error = plain(err.Error(), maxReason)
		return false
	}
	shell, why := needsJavaScript(resp)
	switch {
	case shell && r.render == renderNever:
		v.shell = plain("it seems to need JavaScript ("+why+"), which render never leaves out", maxReason)
	case shell || r.render == renderAlways:
		if out, err := r.c.n.render(ctx, v.final.String(), renderOptions{MaxBytes: min(maxCrawlPageBytes, r.c.n.o.MaxBodyBytes)}); err == nil {
			body = out.HTML
		} else if ctx.Err() != nil {
			v.undone = true
			return false
		} else if shell {
			v.shell = plain("it seems to need JavaScript ("+why+"), and "+err.Error(), maxReason)
			v.note = plain(v.page.URL+": "+v.shell, maxReason)
		}
	}
	doc, err := readable.Extract(body, v.final.String(), nil)
	if err != nil {
		v.page.Error = plain(err.Error(), maxReason)
		return false
	}
	v.page.Title, v.page.Markdown, v.links = plain(doc.Title, maxReason), doc.Markdown, doc.Links
	if u, ok := cleanLink(doc.URL); ok && crawlKey(u) != crawlKey(v.final) {
		v.canonical = u
	}
	return doc.NoFollow
}

// readOther reads what is not a page.
func (r *crawlRun) readOther(ctx context.Context, v *visit, resp *response, kind content.Kind) {
	doc, err := content.Markdown(ctx, resp.Body, kind, nil)
	switch {
	case err != nil && ctx.Err() != nil:
		v.undone = true
	case errors.Is(err, content.ErrUnsupported):
		v.page.Error = "no text: " + plain(content.Describe(resp.Body, resp.Header.Get("Content-Type")), maxReason)
	case err != nil:
		v.page.Error = plain(err.Error(), maxReason)
	default:
		v.page.Title, v.page.Markdown = plain(doc.Title, maxReason), doc.Markdown
		for _, l := range doc.Links {
			v.links = append(v.links, readable.Link{URL: l, Content: true})
		}
	}
}

// headerNoFollow reports an X-Robots-Tag that asks not to follow links, for everybody or for us.
func headerNoFollow(h http.Header) bool {
	for _, line := range h.Values("X-Robots-Tag") {
		line = strings.ToLower(line)
		if agent, rest, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(agent, ", ") && agent != "max-snippet" && agent != "unavailable_after" {
			if strings.TrimSpace(agent) != robotsProduct {
				continue
			}
			line = rest
		}
		for d := range strings.SplitSeq(line, ",") {
			if d = strings.TrimSpace(d); d == "nofollow" || d == "none" {
				return true
			}
		}
	}
	return false
}
