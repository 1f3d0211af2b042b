package bridge

import (
	"cmp"
	"context"
	"slices"
)

// Bounds on the best tools that are looked at more closely.
const (
	minPool   = 40 // candidates for spreading, whatever the limit
	spreadTop = 10 // places that are spread over clauses
)

// A scratch is the working memory of one ranking; all zero between rankings.
// Slices are indexed by tool.
type scratch struct {
	score   []int32
	name    []int32 // idf of the words of the tool's name that fit
	best    []int32 // for the concept at hand
	clauses [maxClauses][]int32
	touched []int32 // tools with any score
	fresh   []int32 // tools with a best
}

func newScratch(n int) *scratch {
	s := &scratch{score: make([]int32, n), name: make([]int32, n), best: make([]int32, n)}
	for i := range s.clauses {
		s.clauses[i] = make([]int32, n)
	}
	return s
}

func (s *scratch) clear(clauses int) {
	for _, t := range s.touched {
		s.score[t], s.name[t] = 0, 0
		if clauses > 1 {
			for c := range clauses {
				s.clauses[c][t] = 0
			}
		}
	}
	s.touched = s.touched[:0]
}

// Rank orders the tools for ask. It never fails and does not look at ctx.
func (l *Lexical) Rank(_ context.Context, ask Ask) (Ranking, error) {
	if ask.Limit <= 0 {
		return Ranking{}, nil
	}
	concepts := l.concepts(parseQuery(ask.Text, l.w))
	ranking := Ranking{Unmatched: unmatched(concepts)}
	named := l.names.find(ask.Text)
	if len(named) == 0 && !anyBody(concepts) {
		return ranking, nil
	}
	concepts = append(concepts, l.hints(ask.Server, concepts)...)
	s := l.scratch.Get().(*scratch)
	clauses := 1
	for i := range concepts {
		clauses = max(clauses, concepts[i].clause+1)
	}
	for i := range concepts {
		if c := &concepts[i]; c.weight > 0 {
			l.match(s, c)
			s.collect(c, clauses)
		}
	}
	order := l.pin(s, named, l.top(s, clauses, max(2*ask.Limit, minPool)))
	for _, t := range order[:min(len(order), ask.Limit)] {
		ranking.Hits = append(ranking.Hits, l.hit(t, concepts, ask.Explain))
	}
	s.clear(clauses)
	l.scratch.Put(s)
	return ranking, nil
}

// match finds what every tool gets for a concept: the best of its forms.
func (l *Lexical) match(s *scratch, c *concept) {
	for _, f := range c.forms {
		w := int32(scale(f.weight, c.weight))
		inName := int32(0)
		if !c.again {
			inName = int32(scale(int(l.idf[f.term]), f.weight))
		}
		for _, p := range l.post[l.start[f.term]:l.start[f.term+1]] {
			t := p.tool()
			v := p.weight * w / unit // at most 2^14 · 2^10
			if v <= s.best[t] {
				continue
			}
			if s.best[t] == 0 {
				s.fresh = append(s.fresh, int32(t))
			}
			s.best[t] = v
			if p.inName() {
				s.name[t] += inName
			}
		}
	}
}

// collect adds what match found.
func (s *scratch) collect(c *concept, clauses int) {
	for _, t := range s.fresh {
		v := s.best[t]
		s.best[t] = 0
		if clauses == 1 {
			if s.score[t] == 0 {
				s.touched = append(s.touched, t)
			}
			s.score[t] += v
			continue
		}
		if s.score[t] == 0 && s.clauses[c.clause][t] == 0 {
			s.touched = append(s.touched, t)
		}
		s.clauses[c.clause][t] += v
		if !c.again {
			s.score[t] += v
		}
	}
	s.fresh = s.fresh[:0]
}

// A scored is a tool with its score.
type scored struct {
	tool   int32
	clause int // that it fits best
	score  int
	bonus  int // the part of score that this clause gave
}

func compareScored(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool, b.tool))
}

// top returns the best n tools, best first, equal ones in order of ID.
func (l *Lexical) top(s *scratch, clauses, n int) []scored {
	var ratio [maxClauses]int
	if clauses > 1 {
		ratio = s.ratios(clauses)
	}
	best := make([]scored, 0, n+1)
	most := unit + l.w.nameCover
	for _, t := range s.touched {
		x := scored{tool: t, score: int(s.score[t])}
		if clauses == 1 && len(best) == n && scale(x.score, most) < best[n-1].score {
			continue
		}
		for c := range clauses {
			if v := scale(int(s.clauses[c][t]), ratio[c]); v > x.bonus {
				x.bonus, x.clause = v, c
			}
		}
		more := unit + scale(l.cover(s, t), l.w.nameCover)
		x.bonus = scale(scale(x.bonus, l.w.clause), more)
		x.score = scale(x.score, more) + x.bonus
		if len(best) == n && compareScored(x, best[n-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, x, compareScored)
		best = slices.Insert(best, at, x)
		best = best[:min(len(best), n)]
	}
	if clauses > 1 {
		l.spread(best)
	}
	return best
}

// ratios brings the clauses nearer to each other, so that a task in few and
// common words is not lost beside one in many rare ones: each is raised by the
// root of what its best tool lacks to the best of all.
func (s *scratch) ratios(clauses int) (ratio [maxClauses]int) {
	most := int32(0)
	var clauseMost [maxClauses]int32
	for _, t := range s.touched {
		most = max(most, s.score[t])
		for c := range clauses {
			clauseMost[c] = max(clauseMost[c], s.clauses[c][t])
		}
	}
	for c, m := range clauseMost[:clauses] {
		if m > 0 {
			ratio[c] = root(int64(most) * unit / int64(m) * unit)
		}
	}
	return ratio
}

// cover is the share of a tool's name that the query covers, in units.
func (l *Lexical) cover(s *scratch, t int32) int {
	own := int64(l.nameIDF[t])
	if own == 0 {
		return 0
	}
	return int(min(int64(s.name[t]), own) * unit / own)
}

// spread reorders the best tools so that the first places serve all tasks of a
// long query: what a clause gives a tool counts less, once another tool serves
// that clause.
func (l *Lexical) spread(best []scored) {
	var left [maxClauses]int
	for c := range left {
		left[c] = unit
	}
	value := func(x *scored) int { return x.score - x.bonus + scale(x.bonus, left[x.clause]) }
	for place := range min(len(best), spreadTop) {
		pick := place
		for i := place + 1; i < len(best); i++ {
			if value(&best[i]) > value(&best[pick]) {
				pick = i
			}
		}
		x := best[pick]
		copy(best[place+1:pick+1], best[place:pick])
		best[place] = x
		left[x.clause] = scale(left[x.clause], l.w.spread)
	}
}

// scale multiplies by a number in units.
func scale(v, by int) int { return int(int64(v) * int64(by) / unit) }

// root is the whole square root of a number below 2^62.
func root(x int64) int {
	r := int64(0)
	for bit := int64(1) << 30; bit > 0; bit >>= 1 {
		if (r+bit)*(r+bit) <= x {
			r += bit
		}
	}
	return int(r)
}
