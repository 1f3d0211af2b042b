//go:build unix

package hard_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bounds for a program, generous for a loaded machine.
const (
	leaveTimeout = 40 * time.Second // from the end of input, or TERM, to the exit
	goneTimeout  = 30 * time.Second // until the last descendant is gone
	maxKept      = 8 << 20          // of a program's stderr
)

// program is a running aster.
type program struct {
	a      *arena
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader // of a program that has no client
	stderr kept
	done   chan struct{} // closed after the exit
	err    error         // of Wait; after done
	killed bool          // the test killed it: its exit code means nothing. Guarded by a.mu
}

// kept is a writer that keeps the beginning of what is written. It is safe for concurrent use.
type kept struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.buf.Write(p[:min(len(p), maxKept-k.buf.Len())])
	return len(p), nil
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.buf.String()
}

// environ is the environment of the case's programs.
func (a *arena) environ(more ...string) []string {
	env := []string{"HOME=" + a.dir, "ASTER_HOME=" + a.home, "TMPDIR=" + a.tmp, "PATH=" + os.Getenv("PATH"), "ASTER_DAEMON=off", "LANG=C.UTF-8"}
	return append(env, more...)
}

// start runs aster with pipes on all three streams.
func (a *arena) start(env []string, args ...string) *program {
	a.Helper()
	return a.startCommand(env, exec.Command(asterExe, args...))
}

func (a *arena) startCommand(env []string, cmd *exec.Cmd) *program {
	a.Helper()
	p := &program{a: a, cmd: cmd, done: make(chan struct{})}
	cmd.Env = a.environ(env...)
	if cmd.Dir == "" {
		cmd.Dir = a.dir
	}
	cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		a.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under the reader.
	r, w, err := os.Pipe()
	if err != nil {
		a.Fatal(err)
	}
	cmd.Stdout, p.stdout = w, r
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		a.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	a.mu.Lock()
	a.programs = append(a.programs, p)
	a.mu.Unlock()
	return p
}

// run runs aster to its end and returns what it wrote and its exit code.
func (a *arena) run(env []string, args ...string) (stdout, stderr string, code int) {
	a.Helper()
	return a.runWith(env, "", args...)
}

func (a *arena) runWith(env []string, stdin string, args ...string) (stdout, stderr string, code int) {
	a.Helper()
	p := a.start(env, args...)
	go func() {
		io.WriteString(p.stdin, stdin)
		p.stdin.Close()
	}()
	out := a.output(p)
	return out, p.stderr.String(), p.cmd.ProcessState.ExitCode()
}

// output waits for a program's end, which it must come to by itself, and returns what it
// wrote to its output.
func (a *arena) output(p *program) string {
	a.Helper()
	late := time.AfterFunc(leaveTimeout+40*time.Second, func() { p.signal(syscall.SIGKILL) })
	out, _ := io.ReadAll(p.stdout)
	<-p.done
	if !late.Stop() {
		a.Fatalf("%q did not end; stderr:\n%s", p.cmd.Args[1:], p.stderr.String())
	}
	return string(out)
}

// signal sends a signal; one that kills leaves the exit code without meaning.
func (p *program) signal(sig syscall.Signal) {
	if sig == syscall.SIGKILL || sig == syscall.SIGQUIT {
		p.a.mu.Lock()
		p.killed = true
		p.a.mu.Unlock()
	}
	p.cmd.Process.Signal(sig)
}

// ended reports whether the program ended within a time.
func (p *program) ended(within time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(within):
		return false
	}
}

// leave closes the program's input and returns how long it then took to end.
func (p *program) leave() time.Duration {
	p.a.Helper()
	begun := time.Now()
	p.stdin.Close()
	if !p.ended(leaveTimeout) {
		p.signal(syscall.SIGQUIT)
		p.ended(leaveTimeout)
		p.a.Fatalf("the program did not end within %v of its input; stderr:\n%s", leaveTimeout, p.stderr.String())
	}
	took := time.Since(begun)
	p.a.mu.Lock()
	killed := p.killed
	p.a.mu.Unlock()
	if p.err != nil && !killed {
		p.a.Errorf("the program ended with %v; stderr:\n%s", p.err, p.stderr.String())
	}
	return took
}

// endAll ends what the case left running.
func (a *arena) endAll() {
	a.mu.Lock()
	programs := a.programs
	a.mu.Unlock()
	for _, p := range programs {
		select {
		case <-p.done:
			continue
		default:
		}
		p.stdin.Close()
		if a.Failed() {
			p.signal(syscall.SIGTERM)
		}
		if !p.ended(leaveTimeout) {
			a.Errorf("%q ran on %v after its input had ended", p.cmd.Args[1:], leaveTimeout)
			p.signal(syscall.SIGKILL)
			<-p.done
		}
	}
	for _, p := range programs {
		if r, ok := p.stdout.(*os.File); ok {
			r.Close()
		}
	}
}

// usage is what a process holds.
type usage struct {
	rss     int64 // bytes; 0 where the system does not say
	own     int64 // bytes of rss that are not a file's, such as the program's own
	peak    int64 // bytes
	fds     int
	threads int
}

// usage reads what the program holds now; zero values where there is no /proc.
func (p *program) usage() (u usage) {
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	status, _ := os.ReadFile(dir + "status")
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch key {
		case "VmRSS":
			u.rss = n << 10
		case "RssAnon":
			u.own = n << 10
		case "VmHWM":
			u.peak = n << 10
		case "Threads":
			u.threads = int(n)
		}
	}
	entries, _ := os.ReadDir(dir + "fd")
	u.fds = len(entries)
	return u
}

// mb is a size for the table.
func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// descendants are the processes that have the case's directory as their HOME: whatever
// became of their parents. It is empty where there is no /proc.
func (a *arena) descendants() (found []string) {
	mark := []byte("HOME=" + a.dir + "\x00")
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), append([]byte{0}, mark...)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		found = append(found, e.Name()+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return found
}

// goroutines ends the program with QUIT and counts those of its goroutines that its dump
// shows, by the function that started each.
func (p *program) goroutines() map[string]int {
	p.a.Helper()
	p.signal(syscall.SIGQUIT)
	if !p.ended(leaveTimeout) {
		p.a.Fatal("the program did not end on QUIT")
	}
	counts := map[string]int{}
	for line := range strings.Lines(p.stderr.String()) {
		if by, ok := strings.CutPrefix(line, "created by "); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(by), " in goroutine")
			counts[name]++
		}
	}
	return counts
}

// exists reports whether a path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// inDirectory is aster in a working directory.
func inDirectory(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(asterExe, args...)
	cmd.Dir = dir
	return cmd
}
