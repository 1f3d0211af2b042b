package bridge

import "slices"

// A concept is a word of a query with all terms that may stand for it. A tool
// gets the best of them.
type concept struct {
	word   string
	clause int
	weight int  // in units; 0 for a word repeated in its clause
	body   bool // says what the task is about
	plain  bool // in a common word
	hint   bool // from Ask.Server
	again  bool // stood in an earlier clause: counts for its own clause only
	forms  []form
}

// A form is one term that may stand for a word.
type form struct {
	term   int32
	weight int // in units
	how    string
}

// unmatched lists the words of a task that nothing in the catalogue fits. Common
// words are no news.
func unmatched(concepts []concept) []string {
	var out []string
	for i := range concepts {
		if c := &concepts[i]; c.body && !c.plain && len(c.forms) == 0 {
			out = append(out, c.word)
		}
	}
	return out
}

// anyBody reports whether any word of the task fits something.
func anyBody(concepts []concept) bool {
	return slices.ContainsFunc(concepts, func(c concept) bool { return c.body && len(c.forms) > 0 })
}

// concepts looks up every word of a query with what may stand for it.
func (l *Lexical) concepts(words []queryWord) []concept {
	out := make([]concept, 0, len(words))
	clauseOf := make(map[string]int, len(words))
	corrected := 0
	var buf [maxWordBytes + 8]byte
	for i := range words {
		q := &words[i]
		c := concept{word: q.text, clause: q.clause, weight: q.weight, body: q.body, plain: q.plain}
		key := string(familyStem(append(buf[:0], q.text...)))
		l.expand(&c, key)
		if len(c.forms) == 0 && corrected < maxCorrected {
			corrected++
			l.correct(&c)
		}
		if q.after && i > 0 {
			l.joined(&out[i-1], &c)
		}
		if before, ok := clauseOf[key]; ok {
			c.again = true
			if before == c.clause {
				c.weight = 0
			}
		}
		clauseOf[key] = c.clause
		out = append(out, c)
	}
	return out
}

// hints are the words of the server that the caller wishes for, without those
// that the text itself has.
func (l *Lexical) hints(server string, text []concept) []concept {
	if server == "" {
		return nil
	}
	var out []concept
	for _, c := range l.concepts(parseQuery(server, l.w)) {
		known := slices.ContainsFunc(text, func(t concept) bool { return t.word == c.word })
		if known || len(c.forms) == 0 {
			continue
		}
		c.weight = scale(c.weight, l.w.server)
		c.body, c.hint, c.clause = false, true, 0
		out = append(out, c)
	}
	return out
}

const maxCorrected = 6 // words of one query that are looked up as slips

// expand fills in the terms that may stand for a concept's word.
func (l *Lexical) expand(c *concept, stem string) {
	t, known := l.vocab.terms[stem]
	if known {
		c.forms = append(c.forms, form{t, unit, "word"})
	}
	weight := l.w.lost
	if known {
		weight = l.w.synonym
	}
	for _, s := range synonyms().group[stem] {
		if t, ok := l.vocab.terms[s]; ok {
			c.add(form{t, weight, "synonym"})
		}
	}
	if !known {
		l.parts(c)
	}
}

func (c *concept) add(f form) {
	for i := range c.forms {
		if c.forms[i].term == f.term {
			c.forms[i].weight = max(c.forms[i].weight, f.weight)
			return
		}
	}
	c.forms = append(c.forms, f)
}

const minPart = 3 // letters of the shorter half of a compound

// parts tries the word as two words of the catalogue written together.
func (l *Lexical) parts(c *concept) {
	for i := minPart; i <= len(c.word)-minPart; i++ {
		a, okA := l.vocab.words[c.word[:i]]
		b, okB := l.vocab.words[c.word[i:]]
		if okA && okB && !a.stop && !b.stop {
			c.add(form{a.term, l.w.compound / 2, "compound"})
			c.add(form{b.term, l.w.compound / 2, "compound"})
			return
		}
	}
}

// joined tries two neighbouring words as one.
func (l *Lexical) joined(a, b *concept) {
	var buf [2 * maxWordBytes]byte
	if w, ok := l.vocab.words[string(append(append(buf[:0], a.word...), b.word...))]; ok && !w.stop {
		a.add(form{w.term, l.w.compound, "compound"})
		b.add(form{w.term, l.w.compound, "compound"})
	}
}

// correct looks for words near one that the catalogue lacks: those that it may
// be a slip for, or else longer ones that begin with it.
func (l *Lexical) correct(c *concept) {
	if isDigits(c.word) || len(synonyms().group[string(familyStem([]byte(c.word)))]) > 0 {
		return // no slip: a number, or a word that the language has
	}
	if len(c.word) >= l.w.minTypo {
		most := 1
		if len(c.word) >= l.w.minTypo2 {
			most = 2
		}
		for _, s := range l.vocab.slips(c.word, most, l.w.maxExpand) {
			weight := l.w.typo1
			if s.distance > 1 {
				weight = l.w.typo2
			}
			c.add(form{s.term, weight, "typo"})
		}
	}
	if len(c.forms) == 0 && len(c.word) >= l.w.minPrefix {
		for _, t := range l.vocab.beginning(c.word, l.w.maxExpand) {
			c.add(form{t, l.w.prefix, "prefix"})
		}
	}
}
