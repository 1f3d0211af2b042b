package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds on kept texts.
const (
	DefaultKeptBytes = 32 << 20 // of all texts of one Pages
	maxKeptTexts     = 256
	bytesPerToken    = 4   // a first guess
	minPageBytes     = 256 // a page is never smaller, whatever the counter says
)

// Pages keeps long texts of one session for reading on. A handle names a text
// and the byte where a page begins; joined, the pages are the text again, byte
// for byte. When there is too much, the oldest texts go. It is safe for
// concurrent use, and its ReadPage suits bridge.Config.Pages.
type Pages struct {
	maxBytes int

	mu    sync.Mutex
	last  int // number of the newest text
	texts map[int]*kept
	bytes int
}

// A kept is a text with the measure of its pages.
type kept struct {
	text string
	fit  func(s string) int // how many bytes of s make a page
}

// NewPages makes an empty store of at most maxBytes; 0 means DefaultKeptBytes.
func NewPages(maxBytes int) *Pages {
	if maxBytes <= 0 {
		maxBytes = DefaultKeptBytes
	}
	return &Pages{maxBytes: maxBytes, texts: make(map[int]*kept)}
}

// first keeps text and returns its first page.
func (p *Pages) first(text string, fit func(string) int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(text) > p.maxBytes {
		n := fit(text)
		return text[:n] + fmt.Sprintf("\n[cut: %d of %d bytes shown; the rest is too long to keep]", n, len(text))
	}
	p.last++
	p.texts[p.last] = &kept{text, fit}
	p.bytes += len(text)
	for n := p.last - len(p.texts) + 1; p.bytes > p.maxBytes || len(p.texts) > maxKeptTexts; n++ {
		p.bytes -= len(p.texts[n].text)
		delete(p.texts, n)
	}
	return p.texts[p.last].page(p.last, 0)
}

// page is the page that begins at a byte, with a mark that says how to go on.
func (k *kept) page(number, at int) string {
	n := k.fit(k.text[at:])
	end := at + n
	if end == len(k.text) {
		return k.text[at:]
	}
	return k.text[at:end] + mark(number, at, end, len(k.text))
}

const markStart = "\n[cut: "

// longestMark is as long as a mark gets with numbers of ten digits.
var longestMark = mark(1e9, 1e9, 1e9, 1e9)

func mark(number, at, end, size int) string {
	return fmt.Sprintf(markStart+"bytes %d to %d of %d; read on with {\"action\":\"read\",\"handle\":\"r%d.%d\"}]",
		at, end, size, number, end)
}

// made reports whether text is, byte for byte, a page with its mark of a text
// that p keeps. A stranger's text that only looks like one is not.
func (p *Pages) made(text string) bool {
	i := strings.LastIndex(text, markStart)
	if p == nil || i < 0 {
		return false
	}
	_, handle, _ := strings.Cut(text[i:], `"handle":"`)
	number, end, ok := parseHandle(strings.TrimSuffix(handle, `"}]`))
	p.mu.Lock()
	k := p.texts[number]
	p.mu.Unlock()
	at := end - i
	return ok && k != nil && at >= 0 && end <= len(k.text) &&
		k.text[at:end] == text[:i] && text[i:] == mark(number, at, end, len(k.text))
}

// ReadPage returns the page that a handle from a mark stands for. An unknown
// handle, or one whose text was dropped, is an error. It does not look at ctx.
func (p *Pages) ReadPage(_ context.Context, handle string) (string, error) {
	number, at, ok := parseHandle(handle)
	p.mu.Lock()
	k := p.texts[number]
	p.mu.Unlock()
	if !ok || k == nil || at >= len(k.text) || !utf8.RuneStart(k.text[at]) {
		return "", fmt.Errorf("no page %q is kept; call the tool again", name(handle))
	}
	return k.page(number, at), nil
}

func parseHandle(handle string) (number, at int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(handle), "r")
	a, b, dot := strings.Cut(rest, ".")
	number, errA := strconv.Atoi(a)
	at, errB := strconv.Atoi(b)
	return number, at, ok && dot && errA == nil && errB == nil && at >= 0
}

// fitting returns how many bytes of s, whole characters and if possible whole
// lines, count at most max tokens. It is at least minPageBytes, or all of s.
func fitting(s string, max int, count func(string) int) int {
	if max < 1 {
		max = 1
	}
	high := max*bytesPerToken + minPageBytes
	for high < len(s) && count(s[:whole(s, high)]) <= max {
		high *= 2
	}
	if high = min(high, len(s)); high <= minPageBytes || high == len(s) && count(s) <= max {
		return len(s)
	}
	low := minPageBytes
	for low < high {
		mid := (low + high + 1) / 2
		if count(s[:whole(s, mid)]) <= max {
			low = mid
		} else {
			high = mid - 1
		}
	}
	n := whole(s, low)
	if line := strings.LastIndexByte(s[:n], '\n') + 1; line > n/2 {
		return line
	}
	return n
}

// whole returns the largest length up to n that ends between characters.
func whole(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
