package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// server is a running "aster mcp serve webmcp" as a client sees it.
type server struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr strings.Builder
	id     int
	home   string // ASTER_HOME
}

// serve starts the program, which testscript has put on the PATH, with a home of its own.
func serve(t testing.TB, program string, args ...string) *server {
	t.Helper()
	home := t.TempDir()
	s := serveIn(t, append(os.Environ(), "ASTER_HOME="+home, "ASTER_WEBMCP_CDP_URL=", "ASTER_LOG=", "ASTER_DAEMON=off"), program, args...)
	s.home = home
	return s
}

func serveIn(t testing.TB, env []string, program string, args ...string) *server {
	t.Helper()
	s := &server{t: t, cmd: exec.Command(program, append([]string{"mcp", "serve", "webmcp"}, args...)...)}
	s.cmd.Env = env
	s.cmd.Stderr = &s.stderr
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
	return s
}

func (s *server) send(text string) {
	if _, err := io.WriteString(s.stdin, text+"\n"); err != nil {
		s.t.Fatalf("%v; stderr:\n%s", err, s.stderr.String())
	}
}

// request sends a request and returns the answer, which may not be the next line.
func (s *server) request(method, params string) string {
	s.t.Helper()
	s.id++
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.id, method, params))
	for {
		text, err := s.stdout.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v; stderr:\n%s", method, err, s.stderr.String())
		}
		var m struct {
			ID     *int
			Method string
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			s.t.Fatalf("stdout is not JSON: %q", text)
		}
		if m.Method == "" && m.ID != nil && *m.ID == s.id {
			return text
		}
	}
}

func (s *server) initialize() string {
	s.t.Helper()
	text := s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return text
}

// connected waits until the server has its browser.
func (s *server) connected() {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		tabs := s.request("tools/call", `{"name":"webmcp_tabs","arguments":{}}`)
		if strings.Contains(tabs, "Browser: connected") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no browser came: %s; stderr:\n%s", tabs, s.stderr.String())
		}
	}
}

// leave closes the input and returns how long the program took to end with code 0.
func (s *server) leave() time.Duration {
	s.t.Helper()
	begin := time.Now()
	s.stdin.Close()
	io.Copy(io.Discard, s.stdout)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the program ended with %v; stderr:\n%s", err, s.stderr.String())
	}
	return time.Since(begin)
}

// slack is what a loaded machine may add to a promise of one second.
const slack = 4 * time.Second

func TestServePage(t *testing.T) {
	for _, native := range []bool{false, true} {
		b := cdptest.New(t, &cdptest.Options{Native: native})
		page := b.NewPage(t, cdptest.Serve(t).URL+"/tools.html")
		s := serve(t, "aster", "--cdp-url", b.WS)
		s.initialize()
		s.connected()
		page.Reload(t) // a page that was there before looked for WebMCP in vain
		var list string
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(list, `"add_note"`); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("native %v: the page's tools did not come: %s; stderr:\n%s", native, list, s.stderr.String())
			}
			list = s.request("tools/list", `{}`)
		}
		if got := s.request("tools/call", `{"name":"add_note","arguments":{"text":"milk"}}`); !strings.Contains(got, "added milk") {
			t.Errorf("native %v: add_note: %s", native, got)
		}
		if got := page.EvalString(t, `document.querySelector('li').textContent`); got != "milk" {
			t.Errorf("native %v: the page shows %q", native, got)
		}
		if got := s.request("tools/call", `{"name":"add_note","arguments":{"text":5}}`); !strings.Contains(got, `"isError":true`) {
			t.Errorf("native %v: wrong arguments: %s", native, got)
		}
		// In the envelope the client cannot see what it approves, and this one cannot be asked.
		if got := s.request("tools/call", `{"name":"webmcp_call","arguments":{"name":"add_note","arguments":{"text":"eggs"}}}`); !strings.Contains(got, "webmcp/add_note was not called: it needs the user's approval") || !strings.Contains(got, "--approve=client") {
			t.Errorf("native %v: add_note by envelope: %s", native, got)
		}
		if log, err := os.ReadFile(filepath.Join(s.home, "audit.jsonl")); err != nil || strings.Count(string(log), `"outcome":"denied"`) != 1 || !strings.Contains(string(log), `"decision":"allow"`) {
			t.Errorf("native %v: the record of calls is %v\n%s", native, err, log)
		}
		if took := s.leave(); took > time.Second+slack {
			t.Errorf("native %v: %v from the end of input to the exit", native, took)
		}
		if s.stderr.Len() > 0 {
			t.Errorf("native %v: stderr of a good session:\n%s", native, s.stderr.String())
		}
		if got := page.EvalString(t, `document.querySelector('h1').textContent`); got != "Notes" {
			t.Errorf("native %v: the user's tab is not as it was: %q", native, got)
		}
	}
}

func TestServeLaunched(t *testing.T) {
	cdptest.Require(t)
	if _, _, err := cdp.FindExecutable(nil); err != nil {
		t.Skipf("the browser is not where aster looks for one: %v", err)
	}
	s := serve(t, "aster", "--cdp-url", "launch", "--headless")
	s.initialize()
	s.connected()
	s.leave()
	if link, err := os.Readlink(filepath.Join(s.home, "chrome", "SingletonLock")); err == nil { // host-pid; it may stay behind
		pid, err := strconv.Atoi(link[strings.LastIndexByte(link, '-')+1:])
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
			t.Errorf("the browser that aster started still runs, process %d", pid)
		}
	}
}

// A client may send a signal in place of closing the input; that is no failure either.
func TestServeTerminated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signal")
	}
	s := serve(t, "aster", "--cdp-url", "http://127.0.0.1:1")
	s.initialize()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, s.stdout)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v; stderr:\n%s", err, s.stderr.String())
	}
}

// BenchmarkStart measures from the start of a process to its answer to initialize, with
// no browser there. It builds the program as it is shipped.
func BenchmarkStart(b *testing.B) {
	program := filepath.Join(b.TempDir(), "aster")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		s := serve(b, program, "--cdp-url", "http://127.0.0.1:1")
		s.initialize()
		b.StopTimer()
		s.leave()
		b.StartTimer()
	}
}
