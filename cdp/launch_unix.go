//go:build unix

package cdp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// ownsProfile reports whether the browser that holds the lock on the profile dir belongs
// to cmd's process group. The lock is a link to "host-PID"; it is not known whose it is
// when it is another machine's, or left over from a process that has ended.
func ownsProfile(dir string, cmd *exec.Cmd) (ours, known bool) {
	lock, err := os.Readlink(filepath.Join(dir, "SingletonLock"))
	i := strings.LastIndexByte(lock, '-')
	if err != nil || i < 0 {
		return false, false
	}
	pid, err := strconv.Atoi(lock[i+1:])
	if host, _ := os.Hostname(); err != nil || pid <= 0 || lock[:i] != host {
		return false, false
	}
	group, err := syscall.Getpgid(pid)
	return group == cmd.Process.Pid, err == nil
}
