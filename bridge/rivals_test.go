package bridge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The rankers that ours is measured against: test code only, in floating point,
// as simple as what they stand for.

// A rival orders tools for a query.
type rival interface {
	find(query string, n int) []ToolID
}

func plainTerms(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

type rated struct {
	id    ToolID
	score float64
}

func bestRated(all []rated, n int) []ToolID {
	slices.SortFunc(all, func(a, b rated) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	var ids []ToolID
	for _, r := range all[:min(n, len(all))] {
		ids = append(ids, r.id)
	}
	return ids
}

// seedScorer sums, for every query word, 16 for the name, 6 for the description
// and 4 for the schema's JSON, half of that where one word begins with the
// other.
type seedScorer struct {
	ids    []ToolID
	fields [][3][]string
}

func newSeedScorer(tools []Tool) rival {
	s := &seedScorer{}
	for _, t := range tools {
		s.ids = append(s.ids, t.ID())
		s.fields = append(s.fields, [3][]string{plainTerms(t.Name), plainTerms(t.Description), plainTerms(string(t.InputSchema))})
	}
	return s
}

func (s *seedScorer) find(query string, n int) []ToolID {
	var all []rated
	words := plainTerms(query)
	for i, fields := range s.fields {
		score := 0.0
		for _, w := range words {
			for f, points := range [3]float64{16, 6, 4} {
				score += points * seedFit(fields[f], w)
			}
		}
		if score > 0 {
			all = append(all, rated{s.ids[i], score})
		}
	}
	return bestRated(all, n)
}

func seedFit(field []string, word string) float64 {
	fit := 0.0
	for _, h := range field {
		if h == word {
			fit++
		} else if strings.HasPrefix(h, word) || strings.HasPrefix(word, h) {
			fit += 0.5
		}
	}
	return fit
}

// plainBM25 is BM25 over name, description and raw schema as one text.
type plainBM25 struct {
	ids     []ToolID
	counts  []map[string]int
	lengths []float64
	df      map[string]int
	average float64
}

func newPlainBM25(tools []Tool) rival {
	b := &plainBM25{df: make(map[string]int)}
	for _, t := range tools {
		counts := make(map[string]int)
		words := plainTerms(t.Name + " " + t.Description + " " + string(t.InputSchema))
		for _, w := range words {
			if counts[w]++; counts[w] == 1 {
				b.df[w]++
			}
		}
		b.ids = append(b.ids, t.ID())
		b.counts = append(b.counts, counts)
		b.lengths = append(b.lengths, float64(len(words)))
		b.average += float64(len(words)) / float64(len(tools))
	}
	return b
}

func (b *plainBM25) find(query string, n int) []ToolID {
	const k1, norm = 1.5, 0.75
	var all []rated
	words := plainTerms(query)
	for i, counts := range b.counts {
		score := 0.0
		for _, w := range words {
			if tf := float64(counts[w]); tf > 0 {
				df := float64(b.df[w])
				idf := math.Log(1 + (float64(len(b.ids))-df+0.5)/(df+0.5))
				score += idf * tf * (k1 + 1) / (tf + k1*(1-norm+norm*b.lengths[i]/b.average))
			}
		}
		if score > 0 {
			all = append(all, rated{b.ids[i], score})
		}
	}
	return bestRated(all, n)
}
