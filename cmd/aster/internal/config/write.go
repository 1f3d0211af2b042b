package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
)

// replaceFile writes a file whole or not at all: a file beside it takes its name. A
// symbolic link stays one. The mode is that of the file that was there, unless force is
// set or there was none. make returns the text; no other process that asks here changes
// the file between what make reads and the end.
func replaceFile(path string, mode fs.FileMode, force bool, make func() ([]byte, error)) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	unlock, err := filelock.Take(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	text, err := make()
	if err != nil {
		return err
	}
	if fi, err := os.Stat(path); err == nil && !force {
		mode = fi.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
