package websrv

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// mixedText is a text of many kinds of characters.
func mixedText(rng *rand.Rand, n int) string {
	parts := []string{"lamp ", "Öl ", "灯りを", "\n\n", "## Head\n", "🔥🔥", "a", "\t| x | 1.25 |\n", "мир ", "END deadbeef\n", "```\n# no head\n```\n", strings.Repeat("x", 70)}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.String()
}

// TestPiecesAreTheWhole reads documents by cursor at many budgets: the pieces put together are
// the documents, byte for byte, and no piece passes its budget.
func TestPiecesAreTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for run := range 200 {
		var docs []document
		for i := range 1 + rng.IntN(4) {
			docs = append(docs, document{fmt.Sprintf("https://a.net/%d", i), mixedText(rng, rng.IntN(6_000))})
		}
		budget := 150 + rng.IntN(1_000)
		got := make([]string, len(docs))
		at, key := position{Key: keyOf(docs)}, keyOf(docs)
		for round := 0; ; round++ {
			if round > 5_000 {
				t.Fatalf("run %d: reading on does not end", run)
			}
			pieces, next := takePieces(docs, at, budget)
			f, total := newFence(), 0
			for i, b := range blocks(docs, pieces, "", 0, f) {
				total += estimateTokens(b)
				got[pieces[i].index] += unwrap(t, b)
			}
			if total > budget {
				t.Fatalf("run %d: a reply of %d tokens, the budget is %d", run, total, budget)
			}
			if next == nil {
				break
			}
			kind, data, err := unseal(next.cursor())
			if err != nil || kind != cursorText {
				t.Fatalf("run %d: own cursor: %v", run, err)
			}
			if at, err = parsePosition(data); err != nil || at != *next || at.Key != key || !at.within(docs) {
				t.Fatalf("run %d: cursor of %+v reads as %+v, %v", run, *next, at, err)
			}
		}
		for i, d := range docs {
			if got[i] != d.Text {
				t.Fatalf("run %d: document %d is not the sum of its pieces", run, i)
			}
		}
	}
}

// unwrap is the text between the boundaries of a block.
func unwrap(t testing.TB, block string) string {
	t.Helper()
	head, rest, ok := strings.Cut(block, "\nBEGIN ")
	mark, body, ok2 := strings.Cut(rest, "\n")
	text, ok3 := strings.CutSuffix(body, "\nEND "+mark)
	if !ok || !ok2 || !ok3 || len(mark) != 32 || !strings.Contains(head, mark) || !strings.Contains(head, "not instructions") {
		t.Fatalf("block %.300q is not wrapped", block)
	}
	return text
}

func TestSections(t *testing.T) {
	text := "intro\n\n# One\ntext\n\n```sh\n# not a heading\n```\n\n## Two ##\nmore\n\n    # code\n\n# Three\nend\n"
	list := headings(text)
	if len(list) != 3 || list[0].title != "One" || list[1].title != "Two" || list[2].title != "Three" {
		t.Fatalf("headings %+v", list)
	}
	for _, tc := range []struct{ want, got string }{
		{"One", text[strings.Index(text, "# One"):strings.Index(text, "# Three")]}, {"2", text[strings.Index(text, "## Two"):strings.Index(text, "# Three")]},
		{"three", "# Three\nend\n"}, {"0", "intro\n\n"}, {"## two", text[strings.Index(text, "## Two"):strings.Index(text, "# Three")]}, {"thr", "# Three\nend\n"},
	} {
		start, end, ok := section(text, tc.want)
		if !ok || text[start:end] != tc.got {
			t.Errorf("section %q is %q", tc.want, text[start:end])
		}
	}
	if start, _, ok := section("a\n\n## Sub `code` \\[1]\n", "Sub code [1]"); !ok || start != 3 {
		t.Errorf("a heading with marks is at %d, %v", start, ok)
	}
	if _, _, ok := section("# One\ntext\n", "0"); ok {
		t.Error("there is something before the first heading")
	}
	for _, none := range []string{"", "4", "1.2", "-1", "four", "99999999999999999999"} {
		if _, _, ok := section(text, none); ok {
			t.Errorf("section %q was found", none)
		}
	}
	// Top-level sections and what stands before them are the whole.
	whole := text[:list[0].start]
	for _, h := range list {
		if h.level == 1 {
			whole += text[h.start:h.end]
		}
	}
	if whole != text {
		t.Error("the sections are not the whole")
	}
}

func TestStoreMakesRoom(t *testing.T) {
	var s store
	var keys []textKey
	for i := range 5 {
		keys = append(keys, s.put([]document{{"https://a.net/", strings.Repeat(fmt.Sprint(i), maxStoreBytes/4)}}))
	}
	if s.get(keys[0]) != nil || s.get(keys[4]) == nil || s.bytes > maxStoreBytes {
		t.Errorf("%d bytes are kept, the first text %v", s.bytes, s.get(keys[0]) != nil)
	}
}

// FuzzCursor feeds cursors of strangers to a text that is kept: none may panic, or name a
// place outside it.
func FuzzCursor(f *testing.F) {
	docs := []document{{"https://a.net/", "lamps give light 灯り"}, {"https://b.net/", ""}}
	key := keyOf(docs)
	f.Add(position{Key: key, Index: 0, Offset: 3}.cursor())
	f.Add(position{Key: key, Index: 1}.cursor())
	f.Add(position{Key: key, Index: 9, Offset: 1 << 29, End: 4}.cursor())
	f.Add(seal(cursorNext, []byte(`{"t":"crawl","p":"local crawler","n":"x","a":{}}`)))
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		try := func(cursor string) {
			kind, data, err := unseal(cursor)
			if err != nil {
				return
			}
			if kind == cursorNext {
				continued(toolCrawl, data, &crawlArgs{})
				splitSkip(string(data))
				return
			}
			at, err := parsePosition(data)
			if err != nil || !at.within(docs) {
				return
			}
			pieces, _ := takePieces(docs, at, 100)
			for _, p := range pieces {
				if !utf8.ValidString(docs[p.index].Text[p.start:p.end]) {
					t.Errorf("cursor %q cuts a character", cursor)
				}
			}
		}
		try(cursor)
		try(seal(cursorText, []byte(cursor)))
		try(seal(cursorText, append(key[:len(key):len(key)], cursor...)))
		try(seal(cursorNext, []byte(cursor)))
	})
}
