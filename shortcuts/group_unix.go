//go:build unix

package shortcuts

import (
	"os/exec"
	"syscall"
)

// group gives a program a process group of its own, and has cancelling kill the group.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
