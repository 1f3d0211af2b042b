package websrv

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/robots"
)

const (
	robotsTimeout = 10 * time.Second
	robotsFresh   = time.Hour      // for how long a file is not asked for again
	robotsRetry   = time.Minute    // after which a file that could not be read is asked for again
	robotsStale   = 24 * time.Hour // for how long an old one serves where there is no new one (RFC 9309, 2.4)
	maxRobots     = 256            // sites whose files are kept
	maxCrawlDelay = 10 * time.Second
	robotsProduct = "aster"
)

// robotsFiles keeps the robots.txt of sites. It is safe for concurrent use.
type robotsFiles struct {
	n     *network
	token string // product token that files are asked about

	mu    sync.Mutex
	sites map[string]*robotsSite // by origin; guarded by mu
}

// robotsSite is a site's file; its mutex is held while the file is fetched, so that nobody fetches it twice.
type robotsSite struct {
	mu     sync.Mutex
	file   *robots.File // the last that could be read, nil if none could
	at     time.Time    // of file
	failed time.Time    // of the last failure, zero if file is newer
	reason string       // why it failed
}

func newRobotsFiles(n *network) *robotsFiles {
	return &robotsFiles{n: n, token: productToken(n.o.UserAgent), sites: map[string]*robotsSite{}}
}

// productToken is the name that a user agent begins with, as robots.txt files name it.
func productToken(userAgent string) string {
	i := strings.IndexFunc(userAgent, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_') })
	if i < 0 {
		i = len(userAgent)
	}
	return strings.ToLower(orDefault(userAgent[:i], robotsProduct))
}

// rules are those that hold for a page's site. reason says why nothing is allowed, where the file could not be
// read. The error is the context's.
func (r *robotsFiles) rules(ctx context.Context, u *url.URL) (rules *robots.Rules, reason string, err error) {
	file, reason, err := r.file(ctx, u)
	if err != nil {
		return nil, "", err
	}
	return file.Rules(r.token), reason, nil
}

func (r *robotsFiles) file(ctx context.Context, u *url.URL) (*robots.File, string, error) {
	site := r.site(origin(u))
	site.mu.Lock()
	defer site.mu.Unlock()
	now := r.n.o.Now()
	if site.file != nil && now.Sub(site.at) < robotsFresh {
		return site.file, "", nil
	}
	if site.failed.IsZero() || now.Sub(site.failed) >= robotsRetry {
		file, reason, err := r.fetch(ctx, origin(u))
		switch {
		case err != nil:
			return nil, "", err
		case reason == "":
			site.file, site.at, site.failed = file, now, time.Time{}
			return file, "", nil
		}
		site.failed, site.reason = now, reason
	}
	if site.file != nil && now.Sub(site.at) < robotsStale {
		return site.file, "", nil
	}
	return robots.Closed(), site.reason, nil
}

func (r *robotsFiles) site(origin string) *robotsSite {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sites[origin]
	if s == nil {
		if len(r.sites) >= maxRobots {
			clear(r.sites)
		}
		s = &robotsSite{}
		r.sites[origin] = s
	}
	return s
}

// fetch asks for a file. What an answer means is in RFC 9309, 2.3.1; a site that cannot be reached allows nothing.
func (r *robotsFiles) fetch(ctx context.Context, origin string) (*robots.File, string, error) {
	resp, err := r.n.do(ctx, &request{URL: origin + "/robots.txt", Accept: "text/plain,*/*;q=0.5", Timeout: robotsTimeout, MaxBytes: robots.MaxBytes, Truncate: true})
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case errors.Is(err, errTooManyRedirects):
		return &robots.File{}, "", nil
	case err != nil:
		return robots.Closed(), plain(err.Error(), maxReason), nil
	}
	file := robots.ForStatus(resp.Status, resp.Body)
	if file.Rules(r.token).Closed() {
		return file, "its server answered with status " + itoa3(resp.Status), nil
	}
	return file, "", nil
}
