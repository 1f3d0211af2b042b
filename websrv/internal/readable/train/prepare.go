package main

import (
	"math"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// prepared is a page with its features and what the model should answer.
type prepared struct {
	page   *labelled
	sample *readable.Sample
	first  [][]float32
	label  []float32
	weight []float32
}

// weighting says what a wrong block costs.
type weighting struct {
	power float64 // of a block's words
	bulk  float64 // how much of the page's other text counts beside the truth's
}

func prepare(pages []labelled, w weighting) []*prepared {
	out := make([]*prepared, len(pages))
	for i := range pages {
		l := &pages[i]
		s := readable.Analyse(l.html, l.url)
		s.Forget()
		l.html = nil
		p := &prepared{page: l, sample: s, label: labels(s.Texts, l.truth)}
		p.first = s.First()
		p.weight = w.weights(p)
		out[i] = p
	}
	return out
}

// weights gives each block its words' part of what the page's figure turns on, and each page
// about the same say.
func (w weighting) weights(p *prepared) []float32 {
	var in, all float64
	for i, n := range p.sample.Words {
		in += float64(p.label[i]) * float64(n)
		all += float64(n)
	}
	scale := in + w.bulk*(all-in) + 50
	out := make([]float32, len(p.label))
	for i, n := range p.sample.Words {
		out[i] = float32(math.Pow(float64(n)+0.5, w.power) / math.Pow(scale, w.power))
	}
	return out
}

// answer joins the chosen blocks.
func answer(s *readable.Sample, chosen []bool) string {
	var b []byte
	for i, ok := range chosen {
		if ok {
			b = append(b, s.Texts[i]...)
			b = append(b, '\n')
		}
	}
	return string(b)
}

// recipe is how a model is fitted.
type recipe struct {
	first, second settings
	folds         int
}

// fitModel fits both stages. What the second stage learns from are first-stage answers for pages
// that the first stage had not seen, or it would trust them too much.
func fitModel(pages []*prepared, r recipe) *readable.Model {
	scores := make([][]float32, len(pages))
	for f := range r.folds {
		var in []*prepared
		for i, p := range pages {
			if i%r.folds != f {
				in = append(in, p)
			}
		}
		t := rowsOf(in, func(p *prepared, _ int) [][]float32 { return p.first }).fit(r.first)
		for i, p := range pages {
			if i%r.folds == f {
				scores[i] = odds(t, p.first)
			}
		}
	}
	first := rowsOf(pages, func(p *prepared, _ int) [][]float32 { return p.first }).fit(r.first)
	second := rowsOf(pages, func(p *prepared, i int) [][]float32 { return p.sample.Second(scores[i]) }).fit(r.second)
	return &readable.Model{First: first, Second: second}
}

func rowsOf(pages []*prepared, rows func(*prepared, int) [][]float32) *matrix {
	var x [][]float32
	var label, weight []float32
	var page []int32
	for i, p := range pages {
		x = append(x, rows(p, i)...)
		label = append(label, p.label...)
		weight = append(weight, p.weight...)
		for range p.label {
			page = append(page, int32(i))
		}
	}
	return newMatrix(x, label, weight, page, len(pages))
}

func odds(t *readable.Trees, rows [][]float32) []float32 {
	out := make([]float32, len(rows))
	for i, r := range rows {
		out[i] = t.Odds(r)
	}
	return out
}

// predict gives the model's odds for a page's blocks.
func predict(m *readable.Model, p *prepared) []float32 {
	return odds(m.Second, p.sample.Second(odds(m.First, p.first)))
}
