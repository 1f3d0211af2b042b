package readable

import (
	_ "embed"
	"net/url"
	"sync"
)

// weights holds the two stages' trees, as the train command writes them.
//
//go:embed model.bin
var weights []byte

// Model decides which blocks of a page are content, in two stages: the first looks at each block
// and the page, the second also at what the first thinks of the blocks around it.
type Model struct {
	First, Second *Trees
}

// model reads the embedded table once. A damaged one, which a test would have found, gives nil,
// and pages are then decided by readability alone.
var model = sync.OnceValue(func() *Model {
	m, err := ReadModel(weights)
	if err != nil {
		return nil
	}
	return m
})

// ReadModel reads a table that Append wrote.
func ReadModel(b []byte) (*Model, error) {
	first, rest, err := readTrees(b)
	if err != nil {
		return nil, err
	}
	second, rest, err := readTrees(rest)
	if err != nil {
		return nil, err
	}
	if len(rest) != 0 || first.Width != len(probe(false)) || second.Width != len(probe(true)) {
		return nil, errTable
	}
	return &Model{First: first, Second: second}, nil
}

// Append writes the model as ReadModel reads it.
func (m *Model) Append(b []byte) []byte { return m.Second.Append(m.First.Append(b)) }

// probe makes a row of a page of one word, for its length.
func probe(second bool) []float32 {
	s := Analyse([]byte("<p>word"), "")
	if second {
		return s.Second([]float32{0})[0]
	}
	return s.First()[0]
}

// Sample is a page as the model sees it, for fitting and scoring.
type Sample struct {
	Texts []string  // the blocks
	Words []int32   // words of each
	Kept  []float32 // what readability keeps of each
	view  *view
}

// Analyse cuts a page into blocks and asks readability.
func Analyse(page []byte, pageURL string) *Sample {
	u, err := url.Parse(pageURL)
	if err != nil {
		u = &url.URL{}
	}
	p := newPage(parse(page))
	p.ask()
	return p.sample(u)
}

func (p *page) sample(u *url.URL) *Sample {
	s := &Sample{view: p.look(u)}
	for i := range p.blocks {
		s.Texts = append(s.Texts, p.blocks[i].text)
		s.Words = append(s.Words, s.view.stats[i].words)
		s.Kept = append(s.Kept, p.blocks[i].kept)
	}
	return s
}

// Forget lets go of the tree, which the features no longer need.
func (s *Sample) Forget() {
	p := s.view.p
	p.doc, p.body, p.nodes, p.images = nil, nil, nil, nil
	for i := range p.boxes {
		p.boxes[i].node = nil
	}
}

// First gives the first stage's features, a row for each block.
func (s *Sample) First() [][]float32 {
	return s.rows(func(r *row, i int) { s.view.features(r, i) })
}

// Second gives the second stage's features after the first stage's scores.
func (s *Sample) Second(scores []float32) [][]float32 {
	o := s.view.weigh(scores)
	return s.rows(func(r *row, i int) { s.view.second(r, i, o); s.view.features(r, i) })
}

func (s *Sample) rows(fill func(*row, int)) [][]float32 {
	out := make([][]float32, len(s.Texts))
	for i := range out {
		var r row
		fill(&r, i)
		out[i] = r.v
	}
	return out
}

// Furniture tells whether block i is in the page's navigation, header, footer, asides or forms.
func (s *Sample) Furniture(i int) bool { return s.view.p.inFurniture(i) }

// Choose picks the blocks whose odds promise the best F1: taking blocks from the most likely
// down, it stops where the expected figure is highest. One cut for all pages would be too high
// for those where nothing is certain.
func (s *Sample) Choose(odds []float32) []bool { return choose(odds, s.Words) }
