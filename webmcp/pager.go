package webmcp

import (
	"container/list"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds on results that are kept to be read on in.
const (
	maxPagedTexts = 64
	maxPagedBytes = 64 << 20

	// pagedAge is how long a result is kept after it was last read.
	pagedAge = 15 * time.Minute

	// maxPageBytes bounds a page beside its tokens, so that a message stays well
	// below the 16 MiB that clients read.
	maxPageBytes = 4 << 20

	// pageStep is how much text is estimated at a time; estimates are rounded
	// up, so shorter steps would make shorter pages.
	pageStep = 1 << 10
)

// errNoHandle is the same for a handle that never was and one that is gone.
var errNoHandle = errors.New("no result is kept under this handle: it is unknown, or was not read for too long; call the tool again")

// pager keeps the texts of results that were too long for one answer. It may
// be used from any goroutine.
type pager struct {
	mu    sync.Mutex
	now   func() time.Time
	texts map[string]*list.Element // of *pagedText
	order list.List                // the one read longest ago first
	bytes int
}

// pagedText is a text and where its pages end. Only used is ever changed.
type pagedText struct {
	handle string
	text   string
	ends   []int // the last is len(text)
	used   time.Time
}

// pagedPage is one page and where it stands among the characters of the text.
type pagedPage struct {
	text            string
	page, of        int
	from, to, total int // from 1, both ends included
}

func newPager() *pager {
	return &pager{now: time.Now, texts: map[string]*list.Element{}}
}

// keep stores a text and returns a handle that nobody can guess. It fails for
// a text that is larger than all that may be kept; older ones make room.
func (p *pager) keep(text string, ends []int) (handle string, ok bool) {
	if len(text) > maxPagedBytes {
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	for p.order.Len() > 0 && (p.order.Len() >= maxPagedTexts || p.bytes+len(text) > maxPagedBytes) {
		p.drop(p.order.Front())
	}
	t := &pagedText{handle: rand.Text(), text: text, ends: ends, used: p.now()}
	p.texts[t.handle] = p.order.PushBack(t)
	p.bytes += len(text)
	return t.handle, true
}

// page returns page n, from 1, of the text under a handle.
func (p *pager) page(handle string, n int) (pagedPage, error) {
	p.mu.Lock()
	p.expire()
	e := p.texts[handle]
	if e == nil {
		p.mu.Unlock()
		return pagedPage{}, errNoHandle
	}
	t := e.Value.(*pagedText)
	t.used = p.now()
	p.order.MoveToBack(e)
	p.mu.Unlock()
	if n < 1 || n > len(t.ends) {
		return pagedPage{}, fmt.Errorf("page %d: this result has pages 1 to %d", n, len(t.ends))
	}
	return t.page(n), nil
}

func (p *pager) expire() {
	for e := p.order.Front(); e != nil && p.now().Sub(e.Value.(*pagedText).used) > pagedAge; e = p.order.Front() {
		p.drop(e)
	}
}

func (p *pager) drop(e *list.Element) {
	t := p.order.Remove(e).(*pagedText)
	delete(p.texts, t.handle)
	p.bytes -= len(t.text)
}

func (t *pagedText) page(n int) pagedPage {
	start := 0
	if n > 1 {
		start = t.ends[n-2]
	}
	text := t.text[start:t.ends[n-1]]
	before := utf8.RuneCountInString(t.text[:start])
	count := utf8.RuneCountInString(text)
	return pagedPage{
		text: text, page: n, of: len(t.ends), from: before + 1, to: before + count,
		total: before + count + utf8.RuneCountInString(t.text[t.ends[n-1]:]),
	}
}

// splitPages cuts text into pages of at most budget tokens and maxPageBytes
// bytes, and returns where they end. Pages end between characters, after a
// line break or a space where one is near. One character is a page at least,
// whatever the budget.
func splitPages(text string, budget int, estimate func(string) int) []int {
	var ends []int
	for start := 0; start < len(text); {
		end := start + fitting(text[start:], budget, estimate)
		if end < len(text) {
			end = start + niceEnd(text[start:end])
		}
		ends = append(ends, end)
		start = end
	}
	if ends == nil {
		ends = []int{0}
	}
	return ends
}

// fitting is the length of the longest start of text within a page's bounds.
func fitting(text string, budget int, estimate func(string) int) int {
	end := 0
	for end < len(text) && end < maxPageBytes {
		next := runeEnd(text, end, end+pageStep)
		cost := estimate(text[end:next])
		if cost > budget {
			end += fittingIn(text[end:next], budget, estimate)
			break
		}
		budget -= cost
		end = next
	}
	if end == 0 {
		return runeEnd(text, 0, 1)
	}
	return end
}

// fittingIn is the length of the longest start of text, not all of it, that
// has at most budget tokens.
func fittingIn(text string, budget int, estimate func(string) int) int {
	fits, tooLong := 0, len(text)
	for {
		mid := runeEnd(text, fits, (fits+tooLong)/2)
		if mid >= tooLong {
			return fits
		}
		if estimate(text[:mid]) <= budget {
			fits = mid
		} else {
			tooLong = mid
		}
	}
}

// runeEnd is i or the nearest end of a character of text before it, but at
// least one character after start.
func runeEnd(text string, start, i int) int {
	if i >= len(text) {
		return len(text)
	}
	for i > start && !utf8.RuneStart(text[i]) {
		i--
	}
	if i <= start {
		_, size := utf8.DecodeRuneInString(text[start:])
		i = start + size
	}
	return i
}

// niceEnd is where to end a page that may end after text: after the last line
// break if that is in the last quarter, else after a space near the end.
func niceEnd(text string) int {
	if i := strings.LastIndexByte(text, '\n'); i >= len(text)*3/4 {
		return i + 1
	}
	if i := strings.LastIndexByte(text, ' '); i >= len(text)*3/4 && len(text)-i < 64 {
		return i + 1
	}
	return len(text)
}
