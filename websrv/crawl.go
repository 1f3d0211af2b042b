package websrv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// crawlWorkers is how many pages are in work at once. The network's pace decides how many of them are asked for.
	crawlWorkers = 4
	// maxCrawlBytes bounds the answers, maxCrawlText the text of one call.
	maxCrawlBytes = 256 << 20
	maxCrawlText  = 24 << 20
)

// siteCrawler reads the pages of a site from this machine, without a key. It obeys robots.txt, keeps a pace, and
// can go on where it stopped for half an hour. It is safe for concurrent use.
type siteCrawler struct {
	n         *network
	robots    *robotsFiles
	frontiers *frontiers
	sleep     func(context.Context, time.Duration) error
	every     time.Duration // between two reports of progress
}

// newSiteCrawler makes a crawler on n, which outlives it.
func newSiteCrawler(n *network) *siteCrawler {
	return &siteCrawler{n: n, robots: newRobotsFiles(n), frontiers: &frontiers{}, sleep: sleep, every: progressEvery}
}

// Name is what users call it.
func (c *siteCrawler) Name() string { return "local crawler" }

// Local is true.
func (c *siteCrawler) Local() bool { return true }

// crawl reads pages breadth first until a bound of args. The order of pages is the same for the same site: by
// depth, then links of the main text before navigation, short paths before long ones, then as found.
//
// When ctx or the time of args ends, the pages read by then are the result, and Next continues. The error is a
// *Failure: the first page cannot be read, or the cursor is unknown.
func (c *siteCrawler) crawl(ctx context.Context, args *crawlArgs, progress crawlProgress) (*crawlResult, error) {
	r, err := c.prepare(args)
	if err != nil {
		return nil, err
	}
	r.progress = progress
	limit, cancel := context.WithTimeout(ctx, time.Duration(orDefault(args.TimeoutSeconds, defaultCrawlTime))*time.Second)
	defer cancel()
	first := r.f.depth == 0
	r.run(limit)
	r.stop(ctx, limit)
	if first && len(r.res.Pages) <= 1 && r.res.Stopped == "" {
		if err := r.firstFailed(); err != nil {
			return nil, err
		}
	}
	return r.res, nil
}

// prepare makes the state of a call: a new frontier, or that of its cursor.
func (c *siteCrawler) prepare(args *crawlArgs) (*crawlRun, error) {
	r := &crawlRun{c: c, pages: orDefault(args.MaxPages, defaultCrawlPages), res: &crawlResult{Pages: []crawlPage{}}}
	if args.Cursor != "" {
		if r.f = c.frontiers.find(args.Cursor, c.n.o.Now()); r.f == nil {
			return nil, failf(ErrInvalid, "the cursor is unknown or older than %v", frontierTime).withNext("call crawl again with the URL and no cursor")
		}
	} else {
		u, ok := cleanLink(args.URL)
		if !ok {
			return nil, failf(ErrInvalid, "%q is not an address of the web", plain(args.URL, maxTarget))
		}
		r.f = newFrontier(args, u)
	}
	r.depth, r.render = defaultCrawlDepth, r.f.args.Render
	if d := r.f.args.MaxDepth; d != nil {
		r.depth = *d
	}
	var err error
	r.globs, err = newGlobs(r.f.args.Include, r.f.args.Exclude)
	return r, err
}

// crawlRun is one call of a crawl. Only the goroutine of the call changes it; workers read it.
type crawlRun struct {
	c        *siteCrawler
	f        *frontier
	globs    *globs
	depth    int // the deepest
	pages    int // that may still be asked for
	render   string
	progress crawlProgress
	res      *crawlResult
	done     int // pages read or failed, as progress counts them
	bytes    int
	text     int
	start    *visit // of the first page
}

// run works through the frontier depth by depth.
func (r *crawlRun) run(ctx context.Context) {
	goal := r.pages
	for ctx.Err() == nil && r.res.Stopped == "" {
		if len(r.f.now) == 0 && !r.f.descend(r.depth) {
			return
		}
		if r.pages <= 0 {
			r.res.Stopped = "pages"
			return
		}
		r.f.now = slices.DeleteFunc(r.f.now, r.known)
		batch := r.f.now[:min(len(r.f.now), r.pages, crawlBatch)]
		visits := r.visitAll(ctx, batch, goal)
		undone := r.f.now[len(batch):]
		var again []link
		for i, v := range visits {
			switch {
			case v == nil || v.undone || r.res.Stopped != "":
				again = append(again, batch[i])
			default:
				r.take(v, &batch[i])
			}
		}
		r.f.now = append(again, undone...)
	}
}

// known drops a link to a page that was read in the meantime under another address.
func (r *crawlRun) known(l link) bool {
	if r.f.titles[l.key] == "" {
		return false
	}
	r.res.Skipped++
	return true
}

