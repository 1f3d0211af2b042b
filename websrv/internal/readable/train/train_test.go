//go:build !race

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// samplePages makes pages with an article among links, and what a reader would say is the article.
func samplePages(n int) []labelled {
	rng := rand.New(rand.NewPCG(7, 1))
	words := strings.Fields("lamp light oil wick glass house street night year people room table paper water stone river bridge town market winter")
	sentence := func(least int) string {
		var b strings.Builder
		for i := range least + rng.IntN(12) {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[rng.IntN(len(words))])
		}
		return b.String() + "."
	}
	out := make([]labelled, n)
	for i := range out {
		var page, truth strings.Builder
		fmt.Fprintf(&page, "<title>Page %d</title><body><nav>", i)
		for k := range 6 + rng.IntN(6) {
			fmt.Fprintf(&page, `<a href="/%d">%s</a> `, k, words[rng.IntN(len(words))])
		}
		page.WriteString("</nav><main><h1>" + sentence(3) + "</h1>")
		for range 3 + rng.IntN(5) {
			s := sentence(20)
			page.WriteString("<p>" + s + "</p>")
			truth.WriteString(s + "\n")
		}
		page.WriteString("</main><footer><ul>")
		for k := range 5 + rng.IntN(8) {
			fmt.Fprintf(&page, `<li><a href="/f%d">%s</a>`, k, sentence(2))
		}
		page.WriteString("</ul></footer>")
		out[i] = labelled{set: "sample", id: fmt.Sprint(i), kind: "article", url: fmt.Sprintf("https://a.example/%d", i), html: []byte(page.String()), truth: truth.String()}
	}
	return out
}

// retrain fits a small model on samplePages, from the pages' bytes to the table's.
func retrain(seed uint64) ([]byte, []*prepared) {
	o := options{rate: 0.3, columns: 0.25, minWeight: 0.1, ridge: 1, seed: seed, weighting: weighting{power: 0.8, bulk: 0.3}}
	o.recipe.first, o.recipe.second = settings{trees: 6, leaves: 4}, settings{trees: 6, leaves: 4}
	pages := prepare(samplePages(16), o.weighting)
	return fitModel(pages, o.fill()).Append(nil), pages
}

// TestRetrain checks that the same pages and settings give the same bytes, that these are a table
// that readable reads, and that it has learnt what the pages say.
func TestRetrain(t *testing.T) {
	table, pages := retrain(1)
	again, _ := retrain(1)
	if !bytes.Equal(table, again) {
		t.Fatalf("fitting twice gives tables of %d and %d bytes that are not equal", len(table), len(again))
	}
	if other, _ := retrain(2); bytes.Equal(table, other) {
		t.Error("another seed gives the same table: it is not used")
	}
	m, err := readable.ReadModel(table)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	for _, p := range pages {
		judge(&got, p.page, answer(p.sample, p.sample.Choose(predict(m, p))))
	}
	if f := figure(&got, "wcxb"); f < 0.95 {
		t.Errorf("the table finds its own pages' articles with %.3f, want 0.95 and more", f)
	}
}
