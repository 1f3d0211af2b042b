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
	after  bool // no word was left out between it and the one before
}

// parseQuery takes the words that count from a text. A text of stop words alone
// is searched for these; one of chatter alone counts it in full.
func parseQuery(text string, w *weights) []queryWord {
	var words []queryWord
	bodies, stopped := 0, true
	var split wordSplitter
	clause := 0
	total := 0
	var all []queryWord
	for _, part := range clauses(text) {
		began := false
		split.each(part.text, func(b []byte) {
			total++
			if len(all) == maxQueryWords {
				return
			}
			q := queryWord{text: string(b), clause: clause, weight: unit}
			all = append(all, q)
			if isStop(q.text) {
				stopped = true
				return
			}
			q.after = !stopped
			stopped = false
			switch {
			case isChatter(q.text):
				q.weight = w.chatter
			case part.quoted || isDigits(q.text):
				q.weight = w.value
				q.body, began = true, true
			default:
				q.body, began = true, true
			}
			if q.body {
				bodies++
			}
			words = append(words, q)
		})
		stopped = true
		if began && clause < maxClauses-1 {
			clause++
		}
	}
	if len(words) == 0 {
		words = all
	}
	if bodies == 0 {
		for i := range words {
			words[i].weight, words[i].body = unit, true
		}
	}
	if total < w.clauseWords {
		for i := range words {
			words[i].clause = 0
		}
	}
	return words
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// A clausePart is a stretch of text between two clause marks.
type clausePart struct {
	text   string
	quoted bool
}

// clauses cuts text at punctuation and at the words that join two tasks.
func clauses(text string) []clausePart {
	var parts []clausePart
	start := 0
	cut := func(end, next int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			parts = append(parts, clausePart{text: s})
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
