package websrv

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what a crawl remembers.
const (
	maxFrontier   = 20_000           // addresses that wait
	maxVisited    = 100_000          // keys of addresses that are known
	maxFrontiers  = 16               // crawls that can be continued
	frontierTime  = 30 * time.Minute // for how long they can
	maxSkipLogged = 5                // warnings of one sort
)

// link is an address that waits for its turn.
type link struct {
	url     *url.URL
	key     string
	content bool // named in a page's main text
}

// frontier is what a crawl knows: the pages to come and those that were met. A crawl works
// through it depth by depth, so that the order of pages does not hang on which answered first.
type frontier struct {
	args     crawlArgs // of the first call
	scope    scope
	depth    int
	now      []link // of this depth, ranked
	next     []link // of the depth below, as found
	visited  map[string]bool
	hashes   map[[32]byte]bool // of the texts that were given back
	titles   map[string]string // by key, of pages given back: for rel=canonical
	patterns map[string]int
	skipped  int  // addresses left out as traps, not told yet
	full     bool // an address was dropped for want of room
}

func newFrontier(args *crawlArgs, start *url.URL) *frontier {
	f := &frontier{args: *args, scope: newScope(start, args.Subdomains), visited: map[string]bool{}, hashes: map[[32]byte]bool{}, titles: map[string]string{}, patterns: map[string]int{}}
	key := crawlKey(start)
	f.visited[key] = true
	f.now = []link{{url: start, key: key, content: true}}
	return f
}

// clone is a copy that a crawl may change while the cursor that names f stays good.
func (f *frontier) clone() *frontier {
	c := *f
	c.now, c.next = slices.Clone(f.now), slices.Clone(f.next)
	c.visited, c.hashes, c.titles, c.patterns = maps.Clone(f.visited), maps.Clone(f.hashes), maps.Clone(f.titles), maps.Clone(f.patterns)
	return &c
}

// add queues an address for the next depth unless it is known, out of bounds or a trap.
func (f *frontier) add(raw string, content bool, g *globs) {
	u, ok := cleanLink(raw)
	if !ok || !f.scope.covers(u) || isAsset(u) || !g.wanted(u) {
		return
	}
	key := crawlKey(u)
	if f.visited[key] {
		return
	}
	pattern, trap := trapPattern(u)
	switch {
	case trap, pattern != "" && f.patterns[pattern] >= maxPerPattern:
		f.visited[key] = true
		f.skipped++
		return
	case len(f.next) >= maxFrontier || len(f.visited) >= maxVisited || len(f.patterns) >= maxCrawlPatternN:
		f.full = true
		return
	}
	if pattern != "" {
		f.patterns[pattern]++
	}
	f.visited[key] = true
	f.next = append(f.next, link{url: u, key: key, content: content})
}

// descend goes on to the next depth; it reports whether there is one.
func (f *frontier) descend(maxDepth int) bool {
	if len(f.next) == 0 || f.depth >= maxDepth {
		return false
	}
	f.depth++
	f.now, f.next = f.next, nil
	rank(f.now)
	return true
}

// rank puts links of the main text first, then short paths, then those found first.
func rank(links []link) {
	slices.SortStableFunc(links, func(a, b link) int {
		if a.content != b.content {
			if a.content {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(strings.Count(a.url.Path, "/"), strings.Count(b.url.Path, "/")), cmp.Compare(len(a.url.Path), len(b.url.Path)))
	})
}

// left reports whether pages wait within the depth.
func (f *frontier) left(maxDepth int) bool {
	return len(f.now) > 0 || len(f.next) > 0 && f.depth < maxDepth
}

// frontiers keeps those of crawls that stopped before their end. It is safe for concurrent use.
type frontiers struct {
	mu   sync.Mutex
	list []kept // oldest first; guarded by mu
}

type kept struct {
	handle string
	at     time.Time
	f      *frontier
}

// keep stores a frontier, which nobody changes any more, and returns its handle.
func (s *frontiers) keep(f *frontier, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if len(s.list) >= maxFrontiers {
		s.list = slices.Delete(s.list, 0, len(s.list)-maxFrontiers+1)
	}
	k := kept{rand.Text(), now, f}
	s.list = append(s.list, k)
	return k.handle
}

// find returns a copy of the frontier of a handle, nil if there is none or its time is over.
func (s *frontiers) find(handle string, now time.Time) *frontier {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	i := slices.IndexFunc(s.list, func(k kept) bool { return k.handle == handle })
	if i < 0 {
		return nil
	}
	return s.list[i].f.clone()
}

func (s *frontiers) expire(now time.Time) {
	s.list = slices.DeleteFunc(s.list, func(k kept) bool { return now.Sub(k.at) > frontierTime })
}
