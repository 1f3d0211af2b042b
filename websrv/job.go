package websrv

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// job is a crawl that runs at a provider and is looked at from time to time.
type job interface {
	start(ctx context.Context, body any) (id string, err error)
	look(ctx context.Context, id, cursor string, probe bool) (*jobState, error)
	drop(ctx context.Context, id string) error
}

// jobState is what a look at a job showed.
type jobState struct {
	running     bool
	done, total int
	skipped     int
	pages       []crawlPage
	next        string // cursor of the pages behind these
	failed      string // why the whole job failed
	stopped     string // why it ended before its end
	credits     float64
}

// progressEvery is how often a crawl tells that it lives.
const progressEvery = 5 * time.Second

// tick tells progress every few seconds until the function that it returns is called.
func tick(progress crawlProgress, message string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				progress(0, 0, message)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// runJob starts a job, waits for its end or that of its time, and reads its pages. A job
// that is left before its end is taken back. When ctx is cancelled the pages that the job has
// by then are read in what is left of a second: they are paid for.
func runJob(ctx context.Context, args *crawlArgs, progress crawlProgress, j job, body any) (*crawlResult, error) {
	id, cursor, continued := remoteJob(args.Cursor)
	if !continued {
		var err error
		late, stop := cancelledLater(ctx, jobStartGrace)
		id, err = j.start(late, body)
		stop()
		if err != nil {
			var f *Failure
			if errors.As(err, &f) {
				f.Once = true // a second job would be charged as well
			}
			return nil, err
		}
		if id == "" {
			return nil, &Failure{Class: ErrUnavailable, Reason: "its answer names no job", Once: true}
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			dropJob(ctx, j, id)
			return nil, ctx.Err()
		}
	}
	state, timedOut, err := awaitJob(ctx, args, progress, j, id)
	if errors.Is(ctx.Err(), context.Canceled) {
		return leaveJob(ctx, args, j, id, cursor)
	}
	if state == nil || state.running {
		defer dropJob(ctx, j, id) // what it has read by now is the result
	}
	if err != nil {
		return nil, err
	}
	if state.failed != "" {
		return nil, &Failure{Class: ErrTargetFailed, Reason: state.failed, Once: true}
	}
	res := &crawlResult{Skipped: state.skipped, Stopped: state.stopped, Credits: state.credits}
	if timedOut {
		res.Stopped = "time"
	}
	readJob(ctx, args, j, id, cursor, res)
	return res, nil
}

// cancelledLater is a context that ends d after ctx did, and as ctx did, so that a job whose
// start is under way is not left behind without a name to take it back by.
func cancelledLater(ctx context.Context, d time.Duration) (late context.Context, stop func()) {
	var cancel context.CancelFunc
	if at, ok := ctx.Deadline(); ok {
		late, cancel = context.WithDeadline(context.WithoutCancel(ctx), at.Add(d))
	} else {
		late, cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	var t atomic.Pointer[time.Timer]
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) { // else late has a deadline of its own
			t.Store(time.AfterFunc(d, cancel))
		}
	})
	return late, func() {
		unhook()
		if t := t.Load(); t != nil {
			t.Stop()
		}
		cancel()
	}
}

// pageCount is a number of pages in words.
func pageCount(n int) string {
	if n == 1 {
		return "1 page"
	}
	return strconv.Itoa(n) + " pages"
}

// awaitJob looks at a job until it has ended or the time is up.
func awaitJob(ctx context.Context, args *crawlArgs, progress crawlProgress, j job, id string) (state *jobState, timedOut bool, err error) {
	limit, cancel := context.WithTimeout(ctx, time.Duration(args.TimeoutSeconds)*time.Second)
	defer cancel()
	fails := 0
	for {
		s, err := j.look(ctx, id, "", true)
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case err == nil:
			state, fails = s, 0
			progress(s.done, s.total, pageCount(s.done)+" read")
			if !s.running {
				return s, false, nil
			}
		case errors.Is(err, ErrUnavailable) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrRateLimited):
			if fails++; fails >= jobPollFails {
				return state, false, once(err)
			}
			progress(0, 0, "waiting for the crawl")
		default:
			return state, false, once(err)
		}
		if sleep(limit, jobPoll) != nil && ctx.Err() == nil {
			return state, true, nilIf(state != nil, failf(ErrTimeout, "the crawl showed nothing in time"))
		}
	}
}

// once forbids another try after a job was started.
func once(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.Once = true
	}
	return err
}

func nilIf(ok bool, f *Failure) error {
	if ok {
		return nil
	}
	f.Once = true
	return f
}

