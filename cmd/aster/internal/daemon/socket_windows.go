package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
)

func userName() string {
	if u, err := user.Current(); err == nil {
		return strings.NewReplacer("\\", "-", "/", "-").Replace(u.Uid) // the security identifier
	}
	return "user"
}

// checkOwner leaves it to the access list that the directory has from the user's profile.
func checkOwner(dir string, fi fs.FileInfo) error {
	if !fi.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

const errorSharingViolation = syscall.Errno(32)

// lock opens the lock file for this process alone, or returns errRunning.
func lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errorSharingViolation) {
		return nil, errRunning
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// noDaemon reports whether an error of dialling means that nobody listens. Windows has
// many codes for that.
func noDaemon(error) bool { return true }

// checkPeer has nothing to do: the socket is a file in a directory of the user's profile,
// with its access list.
func checkPeer(net.Conn) error { return nil }

// detachedProcess is DETACHED_PROCESS: no console.
const detachedProcess = 0x00000008

func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}
