// Command train fits the table by which package readable decides which blocks of a page are
// content, and scores it on pages it was not fitted on.
//
// It reads the public halves of two labelled sets below the directory given: WCXB (wcxb/train to
// fit on, wcxb/dev to score) and the article set (zyte, one half to fit on and the other to
// score, then the other way round). Only counts and shares enter the table, never words.
//
//	go run ./websrv/internal/readable/train -out websrv/internal/readable/model.bin ../shared/extraction
//
// The same pages and settings give the same bytes. Beside the table it writes model.sum, by which
// a test notices that features, labels, settings or fitting have changed since. That the table is
// what the command writes is checked, in the time that fitting takes, by
//
//	go run ./websrv/internal/readable/train -check websrv/internal/readable/model.bin ../shared/extraction
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

func main() {
	o := defaults()
	flags := flag.NewFlagSet("train", flag.ExitOnError)
	o.declare(flags)
	flags.Parse(os.Args[1:]) // exits on an error
	if flags.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: train [flags] directory")
		os.Exit(2)
	}
	o.root = flags.Arg(0)
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

type options struct {
	root, out, check                string
	cross                           bool
	rate, columns, minWeight, ridge float64
	seed                            uint64
	weighting                       weighting
	recipe                          recipe
}

// defaults are the settings of the embedded table.
func defaults() *options {
	var o options
	o.declare(flag.NewFlagSet("", flag.ContinueOnError))
	return &o
}

// declare ties the settings to flags and gives them their defaults.
func (o *options) declare(f *flag.FlagSet) {
	f.StringVar(&o.out, "out", "", "file to write the table to; empty: only score")
	f.StringVar(&o.check, "check", "", "table to compare with, byte by byte; fits and does nothing else")
	f.BoolVar(&o.cross, "cross", true, "fit a second time for the other half of the article set")
	f.IntVar(&o.recipe.first.trees, "trees1", 120, "trees of the first stage")
	f.IntVar(&o.recipe.second.trees, "trees2", 120, "trees of the second stage")
	f.IntVar(&o.recipe.first.leaves, "leaves1", 24, "leaves of a tree of the first stage")
	f.IntVar(&o.recipe.second.leaves, "leaves2", 16, "leaves of a tree of the second stage")
	f.Float64Var(&o.rate, "rate", 0.1, "how much of each tree is taken")
	f.Float64Var(&o.columns, "columns", 0.25, "share of the features a tree sees")
	f.Float64Var(&o.minWeight, "leaf", 0.5, "least curvature of a leaf")
	f.Float64Var(&o.ridge, "ridge", 1, "pull of leaves to zero")
	f.Float64Var(&o.weighting.power, "power", 0.8, "power of a block's words in its weight")
	f.Float64Var(&o.weighting.bulk, "bulk", 0.3, "say of text that is not content in a page's weight")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the samples that trees see")
}

func run(w io.Writer, o *options) error {
	start := time.Now()
	train, err := loadWCXB(o.root, "train")
	if err != nil {
		return err
	}
	if o.check != "" {
		return compareTable(w, train, o)
	}
	dev, err := loadWCXB(o.root, "dev")
	if err != nil {
		return err
	}
	zyte, err := loadZyte(o.root)
	if err != nil {
		return err
	}
	fit, score, articles := prepare(train, o.weighting), prepare(dev, o.weighting), prepare(zyte, o.weighting)
	fmt.Fprintf(w, "read %d + %d + %d pages in %v, %d features\n", len(fit), len(score), len(articles), time.Since(start).Round(time.Millisecond), len(fit[0].first[0]))
	baselines(w, score, articles)

	half := halves(articles)
	m := fitModel(append(slices.Clone(fit), half[0]...), o.fill())
	fmt.Fprintf(w, "fitted in %v\n", time.Since(start).Round(time.Millisecond))
	report(w, "wcxb/dev", score, m)
	report(w, "zyte, the half not fitted on", half[1], m)
	if o.out != "" {
		if err := write(o, m.Append(nil)); err != nil {
			return err
		}
	}
	if !o.cross {
		return nil
	}
	other := fitModel(append(slices.Clone(fit), half[1]...), o.fill())
	var t tally
	for i, h := range half {
		for _, p := range h {
			judge(&t, p.page, answer(p.sample, p.sample.Choose(predict([]*readable.Model{other, m}[i], p))))
		}
	}
	fmt.Fprintf(w, "zyte, each half by the model of the other: %.4f\n", figure(&t, "zyte"))
	report(w, "wcxb/dev by the other model", score, other)
	fmt.Fprintf(w, "done in %v\n", time.Since(start).Round(time.Millisecond))
	return nil
}

