package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/aster-mcp/aster/shortcuts"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

func TestMain(m *testing.M) {
	testscript.Main(leavesNoDaemon{m}, map[string]func(){"aster": asterOrMac, "session": session, "parts": parts})
}

// asterOrMac is main, or with ASTER_TEST_MAC set main on a Mac whose osascript and
// shortcuts are the programs in that folder.
func asterOrMac() {
	dir := os.Getenv("ASTER_TEST_MAC")
	if dir == "" {
		main()
	}
	env := cli.OSEnv()
	env.Docs = pages()
	env.ShortcutsRunner = func() (shortcuts.Runner, error) {
		return shortcuts.NewProgramRunner(shortcuts.Programs{Osascript: filepath.Join(dir, "osascript"), Shortcuts: filepath.Join(dir, "shortcuts")}), nil
	}
	os.Exit(cli.Run(context.Background(), env))
}

// TestScripts runs the stories in testdata/script: the program as a user runs it, with a
// home directory of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode, "absent": absent},
		Condition: func(cond string) (bool, error) {
			switch found := cdptest.Find() != ""; {
			case cond != "browser":
				return false, fmt.Errorf("unknown condition %q", cond)
			case !found && os.Getenv("ASTER_TEST_BROWSER") == "required":
				return false, errors.New("no Chromium found, and ASTER_TEST_BROWSER=required: install the package chromium")
			default:
				return found, nil
			}
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("ASTER_DAEMON", "off")         // no test leaves one behind
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program waits a second at its end
			env.Setenv("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
			return errors.Join(os.MkdirAll(home, 0o700), offerBrowser(env))
		},
	})
}

// offerBrowser puts the browser that ASTER_TEST_CHROME names on the PATH of a script, under
// a name that aster looks for.
func offerBrowser(env *testscript.Env) error {
	exe := os.Getenv("ASTER_TEST_CHROME")
	if exe == "" || runtime.GOOS == "windows" {
		return nil
	}
	dir := filepath.Join(env.WorkDir, "bin")
	env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	script := "#!/bin/sh\nexec '" + strings.ReplaceAll(exe, "'", `'\''`) + "' \"$@\"\n"
	return os.WriteFile(filepath.Join(dir, "chromium"), []byte(script), 0o700)
}

// absent is the script command "absent glob…": it requires that nothing matches.
func absent(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("absent cannot be negated")
	}
	for _, pattern := range args {
		found, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(found) > 0 {
			ts.Fatalf("still there: %s", strings.Join(found, " "))
		}
	}
}

// exitCode is the script command "exitcode N program args…": it runs the program and
// requires that exit code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}
