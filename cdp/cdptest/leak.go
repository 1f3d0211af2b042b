package cdptest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// leakTimeout is how long what tests leave has to go away by itself.
	leakTimeout = 30 * time.Second
	leakPoll    = 20 * time.Millisecond
	// maxStacks bounds what is read of the goroutines' stacks.
	maxStacks = 16 << 20
	// leakEnv marks the processes that tests start, and those that these start.
	leakEnv = "ASTER_TEST_LEAK_MARK"
)

// profiles are the directories of the browsers' profiles, until they are removed.
var profiles struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// Main runs the tests of a package for its TestMain, closes the browsers of [Shared], and
// returns the exit code: not zero, too, where goroutines, processes or profiles of browsers
// are left half a minute after tests that passed. Processes are seen on Linux only, and
// those that were started with another environment only as children of this one.
func Main(m interface{ Run() int }) int {
	mark := strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	os.Setenv(leakEnv, mark)
	code := m.Run()
	CloseShared()
	if code != 0 {
		return code
	}
	var left []string
	for end := time.Now().Add(leakTimeout); ; time.Sleep(leakPoll) {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		left = append(goroutinesLeft(), append(processesLeft(mark), profilesLeft()...)...)
		if len(left) == 0 {
			return 0
		}
		if time.Now().After(end) {
			fmt.Fprintf(os.Stderr, "FAIL: left by the tests:\n\n%s\n", strings.Join(left, "\n\n"))
			return 1
		}
	}
}

// ownGoroutines begin the last line of goroutines that belong to no test: "created by".
var ownGoroutines = []string{"os/signal.", "runtime.", "runtime/", "testing.", "internal/fuzz."}

// goroutinesLeft are the stacks of all goroutines but this one and those of the runtime.
func goroutinesLeft() (left []string) {
	buf := make([]byte, 64<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) && n < maxStacks {
		buf = make([]byte, 4*len(buf))
		n = runtime.Stack(buf, true)
	}
	stacks := strings.Split(strings.TrimSpace(string(buf[:n])), "\n\n")
	for _, stack := range stacks[1:] { // the first is this one
		_, by, ok := strings.Cut(stack, "\ncreated by ")
		for _, prefix := range ownGoroutines {
			ok = ok && !strings.HasPrefix(by, prefix)
		}
		if ok {
			left = append(left, stack)
		}
	}
	return left
}

// processesLeft are the command lines of this process's children and of processes with the
// mark, where there is a /proc.
func processesLeft(mark string) (left []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	own := strconv.Itoa(os.Getpid())
	for _, dir := range dirs {
		if filepath.Base(dir) == own {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
		fields := strings.Fields(rest) // state, parent, …
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		marked := bytes.Contains(append([]byte{0}, env...), []byte("\x00"+leakEnv+"="+mark+"\x00"))
		if marked || len(fields) > 1 && fields[1] == own {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			left = append(left, fmt.Sprintf("process %s (%s): %s", filepath.Base(dir), strings.Join(fields[:min(len(fields), 1)], ""), bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return left
}

// profilesLeft are the directories of profiles that are still there.
func profilesLeft() (left []string) {
	profiles.mu.Lock()
	defer profiles.mu.Unlock()
	for dir := range profiles.dirs {
		if _, err := os.Stat(dir); err == nil {
			left = append(left, "profile "+dir)
		}
	}
	return left
}

// keepProfile has Main look for a profile's directory.
func keepProfile(dir string) {
	profiles.mu.Lock()
	defer profiles.mu.Unlock()
	if profiles.dirs == nil {
		profiles.dirs = map[string]bool{}
	}
	profiles.dirs[dir] = true
}
