package bridge

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// A vocabulary maps the words of a catalogue to terms: words of one stem are
// one term.
type vocabulary struct {
	words map[string]word
	terms map[string]int32 // by stem
	stems []string         // by term
	light []bool           // by term: says nothing about a name that it stands in
	buf   []byte

	// For typing errors: the words in order of length, with their letters.
	spelled []spelling
	byLen   [maxWordBytes + 2]int32 // first spelling of each length
}

// A word is what the catalogue knows of one written form.
type word struct {
	term int32
	stop bool
}

// A spelling is a word with a mask of its letters.
type spelling struct {
	text string
	mask uint64
	term int32
}

func newVocabulary() vocabulary {
	return vocabulary{words: make(map[string]word, 1<<12), terms: make(map[string]int32, 1<<12)}
}

// intern returns the entry of a word, making it where it is new.
func (v *vocabulary) intern(b []byte) word {
	if w, ok := v.words[string(b)]; ok {
		return w
	}
	text := string(b)
	v.buf = append(v.buf[:0], b...)
	root := familyStem(v.buf)
	t, ok := v.terms[string(root)]
	if !ok {
		t = int32(len(v.stems))
		s := string(root)
		v.terms[s] = t
		v.stems = append(v.stems, s)
		v.light = append(v.light, isDigits(text))
	}
	w := word{term: t, stop: isStop(text)}
	v.words[text] = w
	return w
}

// finish prepares for finding near spellings.
func (v *vocabulary) finish() {
	v.spelled = make([]spelling, 0, len(v.words))
	for text, w := range v.words {
		if len(text) >= minSpelling {
			v.spelled = append(v.spelled, spelling{text, letterMask(text), w.term})
		}
	}
	slices.SortFunc(v.spelled, func(a, b spelling) int {
		return cmp.Or(len(a.text)-len(b.text), cmp.Compare(a.text, b.text))
	})
	i := 0
	for n := range v.byLen {
		for i < len(v.spelled) && len(v.spelled[i].text) < n {
			i++
		}
		v.byLen[n] = int32(i)
	}
}

const minSpelling = 4

// letterMask sets a bit for each letter of a word, and another for those that
// stand in it twice or more.
func letterMask(s string) uint64 {
	var m uint64
	for i := range len(s) {
		bit := uint64(1) << (s[i] & 31)
		if m&bit != 0 {
			bit <<= 32
		}
		m |= bit
	}
	return m
}

// A slip is a word of the catalogue near one that it lacks.
type slip struct {
	term     int32
	text     string
	distance int
}

// slips returns the catalogue's words within most slips (swap, drop, insert,
// replace) of text, nearest first and at most n.
func (v *vocabulary) slips(text string, most, n int) []slip {
	if len(text) > maxWordBytes {
		return nil
	}
	mask := letterMask(text)
	var found []slip
	lo := v.byLen[max(len(text)-most, 0)]
	hi := v.byLen[min(len(text)+most+1, len(v.byLen)-1)]
	for i := lo; i < hi; i++ {
		s := &v.spelled[i]
		if bits.OnesCount64(mask^s.mask) > 2*most {
			continue
		}
		if d := slipDistance(text, s.text, most); d <= most {
			found = append(found, slip{s.term, s.text, d})
		}
	}
	slices.SortFunc(found, func(a, b slip) int {
		return cmp.Or(a.distance-b.distance, headStart(b.text, text)-headStart(a.text, text), cmp.Compare(a.text, b.text))
	})
	if len(found) > 0 {
		nearest := found[0].distance
		for i, s := range found {
			if s.distance > nearest || i == n {
				return found[:i]
			}
		}
	}
	return found
}

// headStart is how many letters two words share at their start: few people
// miss the first letters of a word.
func headStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// slipDistance is the number of slips between two words (optimal string
// alignment), or more than most.
func slipDistance(a, b string, most int) int {
	var rows [3][maxWordBytes + 2]int
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev2, prev, cur := &rows[(i+2)%3], &rows[i%3], &rows[(i+1)%3]
		if i == 1 {
			prev = &rows[1]
		}
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

// beginning returns the terms of up to n words that begin with text, shortest
// first.
func (v *vocabulary) beginning(text string, n int) []int32 {
	var out []int32
	mask := letterMask(text)
	for i := v.byLen[min(len(text), len(v.byLen)-1)]; int(i) < len(v.spelled) && len(out) < n; i++ {
		if s := &v.spelled[i]; mask&^s.mask == 0 && strings.HasPrefix(s.text, text) && !slices.Contains(out, s.term) {
			out = append(out, s.term)
		}
	}
	return out
}
