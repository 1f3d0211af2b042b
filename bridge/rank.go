package bridge

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// scratch is the working memory of one ranking; all zero between rankings.
type scratch struct {
	score   []int32 // per tool
	name    []int32 // per tool: idf of the words of its name that fit
	best    []int32 // per tool, for the concept at hand
	bestIn  []bool
	clauses [maxClauses][]int32
	touched []int32 // tools with a score
	fresh   []int32 // tools with a best
}

func newScratch(n int) *scratch {
	s := &scratch{score: make([]int32, n), name: make([]int32, n), best: make([]int32, n), bestIn: make([]bool, n)}
	for i := range s.clauses {
		s.clauses[i] = make([]int32, n)
	}
	return s
}

func (s *scratch) clear(clauses int) {
	for _, t := range s.touched {
		s.score[t], s.name[t] = 0, 0
		for c := range clauses {
			s.clauses[c][t] = 0
		}
	}
	s.touched = s.touched[:0]
}

// A concept is a word of the query with all terms that may stand for it; a
// tool gets the best of them.
type concept struct {
	word   string
	clause int
	weight int
	body   bool
	hint   bool // from Ask.Server
	adj    bool
	again  bool // stood in an earlier clause: counts in its own clause only
	forms  []form
}

// A form is one term that may stand for a word.
type form struct {
	term   int32
	weight int // in units
	how    string
}

// Rank orders the tools for ask. It never fails and does not look at ctx.
func (l *Lexical) Rank(_ context.Context, ask Ask) (Ranking, error) {
	if ask.Limit <= 0 {
		return Ranking{}, nil
	}
	concepts := l.concepts(parseQuery(ask.Text, l.w))
	ranking := Ranking{Unmatched: unmatched(concepts)}
	named := l.names.find(ask.Text)
	if len(named) == 0 && len(ranking.Unmatched) > 0 && !anyBody(concepts) {
		return ranking, nil
	}
	concepts = append(concepts, l.hints(ask.Server, concepts)...)
	s := l.scratch.Get().(*scratch)
	clauses := l.score(s, concepts)
	tops := l.top(s, clauses, ask.Limit+maxQueryNames)
	order := l.pin(s, named, tops)
	for _, t := range order[:min(len(order), ask.Limit)] {
		ranking.Hits = append(ranking.Hits, l.hit(t, concepts, ask.Explain))
	}
	s.clear(clauses)
	l.scratch.Put(s)
	return ranking, nil
}

// unmatched lists the words that nothing in the catalogue fits.
func unmatched(concepts []concept) []string {
	var out []string
	for i := range concepts {
		if c := &concepts[i]; c.body && len(c.forms) == 0 {
			out = append(out, c.word)
		}
	}
	return out
}

// anyBody reports whether any word that says what the task is about fits.
func anyBody(concepts []concept) bool {
	return slices.ContainsFunc(concepts, func(c concept) bool { return c.body && len(c.forms) > 0 })
}

// concepts looks up every word of a query with what may stand for it.
func (l *Lexical) concepts(words []queryWord) []concept {
	out := make([]concept, 0, len(words))
	seen := make(map[string]int, len(words))
	for i := range words {
		q := &words[i]
		c := concept{word: q.text, clause: q.clause, weight: q.weight, body: q.body, adj: q.after}
		l.expand(&c)
		if q.after && i > 0 {
			l.joined(&out[len(out)-1], &c)
		}
		stem := familyStem([]byte(q.text))
		if at, ok := seen[string(stem)]; ok {
			c.again = true
			if out[at].clause == c.clause {
				c.weight = 0
			}
		}
		seen[string(stem)] = len(out)
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
		c.weight = c.weight * l.w.server / unit
		c.body, c.hint = false, true
		out = append(out, c)
	}
	return out
}

