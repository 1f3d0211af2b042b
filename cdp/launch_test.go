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

// removeSoon removes a profile that a browser may still be letting go of: its last
// processes make the directory anew.
func removeSoon(dir string) {
	for range 100 {
		err := os.RemoveAll(dir)
		time.Sleep(100 * time.Millisecond)
		if _, gone := os.Stat(dir); err == nil && gone != nil {
			return
		}
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
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
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
	ours := 0
	for _, l := range all {
		if !l.Reused() {
			ours++
		}
		if l.Endpoint.WS != all[0].Endpoint.WS {
			t.Errorf("two browsers: %s and %s", l.Endpoint.WS, all[0].Endpoint.WS)
		}
	}
	if ours != 1 {
		lock, _ := os.Readlink(filepath.Join(dir, "SingletonLock"))
		port, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		t.Errorf("%d of %d callers take the browser for theirs; the lock is of %s, the port %q", ours, n, lock, port)
		for _, l := range all {
			t.Logf("%s: reused %v, gone %v", l.Endpoint.WS, l.Reused(), gone(l.Endpoint.WS))
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
	case <-time.After(time.Minute):
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
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
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
