package websrv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// jina is Jina Reader, with or without a key.
type jina struct {
	api
	mu    sync.Mutex
	limit *rate.Limiter // the pace of the tier without a key; nil with one
}

// jinaPerMinute is what Jina Reader serves to an address without a key.
const jinaPerMinute = 20

func newJina(n *network, o *Options) *jina {
	p := &jina{api: api{net: n, name: "Jina Reader", base: o.baseURL(idJina), secrets: o.Keys.secrets(), refine: refineJina}}
	if o.Keys.Jina == "" {
		p.limit = rate.NewLimiter(rate.Every(time.Minute/jinaPerMinute), jinaPerMinute)
		return p
	}
	p.keyVar, p.auth = "JINA_API_KEY", map[string]string{"Authorization": "Bearer " + o.Keys.Jina}
	return p
}

func (*jina) Name() string { return "Jina Reader" }
func (*jina) Local() bool  { return false }

// refineJina tells its refusals of a network, of a site and of a page apart.
func refineJina(f *Failure, resp *response, e *apiError) *Failure {
	switch resp.Status {
	case http.StatusUnauthorized:
		if strings.Contains(e.Text, "reputation") || f.Class == ErrRefused {
			return failf(ErrRefused, "it does not serve this network without a key").withNext("set JINA_API_KEY")
		}
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return &Failure{Class: ErrRefused, Reason: f.Reason, SiteOnly: true}
	case http.StatusUnprocessableEntity, http.StatusConflict, http.StatusRequestEntityTooLarge:
		return &Failure{Class: ErrTargetFailed, Reason: f.Reason}
	}
	return f
}

func (p *jina) unable(request any) string {
	if r, ok := request.(*PageRequest); ok && r.Render == renderNever {
		return "it decides itself whether a page's scripts are run"
	}
	if a, ok := request.(*screenshotArgs); ok && (a.Selector != "" || a.Format != "png") {
		return "it takes whole pictures in PNG only"
	}
	return ""
}

// pace keeps to the allowance without a key.
func (p *jina) pace() error {
	if p.limit == nil {
		return nil
	}
	now := p.net.o.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit.AllowN(now, 1) {
		return nil
	}
	r := p.limit.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	r.CancelAt(now)
	return &Failure{Class: ErrRateLimited, Reason: fmt.Sprintf("its allowance of %d pages a minute is used up", jinaPerMinute), Next: "set JINA_API_KEY", RetryAfter: max(wait, time.Second)}
}

// request is the call for a page: the address goes into the path as it is, and into the
// body where it has a fragment or is odd.
func jinaCall(target string) *call {
	u, err := url.Parse(target)
	if err != nil || u.Fragment != "" || strings.ContainsAny(target, " \\\"<>^`{|}") {
		return &call{method: "POST", path: "/", body: map[string]string{"url": target}}
	}
	return &call{method: "GET", path: "/" + target}
}

// Extract implements [Extractor].
func (p *jina) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	if err := p.pace(); err != nil {
		return nil, err
	}
	c := jinaCall(r.URL)
	c.header = map[string]string{"DNT": "1"}
	if deadline, ok := ctx.Deadline(); ok {
		c.header["X-Timeout"] = fmt.Sprint(int(min(max(time.Until(deadline).Seconds()-2, 1), 180)))
	}
	if r.MaxAge < 0 {
		c.header["X-No-Cache"] = "true"
	} else if r.MaxAge > 0 {
		c.header["X-Cache-Tolerance"] = fmt.Sprint(int(r.MaxAge.Seconds()))
	}
	if len(r.Include) > 0 {
		c.header["X-Target-Selector"] = strings.Join(r.Include, ", ")
	}
	if len(r.Exclude) > 0 {
		c.header["X-Remove-Selector"] = strings.Join(r.Exclude, ", ")
	}
	if r.Render == renderAlways {
		c.header["X-Engine"] = "browser"
	}
	if r.HTML {
		c.header["X-Respond-With"] = "html"
	}
	resp, err := p.send(ctx, c)
	if err != nil {
		return nil, err
	}
	if resp.Status != http.StatusOK {
		return nil, p.failure(resp)
	}
	page, err := jinaPage(resp)
	if err != nil {
		return nil, err
	}
	page.URL = r.URL
	if r.HTML {
		return pageOf(ctx, r, []byte(page.HTML), "text/html; charset=utf-8", orDefault(page.FinalURL, r.URL))
	}
	return page, nil
}

// jinaPage reads an answer, JSON or plain text. A 200 may hide a failure.
func jinaPage(resp *response) (*Page, error) {
	var out struct {
		Data *struct {
			Title         text `json:"title"`
			Description   text `json:"description"`
			URL           text `json:"url"`
			Content       text `json:"content"`
			HTML          text `json:"html"`
			PublishedTime text `json:"publishedTime"`
			Warning       text `json:"warning"`
		} `json:"data"`
	}
	page, warning := &Page{Rendered: true}, ""
	switch {
	case strings.Contains(resp.Media, "json"):
		if json.Unmarshal(resp.Body, &out) != nil || out.Data == nil {
			return nil, failf(ErrUnavailable, "its answer is not the JSON that was expected")
		}
		d := out.Data
		page.Title, page.Description, page.FinalURL, page.Markdown, page.HTML, page.Published = string(d.Title), string(d.Description), string(d.URL), string(d.Content), string(d.HTML), string(d.PublishedTime)
		warning = string(d.Warning)
	default:
		warning = jinaText(page, string(resp.Body))
	}
	lower := strings.ToLower(warning)
	if strings.Contains(lower, "returned error") || strings.Contains(lower, "captcha") || strings.HasPrefix(strings.ToLower(page.Title), "just a moment") {
		return nil, failf(ErrTargetFailed, "%s", plain(orDefault(warning, page.Title), maxReason))
	}
	if warning != "" {
		page.Warnings = []string{plain(warning, maxReason)}
	}
	return page, nil
}

// jinaText reads the plain form: lines of "Name: value", then the page.
func jinaText(page *Page, body string) (warning string) {
	head, content, ok := strings.Cut(body, "Markdown Content:\n")
	if !ok {
		page.Markdown = body
		return ""
	}
	page.Markdown = content
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Title":
			page.Title = value
		case "URL Source":
			page.FinalURL = value
		case "Published Time":
			page.Published = value
		case "Warning":
			warning = value
		}
	}
	return warning
}

func (p *jina) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	if err := p.pace(); err != nil {
		return nil, err
	}
	c := jinaCall(args.URL)
	c.accept, c.noRedirect = "image/png,*/*;q=0.1", true
	c.header = map[string]string{"X-Respond-With": "screenshot", "DNT": "1"}
	if args.FullPage {
		c.header["X-Respond-With"] = "pageshot"
	}
	if args.WaitFor != "" {
		c.header["X-Wait-For-Selector"] = args.WaitFor
	}
	resp, err := p.send(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case isRedirect(resp.Status):
		return p.fetchPicture(ctx, resp.Header.Get("Location"))
	case resp.Status != http.StatusOK:
		return nil, p.failure(resp)
	}
	return decodePicture(resp.Body)
}
