package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/aster-mcp/aster/shortcuts"
)

// Env is all that a command sees of the world around it. Its zero fields mean: no
// input, discarded output, no variables, no home.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Home           string // the user's home directory, "" if there is none
	Executable     string // the absolute path of the running program
	Terminal       bool   // Stdin is a terminal: a person, not a client
	// ShortcutsRunner lists and runs shortcuts; nil is shortcuts.NewRunner.
	ShortcutsRunner func() (shortcuts.Runner, error)
	// Docs holds the pages of help as NAME.md; nil means that there are none.
	Docs  fs.FS
	Color bool // Stdout is a terminal that understands ECMA-48 and wants colour
}

// OSEnv is the Env of the running process.
func OSEnv() *Env {
	home, _ := os.UserHomeDir() // without one, state is not kept
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return &Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Home: home, Executable: exe,
		Terminal: isTerminal(os.Stdin), Color: wantsColor(os.Stdout),
	}
}

// wantsColor reports whether output to f may be coloured; see https://no-color.org.
func wantsColor(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" {
		return false // older consoles print escape sequences as text
	}
	return isTerminal(f)
}

// isTerminal reports whether f is a character device other than the null device, which is
// as good as it gets without asking the terminal.
func isTerminal(f *os.File) bool {
	fi, err := f.Stat()
	if err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(fi, null)
}

// complete fills the zero fields.
func (e *Env) complete() *Env {
	c := *e
	if c.Stdin == nil {
		c.Stdin = emptyReader{}
	}
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.ShortcutsRunner == nil {
		c.ShortcutsRunner = shortcuts.NewRunner
	}
	return &c
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// errNoState says that there is no place for the state directory.
var errNoState = errors.New("no home directory: set ASTER_HOME")

// stateDir is where aster keeps its files: $ASTER_HOME, else aster below
// $XDG_CONFIG_HOME, else .aster in the home directory.
func (e *Env) stateDir() (string, error) {
	if dir := e.Getenv("ASTER_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // the XDG specification ignores relative ones
		return filepath.Join(dir, "aster"), nil
	}
	if e.Home == "" {
		return "", errNoState
	}
	return filepath.Join(e.Home, ".aster"), nil
}

// number is a count of things whose plural has an s.
func number(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}
