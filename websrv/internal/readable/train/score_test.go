//go:build !race

// Scores and sums of memory mean nothing under the race detector, which allocates for itself and
// takes ten times as long.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// The sets lie beside the repository. They are not part of it.
const sets = "../../../../../shared/extraction"

// Floors that the embedded table must keep, on pages it was not fitted on.
const (
	floorWCXB = 0.81
	floorZyte = 0.963
)

func labelledPages(t testing.TB) (dev, zyte []labelled) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(sets, "zyte", "ground-truth.json")); err != nil {
		t.Skipf("LEFT OUT: the labelled pages are not beside the repository (%v): extraction was not scored", err)
	}
	dev, err := loadWCXB(sets, "dev")
	if err != nil {
		t.Fatal(err)
	}
	all, err := loadZyte(sets)
	if err != nil {
		t.Fatal(err)
	}
	return dev, all
}

// TestScore scores what Extract gives for pages the table was not fitted on: wcxb/dev, and the
// half of the article set that the train command leaves out.
func TestScore(t *testing.T) {
	if testing.Short() {
		t.Skip("LEFT OUT: scoring extraction takes a while")
	}
	dev, zyte := labelledPages(t)
	var heldOut []labelled
	for i := range zyte {
		if i%2 == 1 {
			heldOut = append(heldOut, zyte[i])
		}
	}
	for _, c := range []struct {
		name  string
		pages []labelled
		floor float64
	}{{"wcxb/dev", dev, floorWCXB}, {"zyte, half not fitted on", heldOut, floorZyte}} {
		var got, voice, body tally
		for i := range c.pages {
			l := &c.pages[i]
			d, err := readable.Extract(l.html, l.url, nil)
			if err != nil {
				t.Fatalf("%s %s: %v", l.set, l.id, err)
			}
			judge(&got, l, d.Text)
			s := readable.Analyse(l.html, l.url)
			judge(&voice, l, answer(s, keptBlocks(s)))
			judge(&body, l, answer(s, strippedBlocks(s)))
		}
		set := c.pages[0].set
		t.Logf("%s: %.4f %s", c.name, figure(&got, set), byKind(&got))
		t.Logf("%s, readability alone: %.4f %s", c.name, figure(&voice, set), byKind(&voice))
		t.Logf("%s, stripped body: %.4f %s", c.name, figure(&body, set), byKind(&body))
		if f := figure(&got, set); f < c.floor {
			t.Errorf("%s: %.4f, floor %.3f", c.name, f, c.floor)
		}
	}
}

// TestMarkdownText checks that Markdown says what Text says: of the words of the text, next to
// none may be missing from it.
func TestMarkdownText(t *testing.T) {
	if testing.Short() {
		t.Skip("LEFT OUT: reading all pages takes a while")
	}
	dev, _ := labelledPages(t)
	var sum tally
	for i := range dev {
		d, err := readable.Extract(dev[i].html, dev[i].url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d.Text == "" {
			continue
		}
		o := wordF1(d.Markdown, d.Text)
		sum.add("", o)
		if o.recall < 0.85 {
			t.Errorf("%s %s: Markdown has %.2f of the text's words", dev[i].id, dev[i].url, o.recall)
		}
	}
	if mean := sum.r / float64(sum.n); mean < 0.99 {
		t.Errorf("Markdown has %.4f of the text's words in the mean, want 0.99", mean)
	}
}

// TestCost measures time and memory a page, as means and medians of the least of three runs. It
// reports the time, for which a shared machine is no place for limits, and holds the memory.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("LEFT OUT: measuring takes a while")
	}
	const maxMB = 3 // at the median page
	dev, zyte := labelledPages(t)
	for _, pages := range [][]labelled{zyte, dev} {
		var ms, mb, kb []float64
		for i := range pages {
			d, bytes := cost(t, &pages[i])
			ms = append(ms, d.Seconds()*1000)
			mb = append(mb, float64(bytes)/1e6)
			kb = append(kb, float64(len(pages[i].html))/1000)
		}
		t.Logf("%s: median page %.0f KB, %.1f ms, %.2f MB; mean %.0f KB, %.1f ms, %.2f MB", pages[0].set,
			median(kb), median(ms), median(mb), mean(kb), mean(ms), mean(mb))
		if median(mb) > maxMB {
			t.Errorf("%s: %.2f MB at the median page, at most %d", pages[0].set, median(mb), maxMB)
		}
	}
}

// cost is the least time of three runs and the memory one allocates.
func cost(t *testing.T, l *labelled) (time.Duration, uint64) {
	t.Helper()
	var before, after runtime.MemStats
	best := time.Hour
	const runs = 3
	runtime.ReadMemStats(&before)
	for range runs {
		start := time.Now()
		if _, err := readable.Extract(l.html, l.url, nil); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	runtime.ReadMemStats(&after)
	return best, (after.TotalAlloc - before.TotalAlloc) / runs
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func byKind(t *tally) string {
	var b strings.Builder
	for _, k := range sortedKinds(t) {
		fmt.Fprintf(&b, " %s %.3f", k, t.kinds[k].mean())
	}
	return b.String()
}
