package cdp

import (
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askToEnd asks the browser's windows to close; without a window there is no way to ask.
func askToEnd(cmd *exec.Cmd) bool {
	return exec.Command("taskkill", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() == nil
}

// killTree kills the browser and its renderers.
func killTree(cmd *exec.Cmd) {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	cmd.Process.Kill()
}

// groupLives is not known here: Chrome's job object ends the children with the browser.
func groupLives(*exec.Cmd) bool { return false }

// ownsProfile is not known here: the lock is a file that is open somewhere.
func ownsProfile(string, *exec.Cmd) (ours, known bool) { return false, false }
