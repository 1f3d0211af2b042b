//go:build unix

package cdp

import (
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askToEnd lets Chrome close its windows and write its profile. It reports whether
// there was a way to ask.
func askToEnd(cmd *exec.Cmd) bool { return cmd.Process.Signal(syscall.SIGTERM) == nil }

// killTree kills the process group: the browser and its renderers.
func killTree(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// groupLives reports whether any process of the group is left.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
