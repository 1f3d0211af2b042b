package cdp

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// termTimeout and killTimeout bound what is waited for after asking and after killing.
	termTimeout = 5 * time.Second
	killTimeout = 2 * time.Second
	// outputDelay bounds the wait for messages of a browser that has ended, while its
	// children still hold the pipe.
	outputDelay = 250 * time.Millisecond
	// groupTimeout bounds the wait for the children of a browser that has ended. Until
	// then they may still write to the profile (seen in Chromium 156).
	groupTimeout = time.Second
	// maxStderrBytes bounds what is kept of a browser's messages: the latest ones.
	maxStderrBytes = 4 << 10
)

// process is a browser's main process that we started, in a process group of its own,
// so that a Ctrl-C at our terminal is not its end.
type process struct {
	cmd    *exec.Cmd
	stderr tail
	ended  chan struct{} // closed when it has ended, with its children as far as they hurry
}

func startProcess(exe string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(exe, args...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = outputDelay
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait() // the state is read from cmd
		for end := time.Now().Add(groupTimeout); groupLives(p.cmd) && time.Now().Before(end); {
			time.Sleep(launchPoll)
		}
		close(p.ended)
	}()
	return p, nil
}

// code is the exit code, -1 after a signal. Only after ended.
func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// stop asks the process to end, and kills it and its children when it does not.
func (p *process) stop() error {
	if p.within(0) || askToEnd(p.cmd) && p.within(termTimeout) {
		return nil
	}
	return p.kill()
}

func (p *process) kill() error {
	if p.within(0) {
		return nil
	}
	killTree(p.cmd)
	if !p.within(killTimeout) {
		return fmt.Errorf("browser process %d did not end", p.cmd.Process.Pid)
	}
	return nil
}

// within waits for the end and reports whether it came.
func (p *process) within(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		select { // with d 0 both may be ready
		case <-p.ended:
			return true
		default:
			return false
		}
	}
}

// says is the end of what the process printed, for an error, or "".
func (p *process) says() string {
	text := strings.TrimSpace(p.stderr.String())
	if text == "" {
		return ""
	}
	return "\nIts last messages:\n" + text
}

// tail keeps the last maxStderrBytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte // guarded by mu
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxStderrBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.buf), "")
}
