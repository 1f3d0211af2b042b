package websrv

import (
	"context"
	"net/http"
)

// firecrawlKeyless is Firecrawl's tier without a key: search and pages, counted by day and
// IPv4 address. It refuses IPv6, and any Authorization header.
type firecrawlKeyless struct {
	api
	slots chan struct{} // the tier serves two calls at a time
}

const firecrawlKeylessCalls = 2

func newFirecrawlKeyless(n *network, o *Options) *firecrawlKeyless {
	return &firecrawlKeyless{api{net: n, name: "Firecrawl (keyless)", base: o.baseURL(idFirecrawlKeyless), ipv4: true, secrets: o.Keys.secrets(), refine: refineFirecrawlKeyless}, make(chan struct{}, firecrawlKeylessCalls)}
}

func (*firecrawlKeyless) Name() string { return "Firecrawl (keyless)" }
func (*firecrawlKeyless) Local() bool  { return false }

// refineFirecrawlKeyless tells the refusals of the tier apart, by status and reason.
func refineFirecrawlKeyless(f *Failure, resp *response, e *apiError) *Failure {
	const next = "set FIRECRAWL_API_KEY"
	switch {
	case resp.Status == http.StatusTooManyRequests && (e.Reason == "requests" || e.Reason == "credits"):
		f.Reason = "the free allowance of this address is used up"
		f.Next = next + " or try again later"
	case resp.Status == http.StatusUnauthorized:
		f = &Failure{Class: ErrRefused, Reason: "the tier without a key is not open to this client", Next: next}
	case resp.Status == http.StatusForbidden && !firecrawlSite(e.Tag, ""):
		f = &Failure{Class: ErrRefused, Reason: "the tier without a key does not serve this network", Next: next}
	default:
		return refineFirecrawl(f, resp, e)
	}
	return f
}

func (*firecrawlKeyless) unable(request any) string {
	return (*firecrawl)(nil).unable(request)
}

// take waits for a slot; free gives it back.
func (p *firecrawlKeyless) take(ctx context.Context) (free func(), err error) {
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, nil
	case <-ctx.Done():
		return nil, failf(ErrTimeout, "its two calls at a time were taken")
	}
}

// Search implements [Searcher].
func (p *firecrawlKeyless) Search(ctx context.Context, q *Query) (*Hits, error) {
	free, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	return p.api.firecrawlSearch(ctx, q)
}

// Extract implements [Extractor].
func (p *firecrawlKeyless) Extract(ctx context.Context, r *PageRequest) (*Page, error) {
	free, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	return p.api.firecrawlScrape(ctx, r)
}

func (p *firecrawlKeyless) screenshot(ctx context.Context, args *screenshotArgs) (*picture, error) {
	free, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	return p.api.firecrawlShot(ctx, args)
}
