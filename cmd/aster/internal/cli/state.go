package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Files in the state directory.
const (
	secretFile    = "shim.secret"  // lets one aster adopt what an earlier one left in the pages
	stampFile     = "doctor.stamp" // changes when the user runs aster doctor
	launchProfile = "chrome"       // profile of the browser that --cdp-url launch starts
)

const secretBytes = 32

// shimSecret returns the secret in the state directory, which it makes on first use. Where
// nothing can be kept, as with a read-only home, it returns "" and aster works without.
func (e *Env) shimSecret(log *slog.Logger) string {
	dir, err := e.stateDir()
	if err != nil {
		log.Info("no state is kept", "err", err)
		return ""
	}
	secret, err := readSecret(filepath.Join(dir, secretFile))
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeSecret(dir)
	}
	if err != nil {
		log.Info("no state is kept", "err", err)
		return ""
	}
	return secret
}

var errBadSecret = errors.New("not a secret: remove the file to have it made anew")

// readSecret reads a secret and takes away what others may do with its file.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text = bytes.TrimSpace(text)
	if raw, err := hex.DecodeString(string(text)); err != nil || len(raw) != secretBytes {
		return "", &fs.PathError{Op: "read", Path: path, Err: errBadSecret}
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().Perm()&0o077 != 0 {
		os.Chmod(path, 0o600) // as good as it gets; Windows keeps its own rules
	}
	return string(text), nil
}

// makeSecret makes the secret, or takes the one that another process made meanwhile. It
// appears under its name whole or not at all.
func makeSecret(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, secretFile+".*") // mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	raw := make([]byte, secretBytes)
	rand.Read(raw) // never fails, see its documentation
	_, err = f.WriteString(hex.EncodeToString(raw) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	path := filepath.Join(dir, secretFile)
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links: of two at the same moment one loses.
		if err := os.Rename(f.Name(), path); err != nil {
			return "", err
		}
	}
	return readSecret(path)
}

// stampPath is the file that aster doctor touches, "" where no state is kept.
func (e *Env) stampPath() string {
	dir, err := e.stateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, stampFile)
}

// touchStamp tells running servers that the user ran aster doctor.
func (e *Env) touchStamp() error {
	path := e.stampPath()
	if path == "" {
		return errNoState
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	now := time.Now()
	return os.Chtimes(path, now, now)
}