// crawlBatch is how many pages are read before their texts are taken over and bounds are looked at.
const crawlBatch = 64

// visitAll visits links side by side, and tells progress after each and every few seconds. A nil visit was not begun.
func (r *crawlRun) visitAll(ctx context.Context, batch []link, goal int) []*visit {
	type outcome struct {
		i int
		v *visit
	}
	visits := make([]*visit, len(batch))
	todo, done := make(chan int), make(chan outcome)
	workers := min(crawlWorkers, len(batch))
	for range workers {
		go func() { // ends when todo is closed, or after its page
			for i := range todo {
				done <- outcome{i, r.visit(ctx, &batch[i])}
			}
			done <- outcome{-1, nil}
		}()
	}
	tick := time.NewTicker(r.c.every)
	defer tick.Stop()
	next, cancelled := 0, ctx.Done()
	feed := todo
	for workers > 0 {
		if next == len(batch) && feed != nil {
			close(feed)
			feed = nil
		}
		select {
		case feed <- next:
			next++
		case o := <-done:
			if o.v == nil {
				workers--
				continue
			}
			visits[o.i] = o.v
			if !o.v.undone && !o.v.skip {
				r.done++
				r.progress(r.done, goal, plain(o.v.page.URL, maxTarget))
			}
		case <-tick.C:
			r.progress(r.done, goal, fmt.Sprintf("%s read, waiting for %s", pageCount(r.done), batch[0].url.Host))
		case <-cancelled:
			next, cancelled = len(batch), nil
		}
	}
	return visits
}

// take adds a page to the result and its links to the frontier.
func (r *crawlRun) take(v *visit, l *link) {
	r.bytes += v.bytes
	if r.start == nil && r.f.depth == 0 {
		r.start = v
	}
	if v.note != "" {
		r.warn(v.note)
	}
	if v.skip {
		r.res.Skipped++
		return
	}
	r.pages--
	key := crawlKey(v.final)
	if key != l.key && r.f.visited[key] && r.f.titles[key] != "" || r.duplicate(v) {
		r.res.Skipped++ // the page is there already, under another address
		return
	}
	r.f.visited[key] = true
	r.f.titles[key] = orDefault(v.page.Title, "-")
	for _, x := range v.links {
		if !x.NoFollow {
			r.f.add(x.URL, x.Content, r.globs)
		}
	}
	if r.f.depth == 0 && !r.globs.wanted(v.final) {
		return // read for its links only
	}
	r.res.Pages = append(r.res.Pages, v.page)
	r.text += len(v.page.Markdown)
	if r.bytes >= maxCrawlBytes || r.text >= maxCrawlText {
		r.res.Stopped = "bytes"
	}
}

// duplicate reports whether a page's text was given back already: the same text, or the page that it names as its
// canonical one and has the title of. A page whose canonical one is not known stands for it.
func (r *crawlRun) duplicate(v *visit) bool {
	if v.page.Markdown == "" {
		return false
	}
	if r.f.hashes[v.hash] {
		return true
	}
	if v.canonical != nil && r.f.scope.covers(v.canonical) {
		key := crawlKey(v.canonical)
		if title := r.f.titles[key]; title != "" && title == v.page.Title {
			return true
		}
		if v.canonical.EscapedPath() == v.final.EscapedPath() {
			r.f.visited[key] = true
		}
	}
	r.f.hashes[v.hash] = true
	return false
}

// warn keeps the first few warnings.
func (r *crawlRun) warn(note string) {
	if len(r.res.Warnings) < maxSkipLogged {
		r.res.Warnings = append(r.res.Warnings, note)
	}
}

// stop says why the crawl ended and keeps what is left of it.
func (r *crawlRun) stop(ctx, limit context.Context) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r.res.Stopped = "cancelled"
	case limit.Err() != nil:
		r.res.Stopped = "time"
	}
	r.res.Skipped, r.f.skipped = r.res.Skipped+r.f.skipped, 0
	if r.f.full {
		r.warn("more addresses were found than a crawl remembers; some were left out")
		r.f.full = false
	}
	if !r.f.left(r.depth) {
		if r.res.Stopped == "pages" || r.res.Stopped == "bytes" {
			r.res.Stopped = ""
		}
		return
	}
	r.res.Next = r.c.frontiers.keep(r.f, r.c.n.o.Now())
}

// firstFailed is the failure of a crawl whose first page could not be read.
func (r *crawlRun) firstFailed() error {
	switch v := r.start; {
	case v == nil || v.page.Markdown != "" || len(v.links) > 0:
		return nil
	case v.skip:
		return failf(ErrTargetFailed, "%s", v.note).withNext("a single page can be read with extract")
	case v.page.Error != "":
		return failf(ErrTargetFailed, "%s", v.page.Error)
	}
	return nil
}