// write writes the table and its stamp.
func write(o *options, table []byte) error {
	if err := os.WriteFile(o.out, table, 0o644); err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(o.out, ".bin")+".sum", []byte(stampOf(table, o)), 0o644)
}

// compareTable fits the table once more and says whether the one that is there is equal.
func compareTable(w io.Writer, train []labelled, o *options) error {
	want, err := os.ReadFile(o.check)
	if err != nil {
		return err
	}
	zyte, err := loadZyte(o.root)
	if err != nil {
		return err
	}
	half := halves(prepare(zyte, o.weighting))
	got := fitModel(append(prepare(train, o.weighting), half[0]...), o.fill()).Append(nil)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not what is fitted now: %d bytes, want %d", o.check, len(want), len(got))
	}
	fmt.Fprintf(w, "%s is what is fitted now: %d bytes\n", o.check, len(want))
	return nil
}

func (o *options) fill() recipe {
	r := o.recipe
	r.folds = 4
	for _, s := range []*settings{&r.first, &r.second} {
		s.rate, s.columns, s.minWeight, s.ridge, s.seed, s.pages = o.rate, o.columns, o.minWeight, o.ridge, o.seed, 0.7
	}
	return r
}

// halves divides pages by turns in the order of their ids, which are hashes.
func halves(pages []*prepared) [2][]*prepared {
	var out [2][]*prepared
	for i, p := range pages {
		out[i%2] = append(out[i%2], p)
	}
	return out
}

// report prints a model's figures.
func report(w io.Writer, name string, pages []*prepared, m *readable.Model) {
	show(w, name, pages, func(p *prepared) []bool { return p.sample.Choose(predict(m, p)) })
}

func show(w io.Writer, name string, pages []*prepared, chosen func(*prepared) []bool) {
	var t tally
	for _, p := range pages {
		judge(&t, p.page, answer(p.sample, chosen(p)))
	}
	n := float64(t.n)
	fmt.Fprintf(w, "%-32s %.4f  p %.3f r %.3f", name, figure(&t, pages[0].page.set), t.p/n, t.r/n)
	for _, k := range sortedKinds(&t) {
		fmt.Fprintf(w, "  %.5s %.3f", k, t.kinds[k].mean())
	}
	fmt.Fprintln(w)
}

// baselines prints what the model has to beat, and the best that blocks can do.
func baselines(w io.Writer, sets ...[]*prepared) {
	for _, pages := range sets {
		show(w, pages[0].page.set+" readability", pages, func(p *prepared) []bool { return keptBlocks(p.sample) })
		show(w, pages[0].page.set+" stripped body", pages, func(p *prepared) []bool { return strippedBlocks(p.sample) })
		show(w, pages[0].page.set+" right blocks", pages, func(p *prepared) []bool {
			out := make([]bool, len(p.label))
			for i := range out {
				out[i] = p.label[i] > 0.5
			}
			return out
		})
	}
}

func sortedKinds(t *tally) []string { return slices.Sorted(maps.Keys(t.kinds)) }

// keptBlocks is readability's own answer.
func keptBlocks(s *readable.Sample) []bool {
	out := make([]bool, len(s.Texts))
	for i := range out {
		out[i] = s.Kept[i] > 0.5
	}
	return out
}

// strippedBlocks is the body without its furniture.
func strippedBlocks(s *readable.Sample) []bool {
	out := make([]bool, len(s.Texts))
	for i := range out {
		out[i] = !s.Furniture(i)
	}
	return out
}
