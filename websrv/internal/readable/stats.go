package readable

import (
	"math"
	"unicode"
)

// textStats counts what a block's text is made of.
type textStats struct {
	words, short, long int32 // words; of up to three letters; of ten or more
	digits, letters    int32
	capital            int32 // words that begin with a capital
	upper              int32 // capital letters
	commas, stops      int32
	other              int32 // punctuation and symbols but commas and stops
	money              int32 // currency signs next to nothing or digits
	bars               int32 // | • · » › / between words
	inTitle, inDesc    int32 // words that the title, the description, the data's texts have
	inData             int32
	hash               uint32 // of the letters and digits, case folded
	first, last        rune
	ends               uint8 // 1 full stop, 2 question, 3 colon, 4 ellipsis or arrow, 5 comma, 0 else
	year               bool
}

// wordSet holds hashes of words.
type wordSet map[uint32]struct{}

func addWords(to wordSet, s string, limit int) {
	eachWord(s, func(h uint32) bool {
		to[h] = struct{}{}
		return len(to) < limit
	})
}

// eachWord calls f with every run of letters and digits, case folded.
func eachWord(s string, f func(h uint32) bool) {
	h, n := uint32(2166136261), 0
	for _, r := range s {
		if letterOrDigit(r) {
			h = (h ^ uint32(fold(r))) * 16777619
			n++
			continue
		}
		if n > 0 && !f(h) {
			return
		}
		h, n = 2166136261, 0
	}
	if n > 0 {
		f(h)
	}
}

func fold(r rune) rune {
	if r < 0x80 {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// sets are the words to compare with.
type sets struct{ title, desc, data wordSet }

// count reads a text once.
func (t *textStats) count(s string, in *sets) {
	h, all := uint32(2166136261), uint32(2166136261)
	n, digits := 0, 0
	var start rune
	var value int
	end := func() {
		if n > 0 {
			t.word(h, n, digits, start, value, in)
		}
		h, n, digits, value = 2166136261, 0, 0, 0
	}
	for _, r := range s {
		if t.first == 0 {
			t.first = r
		}
		if r != ' ' && r != '\n' {
			t.last = r
		}
		letter := r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') || r >= 0x80 && unicode.IsLetter(r)
		digit := r >= '0' && r <= '9'
		if !letter && !digit {
			end()
			t.punctuation(r)
			continue
		}
		if n == 0 {
			start = r
		}
		n++
		f := uint32(fold(r))
		h = (h ^ f) * 16777619
		all = (all ^ f) * 16777619
		if digit {
			digits++
			t.digits++
			value = value*10 + int(r-'0')
			continue
		}
		t.letters++
		if f != uint32(r) {
			t.upper++
		}
	}
	end()
	t.hash = all
	t.ends = ending(t.last)
}

func (t *textStats) word(h uint32, n, digits int, start rune, value int, in *sets) {
	t.words++
	switch {
	case n <= 3:
		t.short++
	case n >= 10:
		t.long++
	}
	if fold(start) != start {
		t.capital++
	}
	if digits == 4 && n == 4 && value >= 1980 && value <= 2040 {
		t.year = true
	}
	if _, ok := in.title[h]; ok {
		t.inTitle++
	}
	if _, ok := in.desc[h]; ok {
		t.inDesc++
	}
	if _, ok := in.data[h]; ok {
		t.inData++
	}
}

func (t *textStats) punctuation(r rune) {
	switch r {
	case ' ', '\n', '\t':
	case ',', ';', '、', '，':
		t.commas++
	case '.', '!', '?', '。', '！', '？':
		t.stops++
	case '$', '€', '£', '¥', '₹', '₽', '₩', '￥':
		t.money++
	case '|', '•', '·', '»', '›', '/', '→', '>':
		t.bars++
	default:
		t.other++
	}
}

func ending(r rune) uint8 {
	switch r {
	case '.', '!', '。', '！', '"', '”', ')':
		return 1
	case '?', '？':
		return 2
	case ':', '：':
		return 3
	case '…', '»', '›', '→', '>':
		return 4
	case ',', ';':
		return 5
	}
	return 0
}

// log1p is a logarithm for counts.
func log1p(n int32) float32 { return float32(math.Log1p(float64(n))) }

// ratio is a share, 0 of nothing.
func ratio(a, b int32) float32 {
	if b <= 0 {
		return 0
	}
	return float32(a) / float32(b)
}
