package source

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	killGrace  = time.Second            // after KILL, for the system to end the processes
	groupGrace = 500 * time.Millisecond // of TERM, for processes that outlive the first one
	groupPoll  = 5 * time.Millisecond
)

// A child is a server's process with all that it starts.
type child struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   *tail

	exited  chan struct{} // closed when the first process ended; then cmd.ProcessState is set
	drained chan struct{} // closed when standard error ended
	stop    sync.Once
}

// startChild starts the command of a spec. Nothing is left behind on error.
func startChild(spec *Spec, environ []string, t *tail) (*child, error) {
	env := childEnv(environ, spec.Env)
	path, err := lookCommand(spec.Command, env)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, spec.Args...)
	cmd.Args[0] = spec.Command
	cmd.Dir, cmd.Env = spec.Dir, env
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
		c := &child{cmd: cmd, stdin: inW, stdout: outR, stderr: errR, tail: t,
			exited: make(chan struct{}), drained: make(chan struct{})}
		if err = c.group.start(cmd); err == nil {
			for _, f := range []*os.File{inR, outW, errW} {
				f.Close()
			}
			go c.wait()
			go c.readErrors()
			return c, nil
		}
	}
	for _, f := range files {
		f.Close()
	}
	return nil, err
}

func (c *child) wait() {
	c.cmd.Wait() // its result is in ProcessState
	close(c.exited)
}

// readErrors keeps the last lines of standard error. A line is cut at a bound,
// its rest makes further lines.
func (c *child) readErrors() {
	defer close(c.drained)
	r := bufio.NewReaderSize(c.stderr, 16*tailChars)
	for {
		line, _, err := r.ReadLine()
		if err != nil {
			return
		}
		c.tail.add(string(line))
	}
}

// end ends the processes: end of input, then TERM to all of them, then KILL, with
// grace after each of the first two. It returns when none is left and
// standard output and error are closed; read ends when the first is.
func (c *child) end(grace time.Duration, read <-chan struct{}) {
	c.stop.Do(func() {
		c.stdin.Close()
		if !c.exitsIn(grace) {
			c.group.terminate()
			if !c.exitsIn(grace) {
				c.group.kill()
				c.exitsIn(killGrace)
			}
		}
		c.group.sweep()
		for _, pipe := range []struct {
			file *os.File
			end  <-chan struct{}
		}{{c.stdout, read}, {c.stderr, c.drained}} {
			select { // what was written last is still read
			case <-pipe.end:
			case <-time.After(killGrace):
			}
			pipe.file.Close()
			<-pipe.end
		}
		c.group.release()
	})
}

func (c *child) exitsIn(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}

// notInstalled reports whether a start failed for want of the program.
func notInstalled(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}
