package cdptest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

type runner func() int

func (r runner) Run() int { return r() }

func TestLeaks(t *testing.T) {
	t.Setenv(leakEnv, os.Getenv(leakEnv)) // Main sets it
	release := make(chan struct{})
	leak := func() { go func() { <-release }() }
	leak()
	if left := goroutinesLeft(); !strings.Contains(strings.Join(left, "\n"), "TestLeaks") {
		t.Errorf("a blocked goroutine is not seen: %q", left)
	}
	// Main waits for what goes away by itself.
	code := Main(runner(func() int {
		time.AfterFunc(10*leakPoll, func() { close(release) })
		return 0
	}))
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := Main(runner(func() int { return 7 })); code != 7 {
		t.Errorf("exit code %d of tests that failed with 7", code)
	}
}

func TestProcessLeaks(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	if left := processesLeft("nobody"); len(left) > 0 {
		t.Fatalf("before: %q", left)
	}
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	left := processesLeft("nobody")
	child.Process.Kill()
	child.Wait()
	if len(left) != 1 || !strings.Contains(left[0], "sleep") {
		t.Errorf("a child is not seen: %q", left)
	}
	if left := processesLeft("nobody"); len(left) > 0 {
		t.Errorf("after: %q", left)
	}
}
