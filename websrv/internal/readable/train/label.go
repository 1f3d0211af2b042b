package main

import (
	"hash/maphash"
	"slices"
	"strings"
)

// labels gives for each block the share of its words that are in the truth. Words count when
// four of them in a row, across block boundaries too, are in the truth; a short block also when
// it is a whole line of it. Each place of the truth is given out once, longest runs first, so
// that a page's second copy of a text is not content.
func labels(texts []string, truth string) []float32 {
	const n = 4
	seed := maphash.MakeSeed()
	var page []string
	var owner []int
	for i, t := range texts {
		for _, w := range tokens(strings.ToLower(t)) {
			page = append(page, w)
			owner = append(owner, i)
		}
	}
	want := grams(seed, tokens(strings.ToLower(truth)), n)
	got := gramHashes(seed, page, n)
	hit := make([]bool, len(page))
	for _, r := range runs(got, want) {
		for k := r.from; k < r.to; k++ {
			if want[got[k]] > 0 {
				want[got[k]]--
				for j := k; j < k+n; j++ {
					hit[j] = true
				}
			}
		}
	}
	share, words := make([]float32, len(texts)), make([]float32, len(texts))
	for k, i := range owner {
		words[i]++
		if hit[k] {
			share[i]++
		}
	}
	lines := wholeLines(truth)
	for i := range share {
		if words[i] > 0 {
			share[i] /= words[i]
		}
	}
	for i, t := range texts {
		key := strings.Join(tokens(strings.ToLower(t)), " ")
		if key == "" || lines[key] == 0 {
			continue
		}
		if share[i] >= 0.5 || words[i] < n && nearContent(share, i) {
			share[i] = 1
			lines[key]--
		}
	}
	return share
}

// nearContent tells whether a block close by is content.
func nearContent(share []float32, i int) bool {
	const reach = 4
	for k := max(0, i-reach); k <= min(len(share)-1, i+reach); k++ {
		if k != i && share[k] > 0.5 {
			return true
		}
	}
	return false
}

func wholeLines(truth string) map[string]int {
	out := map[string]int{}
	for _, l := range strings.Split(strings.ToLower(truth), "\n") {
		if k := strings.Join(tokens(l), " "); k != "" {
			out[k]++
		}
	}
	return out
}

// stretch is a part of the page whose grams are all in the truth.
type stretch struct{ from, to int }

func runs(got []uint64, want map[uint64]int) []stretch {
	var out []stretch
	for k := 0; k < len(got); {
		j := k
		for j < len(got) && want[got[j]] > 0 {
			j++
		}
		if j > k {
			out = append(out, stretch{k, j})
		}
		k = j + 1
	}
	slices.SortStableFunc(out, func(a, b stretch) int { return (b.to - b.from) - (a.to - a.from) })
	return out
}

func gramHashes(seed maphash.Seed, t []string, n int) []uint64 {
	if len(t) < n {
		return nil
	}
	out := make([]uint64, 0, len(t))
	var h maphash.Hash
	h.SetSeed(seed)
	for i := 0; i+n <= len(t); i++ {
		h.Reset()
		for _, w := range t[i : i+n] {
			h.WriteString(w)
			h.WriteByte(0)
		}
		out = append(out, h.Sum64())
	}
	return out
}

func grams(seed maphash.Seed, t []string, n int) map[uint64]int {
	out := map[uint64]int{}
	for _, g := range gramHashes(seed, t, n) {
		out[g]++
	}
	return out
}
