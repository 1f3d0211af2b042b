package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"strings"
)

// stampOf is what lies beside the table as model.sum: a sum over all that makes the table, taken
// on made pages, and one over the table. Two tables of one stamp and the same labelled pages are
// equal; the other way round nearly always.
func stampOf(table []byte, o *options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%+v\n", []any{o.rate, o.columns, o.minWeight, o.ridge, o.seed, o.weighting, o.fill()})
	pages := madePages(6)
	for i, body := range madeShapes() {
		pages = append(pages, labelled{set: "made", id: fmt.Sprint("shape", i), url: "https://shop.example/products/p-12?x=1", html: []byte(body), truth: "Steel kettle for one and a half litres"})
	}
	for _, p := range prepare(pages, o.weighting) {
		scores := make([]float32, len(p.label))
		for i := range scores {
			scores[i] = float32(i%7) / 7
		}
		sumRows(h, p.first)
		sumRows(h, p.sample.Second(scores))
		sumRows(h, [][]float32{p.label, p.weight})
	}
	fitted, _ := fitMade(o.seed)
	h.Write(fitted)
	return fmt.Sprintf("made-by %x\ntable %x\n", h.Sum(nil), sha256.Sum256(table))
}

func sumRows(h hash.Hash, rows [][]float32) {
	var b []byte
	for _, r := range rows {
		b = b[:0]
		for _, f := range r {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		h.Write(b)
	}
}

// madeShapes are pages with what madePages lack: tables, lists of goods, posts, data, what is
// hidden, and markup that is broken.
func madeShapes() []string {
	card := `<li class="product-card"><a href="/p/1"><img src="a.jpg"><h3>Steel kettle</h3></a><span class="price">€ 39.90</span><button class="btn">Add</button>`
	post := `<div class="post" itemprop="comment"><a class="username" href="/u/1">Ann</a> <time datetime="2026-01-02">2 Jan 2026</time><p>Mine stopped too; I cleaned the filter, and it runs.</p></div>`
	return []string{
		`<html lang=en><head><title>Kettle | Shop</title><meta property="og:type" content="product"><meta name=description content="A steel kettle.">
<script type="application/ld+json">{"@type":"Product","name":"Kettle","description":"Steel kettle for one and a half litres, boils in four minutes.","offers":{"@type":"Offer","price":1}}</script></head>
<body><header class="site-header"><nav role=navigation><a href=/>Home</a><a href=/c>Kettles</a></nav></header><main><h1>Kettle</h1><p>Steel kettle for one and a half litres, boils in four minutes.
<table class=specs><tr><th>Weight<td>1.2 kg<tr><th>Colour<td>grey</table><div style="display: none">Hidden words of a dialog</div><div aria-hidden=true>©</div></main>
<section class="related-products"><ul>` + strings.Repeat(card, 7) + `</ul></section><footer>© 2026 Shop, all rights reserved | <a href=/legal>Legal</a></footer>`,
		`<title>Pump stops</title><body><div id=forum class=thread><h1>Pump stops</h1>` + strings.Repeat(post, 9) + `</div><div class=pagination><a href=?page=2>Next</a></div><form><input><label>Reply</label></form>`,
		`<title>Sums</title><body><article><h2>Sum</h2><pre><code>func sum()</code></pre><p>a<br>b<br><br>c<dl><dt>x<dd>y</dl><blockquote>Said.</blockquote><details><summary>More</summary>less</details><figure><img alt=x src=y><figcaption>A lamp</figcaption></figure><p><b>unclosed <i>tags</b> and 漢字、かな。</article><aside>Aside<p`,
	}
}

// madePages makes pages with an article among links, and what a reader would say is the article.
func madePages(n int) []labelled {
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

// fitMade fits a small model on made pages, from the pages' bytes to the table's.
func fitMade(seed uint64) ([]byte, []*prepared) {
	o := options{rate: 0.3, columns: 0.25, minWeight: 0.1, ridge: 1, seed: seed, weighting: weighting{power: 0.8, bulk: 0.3}}
	o.recipe.first, o.recipe.second = settings{trees: 6, leaves: 4}, settings{trees: 6, leaves: 4}
	pages := prepare(madePages(16), o.weighting)
	return fitModel(pages, o.fill()).Append(nil), pages
}
