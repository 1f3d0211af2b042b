package cdp_test

import (
	"context"
	"encoding/json"
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

// quiet are arguments that keep a test's browser off the network and the keyring.
var quiet = []string{"--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
	"--disable-dev-shm-usage", "--password-store=basic", "--use-mock-keychain", "--mute-audio"}

// profileDir is a fresh directory that outlasts the browser's last writes.
func profileDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "aster-launch-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeSoon(dir) })
	return dir
}

// removeSoon removes a profile that a browser may still be letting go of.
func removeSoon(dir string) {
	for range 100 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func unmarshal(t *testing.T, c *cdptest.Conn, session, method string, params, result any) {
	t.Helper()
	raw, err := c.Call(soon(t), session, method, params)
	if err == nil {
		err = json.Unmarshal(raw, result)
	}
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func launch(t *testing.T, opts *cdp.LaunchOptions) *cdp.Launched {
	t.Helper()
	opts.Executable = cdptest.Require(t)
	opts.Args = append(slices.Clone(quiet), opts.Args...)
	l, err := cdp.Launch(soon(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// evaluate asks the browser at ws for the value of an expression in a new secure page.
func evaluate(t *testing.T, ws, js string) string {
	t.Helper()
	b, err := cdptest.Dial(soon(t), ws)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var target struct{ TargetID string }
	unmarshal(t, b, "", "Target.createTarget", map[string]any{"url": cdptest.Serve(t).Page("/x", "<title>x</title>")}, &target)
	var session struct{ SessionID string }
	unmarshal(t, b, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	var result struct{ Result struct{ Value any } }
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		unmarshal(t, b, session.SessionID, "Runtime.evaluate", map[string]any{"expression": "document.title && String(" + js + ")"}, &result)
		if s, _ := result.Result.Value.(string); s != "" {
			return s
		}
	}
	t.Fatal("the page did not load")
	return ""
}

func gone(ws string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := cdptest.Dial(ctx, ws)
	if err == nil {
		c.Close()
	}
	return err != nil
}

func TestLaunch(t *testing.T) {
	dir := filepath.Join(profileDir(t), "made", "for it")
	l := launch(t, &cdp.LaunchOptions{ProfileDir: dir, Headless: true, Args: []string{"--enable-features=SkiaGraphite,WebMCP"}})
	e := l.Endpoint
	if l.Reused() || e.Consent || e.HTTP == "" || e.Browser == "" || e.PortFile != filepath.Join(dir, "DevToolsActivePort") || !strings.Contains(e.Source, dir) {
		t.Errorf("endpoint %+v, reused %v", e, l.Reused())
	}
	if got := evaluate(t, e.WS, "typeof document.modelContext"); got != "object" {
		t.Errorf("typeof document.modelContext is %s: WebMCP is off", got)
	}
	select {
	case <-l.Done():
		t.Error("done while it runs")
	default:
	}
	start := time.Now()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("closed in %v", time.Since(start))
	<-l.Done()
	if !gone(e.WS) {
		t.Error("the browser runs after Close")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestLaunchTakesARunningBrowser leaves the browser of an earlier launch alone.
func TestLaunchTakesARunningBrowser(t *testing.T) {
	dir := profileDir(t)
	first := launch(t, &cdp.LaunchOptions{ProfileDir: dir, Headless: true})
	second := launch(t, &cdp.LaunchOptions{ProfileDir: dir, Headless: true})
	if !second.Reused() || second.Done() != nil || second.Endpoint.WS != first.Endpoint.WS {
		t.Errorf("second: %+v, reused %v; first: %+v", second.Endpoint, second.Reused(), first.Endpoint)
	}
	if err := second.Close(); err != nil || gone(first.Endpoint.WS) {
		t.Errorf("closing the second ended the browser (%v)", err)
	}
	// Killed, it leaves its file and locks behind: the next launch starts afresh.
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third := launch(t, &cdp.LaunchOptions{ProfileDir: dir, Headless: true})
	if third.Reused() || third.Endpoint.WS == first.Endpoint.WS {
		t.Errorf("third: %+v, reused %v", third.Endpoint, third.Reused())
	}
}

// TestLaunchAtOnce starts several on one profile: one browser comes of it, and every
// caller has it.
func TestLaunchAtOnce(t *testing.T) {
	dir := profileDir(t)
	exe := cdptest.Require(t)
	type result struct {
		l   *cdp.Launched
		err error
	}
	results := make(chan result)
	const n = 3
	for range n {
		go func() {
			l, err := cdp.Launch(context.Background(), &cdp.LaunchOptions{ProfileDir: dir, Headless: true, Executable: exe, Args: quiet})
			results <- result{l, err}
		}()
	}
	var all []*cdp.Launched
	for range n {
		r := <-results
		if r.err != nil {
			t.Error(r.err)
			continue
		}
		defer r.l.Close()
		all = append(all, r.l)
	}
	for _, l := range all[min(1, len(all)):] {
		if l.Endpoint.WS != all[0].Endpoint.WS {
			t.Errorf("two browsers: %s and %s", l.Endpoint.WS, all[0].Endpoint.WS)
		}
	}
}

// TestLaunchSeesTheEnd kills the browser from outside.
func TestLaunchSeesTheEnd(t *testing.T) {
	l := launch(t, &cdp.LaunchOptions{ProfileDir: profileDir(t), Headless: true})
	b, err := cdptest.Dial(soon(t), l.Endpoint.WS)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Call(soon(t), "", "Browser.close", nil)
	select {
	case <-l.Done():
	case <-time.After(20 * time.Second):
		t.Error("Done is still open")
	}
}

func TestLaunchOnAProfileInUse(t *testing.T) {
	exe := cdptest.Require(t)
	dir := profileDir(t)
	flags := slices.DeleteFunc(cdptest.Flags(dir, 0, false), func(f string) bool { return strings.HasPrefix(f, "--remote-debugging-port") })
	cmd := exec.Command(exe, append(flags, "about:blank")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	lock := filepath.Join(dir, "SingletonLock")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(lock); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Skip("this browser locks its profile in another way")
		}
	}
	if err := exec.Command("touch", "-h", "-d", "2 minutes ago", lock).Run(); err != nil {
		t.Log("the lock stays young, and the error comes late: ", err)
	}
	_, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: dir, Headless: true, Executable: exe, Args: quiet})
	if !errors.Is(err, cdp.ErrProfileInUse) {
		t.Errorf("error is %v", err)
	}
	if cmd.ProcessState != nil {
		t.Error("the other browser was ended")
	}
}

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

// TestLaunchWithAWindow is the default mode, on a screen that draws nothing.
func TestLaunchWithAWindow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the headless platform is for Linux")
	}
	dir := profileDir(t)
	screen := []string{"--ozone-platform=headless"}
	l := launch(t, &cdp.LaunchOptions{ProfileDir: dir, Args: screen})
	if got := evaluate(t, l.Endpoint.WS, "navigator.userAgent"); strings.Contains(got, "Headless") {
		t.Errorf("it is headless: %s", got)
	}
	// Another start opens a tab in it and ends with code 0. It takes the first one as
	// soon as its port is known.
	b, err := cdptest.Dial(soon(t), l.Endpoint.WS)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	file, err := os.ReadFile(l.Endpoint.PortFile)
	if err == nil {
		err = os.Remove(l.Endpoint.PortFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	// On a slow machine the first one would else be too old to be waited for.
	if err := exec.Command("touch", "-h", "-d", "2 minutes", filepath.Join(dir, "SingletonLock")).Run(); err != nil {
		t.Log("the lock keeps its age: ", err)
	}
	pages := make(chan struct{}, 100)
	b.Subscribe(func(e cdptest.Event) {
		if e.Method == "Target.targetInfoChanged" && strings.Contains(string(e.Params), "data:,handover") {
			pages <- struct{}{}
		}
	})
	if _, err := b.Call(soon(t), "", "Target.setDiscoverTargets", map[string]any{"discover": true}); err != nil {
		t.Fatal(err)
	}
	result := make(chan *cdp.Launched)
	go func() {
		second, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: dir, Executable: cdptest.Find(), Args: append(append(screen, quiet...), "data:,handover")})
		if err != nil {
			t.Error(err)
		}
		result <- second
	}()
	select {
	case <-pages:
	case <-soon(t).Done():
		t.Error("no tab was opened")
	}
	if err := os.WriteFile(l.Endpoint.PortFile, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if second := <-result; second != nil && (!second.Reused() || second.Endpoint.WS != l.Endpoint.WS) {
		t.Errorf("got %+v, reused %v", second.Endpoint, second.Reused())
	}
	if gone(l.Endpoint.WS) {
		t.Error("the first one was ended")
	}
}

func TestFindExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no execute bits to tell programs by")
	}
	root := t.TempDir()
	put := func(path string, mode os.FileMode) string {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := map[string]string{
		"PATH":         filepath.Join(root, "a") + string(filepath.ListSeparator) + "relative" + string(filepath.ListSeparator) + filepath.Join(root, "b"),
		"ProgramFiles": filepath.Join(root, "pf"), "ProgramFiles(x86)": filepath.Join(root, "pf86"), "LOCALAPPDATA": filepath.Join(root, "local"),
	}
	find := func(goos string) (string, string, error) {
		return cdp.FindExecutable(&cdp.LaunchOptions{GOOS: goos, Home: filepath.Join(root, "home"), Getenv: func(k string) string { return env[k] }})
	}
	t.Chdir(root)
	put("relative/google-chrome", 0o700)
	put("a/google-chrome-stable", 0o600) // not executable
	for goos, hint := range map[string]string{"linux": "apt install chromium", "windows": "winget", "darwin": "brew"} {
		if goos == "darwin" && runtime.GOOS == "darwin" {
			continue // /Applications is the real one
		}
		if name, path, err := find(goos); !errors.Is(err, cdp.ErrNoExecutable) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s, nothing installed: %s, %s, %v", goos, name, path, err)
		}
	}
	// Each browser put down is preferred to those before it.
	for _, tt := range []struct{ goos, path, name string }{
		{"linux", "b/brave-browser", "Brave"},
		{"linux", "b/chromium-browser", "Chromium"},
		{"linux", "a/chromium", "Chromium"},
		{"linux", "b/microsoft-edge-dev", "Edge (dev)"},
		{"linux", "b/microsoft-edge", "Edge (stable)"},
		{"linux", "b/google-chrome-unstable", "Chrome (dev)"},
		{"linux", "b/google-chrome", "Chrome (stable)"},
		{"linux", "b/google-chrome-stable", "Chrome (stable)"},
		{"windows", "local/BraveSoftware/Brave-Browser/Application/brave.exe", "Brave"},
		{"windows", "local/Chromium/Application/chrome.exe", "Chromium"},
		{"windows", "pf86/Microsoft/Edge/Application/msedge.exe", "Edge (stable)"},
		{"windows", "local/Google/Chrome SxS/Application/chrome.exe", "Chrome (canary)"},
		{"windows", "local/Google/Chrome/Application/chrome.exe", "Chrome (stable)"},
		{"windows", "pf/Google/Chrome/Application/chrome.exe", "Chrome (stable)"},
		{"darwin", "home/Applications/Brave Browser.app/Contents/MacOS/Brave Browser", "Brave"},
		{"darwin", "home/Applications/Chromium.app/Contents/MacOS/Chromium", "Chromium"},
		{"darwin", "home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "Edge (stable)"},
		{"darwin", "home/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "Chrome (stable)"},
	} {
		if tt.goos == "darwin" && runtime.GOOS == "darwin" {
			continue
		}
		want := put(tt.path, 0o700)
		if name, path, err := find(tt.goos); name != tt.name || path != want || err != nil {
			t.Errorf("%s: got %s, %s, %v, want %s, %s", tt.goos, name, path, err, tt.name, want)
		}
	}
}

// TestFindsABrowserThatAsks runs a real browser with the toggle of chrome://inspect on.
func TestFindsABrowserThatAsks(t *testing.T) {
	exe := cdptest.Require(t)
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "chromium")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeSoon(dir) })
	state := `{"devtools":{"remote_debugging":{"user-enabled":true}}}`
	if err := os.WriteFile(filepath.Join(dir, "Local State"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	// The browser takes its port from the file of its last start.
	old := fmt.Sprintf("%d\n/devtools/browser/00000000-0000-4000-8000-000000000000", freePort(t))
	if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := slices.DeleteFunc(cdptest.Flags(dir, 0, false), func(f string) bool { return strings.HasPrefix(f, "--remote-debugging-port") })
	cmd := exec.Command(exe, append(flags, "about:blank")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })

	opts := elsewhere(t)
	opts.Home = home
	f, err := cdp.NewFinder("auto", opts)
	if err != nil {
		t.Fatal(err)
	}
	stale := cdp.Endpoint{WS: strings.Replace("ws://127.0.0.1:"+old, "\n", "", 1)}
	e, _, err := f.Await(soon(t), stale, nil)
	if err != nil || !e.Consent || e.HTTP != "" || e.Browser != "Chromium" || e.WS == stale.WS {
		t.Fatalf("got %+v, %v", e, err)
	}
	port := strings.TrimPrefix(e.WS, "ws://")
	f, err = cdp.NewFinder("http://"+port[:strings.Index(port, "/")], opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := find(t, f); err != nil || got.WS != e.WS || !got.Consent {
		t.Errorf("by its port: got %+v, %v, want %s", got, err, e.WS)
	}
}
