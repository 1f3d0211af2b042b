package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// output is a writer that can be watched from another goroutine.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// await returns the first match of re in the output.
func (o *output) await(t *testing.T, re string) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := regexp.MustCompile(re).FindString(o.String()); m != "" {
			return m
		}
	}
	t.Fatalf("%q did not come:\n%s", re, o)
	return ""
}

// start runs a command in the background, with a home and a temporary directory of its own.
func start(t *testing.T, ctx context.Context, args ...string) (stdout, stderr *output, code <-chan int, temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	home := t.TempDir()
	stdout, stderr = &output{}, &output{}
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(ctx, &cli.Env{Args: args, Stdout: stdout, Stderr: stderr, Home: home, Executable: "/opt/aster", Getenv: func(name string) string {
			switch name {
			case "PATH":
				return os.Getenv(name)
			case "HOME":
				return home
			}
			return ""
		}})
	}()
	return stdout, stderr, done, temp
}

func wait(t *testing.T, code <-chan int, stdout, stderr *output) int {
	t.Helper()
	select {
	case c := <-code:
		return c
	case <-time.After(2 * time.Minute):
		t.Fatalf("still running:\n%s%s", stdout, stderr)
		return -1
	}
}

// The demo in a browser that runs already. It opens its page where that needs no
// connection, and closes it again; else the user opens it.
func TestDemoInRunningBrowser(t *testing.T) {
	b := cdptest.New(t, &cdptest.Options{Native: true})
	b.NewPage(t, "about:blank")
	before := len(b.Targets(t, "page"))
	silent := "ws://" + strings.TrimPrefix(withoutJSON(t, b), "http://") + b.WS[strings.Index(b.WS, "/devtools/"):]
	for _, address := range []string{b.HTTP, silent} {
		name := "by itself"
		stdout, stderr, code, _ := start(t, t.Context(), "demo", "--cdp-url", address)
		if address == silent {
			name = "by the user"
			stdout.await(t, `allow the connection`)
			page := b.NewPage(t, stdout.await(t, `http://127\.0\.0\.1:\d+/`))
			defer page.Close(t)
		}
		if c := wait(t, code, stdout, stderr); c != cli.ExitOK || !strings.Contains(stdout.String(), "the page shows For Saturday: bread, oat milk") || stderr.String() != "" {
			t.Errorf("%s: exit code %d\n%s%s", name, c, stdout, stderr)
		}
		if !strings.Contains(stdout.String(), "     /opt/aster mcp connect claude\n") {
			t.Errorf("%s: no line for a client:\n%s", name, stdout)
		}
		if address == b.HTTP {
			for deadline := time.Now().Add(10 * time.Second); len(b.Targets(t, "page")) != before; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d pages, %d before", len(b.Targets(t, "page")), before)
				}
			}
		}
	}
}

// withoutJSON puts a server in front of a browser that answers 404 below /json, as Chrome
// does with the switch at chrome://inspect, and returns its URL.
func withoutJSON(t *testing.T, b *cdptest.Browser) string {
	t.Helper()
	target, err := url.Parse(b.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/json") {
			http.NotFound(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestDemoInterrupted(t *testing.T) {
	cdptest.Require(t)
	if _, _, err := cdp.FindExecutable(nil); err != nil {
		t.Skipf("the browser is not where aster looks for one: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr, code, temp := start(t, ctx, "demo", "--headless")
	stdout.await(t, "with a new profile")
	cancel()
	if c := wait(t, code, stdout, stderr); c != cli.ExitInterrupted {
		t.Errorf("exit code %d\n%s%s", c, stdout, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "aster-demo-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestDemoWithoutBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere browsers are found without PATH")
	}
	code, stdout, stderr := run(t, &cli.Env{Args: []string{"demo", "--headless"}, Home: t.TempDir(), Getenv: vars("PATH", t.TempDir())})
	if code != cli.ExitNoBrowser || !strings.Contains(stderr, "install") {
		t.Errorf("exit code %d, want %d and a word on how to install one\n%s%s", code, cli.ExitNoBrowser, stdout, stderr)
	}
	for _, args := range []string{"demo now", "demo --cdp-url 9222", "demo --headless --cdp-url auto"} {
		if code, _, stderr := run(t, &cli.Env{Args: strings.Fields(args)}); code != cli.ExitUsage {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
}
