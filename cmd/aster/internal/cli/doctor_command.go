package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// commandFound looks for the command as the start will.
func (o *serverDoctorOptions) commandFound(l *ladder, s, run *config.Server) bool {
	if run.Cwd != "" {
		if fi, err := os.Stat(run.Cwd); err != nil || !fi.IsDir() {
			l.fail("command", "make the folder, or correct cwd in "+s.Place.String(), "its folder %s is not there", run.Cwd)
			return false
		}
	}
	path, err := findCommand(run, o.env.Getenv("PATH"))
	switch {
	case errors.Is(err, fs.ErrPermission):
		l.fail("command", "chmod +x "+shellWord(path), "%s is there and must not be executed", path)
	case err != nil && path != "":
		l.fail("command", "correct the command in "+s.Place.String(), "%s is not there", path)
	case err != nil:
		next := "install it, or give its full path in " + s.Place.String()
		if hint, ok := installHints[run.Command]; ok {
			next = hint + ", or give its full path in " + s.Place.String()
		}
		l.fail("command", next, "%q is not on PATH, which is what aster was started with:\n%s", run.Command, o.env.Getenv("PATH"))
	default:
		l.ok("command", "%s", path)
	}
	return err == nil
}

// installHints name what brings the commands that most servers are started with.
var installHints = map[string]string{
	"npx": "install Node.js", "node": "install Node.js", "npm": "install Node.js", "bunx": "install Bun", "deno": "install Deno",
	"uvx": "install uv", "uv": "install uv", "pipx": "install pipx", "python": "install Python, or write python3", "python3": "install Python", "docker": "install Docker",
}

// findCommand is the file that a start runs, or, with an error, the one that is not right.
func findCommand(run *config.Server, path string) (string, error) {
	command := run.Command
	if runtime.GOOS == "windows" {
		found, err := exec.LookPath(command)
		return found, err
	}
	if strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			command = filepath.Join(run.Cwd, command)
		}
		return command, executable(command)
	}
	if own, ok := run.Env["PATH"]; ok {
		path = own
	}
	var denied string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		switch file := filepath.Join(dir, command); {
		case executable(file) == nil:
			return file, nil
		case errors.Is(executable(file), fs.ErrPermission) && denied == "":
			denied = file
		}
	}
	if denied != "" {
		return denied, fs.ErrPermission
	}
	return "", exec.ErrNotFound
}

func executable(file string) error {
	switch fi, err := os.Stat(file); {
	case err != nil:
		return fs.ErrNotExist
	case !fi.Mode().IsRegular():
		return fs.ErrNotExist
	case fi.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
