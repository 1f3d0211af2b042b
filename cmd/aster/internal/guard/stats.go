package guard

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/aster-mcp/aster/bridge"
)

// Stats are figures over a log: how often tools are called and how calls end, whether
// searches find something and descriptions lead to calls, and what the prompt costs.
type Stats struct {
	// Of the first and the last entry; zero if there is none.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`

	Calls    int             `json:"calls"` // all but those of outcome asking, which come again
	Outcomes map[Outcome]int `json:"outcomes"`
	Open     int             `json:"open"`     // begun and not ended
	Asked    int             `json:"asked"`    // the user was asked
	Refused  int             `json:"refused"`  // of these, how many were not agreed to
	DeniedBy map[string]int  `json:"deniedBy"` // denied calls by what decided
	Tools    []ToolStats     `json:"tools"`    // most calls first, then by ID

	Searches      int `json:"searches"`
	EmptySearches int `json:"emptySearches"`
	Described     int `json:"described"`
	// DescribedCalls are the calls of tools that had been described: with Described they
	// say how often a description leads to a call.
	DescribedCalls int `json:"describedCalls"`
	BadRequests    int `json:"badRequests"` // of aster_mcp, that led to no call
	// Of the newest prompt section, 0 if there is none.
	ManifestTokens int `json:"manifestTokens"`
	PromptTokens   int `json:"promptTokens"`
	BudgetTokens   int `json:"budgetTokens"`
}

// ToolStats are the figures of one tool. Times and sizes are of calls that were made and
// ended.
type ToolStats struct {
	ID       bridge.ToolID   `json:"id"`
	Calls    int             `json:"calls"`
	Outcomes map[Outcome]int `json:"outcomes"`
	P50MS    float64         `json:"p50Ms"` // milliseconds
	P95MS    float64         `json:"p95Ms"`
	Bytes    int64           `json:"bytes"` // of all results
	times    []float64
}

// Bounds on what Stats holds.
const (
	maxStatTools = 10_000
	maxStatTimes = 10_000 // newest times of one tool
)

// Summarize counts the entries of a log, such as [ReadLog] yields, from since on; the zero
// time is all. It returns what it counted with the first error.
func Summarize(entries iter.Seq2[*Entry, error], since time.Time) (*Stats, error) {
	s := &Stats{Outcomes: map[Outcome]int{}, DeniedBy: map[string]int{}}
	tools := map[bridge.ToolID]*ToolStats{}
	noted := func(yield func(*Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				if e.Time.Before(since) {
					continue
				}
				s.note(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
	for r, err := range Records(noted) {
		if err != nil {
			s.finish(tools)
			return s, err
		}
		s.call(r, tools)
	}
	s.finish(tools)
	return s, nil
}

func (s *Stats) note(e *Entry) {
	if s.From.IsZero() || e.Time.Before(s.From) {
		s.From = e.Time
	}
	if e.Time.After(s.To) {
		s.To = e.Time
	}
	switch e.Event {
	case bridge.EventSearched.String():
		s.Searches++
		if e.Hits == 0 {
			s.EmptySearches++
		}
	case bridge.EventDescribed.String():
		s.Described++
	case eventCallDescribed:
		s.DescribedCalls++
	case bridge.EventRefused.String():
		s.BadRequests++
	case bridge.EventInjected.String():
		s.ManifestTokens, s.PromptTokens, s.BudgetTokens = e.ManifestTokens, e.PromptTokens, e.BudgetTokens
	}
}

func (s *Stats) call(r *Record, tools map[bridge.ToolID]*ToolStats) {
	if r.Outcome == OutcomeAsking {
		return
	}
	s.Calls++
	if r.Asked {
		s.Asked++
		if r.Outcome == OutcomeDenied {
			s.Refused++
		}
	}
	t := tools[r.Tool]
	if t == nil {
		if len(tools) >= maxStatTools {
			t = &ToolStats{Outcomes: map[Outcome]int{}}
		} else {
			t = &ToolStats{ID: r.Tool, Outcomes: map[Outcome]int{}}
			tools[r.Tool] = t
		}
	}
	t.Calls++
	if !r.Ended {
		s.Open++
		return
	}
	s.Outcomes[r.Outcome]++
	t.Outcomes[r.Outcome]++
	if r.Outcome == OutcomeDenied {
		s.DeniedBy[r.By]++
		return
	}
	t.Bytes += int64(r.ResultBytes)
	if len(t.times) < maxStatTimes {
		t.times = append(t.times, r.DurationMS)
	} else {
		t.times[t.Calls%maxStatTimes] = r.DurationMS
	}
}

func (s *Stats) finish(tools map[bridge.ToolID]*ToolStats) {
	for _, t := range tools {
		slices.Sort(t.times)
		t.P50MS, t.P95MS = percentile(t.times, 50), percentile(t.times, 95)
	}
	s.Tools = nil
	for _, t := range slices.SortedFunc(maps.Values(tools), func(a, b *ToolStats) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID, b.ID))
	}) {
		s.Tools = append(s.Tools, *t)
	}
}

// percentile is the nearest-rank percentile of sorted milliseconds.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := (len(sorted)*p+99)/100 - 1
	return sorted[max(i, 0)]
}
