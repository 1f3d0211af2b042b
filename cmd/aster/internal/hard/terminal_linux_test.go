package hard_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// terminal runs aster on a terminal of its own, types a line whenever it asks, and returns
// all bytes that the terminal got.
func (a *arena) terminal(env []string, answer string, args ...string) string {
	a.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		a.Fatal(err)
	}
	defer master.Close()
	var number, unlock uint32
	for request, p := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(p))); errno != 0 {
			a.Fatal(errno)
		}
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		a.Fatal(err)
	}
	cmd := exec.Command(asterExe, args...)
	cmd.Env, cmd.Dir = a.environ(append(env, "TERM=xterm")...), a.dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		a.Fatal(err)
	}
	var mu sync.Mutex
	var got strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for asked := 0; ; {
			n, err := master.Read(buf)
			mu.Lock()
			got.Write(buf[:n])
			questions := strings.Count(got.String(), "? ")
			mu.Unlock()
			if questions > asked {
				asked = questions
				io.WriteString(master, answer+"\n")
			}
			if err != nil { // the last that had it open is gone
				return
			}
		}
	}()
	late := time.AfterFunc(callTimeout, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !late.Stop() {
		a.Errorf("aster %q did not end on a terminal", args)
	}
	select {
	case <-done:
	case <-time.After(goneTimeout):
		a.Errorf("aster %q: somebody holds the terminal open", args)
		master.Close()
		<-done
	}
	mu.Lock()
	defer mu.Unlock()
	return got.String()
}
