package bridge

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

// The tables are read once, when the first catalogue is built. They are general
// English, written by hand, not taken from any data set.
var (
	//go:embed words/families.txt
	familiesText string
	//go:embed words/own.txt
	ownText string
	//go:embed words/synonyms.txt
	synonymsText string
)

// tableLines yields the lines of a table without comments and empty ones.
func tableLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// A synonymTable is the tables, read.
type synonymTable struct {
	family map[string]string   // word to the stem that stands for it
	group  map[string][]string // stem to other stems
}

var synonyms = sync.OnceValue(func() *synonymTable {
	t := &synonymTable{family: make(map[string]string, 1<<10), group: make(map[string][]string, 1<<11)}
	for line := range tableLines(ownText) {
		for _, w := range strings.Fields(line) {
			t.family[w] = w
		}
	}
	for line := range tableLines(familiesText) {
		words := strings.Fields(line)
		first := string(stem([]byte(words[0])))
		for _, w := range words {
			t.family[w] = first
		}
	}
	for line := range tableLines(synonymsText) {
		from, to, directed := strings.Cut(line, " > ")
		left := t.stems(from)
		right := left
		if directed {
			right = t.stems(to)
		}
		for _, l := range left {
			t.link(l, right)
		}
	}
	return t
})

func (t *synonymTable) stems(line string) []string {
	var out []string
	for _, w := range strings.Fields(line) {
		out = append(out, string(t.stem([]byte(w))))
	}
	return out
}

func (t *synonymTable) link(from string, to []string) {
	for _, s := range to {
		if s != from && !slices.Contains(t.group[from], s) {
			t.group[from] = append(t.group[from], s)
		}
	}
}

// stem is the stem of a lower-case word, or that of its family. It may
// overwrite b.
func (t *synonymTable) stem(b []byte) []byte {
	if f, ok := t.family[string(b)]; ok {
		return append(b[:0], f...)
	}
	if n := len(b); n > 3 && b[n-1] == 's' {
		if f, ok := t.family[string(b[:n-1])]; ok {
			return append(b[:0], f...)
		}
		if string(b[n-3:]) == "ies" {
			var word [maxWordBytes]byte
			if f, ok := t.family[string(append(append(word[:0], b[:n-3]...), 'y'))]; ok {
				return append(b[:0], f...)
			}
		}
	}
	return stem(b)
}

// familyStem is the stem that a lower-case word is indexed by. It may overwrite
// b.
func familyStem(b []byte) []byte { return synonyms().stem(b) }
