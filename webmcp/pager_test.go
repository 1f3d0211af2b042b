package webmcp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aster-mcp/aster/bridge"
)

// fakeClock is a clock that stands still.
type fakeClock struct{ at time.Time }

func (c *fakeClock) now() time.Time { return c.at }

func newTestPager() (*pager, *fakeClock) {
	c := &fakeClock{nameStart}
	p := newPager()
	p.now = c.now
	return p, c
}

func TestSplitPages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabet := []string{"a", "word ", "\n", "\r\n", "é", "日本語", "😀", "0123", "\x00", "{\"k\":", "e\u0301"}
	for round := range 300 {
		var sb strings.Builder
		for range r.IntN(3000) {
			sb.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		text, budget := sb.String(), 1+r.IntN(200)
		ends := splitPages(text, budget, bridge.EstimateTokens)
		start := 0
		for i, end := range ends {
			page := text[start:end]
			if !utf8.ValidString(page) {
				t.Fatalf("round %d: page %d is cut within a character: %q", round, i+1, page)
			}
			if n := bridge.EstimateTokens(page); n > budget && utf8.RuneCountInString(page) > 1 {
				t.Fatalf("round %d: page %d has %d tokens, more than %d", round, i+1, n, budget)
			}
			if page == "" && text != "" {
				t.Fatalf("round %d: page %d of %d is empty", round, i+1, len(ends))
			}
			start = end
		}
		if start != len(text) {
			t.Fatalf("round %d: the pages end at %d of %d", round, start, len(text))
		}
	}
}

func TestSplitPagesFillsThem(t *testing.T) {
	ends := splitPages(strings.Repeat("abcdefgh", 100_000), 1000, bridge.EstimateTokens)
	first := strings.Repeat("abcdefgh", 100_000)[:ends[0]]
	if n := bridge.EstimateTokens(first); n < 900 {
		t.Errorf("the first page has %d tokens of 1000", n)
	}
}

func TestPagesEndWithLines(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 30)+"\n", 200)
	for i, end := range splitPages(text, 100, bridge.EstimateTokens) {
		if text[end-1] != '\n' {
			t.Errorf("page %d ends with %q", i+1, text[end-10:end])
		}
	}
}

func TestPageBytes(t *testing.T) {
	text := strings.Repeat(" ", 3*maxPageBytes)
	start := 0
	for i, end := range splitPages(text, 1<<40, bridge.EstimateTokens) {
		if end-start > maxPageBytes {
			t.Errorf("page %d has %d bytes", i+1, end-start)
		}
		start = end
	}
}

func TestPager(t *testing.T) {
	p, clock := newTestPager()
	text := "ab日本\ncd"
	handle, ok := p.keep(text, []int{2, 8, 11})
	if !ok || len(handle) < 20 {
		t.Fatalf("keep = %q, %v", handle, ok)
	}
	other, _ := p.keep(text, []int{11})
	if other == handle {
		t.Fatal("two texts have one handle")
	}
	want := []pagedPage{
		{text: "ab", page: 1, of: 3, from: 1, to: 2, total: 7},
		{text: "日本", page: 2, of: 3, from: 3, to: 4, total: 7},
		{text: "\ncd", page: 3, of: 3, from: 5, to: 7, total: 7},
	}
	for i, w := range want {
		if got, err := p.page(handle, i+1); err != nil || got != w {
			t.Errorf("page %d = %+v, %v; want %+v", i+1, got, err, w)
		}
	}
	for _, n := range []int{0, -1, 4} {
		if _, err := p.page(handle, n); err == nil || !strings.Contains(err.Error(), "pages 1 to 3") {
			t.Errorf("page %d: %v", n, err)
		}
	}
	if _, err := p.page("nothing", 1); !errors.Is(err, errNoHandle) {
		t.Errorf("unknown handle: %v", err)
	}

	clock.at = clock.at.Add(pagedAge)
	if _, err := p.page(handle, 1); err != nil {
		t.Errorf("after %v: %v", pagedAge, err)
	}
	clock.at = clock.at.Add(time.Second)
	if _, err := p.page(other, 1); !errors.Is(err, errNoHandle) {
		t.Errorf("unread for too long: %v", err)
	}
	if _, err := p.page(handle, 1); err != nil {
		t.Errorf("read a second ago: %v", err)
	}
}

func TestPagerIsBounded(t *testing.T) {
	p, _ := newTestPager()
	var handles []string
	for i := range maxPagedTexts + 5 {
		text := fmt.Sprint(i)
		h, ok := p.keep(text, []int{len(text)})
		if !ok {
			t.Fatalf("text %d is not kept", i)
		}
		handles = append(handles, h)
		if _, err := p.page(handles[0], 1); err != nil {
			t.Fatalf("the text that was just read is gone after %d more", i)
		}
	}
	for i, h := range handles {
		_, err := p.page(h, 1)
		if gone := i > 0 && i <= 5; (err != nil) != gone {
			t.Errorf("text %d: %v", i, err)
		}
	}
	large := strings.Repeat("x", maxPagedBytes/2+1)
	first, _ := p.keep(large, []int{len(large)})
	second, ok := p.keep(large, []int{len(large)})
	if _, err := p.page(first, 1); !ok || err == nil {
		t.Error("more bytes are kept than the bound allows")
	}
	if _, err := p.page(second, 1); err != nil {
		t.Errorf("the newer of two large texts is gone: %v", err)
	}
	if p.bytes > maxPagedBytes || p.order.Len() != len(p.texts) {
		t.Errorf("%d bytes, %d and %d texts", p.bytes, p.order.Len(), len(p.texts))
	}
	if _, ok := p.keep(large+large, nil); ok {
		t.Error("a text larger than the bound is kept")
	}
}

func TestPagerConcurrently(t *testing.T) {
	p := newPager()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 300 {
				h, _ := p.keep("text", []int{4})
				if got, err := p.page(h, 1); err == nil && got.text != "text" {
					t.Errorf("page = %+v", got)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkSplitPages(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		splitPages(text, 25_000, bridge.EstimateTokens)
	}
}