// leaveJob takes a job back after ctx was cancelled and reads what it has, which fails with the
// error of ctx if it has nothing, or does not say so soon enough.
func leaveJob(ctx context.Context, args *crawlArgs, j job, id, cursor string) (*crawlResult, error) {
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobDelete)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { j.drop(soon, id) }) // as in dropJob
	res := &crawlResult{Stopped: "cancelled"}
	readJob(soon, args, j, id, cursor, res)
	wg.Wait()
	if len(res.Pages) == 0 {
		return nil, ctx.Err()
	}
	return res, nil
}

// dropJob takes a job back, whatever became of ctx.
func dropJob(ctx context.Context, j job, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobDelete)
	defer cancel()
	j.drop(ctx, id) // if that fails it ends by itself in the end
}

// readJob reads the pages of a job into res, following its cursors.
func readJob(ctx context.Context, args *crawlArgs, j job, id, cursor string, res *crawlResult) {
	seen := map[string]bool{}
	for range maxJobChain {
		s, err := j.look(ctx, id, cursor, false)
		if err != nil {
			res.Warnings = append(res.Warnings, "the pages behind these could not be read: "+plain(err.Error(), maxReason))
			res.Next = jobCursor(id, cursor)
			return
		}
		for _, p := range s.pages {
			res.add(args, p)
		}
		if s.next == "" || seen[s.next] {
			return
		}
		seen[s.next], cursor = true, s.next
		if len(res.Pages) >= min(args.MaxPages, maxJobPages) {
			res.Next = jobCursor(id, cursor)
			return
		}
	}
}

// jobCursor names the rest of a job's pages; remoteJob reads it.
func jobCursor(id, cursor string) string { return id + "\n" + cursor }

func remoteJob(cursor string) (id, rest string, ok bool) {
	id, rest, ok = strings.Cut(cursor, "\n")
	return id, rest, ok && id != ""
}

// remoteOffset is a sitemap cursor of a hosted provider.
func remoteOffset(cursor string) int {
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 || n > maxContextMapURLs {
		return 0
	}
	return n
}

// pageEntries is the part of a list that was asked for.
func pageEntries(source string, all []sitemapEntry, args *sitemapArgs) *sitemapResult {
	kept := all[:0:0]
	for _, e := range all {
		if e.URL != "" && (args.Search == "" || strings.Contains(strings.ToLower(e.URL+" "+e.Title), strings.ToLower(args.Search))) {
			kept = append(kept, e)
		}
	}
	skip := min(remoteOffset(args.Cursor), len(kept))
	end := min(skip+args.Limit, len(kept))
	res := &sitemapResult{Source: source, Entries: kept[skip:end]}
	if end < len(kept) {
		res.Next = strconv.Itoa(end)
	}
	return res
}

// add adds a page that the arguments' globs let pass.
func (r *crawlResult) add(args *crawlArgs, p crawlPage) {
	if g, err := newGlobs(args.Include, args.Exclude); err == nil {
		if u, err := url.Parse(p.URL); err == nil && !g.wanted(u) {
			r.Skipped++
			return
		}
	}
	if p.FinalURL == p.URL {
		p.FinalURL = ""
	}
	p.Tokens = estimateTokens(p.Markdown)
	r.Pages = append(r.Pages, p)
}

// rooted is a glob that begins as paths do. As in .gitignore, one without a slash means a name anywhere, and one
// with a slash begins at the root: paths begin with "/", so that either would match nothing.
func rooted(glob string) string {
	switch {
	case strings.HasPrefix(glob, "/"), strings.HasPrefix(glob, "**"):
		return glob
	case strings.Contains(glob, "/"):
		return "/" + glob
	}
	return "**/" + glob
}

// globRegex is a glob as a regular expression without anchors.
func globRegex(glob string) string {
	glob = rooted(glob)
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case strings.HasPrefix(glob[i:], "/**") && i+3 == len(glob):
			b.WriteString("(/.*)?")
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case glob[i] == '*':
			b.WriteString("[^/]*")
		case glob[i] == '?':
			b.WriteString("[^/]")
		default:
			_, n := utf8.DecodeRuneInString(glob[i:])
			b.WriteString(regexp.QuoteMeta(strings.ToValidUTF8(glob[i:i+n], "\uFFFD")))
			i += n - 1
		}
	}
	return b.String()
}

// includeRegex is one expression of RE2 for the addresses of a site that globs let pass.
func includeRegex(site string, globs []string) string {
	u, err := url.Parse(site)
	if err != nil || len(globs) == 0 {
		return ""
	}
	var list []string
	for _, g := range globs {
		list = append(list, globRegex(g))
	}
	return "^https?://[^/]*(" + strings.Join(list, "|") + ")([?#].*)?$" + u.Fragment
}

// urlPatterns are globs of paths as wildcards of whole addresses.
func urlPatterns(site string, globs []string) (list []string) {
	u, err := url.Parse(site)
	if err != nil {
		return nil
	}
	for _, g := range globs {
		list = append(list, u.Scheme+"://"+u.Host+rooted(g))
	}
	return list
}
