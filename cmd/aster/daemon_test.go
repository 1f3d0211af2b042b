package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// leavesNoDaemon runs the tests, and fails where one of them has left a daemon behind, or
// anything else.
type leavesNoDaemon struct{ *testing.M }

func (m leavesNoDaemon) Run() int {
	code := cdptest.Main(m.M)
	var left []int
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if left = daemonsLeft(); len(left) == 0 {
			return code
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "FAIL: the tests have left daemons behind: processes %v\n", left)
			return 1
		}
	}
}

// daemonsLeft are the processes that run this test's program as a daemon, where the
// system lists processes as files.
func daemonsLeft() (pids []int) {
	program, err := exec.LookPath("aster")
	if err != nil {
		return nil
	}
	own, err := os.Stat(program)
	if err != nil {
		return nil
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		args, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(args), "\x00daemon\x00run\x00") {
			continue
		}
		exe, err := os.Stat(filepath.Join(filepath.Dir(path), "exe"))
		if pid, bad := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && bad == nil && os.SameFile(exe, own) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// shareDaemon makes the daemon of a state directory the test's own, which ends with it.
func shareDaemon(t *testing.T) (env []string, status func() daemonStatus) {
	t.Helper()
	home, err := os.MkdirTemp("", "aster") // a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	env = append(os.Environ(), "ASTER_HOME="+home, "XDG_RUNTIME_DIR=", "ASTER_WEBMCP_CDP_URL=", "ASTER_LOG=", "ASTER_DAEMON=")
	run := func(args ...string) string {
		cmd := exec.Command("aster", append([]string{"daemon"}, args...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("aster daemon %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Cleanup(func() {
		run("stop")
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", run("logs"))
		}
		os.RemoveAll(home)
	})
	return env, func() (s daemonStatus) {
		t.Helper()
		if err := json.Unmarshal([]byte(run("status", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

type daemonStatus struct {
	Running      bool
	PID, Clients int
	Browsers     []struct{ State string }
}

// awaitTool waits until the server lists a tool.
func (s *server) awaitTool(name string) {
	s.t.Helper()
	var list string
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(list, `"name":"`+name+`"`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the tool %s did not come: %s; stderr:\n%s", name, list, s.stderr.String())
		}
		list = s.request("tools/list", `{}`)
	}
}

// Two clients share one connection to the browser, and a crash of the daemon costs them no
// more than a list change.
func TestServersShareADaemon(t *testing.T) {
	b := cdptest.New(t, nil)
	env, status := shareDaemon(t)
	first := serveIn(t, env, "aster", "--cdp-url", b.WS) // sharing is the default
	first.initialize()
	first.connected()
	one := serveIn(t, env, "aster", "--cdp-url", b.WS)
	one.initialize()
	first.cmd.Process.Kill() // who has started the daemon may go as it likes
	one.connected()
	page := b.NewPage(t, cdptest.Serve(t).URL+"/tools.html")
	two := serveIn(t, env, "aster", "--cdp-url", b.WS, "--legacy-api")
	two.initialize()
	for i, s := range []*server{one, two} {
		s.awaitTool("add_note")
		if got := s.request("tools/call", fmt.Sprintf(`{"name":"add_note","arguments":{"text":"note %d"}}`, i)); !strings.Contains(got, fmt.Sprintf("added note %d", i)) {
			t.Errorf("add_note of client %d: %s", i, got)
		}
	}
	if got := page.EvalString(t, `document.querySelectorAll('li').length + ''`); got != "2" {
		t.Errorf("the page has %s notes", got)
	}
	st := status()
	for deadline := time.Now().Add(30 * time.Second); st.Clients != 2 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		st = status()
	}
	if st.Clients != 2 || len(st.Browsers) != 1 || !strings.HasPrefix(st.Browsers[0].State, "connected") {
		t.Errorf("status %+v", st)
	}
	const differs, lost = "--legacy-api differ", "ended unexpectedly"
	p, err := os.FindProcess(st.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*server{one, two} {
		s.connected()
		s.awaitTool("add_note")
	}
	if after := status(); after.PID == st.PID || after.Clients != 2 {
		t.Errorf("status after the daemon was killed: %+v", after)
	}
	one.leave()
	two.leave()
	// Who comes first to the next daemon is who decides what pages can see.
	if !strings.Contains(two.stderr.String(), differs) {
		t.Error("the second client is not told that its flags differ")
	}
	for _, s := range []*server{one, two} {
		for line := range strings.Lines(s.stderr.String()) {
			if !strings.Contains(line, differs) && !strings.Contains(line, lost) {
				t.Errorf("on stderr: %s", line)
			}
		}
		if got := strings.Count(s.stderr.String(), lost); got != 1 {
			t.Errorf("the loss of the daemon is told %d times", got)
		}
	}
	if got := page.EvalString(t, `document.querySelector('h1').textContent`); got != "Notes" {
		t.Errorf("the user's tab is not as it was: %q", got)
	}
}

// The daemon of a browser that aster started ends with its last client.
func TestDaemonOfALaunchedBrowser(t *testing.T) {
	cdptest.Require(t)
	env, status := shareDaemon(t)
	s := serveIn(t, env, "aster", "--cdp-url", "launch", "--headless")
	s.initialize()
	s.connected()
	if !status().Running {
		t.Error("no daemon runs")
	}
	s.leave()
	for deadline := time.Now().Add(30 * time.Second); status().Running; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the daemon runs on")
		}
	}
}

// Where no daemon can be had, one line says so and the server works.
func TestNoPlaceForADaemon(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "run") // where the daemon's directory would be
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "ASTER_HOME="+home, "XDG_RUNTIME_DIR="+file, "TMPDIR="+file, "TMP="+file, "ASTER_WEBMCP_CDP_URL=", "ASTER_LOG=error", "ASTER_DAEMON=on")
	s := serveIn(t, env, "aster", "--cdp-url", "http://127.0.0.1:1")
	s.initialize()
	if got := s.request("tools/list", `{}`); !strings.Contains(got, "webmcp_tabs") {
		t.Errorf("tools/list: %s", got)
	}
	s.leave()
	if got := s.stderr.String(); !strings.Contains(got, "no shared daemon") || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr:\n%s", got)
	}
}
