package cdp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// TestLaunchDistrustsOldFiles has a port file whose port another browser has now, one
// that asks for consent and one that does not.
func TestLaunchDistrustsOldFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browsers are shell scripts")
	}
	for _, consent := range []bool{false, true} {
		other := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: consent})
		dir := t.TempDir()
		profile, exe := filepath.Join(dir, "profile"), filepath.Join(dir, "browser")
		other.WritePortFile(t, profile)
		other.Restart()
		if err := os.WriteFile(exe, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: profile, Executable: exe})
		if err == nil || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("consent %v: got %+v, %v", consent, l, err)
		}
	}
}

// TestLaunchTakesABrowserThatAsks gives way to one that runs on the profile with the
// toggle of chrome://inspect on.
func TestLaunchTakesABrowserThatAsks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browser is a shell script")
	}
	other := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true})
	dir := t.TempDir()
	profile, exe := filepath.Join(dir, "profile"), filepath.Join(dir, "browser")
	if err := os.Mkdir(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("host-1", filepath.Join(profile, "SingletonLock")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nexit 21\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // file times are no finer than the kernel's clock tick
	other.WritePortFile(t, profile)
	l, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: profile, Executable: exe})
	if err != nil || !l.Reused() || !l.Endpoint.Consent || l.Endpoint.WS != other.WS() || other.Upgrades() != 0 {
		t.Errorf("got %+v, %v, %d websockets", l, err, other.Upgrades())
	}
}

// TestLaunchKnowsItsOwn tells the browser that was started from one that was there.
func TestLaunchKnowsItsOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browsers are shell scripts")
	}
	other := cdptest.NewEndpoint(t, nil)
	dir := t.TempDir()
	other.WritePortFile(t, dir)
	const host = `$(uname -n)`
	for name, tt := range map[string]struct {
		lock   string // what its lock on the profile says
		then   string // what it does when the port is open
		reused bool
	}{
		"prints its address":   {"", "echo DevTools listening on " + other.WS() + " >&2; exec sleep 600", false},
		"says nothing":         {"", "exec sleep 600", false},
		"gives way":            {"", "sleep 0.3; exit 0", true},
		"gives way and fails":  {"", "sleep 0.3; exit 21", true},
		"other browser's line": {"", "echo DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2; sleep 0.3; exit 0", true},
		"holds the lock":       {host + "-$$", "exec sleep 600", false},
		"gives way late":       {host + "-$PPID", "exec sleep 600", true},
		"old lock":             {host + "-999999999", "sleep 0.3; exit 21", true},
		"lock of another host": {"elsewhere-1", "sleep 0.3; exit 21", true},
	} {
		profile, exe := filepath.Join(t.TempDir(), "profile"), filepath.Join(t.TempDir(), "browser")
		text := fmt.Sprintf("#!/bin/sh\ncd '%s' && ln -s \"%s\" SingletonLock\ncp '%s/DevToolsActivePort' .\n%s\n", profile, tt.lock, dir, tt.then)
		if tt.lock == "" {
			text = strings.Replace(text, `&& ln -s "" SingletonLock`, "", 1)
		}
		if err := os.WriteFile(exe, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: profile, Executable: exe})
		if err != nil || l.Reused() != tt.reused || l.Endpoint.WS != other.WS() {
			t.Errorf("%s: got %+v, %v", name, l, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-l.Done():
			t.Errorf("%s: done, but its browser answers", name)
		default:
		}
	}
}

func TestLaunchFailures(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browsers are shell scripts")
	}
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "browser")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dir := t.TempDir()
	tests := map[string]struct {
		opts *cdp.LaunchOptions
		says []string
	}{
		"no options":        {nil, []string{"profile directory"}},
		"no profile":        {&cdp.LaunchOptions{}, []string{"profile directory"}},
		"own port":          {&cdp.LaunchOptions{ProfileDir: dir, Args: []string{"--remote-debugging-port=9222"}}, []string{"remote-debugging-port"}},
		"open address":      {&cdp.LaunchOptions{ProfileDir: dir, Args: []string{"-remote-debugging-address=0.0.0.0"}}, []string{"remote-debugging-address"}},
		"own profile":       {&cdp.LaunchOptions{ProfileDir: dir, Args: []string{"--user-data-dir=/x"}}, []string{"user-data-dir"}},
		"missing":           {&cdp.LaunchOptions{ProfileDir: dir, Executable: "/no/such/browser"}, []string{"/no/such/browser"}},
		"crash":             {&cdp.LaunchOptions{ProfileDir: dir, Headless: true, Executable: script("echo something is wrong >&2; exit 3")}, []string{"exit code 3", "something is wrong"}},
		"noisy crash":       {&cdp.LaunchOptions{ProfileDir: dir, Headless: true, Executable: script("head -c 100000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 3")}, []string{"the end"}},
		"no screen":         {&cdp.LaunchOptions{ProfileDir: dir, GOOS: "linux", Getenv: func(string) string { return "" }, Executable: script("exit 1")}, []string{"no screen", "--headless"}},
		"file in its place": {&cdp.LaunchOptions{ProfileDir: script("")}, []string{"profile directory"}},
	}
	for name, tt := range tests {
		_, err := cdp.Launch(soon(t), tt.opts)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range tt.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is missing in: %v", name, want, err)
			}
		}
		if len(err.Error()) > 6000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

// TestLaunchEndsWithItsContext leaves nothing behind.
func TestLaunchEndsWithItsContext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browser is a shell script")
	}
	dir := t.TempDir()
	exe, alive := filepath.Join(dir, "browser"), filepath.Join(dir, "alive")
	// A browser that never listens, with a child as browsers have.
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nsleep 600 &\necho $! >"+alive+".tmp; mv "+alive+".tmp "+alive+"\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(alive); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := cdp.Launch(ctx, &cdp.LaunchOptions{ProfileDir: filepath.Join(dir, "profile"), Headless: true, Executable: exe})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	pid, err := os.ReadFile(alive)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("its child lives on")
		}
	}
}

// TestLaunchArguments looks at the command line that a browser gets.
func TestLaunchArguments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake browser is a shell script")
	}
	dir := t.TempDir()
	exe, out := filepath.Join(dir, "browser"), filepath.Join(dir, "args")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >"+out+"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(dir, "profile")
	args := func(opts cdp.LaunchOptions) []string {
		t.Helper()
		opts.Executable, opts.ProfileDir = exe, profile
		cdp.Launch(soon(t), &opts)
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	want := []string{"--user-data-dir=" + profile, "--remote-debugging-port=0", "--enable-features=WebMCP", "--no-first-run", "--no-default-browser-check"}
	root := runtime.GOOS == "linux" && os.Geteuid() == 0
	if root {
		want = append(want, "--no-sandbox")
	}
	if got := args(cdp.LaunchOptions{}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = slices.Concat(want[:2], []string{"--enable-features=WebMCP,A,B,C"}, want[3:5], []string{"--headless"}, want[5:], []string{"--lang=de", "http://localhost/"})
	if got := args(cdp.LaunchOptions{Headless: true, Args: []string{"--enable-features=A,B", "--lang=de", "--enable-features=WebMCP,C,A", "http://localhost/"}}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
