package filelock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	patience = 5 * time.Second
	step     = 5 * time.Millisecond
	// stale is the age at which the lock of a process that died is taken over. What
	// is done under a lock takes milliseconds.
	stale = 10 * time.Second
)

// ErrLocked says that another process held the lock for all of five seconds.
var ErrLocked = errors.New("another process holds the lock")

// Take takes a lock between processes: a file that only one can create, and whose
// directory is made where it is missing. It works the same on every system and file
// system that creates files exclusively. It waits up to five seconds; a lock left by a
// process that died is taken over after ten, or at once where the clock was set back by as
// much since. Any goroutine may call unlock, once.
func Take(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(step) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			f.Close()
			return func() { _ = os.Remove(path) }, nil
		}
		// On Windows a file that is just being removed refuses permission; elsewhere it is the
		// directory that does, and waiting is of no use.
		if going := runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission); !going && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if leftBehind(path) {
			_ = os.Remove(path)
			continue
		}
		if time.Now().After(end) {
			if errors.Is(err, fs.ErrExist) {
				return nil, ErrLocked
			}
			return nil, err
		}
	}
}

// leftBehind reports whether a lock is one of a process that died: too old, or from a time
// that has not come, which is no live process's either, since none holds it for as long as
// a clock takes to be set. The file system's own clock decides, which may be another
// machine's.
func leftBehind(path string) bool {
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()).Abs() <= stale {
		return false
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	now, err := f.Stat()
	f.Close()
	return err == nil && now.ModTime().Sub(info.ModTime()).Abs() > stale
}
