package bridge

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenScores = "../testdata/catalogs/desk/scores.golden"

// TestScoresAreTheSameEverywhere compares every score on the desk catalogue
// with a golden file: they depend on no processor, order or run.
func TestScoresAreTheSameEverywhere(t *testing.T) {
	d, ok := readSet(t, "../testdata/catalogs", "desk")
	if !ok {
		t.Fatal("testdata/catalogs/desk is missing")
	}
	l := newOurs(d.tools).(ours).l
	var b strings.Builder
	for i := range d.queries {
		r, _ := l.Rank(context.Background(), Ask{Text: d.queries[i].Query, Limit: 5})
		fmt.Fprintf(&b, "%s", d.queries[i].ID)
		for _, h := range r.Hits {
			fmt.Fprintf(&b, " %s=%d", strings.ReplaceAll(string(h.ID), " ", "_"), h.Score)
		}
		b.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(goldenScores, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenScores)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d differs; rerun with -update if the ranking was changed on purpose\ngot  %s\nwant %s", i+1, got[min(i, len(got)-1)], line)
		}
	}
}

// TestDeskFloors holds the search to what it reaches on the small labelled
// catalogue in testdata/catalogs/desk, less a little.
func TestDeskFloors(t *testing.T) {
	d, ok := readSet(t, "../testdata/catalogs", "desk")
	if !ok {
		t.Fatal("testdata/catalogs/desk is missing")
	}
	r := newOurs(d.tools)
	kinds := make(map[string]*quality)
	all := &quality{}
	for i := range d.queries {
		q := &d.queries[i]
		got := r.find(q.Query, 10)
		if kinds[q.Kind] == nil {
			kinds[q.Kind] = &quality{}
		}
		kinds[q.Kind].add(q, got)
		all.add(q, got)
		if recall(q, got, 5) < 1 {
			t.Logf("%s %q: want %q, got %q", q.ID, q.Query, q.Relevant, got[:min(5, len(got))])
		}
	}
	for _, floor := range []struct {
		kind   string
		r1, r5 float64
	}{
		{"agent", 0.86, 0.98}, {"person", 0.74, 0.99}, {"multi", 0.33, 0.83}, {"name", 0.88, 1}, {"slip", 0.99, 1}, {"other", 0.99, 1},
	} {
		m := kinds[floor.kind].mean()
		t.Logf("%s: %d queries, R@1 %.3f, R@5 %.3f", floor.kind, m.n, m.r1, m.r5)
		if m.r1 < floor.r1 || m.r5 < floor.r5 {
			t.Errorf("%s: R@1 %.3f and R@5 %.3f, want at least %.2f and %.2f", floor.kind, m.r1, m.r5, floor.r1, floor.r5)
		}
	}
	m := all.mean()
	if m.r1 < 0.84 || m.r5 < 0.98 {
		t.Errorf("all: R@1 %.3f and R@5 %.3f, want at least 0.84 and 0.98", m.r1, m.r5)
	}
	t.Logf("all: %d queries, R@1 %.3f, R@5 %.3f, MRR %.3f, nDCG@10 %.3f", m.n, m.r1, m.r5, m.mrr, m.ndcg)
	rivals := map[string]rival{"plain BM25": newPlainBM25(d.tools), "the seed's scorer": newSeedScorer(d.tools)}
	for name, other := range rivals {
		if o, _ := measure(other, d.queries); o.r5 >= m.r5 || o.r1 >= m.r1 {
			t.Errorf("%s reaches R@1 %.3f and R@5 %.3f, no less than ours", name, o.r1, o.r5)
		} else {
			t.Logf("%s: R@1 %.3f, R@5 %.3f", name, o.r1, o.r5)
		}
	}
}
