package cdptest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// StartTimeout bounds the wait for a started browser to print its endpoint.
const StartTimeout = 30 * time.Second

// Options configures [New]. The zero value is a headless browser without native WebMCP.
type Options struct {
	Native bool     // start with --enable-features=WebMCP
	Args   []string // further command line flags, after the standard ones
	// ProfileDir is the profile directory; empty means a fresh one that the test removes.
	ProfileDir string
	// Port is the debugging port; 0 lets the browser choose a free one.
	Port int
}

// Browser is a running Chromium that belongs to one test. Its methods may be
// called from any goroutine.
type Browser struct {
	// WS is the browser's websocket URL, HTTP its http://host:port.
	WS, HTTP string
	// ProfileDir holds the DevToolsActivePort file.
	ProfileDir string

	opts Options
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	mu   sync.Mutex
	user *Conn // the test's own connection; made on first use, guarded by mu
}

// Find returns the path of an installed Chromium or Chrome, or "".
func Find() string {
	if p := os.Getenv("ASTER_TEST_CHROME"); p != "" {
		return p
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	if runtime.GOOS == "darwin" {
		for _, p := range []string{"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
			if _, err := os.Stat(p); err == nil {
				return p
			}
		}
	}
	return ""
}

// Require returns the path of a browser. Without one it skips the test, or fails it
// where ASTER_TEST_BROWSER is "required".
func Require(t testing.TB) string {
	t.Helper()
	p := Find()
	if p == "" {
		if os.Getenv("ASTER_TEST_BROWSER") == "required" {
			t.Fatal("no Chromium found, and ASTER_TEST_BROWSER=required: install the package chromium")
		}
		t.Skip("no Chromium found: install the package chromium")
	}
	return p
}

// New starts a browser and stops it when the test ends.
func New(t testing.TB, opts *Options) *Browser {
	t.Helper()
	b, cleanup := start(t, opts)
	t.Cleanup(cleanup)
	return b
}

func start(t testing.TB, opts *Options) (b *Browser, cleanup func()) {
	t.Helper()
	exe := Require(t)
	b, cleanup = &Browser{}, func() {}
	if opts != nil {
		b.opts = *opts
	}
	b.ProfileDir = b.opts.ProfileDir
	if b.ProfileDir == "" {
		dir, err := os.MkdirTemp("", "aster-cdptest-")
		if err != nil {
			t.Fatal(err)
		}
		b.ProfileDir = dir
		keepProfile(dir)
		cleanup = func() { removeAll(dir) }
	}
	if err := b.start(exe); err != nil {
		cleanup()
		t.Fatal(err)
	}
	remove := cleanup
	return b, func() { b.Kill(); remove() }
}

var shared struct {
	mu      sync.Mutex
	byMode  map[bool]*Browser
	cleanup []func()
}

// Shared is a browser that the tests of a package use one after the other: starting
// one takes longer than most tests. The tabs that a test opens are closed at its end;
// a test that kills the browser, or wants flags of its own, takes [New]. TestMain must
// call [Main], or [CloseShared].
func Shared(t testing.TB, native bool) *Browser {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if b := shared.byMode[native]; b != nil {
		select {
		case <-b.done: // somebody killed it
		default:
			return b
		}
	}
	b, cleanup := start(t, &Options{Native: native})
	if shared.byMode == nil {
		shared.byMode = map[bool]*Browser{}
	}
	shared.byMode[native] = b
	shared.cleanup = append(shared.cleanup, cleanup)
	return b
}

// CloseShared ends the browsers of [Shared].
func CloseShared() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, f := range shared.cleanup {
		f()
	}
	shared.byMode, shared.cleanup = nil, nil
}

// removeAll removes a profile; a browser that is still letting go of its files gets a few tries.
func removeAll(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Flags are the standard command line flags of a test browser.
func Flags(profileDir string, port int, native bool) []string {
	flags := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--disable-dev-shm-usage", "--password-store=basic", "--use-mock-keychain", "--mute-audio",
		// Every name resolves to this machine, so that pages of several sites can be served.
		"--host-resolver-rules=MAP * 127.0.0.1,EXCLUDE localhost",
		"--user-data-dir=" + profileDir, fmt.Sprintf("--remote-debugging-port=%d", port),
	}
	if native {
		flags = append(flags, "--enable-features=WebMCP")
	}
	return flags
}

func (b *Browser) start(exe string) error {
	args := append(Flags(b.ProfileDir, b.opts.Port, b.opts.Native), b.opts.Args...)
	cmd := exec.Command(exe, append(args, "about:blank")...)
	setGroup(cmd)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	found := make(chan string, 1)
	go func() {
		var tail strings.Builder
		listens := false
		sc := bufio.NewScanner(stderr)
		for sc.Scan() {
			if _, ws, ok := strings.Cut(sc.Text(), "DevTools listening on "); ok && !listens {
				listens = true
				found <- ws
			} else if tail.Len() < 4096 {
				fmt.Fprintln(&tail, sc.Text())
			}
		}
		cmd.Wait()
		if !listens {
			fmt.Fprintln(os.Stderr, tail.String())
			found <- ""
		}
		close(done)
	}()
	select {
	case ws := <-found:
		if ws == "" {
			return fmt.Errorf("%s ended before it listened", exe)
		}
		b.cmd, b.done, b.WS = cmd, done, ws
		host, _, _ := strings.Cut(strings.TrimPrefix(ws, "ws://"), "/")
		b.HTTP = "http://" + host
		return nil
	case <-time.After(StartTimeout):
		killGroup(cmd)
		return fmt.Errorf("%s did not listen within %v", exe, StartTimeout)
	}
}

// PID is the browser's process ID.
func (b *Browser) PID() int { return b.cmd.Process.Pid }

// Kill ends the browser at once, with all its processes.
func (b *Browser) Kill() {
	b.mu.Lock()
	user := b.user
	b.user = nil
	b.mu.Unlock()
	killGroup(b.cmd)
	<-b.done
	if user != nil {
		user.Close()
	}
}

// Restart starts the browser again after Kill, with the same profile and flags.
// WS and HTTP change unless a port was given.
func (b *Browser) Restart(t testing.TB) {
	t.Helper()
	for _, name := range []string{"SingletonLock", "SingletonCookie", "SingletonSocket", "DevToolsActivePort"} {
		os.Remove(filepath.Join(b.ProfileDir, name))
	}
	if err := b.start(Require(t)); err != nil {
		t.Fatal(err)
	}
}

// User is the test's own connection to the browser, apart from the one under test.
func (b *Browser) User(t testing.TB) *Conn {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.user == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		c, err := Dial(ctx, b.WS)
		if err != nil {
			t.Fatal(err)
		}
		b.user = c
	}
	return b.user
}

// Renderers lists the process IDs of the browser's renderers (Linux only).
func (b *Browser) Renderers(t testing.TB) []int {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range procs {
		line, err := os.ReadFile(p)
		if err != nil || !strings.Contains(string(line), "--type=renderer") {
			continue
		}
		var pid int
		fmt.Sscanf(filepath.Base(filepath.Dir(p)), "%d", &pid)
		if pgid, err := getpgid(pid); err == nil && pgid == b.PID() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Signal sends sig to pid and fails the test on an error.
func Signal(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}
