//go:build unix

package hard_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

var (
	// asterExe and fakeExe are the programs, built without the race detector.
	asterExe, fakeExe string
	// long says that the full numbers are wanted.
	long = os.Getenv("ASTER_HARD") == "long"
	// seed leads all random choices of the run.
	seed = uint64(time.Now().UnixNano())
)

// pick is a form's value of a number.
func pick[T any](short, full T) T {
	if long {
		return full
	}
	return short
}

// random is a source of choices for one case, which ASTER_HARD_SEED repeats.
func random(name string) *rand.Rand {
	var sum uint64
	for _, c := range []byte(name) {
		sum = sum*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, sum))
}

// shortParallel is how many cases of the short form run side by side where -parallel does
// not say: more than there are cores, since most of them wait most of the time.
const shortParallel = 5

func sideBySide() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if long || given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(max(shortParallel, runtime.GOMAXPROCS(0))))
}

func TestMain(m *testing.M) { os.Exit(runMain(m)) }

func runMain(m *testing.M) int {
	if text := os.Getenv("ASTER_HARD_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "ASTER_HARD_SEED:", err)
			return 2
		}
		seed = n
	}
	dir, err := os.MkdirTemp("", "hard")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	const module = "github.com/aster-mcp/aster"
	asterExe, fakeExe = filepath.Join(dir, "aster"), filepath.Join(dir, "fake")
	programs := map[string]string{asterExe: module + "/cmd/aster", fakeExe: module + "/cmd/aster/internal/hard/fake"}
	if exe := os.Getenv("ASTER_HARD_EXE"); exe != "" {
		delete(programs, asterExe)
		asterExe = exe
	}
	for exe, pkg := range programs {
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", exe, pkg).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	if err := sideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	started = time.Now()
	return cdptest.Main(m)
}
