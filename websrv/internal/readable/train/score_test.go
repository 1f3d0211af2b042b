//go:build !race

// Scores and sums of memory mean nothing under the race detector, which allocates for itself and
// takes ten times as long.

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"codeberg.org/readeck/go-readability/v2"
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

// TestCost holds the memory that a page takes.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("LEFT OUT: reading all pages takes a while")
	}
	const maxMB = 3 // at the median page
	dev, zyte := labelledPages(t)
	for _, pages := range [][]labelled{zyte, dev} {
		var c costs
		for i := range pages {
			c.add(t, 1, func() error { return extracted(&pages[i]) })
		}
		if median(c.mb) > maxMB {
			t.Errorf("%s: %.2f MB at the median page, at most %d", pages[0].set, median(c.mb), maxMB)
		}
	}
}

// BenchmarkExtract is what a page of each set costs, at the median, beside what it costs with
// readability alone in the same run: processors differ.
func BenchmarkExtract(b *testing.B) {
	dev, zyte := labelledPages(b)
	for _, pages := range [][]labelled{zyte, dev} {
		b.Run(pages[0].set, func(b *testing.B) {
			var kb []float64
			var ours, alone costs
			for b.Loop() {
				for i := range pages {
					ours.add(b, 1, func() error { return extracted(&pages[i]) })
					alone.add(b, 1, func() error { return readabilityAlone(&pages[i]) })
					kb = append(kb, float64(len(pages[i].html))/1000)
				}
			}
			b.ReportMetric(median(kb), "page-KB")
			b.ReportMetric(median(ours.ms), "extract-ms")
			b.ReportMetric(median(ours.mb), "extract-MB")
			b.ReportMetric(median(alone.ms), "readability-ms")
			b.ReportMetric(median(alone.mb), "readability-MB")
		})
	}
}

func extracted(l *labelled) error {
	_, err := readable.Extract(l.html, l.url, nil)
	return err
}

// readabilityAlone is what a program does that uses nothing but the library.
func readabilityAlone(l *labelled) error {
	at, err := url.Parse(l.url)
	if err != nil {
		return err
	}
	a, err := readability.FromReader(bytes.NewReader(l.html), at)
	if err != nil || a.Node == nil {
		return nil // it finds nothing on some pages
	}
	return a.RenderText(io.Discard)
}

// costs are milliseconds and megabytes, by page.
type costs struct{ ms, mb []float64 }

// add takes the least time of some runs and the memory one allocates.
func (c *costs) add(t testing.TB, runs int, run func() error) {
	t.Helper()
	var before, after runtime.MemStats
	best := time.Hour
	runtime.ReadMemStats(&before)
	for range runs {
		start := time.Now()
		if err := run(); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	runtime.ReadMemStats(&after)
	c.ms = append(c.ms, best.Seconds()*1000)
	c.mb = append(c.mb, float64(after.TotalAlloc-before.TotalAlloc)/float64(runs)/1e6)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

func byKind(t *tally) string {
	var b strings.Builder
	for _, k := range sortedKinds(t) {
		fmt.Fprintf(&b, " %s %.3f", k, t.kinds[k].mean())
	}
	return b.String()
}
