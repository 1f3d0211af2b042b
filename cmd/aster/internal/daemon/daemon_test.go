package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
	"github.com/aster-mcp/aster/webmcp"
)

const patience = 60 * time.Second

// runEnv makes the test binary a daemon: its value is the directory and the version.
const runEnv = "ASTER_TEST_RUN_DAEMON"

func TestMain(m *testing.M) {
	if dir, version, ok := strings.Cut(os.Getenv(runEnv), "|"); ok {
		if err := daemon.Run(context.Background(), options(dir, version)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(cdptest.Main(m))
}

// open attaches to no browser: none answers there.
func open(a *daemon.Attach) (*webmcp.BrowserOptions, error) {
	if a.Browser == "nonsense" {
		return nil, errors.New("--cdp-url nonsense: not understood")
	}
	f, err := cdp.NewFinder(a.Browser, nil)
	return &webmcp.BrowserOptions{Finder: f, Dialogs: a.Dialogs, Origins: a.Origins, DenyOrigins: a.DenyOrigins, LegacyAPI: a.LegacyAPI, Compat: a.Compat}, err
}

func options(dir, version string) *daemon.Options {
	return &daemon.Options{Paths: daemon.PathsIn(dir, ""), Version: version, Open: open, Idle: time.Minute}
}

const nobody = "http://127.0.0.1:1"

// start runs a daemon in this process until the test or the returned func ends it.
func start(t testing.TB, o *daemon.Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- daemon.Run(ctx, o) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				t.Error("the daemon did not end")
			}
		})
	}
	t.Cleanup(stop)
	await(t, "the daemon", func() bool { _, err := daemon.Ask(t.Context(), o.Paths); return err == nil })
	return stop
}

func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// client is a joined client and an MCP client of it.
type client struct {
	*daemon.Client
	*mcp.ClientSession
	changes atomic.Int64
}

// join joins, with a command that starts this test's binary as a daemon.
func join(t testing.TB, dir, version string, edit func(*daemon.JoinOptions)) *client {
	t.Helper()
	o := joinOptions(t, dir, version)
	if edit != nil {
		edit(o)
	}
	c, err := daemon.Join(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	got := &client{Client: c}
	here, there := mcp.NewInMemoryTransports()
	if _, err := c.Server().Connect(context.Background(), there, nil); err != nil {
		t.Fatal(err)
	}
	got.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "t"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { got.changes.Add(1) },
	}).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.ClientSession.Close(); c.Close() })
	return got
}

func joinOptions(t testing.TB, dir, version string) *daemon.JoinOptions {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { daemon.Stop(context.Background(), daemon.PathsIn(dir, "")) })
	return &daemon.JoinOptions{
		Paths: daemon.PathsIn(dir, ""), Version: version, Attach: daemon.Attach{Browser: nobody},
		Command: []string{exe}, Environ: append(os.Environ(), runEnv+"="+dir+"|"+version),
	}
}

