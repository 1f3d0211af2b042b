package websrv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/content"
	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// Values of PageRequest.Render.
const (
	renderAuto   = "auto"
	renderNever  = "never"
	renderAlways = "always"
)

// fetcher reads a page with our own HTTP client. There are two, which differ in how they
// introduce themselves.
type fetcher struct {
	net      *network
	name     string
	agent    string // "" means the network's, which names this program
	publicly bool   // leaves private hosts to the other one
	chromium bool   // a browser stands behind it in the chain
}

// newBrowserLikeFetcher goes by the name of DuckDuckGo, whose tools for models fetch pages
// this way: as a browser would, public hosts only.
func newBrowserLikeFetcher(n *network, chromium bool) *fetcher {
	return &fetcher{net: n, name: "DuckDuckGo fetch", agent: duckAgent, publicly: true, chromium: chromium}
}

// newPlainFetcher says who it is.
func newPlainFetcher(n *network, chromium bool) *fetcher {
	return &fetcher{net: n, name: "plain HTTP", chromium: chromium}
}

func (p *fetcher) Name() string { return p.name }

// Local is true: no service but the page's own learns of the request.
func (p *fetcher) Local() bool { return true }

func (p *fetcher) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderAlways {
		return "it does not run a page's scripts"
	}
	return ""
}

// Extract implements [Extractor].
func (p *fetcher) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	if p.publicly {
		if yes, _ := p.net.private(ctx, r.URL); yes {
			return nil, &Failure{Class: ErrRefused, Reason: "it reads public hosts only", SiteOnly: true}
		}
	}
	resp, err := p.net.do(ctx, &request{URL: r.URL, UserAgent: p.agent, MaxAge: r.MaxAge, RefreshRedirect: true})
	if err != nil {
		return nil, fetchFailure(ctx, err)
	}
	if whose, is := challenge(resp); is {
		return nil, walled(whose)
	}
	if resp.Status >= 400 {
		f := failf(ErrTargetFailed, "the site answered HTTP %d", resp.Status)
		f.settled = resp.Status == http.StatusNotFound || resp.Status == http.StatusGone
		if wait := retryAfter(resp.Header.Get("Retry-After"), p.net.o.Now()); wait > maxCoolingWait && (resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable) {
			f.settled = true // a browser is to leave the host alone as well
			f.Next = "the site asks to try again in " + humanSeconds(seconds(wait))
		}
		return nil, f
	}
	page, err := pageOf(ctx, r, resp.Body, resp.Header.Get("Content-Type"), resp.FinalURL)
	if err != nil {
		var f *Failure
		if errors.As(err, &f) && content.Sniff(resp.Body, resp.Header.Get("Content-Type")) != content.KindHTML {
			f.settled = true // there are no scripts in it
		}
		return nil, err
	}
	page.Status = resp.Status
	shell, why := needsJavaScript(resp)
	switch {
	case !shell || len(r.Include) > 0:
	case r.Render == renderAuto && p.chromium:
		return nil, &Failure{Class: ErrTargetFailed, Reason: "the page needs its scripts run: " + why, partial: page}
	default:
		if !page.usable() {
			return nil, &Failure{Class: ErrTargetFailed, Reason: "the page has next to no text and seems to need JavaScript (" + why + ")", Next: needBrowser, partial: nonEmpty(page)}
		}
		page.Warnings = append(page.Warnings, "the page seems to need JavaScript ("+why+"): much of it may be missing; "+needBrowser)
	}
	return page, nil
}

// nonEmpty is a page that has some text, else nil.
func nonEmpty(p *Page) any {
	if p.Markdown == "" {
		return nil
	}
	return p
}

const needBrowser = "install Chromium or Chrome, or set a key of a provider that runs scripts such as FIRECRAWL_API_KEY"

// walled is the failure of a page behind a check against robots.
func walled(whose string) *Failure {
	return failf(ErrTargetFailed, "%s stands in front of the page and lets no program pass", plain(whose, 60))
}

// fetchFailure is a failure of our own client: nearly always the page's.
func fetchFailure(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(err, errBadURL):
		return failf(ErrInvalid, "%s", plain(err.Error(), maxReason))
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		f := failf(ErrTimeout, "the site did not answer in time")
		f.Once = true // it had its time, and the time of the call is for the others
		return f
	case errors.Is(err, errTooLarge):
		f := failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
		f.final = true
		return f
	case errors.Is(err, errCut), errors.Is(err, errBlocked), errors.Is(err, errDNS), errors.Is(err, errCooling):
		// It names the setting, or when to come again, and a browser would fare no better: a host
		// that asks to be left alone means it as well.
		f := failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
		f.settled = true
		return f
	case errors.Is(err, errNoBrowser):
		return &Failure{Class: ErrRefused, Reason: "no Chromium or Chrome was found", Next: "install one, or set mcp.web.chromium"}
	}
	return failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
}

// chromium is the local browser, headless and with a profile that is thrown away.
type chromium struct{ net *network }

func (*chromium) Name() string { return "local Chromium" }

