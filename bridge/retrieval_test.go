package bridge

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var compare = flag.Bool("compare", false, "TestRetrieval: measure other rankers, names, slips, tokens and times too (takes minutes)")

// targets are the recall at 5 that the shared sets must reach. Lower than what
// is reached by less than a standard error of the set.
var targets = map[string]float64{
	"livemcpbench": 0.74, "mcpproxy-golden": 0.90, "toole": 0.75, "bfcl": 0.87, "seal-tools": 0.93,
}

// ours makes the catalogue's ranking a rival.
type ours struct{ l *Lexical }

func (o ours) find(query string, n int) []ToolID {
	r, _ := o.l.Rank(context.Background(), Ask{Text: query, Limit: n})
	ids := make([]ToolID, len(r.Hits))
	for i, h := range r.Hits {
		ids[i] = h.ID
	}
	return ids
}

func newOurs(tools []Tool) rival {
	c, _ := NewLenientCatalog(tools, nil)
	return ours{c.ranker.(*Lexical)}
}

// sharedOrSkip reads the labelled sets or leaves the test out.
func sharedOrSkip(t testing.TB) []dataSet {
	t.Helper()
	var sets []dataSet
	for _, name := range labelledSets {
		d, ok := readSet(t, sharedSets, name)
		if !ok {
			t.Skipf("left out: the data set %s is not at %s", name, sharedSets)
		}
		sets = append(sets, d)
	}
	return sets
}

// TestRetrieval measures the search on the shared data sets. With -compare it
// prints all figures beside those of other rankers.
func TestRetrieval(t *testing.T) {
	sets := sharedOrSkip(t)
	rankers := []struct {
		name string
		make func([]Tool) rival
	}{{"aster", newOurs}, {"plain BM25", newPlainBM25}, {"seed's scorer", newSeedScorer}}
	t.Logf("%-16s %-14s %5s %5s %5s %5s %5s %5s %5s %7s %7s %6s", "set", "ranker", "R@1", "R@3", "R@5", "R@10", "MRR", "nDCG", "all10", "p50 µs", "p99 µs", "build")
	for _, d := range sets {
		for _, r := range rankers {
			if r.name != "aster" && !*compare {
				continue
			}
			start := time.Now()
			ranker := r.make(d.tools)
			build := time.Since(start)
			q, times := measure(ranker, d.queries)
			t.Logf("%-16s %-14s %.3f %.3f %.3f %.3f %.3f %.3f %.3f %7.0f %7.0f %4d ms", d.name, r.name,
				q.r1, q.r3, q.r5, q.r10, q.mrr, q.ndcg, q.all10, percentile(times, 50), percentile(times, 99), build.Milliseconds())
			if r.name == "aster" && q.r5 < targets[d.name] {
				t.Errorf("%s: recall at 5 is %.3f, want at least %.2f", d.name, q.r5, targets[d.name])
			}
		}
	}
	if *compare {
		measureKinds(t, sets[0])
		measureHints(t, sets[0])
		measureSlips(t, sets)
		measureNames(t, sets[0].tools, "livemcpbench")
		tools := toucan(t, 2800)
		measureNames(t, tools, "2,800 tools")
		measureTimes(t, tools, sets)
		measureTokens(t)
	}
}

func measure(r rival, queries []labelledQuery) (quality, []float64) {
	var q quality
	times := make([]float64, 0, len(queries))
	for i := range queries {
		start := time.Now()
		got := r.find(queries[i].Query, 10)
		times = append(times, float64(time.Since(start).Nanoseconds())/1000)
		q.add(&queries[i], got)
	}
	slices.Sort(times)
	return q.mean(), times
}

