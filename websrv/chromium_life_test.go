package websrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// eventually waits for a condition that a busy machine may take long to bring about.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after a minute: %s", what)
		}
	}
}

// withProfilesIn makes Chromium's profiles go to a directory of the test.
func withProfilesIn(t *testing.T) (left func() []string) {
	dir, err := os.MkdirTemp("", "websrv-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return func() []string {
		list, _ := filepath.Glob(filepath.Join(dir, "chromedp-runner*"))
		return list
	}
}

// processesOf are the browser processes that use a profile in one of the directories.
func processesOf(dirs []string) (n int) {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		line, _ := os.ReadFile(p)
		for _, d := range dirs {
			if strings.Contains(string(line), "--user-data-dir="+d) {
				n++
			}
		}
	}
	return n
}

func TestChromiumStopsWhenIdle(t *testing.T) {
	needChromium(t)
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc, and TMPDIR")
	}
	profiles := withProfilesIn(t)
	_, n := openPages(t, networkOptions{ChromiumIdle: 300 * time.Millisecond})
	if len(profiles()) != 0 {
		t.Fatal("a browser runs before it is needed")
	}
	for range 2 { // it starts again
		if _, err := n.render(testContext(t, browserTime), "http://shell.example/", renderOptions{Timeout: browserTime}); err != nil {
			t.Fatal(err)
		}
		dirs := profiles()
		eventually(t, "no profile is left", func() bool { return len(profiles()) == 0 })
		eventually(t, "no process is left", func() bool { return processesOf(dirs) == 0 })
	}
	n.renderer.mu.Lock()
	defer n.renderer.mu.Unlock()
	if n.renderer.run != nil {
		t.Error("a run is left")
	}
}

func TestChromiumCloses(t *testing.T) {
	needChromium(t)
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc, and TMPDIR")
	}
	profiles := withProfilesIn(t)
	_, n := openPages(t, networkOptions{})
	done := make(chan error, 1)
	go func() {
		_, err := n.render(testContext(t, browserTime), "http://hang.example/", renderOptions{Timeout: browserTime})
		done <- err
	}()
	eventually(t, "the page is being loaded", func() bool {
		n.renderer.mu.Lock()
		defer n.renderer.mu.Unlock()
		r := n.renderer.run
		if r == nil || n.renderer.users == 0 {
			return false
		}
		select {
		case <-r.ready:
			return true
		default:
			return false
		}
	})
	dirs := profiles()
	if len(dirs) != 1 || processesOf(dirs) == 0 {
		t.Fatalf("%d profiles, %d processes", len(dirs), processesOf(dirs))
	}
	n.Close()
	if len(profiles()) != 0 || processesOf(dirs) != 0 {
		t.Errorf("after Close: %d profiles, %d processes", len(profiles()), processesOf(dirs))
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("after Close, in the temporary directory: %v, %v", left, err)
	}
	if err := <-done; !errors.Is(err, errBrowser) {
		t.Errorf("the page under way: %v, want errBrowser", err)
	}
	if _, err := n.render(testContext(t, browserTime), "http://shell.example/", renderOptions{}); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v, want errClosed", err)
	}
}

func TestChromiumStartsAgainAfterACrash(t *testing.T) {
	_, n := openPages(t, networkOptions{})
	load := func() error {
		r, err := n.render(testContext(t, browserTime), "http://shell.example/", renderOptions{Timeout: browserTime})
		if err == nil && r.Title != "Shell" {
			return errors.New("no page")
		}
		return err
	}
	if err := load(); err != nil {
		t.Fatal(err)
	}
	run := n.renderer.run
	chromedp.FromContext(run.ctx).Browser.Process().Kill()
	<-run.ctx.Done()
	if err := load(); err != nil {
		t.Errorf("after a crash: %v", err)
	}
}