// Local is true.
func (*chromium) Local() bool { return true }

func (*chromium) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderNever {
		return "scripts were not to be run"
	}
	return ""
}

// Extract implements [Extractor].
func (p *chromium) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	doc, err := p.net.render(ctx, r.URL, renderOptions{})
	if err != nil {
		return nil, fetchFailure(ctx, err)
	}
	if doc.Status >= 400 {
		return nil, failf(ErrTargetFailed, "the site answered HTTP %d", doc.Status)
	}
	if whose, is := challenge(&response{URL: doc.URL, FinalURL: doc.FinalURL, Status: doc.Status, Header: doc.Header, Body: doc.HTML, Media: "text/html"}); is {
		return nil, walled(whose)
	}
	page, err := pageOf(ctx, r, doc.HTML, "text/html; charset=utf-8", doc.FinalURL)
	if err != nil {
		return nil, err
	}
	page.Status, page.Rendered = doc.Status, true
	page.Title = orDefault(page.Title, doc.Title)
	if doc.TimedOut {
		page.Warnings = append(page.Warnings, "the page was still loading when it was read")
	}
	return page, nil
}

func (p *chromium) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	s, err := p.net.screenshot(ctx, args.URL, shotOptions{
		renderOptions: renderOptions{WaitFor: args.WaitFor, Settle: time.Duration(args.WaitMillis) * time.Millisecond, Width: args.Width, Height: args.Height},
		Format:        args.Format, Quality: args.Quality, FullPage: args.FullPage, Selector: args.Selector, Scale: args.DeviceScale,
	})
	if err != nil {
		return nil, fetchFailure(ctx, err)
	}
	pic := &picture{Data: s.Image, MIME: s.MIME, Width: s.Width, Height: s.Height, Title: s.Title, FinalURL: s.FinalURL}
	for _, w := range []struct {
		on   bool
		text string
	}{{s.Scaled, "the picture was scaled down to keep it small"}, {s.Cut, "the page is longer than a picture can be: its end is missing"},
		{s.Unfound, fmt.Sprintf("nothing on the page matched waitFor %q", plain(args.WaitFor, 60))},
		{s.TimedOut && !s.Unfound, "the page was still loading when the picture was taken"}, {s.Status >= 400, fmt.Sprintf("the site answered HTTP %d", s.Status)}} {
		if w.on {
			pic.Warnings = append(pic.Warnings, w.text)
		}
	}
	return pic, nil
}

// pageOf makes a page of a body, whatever it is: HTML by its content, documents and data by
// their text. What holds no text is a failure of the page.
func pageOf(ctx context.Context, r *PageRequest, body []byte, contentType, finalURL string) (*Page, error) {
	kind := content.Sniff(body, contentType)
	page := &Page{URL: r.URL, FinalURL: finalURL, ContentType: mediaOnly(contentType)}
	if kind == content.KindHTML {
		return page, page.readHTML(r, body, contentType, finalURL)
	}
	doc, err := content.Markdown(ctx, body, kind, nil)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		f := failf(ErrTargetFailed, "%s: %s", content.Describe(body, contentType), plain(err.Error(), maxReason))
		if errors.Is(err, content.ErrUnsupported) { // it describes the body already
			f.Reason = content.Describe(body, contentType) + ": it cannot be read as text"
		}
		if kind == content.KindImage {
			f = f.withNext("screenshot gives a picture of the address")
		}
		return nil, f
	}
	page.Title, page.Byline, page.Language, page.Published = doc.Title, doc.Author, doc.Language, doc.Published
	page.Markdown, page.Links, page.Warnings = doc.Markdown, doc.Links, doc.Notes
	if page.ContentType == "" || page.ContentType == "text/html" || page.ContentType == "application/octet-stream" {
		page.ContentType = string(doc.Kind) // what the header says is not so
	}
	if page.Markdown == "" {
		return nil, failf(ErrTargetFailed, "%s: it holds no text", content.Describe(body, contentType))
	}
	return page, nil
}

// readHTML fills a page from HTML.
func (p *Page) readHTML(r *PageRequest, body []byte, contentType, finalURL string) error {
	text, _, err := content.Decode(body, contentType)
	if err != nil {
		return failf(ErrTargetFailed, "its characters cannot be decoded")
	}
	doc, err := readable.Extract(text, finalURL, &readable.Options{Include: r.Include, Exclude: r.Exclude})
	switch {
	case errors.Is(err, readable.ErrSelector):
		return failf(ErrInvalid, "%s", plain(err.Error(), maxReason))
	case err != nil:
		return failf(ErrTargetFailed, "%s", plain(err.Error(), maxReason))
	}
	p.ContentType = "text/html"
	p.Title, p.Byline, p.Site, p.Description, p.Published, p.Language = doc.Title, doc.Byline, doc.Site, doc.Description, doc.Published, doc.Language
	p.Markdown = doc.Markdown
	if r.HTML {
		p.HTML = string(text)
	}
	for _, l := range doc.Links {
		p.Links = append(p.Links, l.URL)
	}
	return nil
}
