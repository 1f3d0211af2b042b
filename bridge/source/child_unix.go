//go:build unix

package source

import (
	"os/exec"
	"syscall"
	"time"
)

// A group is the process group of a child, whose number is the first process's.
type group struct{ id int }

// start starts cmd as the first of a group of its own, so that a signal reaches
// what npx, uvx or a shell starts, and Ctrl-C at the terminal reaches none of it.
func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.id = cmd.Process.Pid
	return nil
}

func (g *group) terminate() { syscall.Kill(-g.id, syscall.SIGTERM) }
func (g *group) kill()      { syscall.Kill(-g.id, syscall.SIGKILL) }

// sweep ends what outlived the first process. The number of a group is not
// given to another process while one of the group lives; if none does, the
// first signal finds nobody.
func (g *group) sweep() {
	for _, step := range []struct {
		signal syscall.Signal
		grace  time.Duration
	}{{syscall.SIGTERM, groupGrace}, {syscall.SIGKILL, killGrace}} {
		if syscall.Kill(-g.id, step.signal) == syscall.ESRCH {
			return
		}
		for end := time.Now().Add(step.grace); time.Now().Before(end); time.Sleep(groupPoll) {
			if syscall.Kill(-g.id, 0) == syscall.ESRCH {
				return
			}
		}
	}
}

func (g *group) release() {}
