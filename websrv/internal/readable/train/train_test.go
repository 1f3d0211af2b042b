//go:build !race

package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

// TestRetrain checks that the same pages and settings give the same bytes, that these are a table
// that readable reads, and that it has learnt what the pages say.
func TestRetrain(t *testing.T) {
	table, pages := fitMade(1)
	again, _ := fitMade(1)
	if !bytes.Equal(table, again) {
		t.Fatalf("fitting twice gives tables of %d and %d bytes that are not equal", len(table), len(again))
	}
	if other, _ := fitMade(2); bytes.Equal(table, other) {
		t.Error("another seed gives the same table: it is not used")
	}
	m, err := readable.ReadModel(table)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	for _, p := range pages {
		judge(&got, p.page, answer(p.sample, p.sample.Choose(predict(m, p))))
	}
	if f := figure(&got, "wcxb"); f < 0.95 {
		t.Errorf("the table finds its own pages' articles with %.3f, want 0.95 and more", f)
	}
}

// TestStamp checks that the embedded table is what the train command writes now, without fitting
// it: the stamp beside it is of the same features, labels, settings and fitting, and of its bytes.
// The check that fits it is the command's -check.
func TestStamp(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("LEFT OUT: other processors round sums of products in their own way")
	}
	table, err := os.ReadFile("../model.bin")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../model.sum")
	if err != nil {
		t.Fatal(err)
	}
	const command = "go run ./websrv/internal/readable/train -out websrv/internal/readable/model.bin ../shared/extraction"
	if got := stampOf(table, defaults()); got != string(want) {
		t.Errorf("model.sum is\n%swant\n%sfeatures, labels, settings or fitting have changed since the table was written; in the repository run\n%s", want, got, command)
	}
}

// TestStampSees checks that what changes a table changes its stamp.
func TestStampSees(t *testing.T) {
	first := func(s string) string { return strings.SplitN(s, "\n", 2)[0] }
	o := defaults()
	was := first(stampOf(nil, o))
	if _, err := hex.DecodeString(strings.Fields(was)[1]); err != nil {
		t.Fatalf("no sum in %q: %v", was, err)
	}
	for name, change := range map[string]func(*options){
		"seed": func(o *options) { o.seed++ }, "rate": func(o *options) { o.rate /= 2 }, "power": func(o *options) { o.weighting.power = 0.5 },
		"trees": func(o *options) { o.recipe.second.trees++ }, "leaves": func(o *options) { o.recipe.first.leaves++ },
	} {
		o := defaults()
		change(o)
		if first(stampOf(nil, o)) == was {
			t.Errorf("another %s gives the same stamp", name)
		}
	}
	if stampOf([]byte("x"), o) == stampOf([]byte("y"), o) {
		t.Error("another table gives the same stamp")
	}
}
