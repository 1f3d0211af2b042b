//go:build unix

package hard_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// fuzzTime is how long each target runs in the long form.
const fuzzTime = time.Minute

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// fuzzTarget is a fuzz target of the module.
type fuzzTarget struct{ dir, name string }

// fuzzTargets finds them by reading the module.
func fuzzTargets(t *testing.T) (root string, targets []fuzzTarget) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			rel, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			targets = append(targets, fuzzTarget{"./" + filepath.ToSlash(rel), string(m[1])})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, targets
}

// TestFuzzTargets lists the fuzz targets, and runs them in the long form. What breaks one
// is written to its testdata/fuzz by the go command, and stays there as a seed.
func TestFuzzTargets(t *testing.T) {
	root, targets := fuzzTargets(t)
	packages := map[string][]string{}
	for _, f := range targets {
		packages[f.dir] = append(packages[f.dir], f.name)
	}
	// Each of these packages reads what strangers write.
	for _, dir := range []string{"./bridge", "./bridge/argcheck", "./bridge/source", "./shim", "./webmcp", "./websrv", "./websrv/internal/readable",
		"./websrv/internal/robots", "./cmd/aster/internal/config", "./cmd/aster/internal/guard", "./cmd/aster/internal/host"} {
		if len(packages[dir]) == 0 {
			t.Errorf("%s has no fuzz target", dir)
		}
	}
	var cases []attack
	if !long {
		cases = append(cases, attack{name: "targets", did: fuzzList(packages), run: func(a *arena) {
			a.holds("listed; each runs in .ci/test and for a minute in the long form")
			a.figure("%d targets in %d packages", len(targets), len(packages))
		}})
	}
	for _, f := range targets {
		cases = append(cases, attack{name: f.dir + "/" + f.name, did: "fuzzing for " + fuzzTime.String() + " with one worker", long: true, run: func(a *arena) { f.run(a, root) }})
	}
	play(t, "fuzz", cases)
}

func fuzzList(packages map[string][]string) string {
	var parts []string
	for dir, names := range packages {
		slices.Sort(names)
		parts = append(parts, strings.TrimPrefix(dir, "./")+": "+strings.Join(names, " "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

var fuzzRuns = regexp.MustCompile(`execs: (\d+)`)

// Go's fuzzer now and then reports its own end of time as a failure, with no input
// (golang/go#75804): then, and only then, a target is run again.
var (
	fuzzOver  = regexp.MustCompile(`(?m)^ +context deadline exceeded$`)
	fuzzFound = regexp.MustCompile(`Failing input|panic|_test\.go:|fuzzing process`)
)

// fuzzAttempts is how often a target is run at most.
const fuzzAttempts = 3

// ranOut reports whether a target that failed did so at the end of its time only.
func ranOut(out []byte) bool { return fuzzOver.Match(out) && !fuzzFound.Match(out) }

func TestRanOut(t *testing.T) {
	const over = "fuzz: elapsed: 1m0s, execs: 94 (0/sec)\n--- FAIL: FuzzX (60.21s)\n    context deadline exceeded\nFAIL\n"
	const hung = "--- FAIL: FuzzX (60.21s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n    context deadline exceeded\nFAIL\n"
	const input = "--- FAIL: FuzzX (3.00s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzX/1\nFAIL\n"
	for out, want := range map[string]bool{over: true, hung: false, input: false, "x.go:1: undefined: y\nFAIL\n": false, "": false} {
		if got := ranOut([]byte(out)); got != want {
			t.Errorf("ranOut = %v, want %v of\n%s", got, want, out)
		}
	}
}

func (f fuzzTarget) run(a *arena, root string) {
	a.Helper()
	for attempt := 1; ; attempt++ {
		// One worker each: as many targets as cores run beside each other. Minimizing is cut
		// short, which makes it rarer that a target's time ends in it.
		cmd := exec.CommandContext(a.Context(), "go", "test", "-run", "^$", "-parallel", "1", "-fuzz", "^"+f.name+"$", "-fuzztime", fmt.Sprint(fuzzTime), "-fuzzminimizetime", "1s", f.dir)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil && ranOut(out) && attempt < fuzzAttempts {
			a.figure("run again, for its time ended in the middle (golang/go#75804)")
			continue
		}
		if err != nil {
			a.Errorf("%v\n%s", err, out[max(0, len(out)-8000):])
			return
		}
		a.holds("no crash")
		if m := fuzzRuns.FindAllSubmatch(out, -1); m != nil {
			a.figure("%s runs", m[len(m)-1][1])
		}
		return
	}
}
