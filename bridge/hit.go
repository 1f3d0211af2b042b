package bridge

import (
	"cmp"
	"slices"
	"strings"
)

// weakShare is the share of a query's weight, in units, below which a hit is
// called weak.
const weakShare = 358

// A placed is a tool in its final place, before it becomes a Hit.
type placed struct {
	tool  int32
	score int
	exact bool
}

// pin puts the tools that a query names first: the best of each name in turn,
// then the second of each, then the rest.
func (l *Lexical) pin(s *scratch, named []namedRun, tops []scored) []placed {
	out := make([]placed, 0, len(tops))
	taken := make(map[int32]bool, len(named))
	pools := make([][]int32, len(named))
	for i, run := range named {
		pools[i] = slices.Clone(run.tools)
		slices.SortFunc(pools[i], func(a, b int32) int {
			return cmp.Or(l.spelled(&run, b)-l.spelled(&run, a), cmp.Compare(s.score[b], s.score[a]), cmp.Compare(a, b))
		})
	}
	for round, more := 0, true; more; round++ {
		more = false
		for _, pool := range pools {
			if round < len(pool) {
				more = true
				if t := pool[round]; !taken[t] {
					taken[t] = true
					out = append(out, placed{t, int(s.score[t]), true})
				}
			}
		}
	}
	for _, t := range tops {
		if !taken[t.tool] {
			out = append(out, placed{t.tool, t.score, false})
		}
	}
	return out
}

func (l *Lexical) spelled(run *namedRun, t int32) int {
	if run.spells(&l.entries[t].tool) {
		return 1
	}
	return 0
}

// hit finds out what a tool owes its place to.
func (l *Lexical) hit(p placed, concepts []concept, explain bool) Hit {
	h := Hit{ID: l.entries[p.tool].id, Score: p.score, Exact: p.exact}
	total, got := 0, 0
	for i := range concepts {
		c := &concepts[i]
		if !c.body || c.weight == 0 {
			continue
		}
		worth := scale(l.worth(c), c.weight)
		total += worth
		if f, _ := l.bestForm(p.tool, c); f != nil {
			got += scale(worth, f.weight)
		}
	}
	h.Weak = !p.exact && got < scale(total, weakShare)
	if explain {
		h.Why = l.explain(p, concepts)
	}
	return h
}

// worth is how telling a concept's word is: its idf, or for one that the
// catalogue lacks the highest there is.
func (l *Lexical) worth(c *concept) int {
	if len(c.forms) > 0 && c.forms[0].how == "word" {
		return int(l.idf[c.forms[0].term])
	}
	return idf(len(l.entries), 0)
}

// bestForm returns the form of c that counts for a tool, and its points.
func (l *Lexical) bestForm(tool int32, c *concept) (best *form, points int) {
	for i := range c.forms {
		f := &c.forms[i]
		posts := l.post[l.start[f.term]:l.start[f.term+1]]
		at, ok := slices.BinarySearchFunc(posts, int(tool), func(p posting, t int) int { return p.tool() - t })
		if !ok {
			continue
		}
		if v := scale(int(posts[at].weight), scale(f.weight, c.weight)); best == nil || v > points {
			best, points = f, v
		}
	}
	return best, points
}

// explain lists the parts of a tool's score, biggest first.
func (l *Lexical) explain(p placed, concepts []concept) []Reason {
	var why []Reason
	for i := range concepts {
		c := &concepts[i]
		f, points := l.bestForm(p.tool, c)
		if f == nil || c.weight == 0 {
			continue
		}
		how := f.how
		if c.hint {
			how = "server"
		}
		why = append(why, Reason{c.word, l.vocab.stems[f.term], how, l.fieldsWith(p.tool, f.term), points})
	}
	slices.SortStableFunc(why, func(a, b Reason) int { return b.Points - a.Points })
	if p.exact {
		name := l.entries[p.tool].tool.Name
		why = slices.Insert(why, 0, Reason{name, name, "name", fieldNames[fieldName], p.score})
	}
	return why
}

// fieldsWith names the fields of a tool that hold a term.
func (l *Lexical) fieldsWith(tool, term int32) string {
	e := &l.entries[tool]
	texts := [numFields]string{
		e.tool.Name, e.tool.Server, e.tool.Description + "\n" + e.tool.Title,
		strings.Join(e.schema.names, "\n"), strings.Join(e.schema.texts, "\n"),
	}
	var found []string
	var split wordSplitter
	for f, text := range texts {
		has := false
		split.each(text, func(b []byte) {
			w, ok := l.vocab.words[string(b)]
			has = has || ok && w.term == term
		})
		if has {
			found = append(found, fieldNames[f])
		}
	}
	if found == nil {
		return "server" // what the server is for
	}
	return strings.Join(found, ", ")
}
