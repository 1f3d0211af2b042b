package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on one parsed text.
const (
	maxQueryWords = 256
	maxClauses    = 8
)

// A queryWord is one word of a text that is searched for.
type queryWord struct {
	text   string
	clause int
	weight int  // in units
	body   bool // says what the task is about: neither stop nor chatter
	plain  bool // but in a common word
	after  bool // no word was left out between it and the one before
}

// A queryParser takes the words that count from a text.
type queryParser struct {
	w       *weights
	split   wordSplitter
	words   []queryWord
	all     []queryWord // stop words too
	clause  int
	bodies  int
	stopped bool // a word was left out before the next one
	began   bool // the current clause has a word that tells something
}

// parseQuery takes the words that count from a text. A text of stop words alone
// is searched for these; one of chatter alone counts it in full.
func parseQuery(text string, w *weights) []queryWord {
	p := queryParser{w: w}
	for _, part := range clauses(text) {
		p.began, p.stopped = false, true
		p.split.each(part, func(b []byte) { p.word(string(b)) })
		if p.began && p.clause < maxClauses-1 {
			p.clause++
		}
	}
	words := p.words
	if len(words) == 0 {
		words = p.all
	}
	for i := range words {
		if p.bodies == 0 {
			words[i].weight, words[i].body = unit, true
		}
		if len(p.all) < w.clauseWords {
			words[i].clause = 0
		}
	}
	return words
}

func (p *queryParser) word(text string) {
	if len(p.all) == maxQueryWords {
		return
	}
	q := queryWord{text: text, clause: p.clause, weight: unit}
	p.all = append(p.all, q)
	if isStop(text) {
		p.stopped = true
		return
	}
	q.after = !p.stopped
	p.stopped = false
	switch {
	case isChatter(text):
		q.weight = p.w.chatter
	case isPlain(text):
		q.weight, q.plain = p.w.plain, true
	}
	if !isChatter(text) {
		q.body, p.began = true, true
		p.bodies++
	}
	p.words = append(p.words, q)
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// clauses cuts text at punctuation and at the words that join two tasks.
func clauses(text string) []string {
	var parts []string
	start := 0
	cut := func(end, next int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			parts = append(parts, s)
		}
		start = next
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case strings.ContainsRune(",;:!?\n。，；：！？、", r), r == '.' && endsWord(text[i+1:]):
			cut(i, i+size)
		case r == ' ':
			if n := joiner(text[i+1:]); n > 0 {
				cut(i, i+1+n)
				size = 1 + n
			}
		}
		i += size
	}
	cut(len(text), len(text))
	return parts
}

func endsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(r)
}

// joiner returns the length of a joining word that s begins with.
func joiner(s string) int {
	for _, j := range [...]string{"and ", "then ", "but ", "or ", "while ", "after ", "before ", "so "} {
		if strings.HasPrefix(s, j) {
			return len(j)
		}
	}
	return 0
}
