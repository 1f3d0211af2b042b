package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path of a socket: sun_path has 104 bytes on macOS and 108
// on Linux, with the zero at the end.
const maxSocketPath = 103

// Paths are where a daemon can be found.
type Paths struct {
	Dir    string // 0700, the user's
	Socket string
	Lock   string // held by the daemon as long as it lives
	Log    string
}

// PathsFor works out the paths of the daemon of the user whose state directory this is,
// and makes their directory: aster below runtimeDir (XDG_RUNTIME_DIR), else run below the
// state directory, else a directory of the user's below temp. Each state directory has a
// daemon of its own. An error means that none of them can be used.
func PathsFor(stateDir, runtimeDir, temp string) (*Paths, error) {
	var dirs []string
	if filepath.IsAbs(runtimeDir) { // the XDG specification ignores relative ones
		dirs = append(dirs, filepath.Join(runtimeDir, "aster"))
	}
	if stateDir != "" {
		dirs = append(dirs, filepath.Join(stateDir, "run"))
	}
	dirs = append(dirs, filepath.Join(temp, "aster-"+userName()))
	var errs []error
	for _, dir := range dirs {
		p := PathsIn(dir, stateDir)
		if len(p.Socket) > maxSocketPath {
			errs = append(errs, fmt.Errorf("%s: too long for a socket's path", p.Socket))
			continue
		}
		if err := ownDir(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		return p, nil
	}
	return nil, errors.Join(errs...)
}

// PathsIn are the paths of the daemon of a state directory whose files are in dir.
func PathsIn(dir, stateDir string) *Paths {
	sum := sha256.Sum256([]byte(stateDir))
	id := hex.EncodeToString(sum[:4])
	return &Paths{Dir: dir, Socket: filepath.Join(dir, id+".sock"), Lock: filepath.Join(dir, id+".lock"), Log: filepath.Join(dir, id+".log")}
}

// ownDir makes a directory that only the user can enter, or checks that it is one, and
// that files can be made there.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, fi); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".probe")
	if err != nil {
		return err
	}
	_, err = f.WriteString("aster\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
