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

func (f fuzzTarget) run(a *arena, root string) {
	// One worker each: as many targets as cores run beside each other. Minimizing is cut
	// short: a target that is at it when its time is over fails with "context deadline
	// exceeded" (seen in Go 1.26).
	cmd := exec.CommandContext(a.Context(), "go", "test", "-run", "^$", "-parallel", "1", "-fuzz", "^"+f.name+"$", "-fuzztime", fmt.Sprint(fuzzTime), "-fuzzminimizetime", "1s", f.dir)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.Errorf("%v\n%s", err, out[max(0, len(out)-8000):])
		return
	}
	a.holds("no crash")
	if m := fuzzRuns.FindAllSubmatch(out, -1); m != nil {
		a.figure("%s runs", m[len(m)-1][1])
	}
}
