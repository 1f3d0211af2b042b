package bridge

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
)

var tune = flag.Bool("tune", false, "search for better ranking weights and cross-validate them (takes an hour)")

// A knob is one weight that the tuning turns.
type knob struct {
	name string
	at   func(w *weights) *int
	most int
}

func knobs() []knob {
	k := []knob{
		{"k1", func(w *weights) *int { return &w.k1 }, 4 * unit},
		{"synonym", func(w *weights) *int { return &w.synonym }, 4 * unit},
		{"lost", func(w *weights) *int { return &w.lost }, 4 * unit},
		{"chatter", func(w *weights) *int { return &w.chatter }, 4 * unit},
		{"plain", func(w *weights) *int { return &w.plain }, 4 * unit},
		{"nameCover", func(w *weights) *int { return &w.nameCover }, 4 * unit},
		{"clause", func(w *weights) *int { return &w.clause }, 4 * unit},
		{"spread", func(w *weights) *int { return &w.spread }, unit},
		{"clauseWords", func(w *weights) *int { return &w.clauseWords }, 4 * unit},
		{"compound", func(w *weights) *int { return &w.compound }, 4 * unit},
		{"typo1", func(w *weights) *int { return &w.typo1 }, 4 * unit},
		{"prefix", func(w *weights) *int { return &w.prefix }, 4 * unit},
	}
	for f := range numFields {
		k = append(k,
			knob{"field " + fieldNames[f], func(w *weights) *int { return &w.field[f] }, 4 * unit},
			knob{"norm " + fieldNames[f], func(w *weights) *int { return &w.norm[f] }, unit})
	}
	return k
}

// measureWeights runs every nth query of the sets through one set of weights.
func measureWeights(sets []tuneSet, w *weights, every int) []quality {
	out := make([]quality, len(sets))
	var wg sync.WaitGroup
	for i := range sets {
		wg.Go(func() {
			s := &sets[i]
			l := newLexical(s.catalog.entries, s.catalog.servers, w)
			for j := 0; j < len(s.queries); j += every {
				q := &s.queries[j]
				r, _ := l.Rank(context.Background(), Ask{Text: q.Query, Limit: 10})
				var ids []ToolID
				for _, h := range r.Hits {
					ids = append(ids, h.ID)
				}
				out[i].add(q, ids)
			}
			out[i] = out[i].mean()
		})
	}
	wg.Wait()
	return out
}

type tuneSet struct {
	dataSet
	catalog *Catalog
	trust   float64 // small sets count less
}

// goal is what the tuning raises: recall at 5 and nDCG in equal parts, over all
// sets but one.
func goal(sets []tuneSet, q []quality, without int) float64 {
	sum, n := 0.0, 0.0
	for i := range q {
		if i != without {
			sum += sets[i].trust * (q[i].r5 + q[i].ndcg) / 2
			n += sets[i].trust
		}
	}
	return sum / n
}

// ascend turns one knob at a time as long as that helps.
func ascend(sets []tuneSet, w weights, without, every int) weights {
	const least = 0.0003 // smaller gains are noise
	best := goal(sets, measureWeights(sets, &w, every), without)
	for range 2 {
		improved := false
		for _, k := range knobs() {
			for _, percent := range []int{70, 140} {
				try := w
				*k.at(&try) = min(*k.at(&w)*percent/100, k.most)
				if g := goal(sets, measureWeights(sets, &try, every), without); g > best+least {
					best, w, improved = g, try, true
					fmt.Printf("  %s = %d: %.4f\n", k.name, *k.at(&w), g)
				}
			}
		}
		if !improved {
			break
		}
	}
	return w
}

// TestTune cross-validates the choice of weights: they are tuned on all sets
// but one, which is then measured. It needs -tune and the shared sets.
func TestTune(t *testing.T) {
	if !*tune {
		t.Skip("left out: takes -tune and an hour")
	}
	var sets []tuneSet
	for _, name := range labelledSets {
		d, ok := readSet(t, sharedSets, name)
		if !ok {
			t.Skipf("left out: %s is not here", name)
		}
		c, _ := NewLenientCatalog(d.tools, nil)
		trust := 1.0
		if len(d.queries) < 100 {
			trust = 0.25
		}
		sets = append(sets, tuneSet{d, c, trust})
	}
	const every = 3 // a third of the queries decides, all are reported
	report := func(name string, w *weights) {
		fmt.Printf("%-28s", name)
		for i, q := range measureWeights(sets, w, 1) {
			fmt.Printf(" %s %.3f %.3f", sets[i].name[:4], q.r5, q.ndcg)
		}
		fmt.Println()
	}
	report("as they are", &defaultWeights)
	all := ascend(sets, defaultWeights, -1, every)
	report("tuned on all", &all)
	fmt.Printf("%+v\n", all)
	for i := range sets {
		w := ascend(sets, defaultWeights, i, every)
		report("tuned without "+sets[i].name, &w)
	}
}