// expand fills in the terms that may stand for a concept's word.
func (l *Lexical) expand(c *concept) {
	if t, ok := l.vocab.term(c.word); ok && l.has(t) {
		c.forms = append(c.forms, form{t, unit, "word"})
	}
	known := len(c.forms) > 0
	key := string(familyStem([]byte(c.word)))
	related := synonyms().group[key]
	for _, s := range related {
		if t, ok := l.vocab.terms[s]; ok {
			w := l.w.synonym
			if !known {
				w = l.w.lost
			}
			c.add(form{t, w, "synonym"})
		}
	}
	l.parts(c)
	if !known && len(related) == 0 && len(c.forms) == 0 {
		l.correct(c)
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

func (l *Lexical) has(t int32) bool { return int(t)+1 < len(l.start) && l.start[t] < l.start[t+1] }

const minPart = 3 // letters of the shortest half of a compound

// parts tries the word as two words of the catalogue written together.
func (l *Lexical) parts(c *concept) {
	if len(c.forms) > 0 && c.forms[0].how == "word" {
		return
	}
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

// joined tries two neighbouring words written as one.
func (l *Lexical) joined(a, b *concept) {
	if w, ok := l.vocab.words[a.word+b.word]; ok && !w.stop {
		a.add(form{w.term, l.w.compound, "compound"})
		b.add(form{w.term, l.w.compound, "compound"})
	}
}

// correct looks for words near one that the catalogue lacks: longer ones that
// begin with it, and those that it may be a slip for.
func (l *Lexical) correct(c *concept) {
	if isDigits(c.word) {
		return
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

// score adds up all concepts and returns the number of clauses.
func (l *Lexical) score(s *scratch, concepts []concept) (clauses int) {
	for i := range concepts {
		c := &concepts[i]
		clauses = max(clauses, c.clause+1)
		if c.weight == 0 {
			continue
		}
		for _, f := range c.forms {
			w := f.weight * c.weight / unit
			for _, p := range l.post[l.start[f.term]:l.start[f.term+1]] {
				t := p.tool()
				v := int32(int(p.weight) * w / unit)
				if v <= s.best[t] {
					continue
				}
				if s.best[t] == 0 {
					s.fresh = append(s.fresh, int32(t))
				}
				s.best[t] = v
				if p.inName() {
					s.name[t] += int32(int(l.idf[f.term]) * f.weight / unit)
				}
			}
		}
		for _, t := range s.fresh {
			if s.score[t] == 0 && s.clauses[c.clause][t] == 0 {
				s.touched = append(s.touched, t)
			}
			if !c.again {
				s.score[t] += s.best[t]
			}
			s.clauses[c.clause][t] += s.best[t]
			s.best[t] = 0
		}
		s.fresh = s.fresh[:0]
	}
	return clauses
}

// A scored tool.
type scored struct {
	score  int
	tool   int32
	bonus  int
	clause int
}

// top returns the best n tools, best first, equal ones by ID.
func (l *Lexical) top(s *scratch, clauses, n int) []scored {
	var clauseMax [maxClauses]int32
	if clauses > 1 {
		for _, t := range s.touched {
			for c := range clauses {
				clauseMax[c] = max(clauseMax[c], s.clauses[c][t])
			}
		}
	}
	all := make([]scored, 0, len(s.touched))
	fullMax := int32(0)
	for _, t := range s.touched {
		fullMax = max(fullMax, s.score[t])
	}
	var ratio [maxClauses]int
	for c := range clauses {
		if clauseMax[c] > 0 {
			ratio[c] = int(isqrt(int64(fullMax) * unit / int64(clauseMax[c]) * unit))
		}
	}
	for _, t := range s.touched {
		v := int(s.score[t])
		bc := 0
		bonus := 0
		if clauses > 1 {
			best := 0
			for c := range clauses {
				if x := int(s.clauses[c][t]) * ratio[c] / unit; x > best {
					best, bc = x, c
				}
			}
			bonus = best * l.w.clause / unit
			v += bonus
		}
		cv := l.cover(t, s.name[t]) * l.w.nameCover / unit
		v += v * cv / unit
		bonus += bonus * cv / unit
		all = append(all, scored{v, t, bonus, bc})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(b.score-a.score, int(a.tool-b.tool))
	})
	all = all[:min(n, len(all))]
	if clauses > 1 && l.w.spread < unit {
		l.spread(all)
	}
	return all
}

// A ranked tool, before it becomes a Hit.
type ranked struct {
	scored
	exact bool
}

// pin puts the tools that a query names first: the best of each name in turn,
// then the other tools of these names, then the rest.
func (l *Lexical) pin(s *scratch, named []namedRun, tops []scored) []ranked {
	out := make([]ranked, 0, len(tops)+len(named))
	taken := make(map[int32]bool)
	put := func(t int32, score int, exact bool) {
		if !taken[t] {
			taken[t] = true
			out = append(out, ranked{scored{score: score, tool: t}, exact})
		}
	}
	pools := make([][]int32, len(named))
	for i, run := range named {
		pools[i] = slices.Clone(run.tools)
		slices.SortFunc(pools[i], func(a, b int32) int {
			return cmp.Or(int(s.score[b]-s.score[a]), int(a-b))
		})
	}
	for round := 0; ; round++ {
		any := false
		for _, pool := range pools {
			if round < len(pool) {
				put(pool[round], int(s.score[pool[round]]), true)
				any = true
			}
		}
		if !any {
			break
		}
	}
	for _, t := range tops {
		put(t.tool, t.score, false)
	}
	return out
}

// weakShare is the share of a query's weight below which a hit is weak.
const weakShare = 350

// hit finds out what a ranked tool owes its place to.
func (l *Lexical) hit(r ranked, concepts []concept, explain bool) Hit {
	h := Hit{ID: l.entries[r.tool].id, Score: r.score, Exact: r.exact}
	total, got := 0, 0
	for i := range concepts {
		c := &concepts[i]
		if !c.body || c.weight == 0 {
			continue
		}
		worth := c.weight * l.worth(c) / unit
		total += worth
		if f, _ := l.bestForm(r.tool, c); f != nil {
			got += worth * f.weight / unit
		}
	}
	h.Weak = !r.exact && got*unit < total*weakShare
	if explain {
		h.Why = l.explain(r, concepts)
	}
	return h
}

// worth is how telling a concept's word is: its idf, or for one that the
// catalogue lacks the highest there is.
func (l *Lexical) worth(c *concept) int {
	for _, f := range c.forms {
		if f.how == "word" {
			return int(l.idf[f.term])
		}
	}
	return idf(len(l.entries), 0)
}

// bestForm returns the form of c that counts for a tool, and its points.
func (l *Lexical) bestForm(tool int32, c *concept) (*form, int) {
	var best *form
	points := 0
	for i := range c.forms {
		f := &c.forms[i]
		posts := l.post[l.start[f.term]:l.start[f.term+1]]
		at, ok := slices.BinarySearchFunc(posts, int(tool), func(p posting, t int) int { return p.tool() - t })
		if !ok {
			continue
		}
		if v := int(posts[at].weight) * (f.weight * c.weight / unit) / unit; best == nil || v > points {
			best, points = f, v
		}
	}
	return best, points
}

// explain lists the parts of a tool's score, biggest first.
func (l *Lexical) explain(r ranked, concepts []concept) []Reason {
	var why []Reason
	if r.exact {
		why = append(why, Reason{Word: l.entries[r.tool].tool.Name, Term: l.entries[r.tool].tool.Name, How: "name", Fields: "name", Points: r.score})
	}
	for i := range concepts {
		c := &concepts[i]
		f, points := l.bestForm(r.tool, c)
		if f == nil || c.weight == 0 {
			continue
		}
		how := f.how
		if c.hint {
			how = "server"
		}
		why = append(why, Reason{c.word, l.vocab.stems[f.term], how, l.fieldsWith(r.tool, f.term), points})
	}
	slices.SortStableFunc(why, func(a, b Reason) int { return b.Points - a.Points })
	return why
}

// fieldsWith names the fields of a tool that hold a term.
func (l *Lexical) fieldsWith(tool, term int32) string {
	e := &l.entries[tool]
	texts := [numFields]string{e.tool.Name, e.tool.Server, e.tool.Description + "\n" + e.tool.Title,
		strings.Join(e.schema.names, "\n"), strings.Join(e.schema.texts, "\n")}
	var found []string
	var split wordSplitter
	for f, text := range texts {
		has := false
		split.each(text, func(b []byte) {
			t, ok := l.vocab.words[string(b)]
			has = has || ok && t.term == term
		})
		if has {
			found = append(found, fieldNames[f])
		}
	}
	return strings.Join(found, ", ")
}

func (l *Lexical) cover(t int32, got int32) int {
	own := int(l.nameIDF[t])
	if own == 0 {
		return 0
	}
	return min(int(got), own) * unit / own
}

func isqrt(x int64) int64 {
	r := int64(0)
	for b := int64(1) << 31; b > 0; b >>= 1 {
		if (r+b)*(r+b) <= x {
			r += b
		}
	}
	return r
}

func (l *Lexical) spread(all []scored) {
	var f [maxClauses]int
	for c := range f {
		f[c] = unit
	}
	val := func(i int) int { return all[i].score - all[i].bonus + all[i].bonus*f[all[i].clause]/unit }
	for at := 0; at < min(len(all), 10); at++ {
		best := at
		for i := at + 1; i < len(all); i++ {
			if val(i) > val(best) {
				best = i
			}
		}
		x := all[best]
		copy(all[at+1:best+1], all[at:best])
		all[at] = x
		f[x.clause] = f[x.clause] * l.w.spread / unit
	}
}