func (c *client) tabs(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "webmcp_tabs"})
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// dir is a short directory: a socket's path is bounded.
func dir(t testing.TB) string {
	t.Helper()
	d, err := os.MkdirTemp("", "aster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	return d
}

func status(t testing.TB, d string) *daemon.Status {
	t.Helper()
	s, err := daemon.Ask(t.Context(), daemon.PathsIn(d, ""))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClientsShareADaemon(t *testing.T) {
	d := dir(t)
	start(t, options(d, "v1.0.0"))
	var notes []string
	one := join(t, d, "v1.0.0", nil)
	two := join(t, d, "v1.0.0", func(o *daemon.JoinOptions) {
		o.Client.Expose = webmcp.ExposeTools
		o.Attach.LegacyAPI, o.Attach.Origins = true, []string{"https://a.example"}
		o.Attach.Compat = "160"
		o.Note = func(s string) { notes = append(notes, s) }
	})
	if got := one.tabs(t); !strings.Contains(got, "no browser") {
		t.Errorf("webmcp_tabs: %q", got)
	}
	if got := one.InitializeResult().Instructions; !strings.Contains(got, "web pages open") {
		t.Errorf("instructions %q", got)
	}
	if s := status(t, d); s.Clients != 2 || len(s.Browsers) != 1 || s.Browsers[0].Clients != 2 {
		t.Errorf("status %+v", s)
	}
	list, err := two.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 0 {
		t.Errorf("a client that wants page tools only lists %v, %v", list, err)
	}
	if list, err = one.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 3 {
		t.Errorf("the other one lists %v, %v", list, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "--origin, --legacy-api, --compat") || !strings.Contains(notes[0], "--no-daemon") {
		t.Errorf("notes %q", notes)
	}
	join(t, d, "v1.0.0", func(o *daemon.JoinOptions) { o.Attach.Browser = "http://127.0.0.1:2" })
	if s := status(t, d); s.Clients != 3 || len(s.Browsers) != 2 {
		t.Errorf("with a client of another browser: %+v", s)
	}
	two.Client.Close()
	await(t, "the client to leave", func() bool { return status(t, d).Clients == 2 })
}

func TestRefusedOptions(t *testing.T) {
	d := dir(t)
	start(t, options(d, "v1.0.0"))
	for name, edit := range map[string]func(*daemon.JoinOptions){
		"browser": func(o *daemon.JoinOptions) { o.Attach.Browser = "nonsense" },
		"dialogs": func(o *daemon.JoinOptions) { o.Attach.Dialogs = "nonsense" },
		"expose":  func(o *daemon.JoinOptions) { o.Client.Expose = "nonsense" },
	} {
		o := joinOptions(t, d, "v1.0.0")
		edit(o)
		_, err := daemon.Join(t.Context(), o)
		var usage *daemon.UsageError
		if !errors.As(err, &usage) || !strings.Contains(usage.Text, "nonsense") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A crash costs a client no more than a list change.
func TestDaemonIsKilled(t *testing.T) {
	d := dir(t)
	c := join(t, d, "v1.0.0", nil)
	c.tabs(t)
	before := status(t, d).PID
	if before == os.Getpid() {
		t.Fatal("the daemon is this process")
	}
	p, _ := os.FindProcess(before)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "a list change", func() bool { return c.changes.Load() > 0 })
	if got := c.tabs(t); !strings.Contains(got, "no browser") {
		t.Errorf("webmcp_tabs afterwards: %q", got)
	}
	if after := status(t, d).PID; after == before {
		t.Errorf("the daemon is still %d", after)
	}
}

func TestTenStartersAtOnce(t *testing.T) {
	d := dir(t)
	if err := os.WriteFile(daemon.PathsIn(d, "").Socket, []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	clients := make([]*daemon.Client, 10)
	for i := range clients {
		o := joinOptions(t, d, "v1.0.0")
		wg.Go(func() {
			c, err := daemon.Join(context.Background(), o)
			if err != nil {
				t.Errorf("Join: %v", err)
			}
			clients[i] = c
		})
	}
	wg.Wait()
	if s := status(t, d); s.Clients != len(clients) {
		t.Errorf("one daemon has %d clients of %d", s.Clients, len(clients))
	}
	for _, c := range clients {
		if c != nil {
			c.Close()
		}
	}
}

func TestStaleSocket(t *testing.T) {
	d := dir(t)
	ln, err := net.Listen("unix", daemon.PathsIn(d, "").Socket)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	join(t, d, "v1.0.0", nil).tabs(t)
}

// A newer aster takes over, and the older one's clients follow.
func TestHandover(t *testing.T) {
	d := dir(t)
	start(t, options(d, "v1.0.9"))
	old := join(t, d, "v1.0.9", nil)
	old.tabs(t)
	recent := join(t, d, "v1.0.10", nil)
	recent.tabs(t)
	if s := status(t, d); s.Aster != "v1.0.10" {
		t.Errorf("the daemon is %s", s.Aster)
	}
	await(t, "the older client to follow", func() bool { return status(t, d).Clients == 2 })
	old.tabs(t)
	for _, version := range []string{"v1.0.1", "(devel)", "v1.0.10-rc.1"} { // these take nothing over
		join(t, d, version, nil).tabs(t)
	}
	if s := status(t, d); s.Aster != "v1.0.10" || s.Clients != 5 {
		t.Errorf("after clients that are not newer: %+v", s)
	}
}

func TestDaemonOfAnotherProtocol(t *testing.T) {
	d := dir(t)
	ln, err := net.Listen("unix", daemon.PathsIn(d, "").Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(conn, `{"aster":"v9","protocol":9,"error":"the running aster daemon (v9) is too new for this aster"}`)
			conn.Close()
		}
	}()
	if _, err := daemon.Join(t.Context(), joinOptions(t, d, "v1.0.0")); err == nil || !strings.Contains(err.Error(), "too new") {
		t.Errorf("error %v", err)
	}
}

func TestIdleDaemonEnds(t *testing.T) {
	d := dir(t)
	o := options(d, "v1.0.0")
	o.Idle = 50 * time.Millisecond
	ended := make(chan error, 1)
	go func() { ended <- daemon.Run(context.Background(), o) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("a daemon without clients lives on")
	}
	if _, err := daemon.Ask(t.Context(), o.Paths); !errors.Is(err, daemon.ErrNone) {
		t.Errorf("asking it afterwards: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	d := dir(t)
	file := filepath.Join(d, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(d, strings.Repeat("x", 100))
	for _, tt := range []struct {
		name, state, runtime, want string
	}{
		{"runtime directory", filepath.Join(d, "s1"), filepath.Join(d, "r"), filepath.Join(d, "r", "aster")},
		{"none", filepath.Join(d, "s2"), "", filepath.Join(d, "s2", "run")},
		{"relative", filepath.Join(d, "s3"), "r", filepath.Join(d, "s3", "run")},
		{"not a directory", filepath.Join(d, "s4"), file, filepath.Join(d, "s4", "run")},
		{"too long", long, "", d},
	} {
		p, err := daemon.PathsFor(tt.state, tt.runtime, d)
		if err != nil || !strings.HasPrefix(p.Dir, tt.want) {
			t.Errorf("%s: %+v, %v; want %s", tt.name, p, err, tt.want)
			continue
		}
		if fi, err := os.Stat(p.Dir); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o700 {
			t.Errorf("%s: directory %v, %v", tt.name, fi.Mode(), err)
		}
	}
	if p, err := daemon.PathsFor(file, file, file); err == nil {
		t.Errorf("where nothing can be written: %+v", p)
	}
	one, _ := daemon.PathsFor("/a", d, d)
	two, _ := daemon.PathsFor("/b", d, d)
	if one.Socket == two.Socket {
		t.Error("two state directories share a daemon")
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := daemon.OpenLog(path)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 2*daemon.MaxLog/len(line) + 10 {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.Close()
	for _, p := range []string{path, path + ".old"} {
		if fi, err := os.Stat(p); err != nil || fi.Size() > daemon.MaxLog {
			t.Errorf("%s: %v, %v", p, fi, err)
		}
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	full := daemon.OpenLog("/dev/full")
	defer full.Close()
	if n, err := full.Write(line); n != len(line) || err != nil {
		t.Errorf("on a full disk: %d, %v", n, err)
	}
}

// BenchmarkCall compares a call through the daemon with one of a server in this process.
func BenchmarkCall(b *testing.B) {
	call := func(b *testing.B, cs *mcp.ClientSession) {
		one := func() {
			if _, err := cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "webmcp_tools"}); err != nil {
				b.Fatal(err)
			}
		}
		one() // the first waits for pages
		b.ReportAllocs()
		for b.Loop() {
			one()
		}
	}
	d := dir(b)
	b.Run("daemon", func(b *testing.B) {
		stop := start(b, options(d, "v1.0.0"))
		c := join(b, d, "v1.0.0", nil)
		call(b, c.ClientSession)
		c.Client.Close()
		stop()
	})
	b.Run("direct", func(b *testing.B) {
		opts, err := open(&daemon.Attach{Browser: nobody})
		if err != nil {
			b.Fatal(err)
		}
		browser, err := webmcp.NewBrowser(opts)
		if err != nil {
			b.Fatal(err)
		}
		srv, err := browser.NewServer(nil)
		if err != nil {
			b.Fatal(err)
		}
		here, there := mcp.NewInMemoryTransports()
		if _, err := srv.MCP().Connect(context.Background(), there, nil); err != nil {
			b.Fatal(err)
		}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "t"}, nil).Connect(context.Background(), here, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer cs.Close()
		call(b, cs)
	})
}

// BenchmarkJoin measures how long it takes a client to join a daemon that runs.
func BenchmarkJoin(b *testing.B) {
	d := dir(b)
	start(b, options(d, "v1.0.0"))
	o := joinOptions(b, d, "v1.0.0")
	for b.Loop() {
		c, err := daemon.Join(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