func percentile(sorted []float64, p int) float64 {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// measureKinds prints the kinds of queries of a set.
func measureKinds(t *testing.T, d dataSet) {
	r := newOurs(d.tools)
	kinds := make(map[string][]labelledQuery)
	for _, q := range d.queries {
		kinds[q.Kind] = append(kinds[q.Kind], q)
	}
	for _, kind := range []string{"task", "step", "agent", "agent-human"} {
		q, _ := measure(r, kinds[kind])
		t.Logf("%s, %s: %d queries, R@1 %.3f, R@3 %.3f, R@5 %.3f", d.name, kind, q.n, q.r1, q.r3, q.r5)
	}
}

// measureHints prints what the server hint of an agent's search adds.
func measureHints(t *testing.T, d dataSet) {
	l := newOurs(d.tools).(ours).l
	for _, kind := range []string{"agent", "agent-human"} {
		var without, with quality
		for i := range d.queries {
			q := &d.queries[i]
			if q.Kind != kind || q.ServerHint == "" {
				continue
			}
			without.add(q, ours{l}.find(q.Query, 10))
			r, _ := l.Rank(context.Background(), Ask{Text: q.Query, Server: q.ServerHint, Limit: 10})
			var ids []ToolID
			for _, h := range r.Hits {
				ids = append(ids, h.ID)
			}
			with.add(q, ids)
		}
		a, b := without.mean(), with.mean()
		t.Logf("server hint, %s: R@1 %.3f → %.3f, R@5 %.3f → %.3f", kind, a.r1, b.r1, a.r5, b.r5)
	}
}

// damage makes one typing error in one long word of a query.
func damage(query string, random *rand.Rand) string {
	words := strings.Fields(query)
	var long []int
	for i, w := range words {
		if len(w) >= 5 && strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz") == "" {
			long = append(long, i)
		}
	}
	if len(long) == 0 {
		return query
	}
	at := long[random.IntN(len(long))]
	w := []byte(words[at])
	i := 1 + random.IntN(len(w)-2)
	switch random.IntN(4) {
	case 0:
		w[i], w[i+1] = w[i+1], w[i]
	case 1:
		w = slices.Delete(w, i, i+1)
	case 2:
		w = slices.Insert(w, i, w[i])
	case 3:
		w[i] = byte('a' + random.IntN(26))
	}
	words[at] = string(w)
	return strings.Join(words, " ")
}

// measureSlips prints what one typing error a query costs.
func measureSlips(t *testing.T, sets []dataSet) {
	for _, d := range sets {
		r := newOurs(d.tools)
		random := rand.New(rand.NewPCG(1, 2))
		var clean, damaged quality
		for range 3 {
			for i := range d.queries {
				q := d.queries[i]
				clean.add(&q, r.find(q.Query, 10))
				damaged.add(&q, r.find(damage(q.Query, random), 10))
			}
		}
		a, b := clean.mean(), damaged.mean()
		t.Logf("one slip, %s: R@5 %.3f → %.3f, %.1f points lost", d.name, a.r5, b.r5, 100*(a.r5-b.r5))
	}
}

// measureNames asks for every tool by its name, and for five at once.
func measureNames(t *testing.T, tools []Tool, what string) {
	r := newOurs(tools)
	one, five, groups := 0, 0, 0
	random := rand.New(rand.NewPCG(3, 4))
	for _, tool := range tools {
		if got := r.find(tool.Name, 1); len(got) == 1 && got[0].Name() == tool.Name {
			one++
		}
	}
	order := random.Perm(len(tools))
	for i := 0; i+5 <= len(order); i += 5 {
		groups++
		var names []string
		for _, j := range order[i : i+5] {
			names = append(names, tools[j].Name)
		}
		got := r.find(strings.Join(names, ", "), 10)
		all := true
		for _, name := range names {
			all = all && slices.ContainsFunc(got, func(id ToolID) bool { return id.Name() == name })
		}
		if all {
			five++
		}
	}
	t.Logf("exact names, %s: one name R@1 %.4f, five names all@10 %.4f", what, float64(one)/float64(len(tools)), float64(five)/float64(groups))
}

// toucan returns n tools of real servers, whole servers drawn at random but the
// same each time.
func toucan(t testing.TB, n int) []Tool {
	return toucanDraw(t, n, 1)
}

