package filelock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	patience = 2 * time.Second
	step     = 5 * time.Millisecond
	// stale is the age at which the lock of a process that died is taken over. What
	// is done under a lock takes milliseconds.
	stale = 10 * time.Second
)

// ErrLocked says that another process held the lock for all of two seconds.
var ErrLocked = errors.New("another process holds the lock")

// Take takes a lock between processes: a file that only one can create, and whose
// directory is made where it is missing. It works the same on every system and file
// system that creates files exclusively. It waits up to two seconds; a lock left by a
// process that died is taken over after ten. Any goroutine may call unlock, once.
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
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err // on Windows a file that is just being removed refuses permission
		}
		if info, statErr := os.Stat(path); statErr == nil && time.Since(info.ModTime()) > stale {
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
