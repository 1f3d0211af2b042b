package bridge

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// sharedSets is where the labelled data sets lie, seen from this package. They
// are no part of the repository; without them the measurements are left out.
const sharedSets = "../../shared/retrieval"

var labelledSets = []string{"livemcpbench", "mcpproxy-golden", "toole", "bfcl", "seal-tools"}

// A labelledQuery is one line of a set's queries.jsonl.
type labelledQuery struct {
	ID         string         `json:"id"`
	Query      string         `json:"query"`
	Relevant   []ToolID       `json:"relevant"`
	Kind       string         `json:"kind"`
	Match      string         `json:"match"`
	Grades     map[ToolID]int `json:"grades"`
	ServerHint string         `json:"server_hint"`
}

type dataSet struct {
	name    string
	tools   []Tool
	queries []labelledQuery
}

// readSet reads a data set; ok is false where it is absent.
func readSet(t testing.TB, dir, name string) (d dataSet, ok bool) {
	t.Helper()
	d.name = name
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return d, false
	}
	eachLine(t, filepath.Join(path, "tools.jsonl"), func(line []byte) {
		var tool struct {
			Server, Name, Description string
			InputSchema               json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal(line, &tool); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d.tools = append(d.tools, Tool{Server: tool.Server, Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
	})
	if _, err := os.Stat(filepath.Join(path, "queries.jsonl")); err == nil {
		eachLine(t, filepath.Join(path, "queries.jsonl"), func(line []byte) {
			var q labelledQuery
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			d.queries = append(d.queries, q)
		})
	}
	return d, true
}

func eachLine(t testing.TB, path string, f func([]byte)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// quality is what one ranker reaches on one set, averaged over queries.
type quality struct {
	r1, r3, r5, r10, mrr, ndcg, all10 float64
	n                                 int
}

func (s *quality) add(q *labelledQuery, got []ToolID) {
	s.n++
	s.r1 += recall(q, got, 1)
	s.r3 += recall(q, got, 3)
	s.r5 += recall(q, got, 5)
	r10 := recall(q, got, 10)
	s.r10 += r10
	if r10 == 1 {
		s.all10++
	}
	for i, id := range got {
		if q.grade(id) > 0 {
			s.mrr += 1 / float64(i+1)
			break
		}
	}
	s.ndcg += q.ndcg(got)
}

func (s *quality) mean() quality {
	n := float64(max(s.n, 1))
	return quality{s.r1 / n, s.r3 / n, s.r5 / n, s.r10 / n, s.mrr / n, s.ndcg / n, s.all10 / n, s.n}
}

func (q *labelledQuery) grade(id ToolID) int {
	if g, ok := q.Grades[id]; ok {
		return g
	}
	for _, r := range q.Relevant {
		if r == id {
			return 1
		}
	}
	return 0
}

// recall is the share of the needed tools among the first k; where any one of
// them will do, 1 if one is there.
func recall(q *labelledQuery, got []ToolID, k int) float64 {
	found := 0
	for _, id := range got[:min(k, len(got))] {
		if q.grade(id) > 0 {
			found++
		}
	}
	if q.Match == "any" {
		return float64(min(found, 1))
	}
	return float64(found) / float64(len(q.Relevant))
}

func (q *labelledQuery) ndcg(got []ToolID) float64 {
	gain, ideal := 0.0, 0.0
	first := true
	for i, id := range got[:min(10, len(got))] {
		if g := q.grade(id); g > 0 && (q.Match != "any" || first) {
			gain += float64(g) / math.Log2(float64(i)+2)
			first = false
		}
	}
	if q.Match == "any" {
		return gain
	}
	var grades []int
	for _, id := range q.Relevant {
		grades = append(grades, q.grade(id))
	}
	for rank := 0; rank < min(10, len(grades)); rank++ {
		best := rank
		for i := rank; i < len(grades); i++ {
			if grades[i] > grades[best] {
				best = i
			}
		}
		grades[rank], grades[best] = grades[best], grades[rank]
		ideal += float64(grades[rank]) / math.Log2(float64(rank)+2)
	}
	return gain / ideal
}
