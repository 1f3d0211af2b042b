package bridge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Bounds on a search.
const (
	DefaultSearchLimit = 5    // where a query gives no limit
	MaxQueries         = 8    // texts of one search; more are ignored
	MaxQueryBytes      = 4096 // of one text; what is over is ignored
	maxHitSentence     = 80   // characters of a description in a Match
)

// A Query asks for tools.
type Query struct {
	// Texts are what is looked for: several tasks, or several phrasings of one.
	Texts []string
	// Server is a wish, not a filter: the kind of server that would have it.
	Server string
	// Limit is the most tools to return for each text; 0 means
	// DefaultSearchLimit. A negative one gives none.
	Limit int
	// Explain asks for Match.Why.
	Explain bool
}

// A Match is one tool that a search found. It holds no schema.
type Match struct {
	ID        ToolID
	Signature string // create_issue(owner*, repo*, title*, labels[])
	Summary   string // the description's first sentence, one clean line
	Score     int    // comparable within one text of one search only
	Exact     bool   // the text names this tool
	Weak      bool   // little of the text fits; judge before use
	Text      int    // index of the text that found it best
	Why       []Reason
}

// A Reason is one part of a Match's score, for people who wonder about it.
type Reason struct {
	Word   string // of the query
	Term   string // of the catalogue; a stem
	How    string // "word", "synonym", "typo", "prefix", "compound", "name", "server"
	Fields string // where the tool has the term: name, server, text, params, param text
	Points int    // share of Match.Score, before clauses are added
}

// String is the reason in one line.
func (r Reason) String() string {
	return fmt.Sprintf("%s→%s (%s, %s) %d", r.Word, r.Term, r.How, r.Fields, r.Points)
}

// A Result is what a search found.
type Result struct {
	Matches []Match // best first; the texts' results take turns
	// Unmatched are the words of the texts that nothing in the catalogue fits,
	// in their order.
	Unmatched []string
}

// An Ask is what a Ranker is asked: one text of a Query.
type Ask struct {
	Text    string
	Server  string // a wish; see Query
	Limit   int    // more than zero
	Explain bool
}

// A Ranking is a Ranker's answer.
type Ranking struct {
	Hits      []Hit    // best first; hits outside the catalogue are dropped
	Unmatched []string // words that nothing fits
}

// A Hit is one ranked tool.
type Hit struct {
	ID          ToolID
	Score       int
	Exact, Weak bool
	Why         []Reason // only where asked for
}

// A Ranker orders a catalogue's tools by how well they fit a text. A host may
// put its own in place of the lexical one ([CatalogOptions]), with embeddings
// or with knowledge of its users; what the model sees does not change. It must
// be safe for concurrent use, and give equal answers to equal asks for as long
// as it can.
type Ranker interface {
	Rank(ctx context.Context, ask Ask) (Ranking, error)
}

func search(ctx context.Context, c *Catalog, q Query) (Result, error) {
	if q.Limit == 0 {
		q.Limit = DefaultSearchLimit
	}
	if q.Limit < 0 {
		return Result{}, nil
	}
	var result Result
	var lists [][]Match
	for i, text := range q.Texts[:min(len(q.Texts), MaxQueries)] {
		text = cutString(text, MaxQueryBytes)
		ask := Ask{Text: text, Server: cutString(q.Server, MaxQueryBytes), Limit: q.Limit, Explain: q.Explain}
		r, err := c.ranker.Rank(ctx, ask)
		if err != nil {
			return Result{}, fmt.Errorf("rank %q: %w", oneLine(text, maxShownID), err)
		}
		lists = append(lists, c.matches(r.Hits, i, q.Limit))
		for _, w := range r.Unmatched {
			if !slices.Contains(result.Unmatched, w) {
				result.Unmatched = append(result.Unmatched, w)
			}
		}
	}
	result.Matches = takeTurns(lists)
	return result, nil
}

// matches turns a ranker's hits into matches of tools that the catalogue has.
func (c *Catalog) matches(hits []Hit, text, limit int) []Match {
	out := make([]Match, 0, min(limit, len(hits)))
	seen := make(map[int]bool, limit)
	for _, h := range hits {
		i, ok := c.byID[h.ID]
		if !ok || seen[i] {
			continue
		}
		if len(out) == limit {
			break
		}
		seen[i] = true
		line := c.line(i)
		out = append(out, Match{
			ID: h.ID, Signature: line.signature, Summary: line.summary,
			Score: h.Score, Exact: h.Exact, Weak: h.Weak, Text: text, Why: h.Why,
		})
	}
	return out
}

// takeTurns merges the results of several texts: the best of each, then the
// second of each. A tool that several texts found stands where its best rank
// is, before those that fewer found.
func takeTurns(lists [][]Match) []Match {
	if len(lists) == 1 {
		return lists[0]
	}
	type place struct {
		Match
		rank, lists int
	}
	var all []place
	at := make(map[ToolID]int)
	for _, list := range lists {
		for rank, m := range list {
			i, ok := at[m.ID]
			if !ok {
				i = len(all)
				at[m.ID] = i
				all = append(all, place{Match: m, rank: rank})
			} else if rank < all[i].rank {
				all[i].Match, all[i].rank = m, rank
			}
			all[i].lists++
		}
	}
	slices.SortStableFunc(all, func(a, b place) int {
		return cmp.Or(a.rank-b.rank, b.lists-a.lists, a.Text-b.Text, strings.Compare(string(a.ID), string(b.ID)))
	})
	out := make([]Match, len(all))
	for i := range all {
		out[i] = all[i].Match
	}
	return out
}