// TestChromiumDiesWithItsParent runs this test binary again, as a parent that is killed.
func TestChromiumDiesWithItsParent(t *testing.T) {
	needChromium(t)
	if os.Getenv("ASTER_TEST_PARENT") != "" {
		_, n := openPages(t, networkOptions{})
		if _, err := n.render(testContext(t, browserTime), "http://shell.example/", renderOptions{Timeout: browserTime}); err != nil {
			t.Fatal(err)
		}
		fmt.Println("RENDERED")
		select {}
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc, and TMPDIR")
	}
	profiles := withProfilesIn(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestChromiumDiesWithItsParent$")
	cmd.Env = append(os.Environ(), "ASTER_TEST_PARENT=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	var text strings.Builder
	for !strings.Contains(text.String(), "RENDERED") {
		k, err := out.Read(buf)
		text.Write(buf[:k])
		if err != nil {
			break
		}
	}
	dirs := profiles()
	running := processesOf(dirs)
	cmd.Process.Kill()
	cmd.Wait()
	if running == 0 {
		t.Fatalf("no browser ran: %s", text.String())
	}
	eventually(t, "no process is left", func() bool { return processesOf(dirs) == 0 })
}

// waiting is a resolver that does not answer.
type waiting struct{}

func (waiting) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestConfiguredTimeoutOfPages checks that the time that is configured for requests is that
// of pages, too.
func TestConfiguredTimeoutOfPages(t *testing.T) {
	n, err := newNetwork(&networkOptions{Chromium: chromiumOff, Timeout: 7 * time.Millisecond, Resolver: waiting{}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := n.render(testContext(t, time.Minute), "http://slow.example/", renderOptions{}); !errors.Is(err, errTimeout) || !strings.Contains(err.Error(), "7ms") {
		t.Errorf("got %v, want errTimeout after 7ms", err)
	}
}

func TestNoChromium(t *testing.T) {
	w := newFakeWeb(t)
	w.host("a.example", htmlPage("x"))
	for _, path := range []string{"off", filepath.Join(t.TempDir(), "none")} {
		n := w.open(networkOptions{Chromium: path})
		if _, err := n.render(testContext(t, time.Minute), "http://a.example/", renderOptions{}); !errors.Is(err, errNoBrowser) || !strings.Contains(err.Error(), "mcp.web.chromium") {
			t.Errorf("%s: got %v, want errNoBrowser with the next step", path, err)
		}
	}
}

func TestChromiumThatDoesNotStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := newFakeWeb(t)
	w.host("a.example", htmlPage("x"))
	n := w.open(networkOptions{Chromium: path})
	for range 2 {
		if _, err := n.render(testContext(t, time.Minute), "http://a.example/", renderOptions{Timeout: time.Minute}); !errors.Is(err, errBrowser) {
			t.Errorf("got %v, want errBrowser", err)
		}
	}
}

// proxyRequest sends text to a proxy and returns what it answers until it closes.
func proxyRequest(t *testing.T, p *proxy, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if !strings.Contains(text, "Connection: ") {
		text = strings.Replace(text, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
	}
	io.WriteString(c, text)
	b, _ := io.ReadAll(io.LimitReader(c, 64<<10))
	return string(b)
}

func TestProxy(t *testing.T) {
	w := insideWeb(t)
	w.host("pub.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Keep-Alive", "x")
		fmt.Fprintf(rw, "host=%s proxy=%q via=%q te=%q named=%q", r.Host, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Forwarded-For"), r.Header.Get("Te"), r.Header.Get("X-Named"))
	}))
	n := w.open(networkOptions{DenyDomains: []string{"denied.example"}})
	w.resolve("denied.example", "93.184.216.34")
	p, err := newProxy(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if host, _, _ := net.SplitHostPort(p.addr); host != "127.0.0.1" {
		t.Errorf("the proxy listens on %s", p.addr)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "GET http://pub.example/x HTTP/1.1\r\nHost: pub.example\r\nConnection: close, X-Named\r\nX-Named: 1\r\nTe: trailers\r\nProxy-Authorization: Basic eA==\r\n\r\n", `host=pub.example proxy="" via="" te="" named=""`},
		{"host header lies", "GET http://pub.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", "host=pub.example"},
		{"tunnel", "CONNECT pub.example:80 HTTP/1.1\r\nHost: pub.example:80\r\n\r\nGET / HTTP/1.0\r\nHost: inner\r\n\r\n", "host=inner"},
		{"inside", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", ""},
		{"inside by name", "GET http://loop.inside.example/ HTTP/1.1\r\nHost: pub.example\r\n\r\n", ""},
		{"tunnel inside", "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n", "403"},
		{"tunnel to a number", "CONNECT 2130706433:443 HTTP/1.1\r\nHost: 2130706433:443\r\n\r\n", "403"},
		{"tunnel to a port", "CONNECT pub.example:22 HTTP/1.1\r\nHost: pub.example:22\r\n\r\n", "403"},
		{"tunnel to a denied domain", "CONNECT denied.example:443 HTTP/1.1\r\nHost: denied.example:443\r\n\r\n", "403"},
		{"tunnel without port", "CONNECT pub.example HTTP/1.1\r\nHost: pub.example\r\n\r\n", "400"},
		{"no proxy request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"},
		{"another scheme", "GET ftp://pub.example/ HTTP/1.1\r\nHost: pub.example\r\n\r\n", "400"},
	} {
		got := proxyRequest(t, p, tt.text)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) || tt.name == "plain" && strings.Contains(got, "Keep-Alive") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	w.noneInside(t)
	u, _ := cleanURL("http://127.0.0.1/")
	if err := p.refusal(u); !errors.Is(err, errBlocked) {
		t.Errorf("the refusal is not remembered: %v", err)
	}
	p.Close()
	if _, err := net.DialTimeout("tcp", p.addr, time.Second); err == nil {
		t.Error("the proxy listens after Close")
	}
}