func toucanDraw(t testing.TB, n int, seed uint64) []Tool {
	t.Helper()
	d, ok := readSet(t, sharedSets, "toucan-catalogue")
	if !ok {
		t.Skipf("left out: the catalogue toucan-catalogue is not at %s", sharedSets)
	}
	byServer := make(map[string][]Tool)
	var servers []string
	for _, tool := range d.tools {
		if byServer[tool.Server] == nil {
			servers = append(servers, tool.Server)
		}
		byServer[tool.Server] = append(byServer[tool.Server], tool)
	}
	random := rand.New(rand.NewPCG(seed, 6))
	random.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	var out []Tool
	for _, s := range servers {
		if len(out) < n {
			out = append(out, byServer[s]...)
		}
	}
	return out[:min(n, len(out))]
}

// measureTimes prints the time of a build and of queries at 2,800 tools: the
// best of several runs each.
func measureTimes(t *testing.T, tools []Tool, sets []dataSet) {
	build := time.Hour
	var c *Catalog
	for range 15 {
		start := time.Now()
		c, _ = NewLenientCatalog(tools, nil)
		build = min(build, time.Since(start))
	}
	var times []float64
	for _, d := range sets {
		for i := 0; i < len(d.queries); i += 4 {
			best := time.Hour
			for range 15 {
				start := time.Now()
				c.Search(context.Background(), Query{Texts: []string{d.queries[i].Query}})
				best = min(best, time.Since(start))
			}
			times = append(times, float64(best.Nanoseconds())/1000)
		}
	}
	slices.Sort(times)
	t.Logf("times, %d tools: catalogue and index %.1f ms, search p50 %.0f µs, p99 %.0f µs", len(tools), float64(build.Microseconds())/1000, percentile(times, 50), percentile(times, 99))
}

// measureTokens prints the tokens of the section's levels beside those of whole
// definitions, and of one discovery, all by script.
func measureTokens(t *testing.T) {
	const draws = 5
	for _, n := range []int{40, 100, 500, 2800} {
		sums := make(map[Level]int)
		whole := 0
		for draw := range draws {
			tools := toucanDraw(t, n, uint64(draw))
			c, _ := NewLenientCatalog(tools, nil)
			for tool := range c.All() {
				whole += EstimateTokens(string(plainJSON(map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema})))
			}
			for level := LevelCounts; level <= LevelFull; level++ {
				m, _ := c.manifest(level, maxSampleName, math.MaxInt32)
				sums[level] += EstimateTokens(m.lines())
			}
		}
		line := fmt.Sprintf("tokens, %d tools: definitions %d", n, whole/draws)
		for level := LevelFull; level >= LevelCounts; level-- {
			line += fmt.Sprintf(", %v %d (%.1f%% saved)", level, sums[level]/draws, 100-100*float64(sums[level])/float64(whole))
		}
		t.Log(line)
	}
	measureDiscovery(t)
}

// measureDiscovery prints what finding a tool costs: the reply to a search and
// the description of its first hit.
func measureDiscovery(t *testing.T) {
	c, _ := NewLenientCatalog(toucan(t, 2800), nil)
	in, err := NewInjector(c, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := readSet(t, sharedSets, "livemcpbench")
	var searches, describes, both []float64
	for _, q := range d.queries {
		if q.Kind == "task" {
			continue // models search in fewer words
		}
		ctx := context.Background()
		reply, _ := in.Handle(ctx, call{Action: "search", Query: q.Query}.json(), nil)
		searched := float64(EstimateTokens(reply.Text))
		id, _, _ := strings.Cut(strings.TrimPrefix(reply.Text, "~"), "(")
		reply, _ = in.Handle(ctx, call{Action: "describe", Name: id}.json(), nil)
		described := float64(EstimateTokens(reply.Text))
		searches, describes, both = append(searches, searched), append(describes, described), append(both, searched+described)
	}
	for _, x := range []struct {
		name string
		n    []float64
	}{{"search", searches}, {"describe", describes}, {"both", both}} {
		slices.Sort(x.n)
		t.Logf("discovery, %s: median %.0f tokens, p95 %.0f", x.name, percentile(x.n, 50), percentile(x.n, 95))
	}
	bridge := in.Inject().BridgeTool
	t.Logf("discovery: the bridge tool takes %d tokens", EstimateTokens(string(bridge)))
}
