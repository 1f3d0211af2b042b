package websrv

import (
	"sync"
	"testing"
)

// A sharedBrowser is a browser, with the web it loads pages from, that several tests use side
// by side: a start takes longer than most pages. It starts with the first of them, and TestMain
// closes it.
type sharedBrowser struct {
	make func(t testing.TB) *fakeWeb
	o    networkOptions

	once  sync.Once
	t     lasting
	w     *fakeWeb
	n     *network
	slots chan struct{} // pages of these tests, as many at a time as the browser loads
}

var (
	// pageBrowser loads pages.
	pageBrowser = sharedBrowser{make: pageWeb}
	// insideBrowser loads pages that lead inside.
	insideBrowser = sharedBrowser{make: insideWeb, o: networkOptions{HighPorts: true}}
	// testBrowsers are all that tests share.
	testBrowsers = []*sharedBrowser{&pageBrowser, &insideBrowser}
)

// open returns b, ready to load pages once a page is asked for.
func (b *sharedBrowser) open(t testing.TB) *sharedBrowser {
	needChromium(t)
	b.once.Do(func() {
		b.t.TB = t
		b.w = b.make(&b.t)
		b.n, b.slots = b.w.open(b.o), make(chan struct{}, maxPages)
	})
	return b
}

// close ends the browser, and returns how many pages are still in use.
func (b *sharedBrowser) close() (inUse int) {
	if b.n != nil {
		b.n.renderer.mu.Lock()
		inUse = b.n.renderer.users + len(b.n.renderer.slots)
		b.n.renderer.mu.Unlock()
	}
	b.t.end()
	return inUse
}

// sideBySide calls f for the numbers below n, as many at a time as the browser loads pages,
// and returns when all are done: most of a page's time is waiting.
func (b *sharedBrowser) sideBySide(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		b.slots <- struct{}{}
		wg.Go(func() {
			f(i)
			<-b.slots
		})
	}
	wg.Wait()
}

// lasting is a test whose clean-up waits for the end of all tests.
type lasting struct {
	testing.TB
	mu   sync.Mutex
	ends []func() // guarded by mu
}

func (l *lasting) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, f)
}

func (l *lasting) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.ends) - 1; i >= 0; i-- {
		l.ends[i]()
	}
}
