package main

import (
	"strings"
	"unicode"
)

// tokens are runs of letters, digits and underscores.
func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// overlap are the shares by which an answer is scored.
type overlap struct{ precision, recall, f1 float64 }

// wordF1 is the WCXB set's figure for one page: bags of lower-case words.
func wordF1(got, want string) overlap {
	g, w := bag(tokens(strings.ToLower(got)), 1), bag(tokens(strings.ToLower(want)), 1)
	if len(w) == 0 || len(g) == 0 {
		if len(w) == len(g) {
			return overlap{1, 1, 1}
		}
		return overlap{}
	}
	tp, fp, fn := compare(g, w)
	o := overlap{precision: tp / (tp + fp), recall: tp / (tp + fn)}
	o.f1 = harmonic(o.precision, o.recall)
	return o
}

// shingles is the article set's figure for one page: bags of four tokens in a row. Its F1 is
// taken of the means over all pages, not here.
func shingles(got, want string) overlap {
	const n = 4
	g, w := bag(tokens(got), n), bag(tokens(want), n)
	tp, fp, fn := compare(g, w)
	o := overlap{precision: 1, recall: 1}
	if tp+fp > 0 {
		o.precision = tp / (tp + fp)
	} else if fn > 0 {
		o.precision = 0
	}
	if tp+fn > 0 {
		o.recall = tp / (tp + fn)
	}
	return o
}

// bag counts runs of n tokens; a shorter text is one run.
func bag(t []string, n int) map[string]int {
	out := make(map[string]int, len(t))
	if len(t) == 0 {
		return out
	}
	if len(t) < n {
		out[strings.Join(t, " ")] = 1
		return out
	}
	for i := 0; i+n <= len(t); i++ {
		out[strings.Join(t[i:i+n], " ")]++
	}
	return out
}

func compare(got, want map[string]int) (tp, fp, fn float64) {
	for k, g := range got {
		w := want[k]
		tp += float64(min(g, w))
		fp += float64(max(g-w, 0))
	}
	for k, w := range want {
		fn += float64(max(w-got[k], 0))
	}
	return tp, fp, fn
}

func harmonic(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// tally gathers figures over pages.
type tally struct {
	n       int
	p, r, f float64
	kinds   map[string]*tally
}

func (t *tally) add(kind string, o overlap) {
	t.n++
	t.p += o.precision
	t.r += o.recall
	t.f += o.f1
	if kind == "" {
		return
	}
	if t.kinds == nil {
		t.kinds = map[string]*tally{}
	}
	if t.kinds[kind] == nil {
		t.kinds[kind] = &tally{}
	}
	t.kinds[kind].add("", o)
}

// mean is the mean of the pages' F1.
func (t *tally) mean() float64 { return t.f / float64(max(t.n, 1)) }

// ofMeans is the F1 of mean precision and mean recall.
func (t *tally) ofMeans() float64 {
	n := float64(max(t.n, 1))
	return harmonic(t.p/n, t.r/n)
}

// judge scores an answer by the page's set.
func judge(t *tally, l *labelled, got string) {
	if l.set == "zyte" {
		o := shingles(got, l.truth)
		t.add("", o)
		return
	}
	t.add(l.kind, wordF1(got, l.truth))
}

// figure is a set's own figure.
func figure(t *tally, set string) float64 {
	if set == "zyte" {
		return t.ofMeans()
	}
	return t.mean()
}
