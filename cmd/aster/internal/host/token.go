package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// Bounds of a token in a file, in bytes.
const (
	minTokenBytes = 16
	maxTokenBytes = 4 << 10
)

// NewToken is a bearer token that nobody can guess.
func NewToken() string { return rand.Text() + rand.Text() }

// TokenFile reads the bearer token in a file, which it makes, with mode 0600 and a new
// token, where there is none. A file that others can read is an error, and so is a token
// of under 16 bytes.
func TokenFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := NewToken()
		_, err := f.WriteString(token + "\n")
		return token, errors.Join(err, f.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !fi.Mode().IsRegular() || fi.Size() > maxTokenBytes:
		return "", fmt.Errorf("%s: not a file with a token", path)
	case runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s: others can read it: chmod 600 it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < minTokenBytes || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s: a token is one word of %d characters or more", path, minTokenBytes)
	}
	return token, nil
}
