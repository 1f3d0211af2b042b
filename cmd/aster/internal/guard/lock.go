package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	lockPatience = 2 * time.Second
	lockStep     = 5 * time.Millisecond
	// lockStale is the age at which the lock of a process that died is taken over. What
	// is done under a lock takes milliseconds.
	lockStale = 10 * time.Second
)

var errLocked = errors.New("another process holds the lock")

// lockFile takes a lock between processes: a file that only one can create. It works the
// same on every system and file system that creates files exclusively. A lock left by a
// process that died is taken over after ten seconds.
func lockFile(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), logDirMode); err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockStep) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, logMode)
		if err == nil {
			f.Close()
			return func() { _ = os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err // on Windows a file that is just being removed refuses permission
		}
		if info, statErr := os.Stat(path); statErr == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(path)
			continue
		}
		if time.Now().After(end) {
			if errors.Is(err, fs.ErrExist) {
				return nil, errLocked
			}
			return nil, err
		}
	}
}
