//go:build unix

package hard_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFileFaults(t *testing.T) {
	play(t, "faults", []attack{
		{name: "disk-full", did: "no file may grow beyond 8 KiB (a full disk) while calls are made and the configuration is edited", run: faultDiskFull},
		{name: "read-only-home", did: "the program's directory, and all in it, can be read only", run: faultReadOnly},
		{name: "no-home", did: "the program's directory cannot be: below a file, below /proc, on a device", run: faultNoHome},
		{name: "damaged-files", did: "each file that the program keeps is cut, emptied, filled with noise or made a directory", run: faultDamaged},
		{name: "edits-at-once", did: "8 processes add a server to one file at once", run: faultEdits},
		{name: "signals", did: fmt.Sprintf("TERM and KILL at %d random moments, in calls and in edits", pick(8, 200)), run: faultSignals},
		{name: "clock", did: "files of the future and of 1970: the record, approvals, lists", run: faultClock},
	})
}

// faultDiskFull starts the program with a limit on the size of files; what is written
// beyond it fails as on a full disk.
func faultDiskFull(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	before, err := os.ReadFile(filepath.Join(a.home, "aster.yaml"))
	if err != nil {
		a.Fatal(err)
	}
	limited := func(args ...string) *exec.Cmd {
		return exec.Command("/bin/sh", append([]string{"-c", `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`, asterExe}, args...)...)
	}
	c := newClient(a.startCommand(nil, limited("mcp", "serve", "--expose", "both")))
	c.initialize()
	c.awaitTool("good__echo")
	made, refused := 0, ""
	for range 100 {
		text, failed := c.call("good__echo", `{"text":"`+strings.Repeat("t", 300)+`"}`).isError()
		if failed {
			refused = text
			break
		}
		made++
	}
	if refused == "" || !strings.Contains(refused, "record") && !strings.Contains(refused, "audit") {
		a.Errorf("after %d calls that could be recorded: %.300q", made, refused)
	}
	if made == 0 {
		a.Errorf("no call could be made: %.300q", refused)
	}
	if text := c.must("tools/list", `{}`); text.Error != nil {
		a.Errorf("listing tools: %+v", text.Error)
	}
	c.close()
	var long strings.Builder // an edit that does not fit
	for i := range 400 {
		fmt.Fprintf(&long, "argument-%d-of-a-long-command-line ", i)
	}
	p := a.startCommand(nil, limited(append([]string{"mcp", "add", "new", "--global", "--", "sh"}, strings.Fields(long.String())...)...))
	p.stdin.Close()
	if !p.ended(leaveTimeout) || p.cmd.ProcessState.ExitCode() == 0 || p.stderr.String() == "" {
		a.Errorf("an edit on a full disk: %v, %q", p.err, p.stderr.String())
	}
	if after, err := os.ReadFile(filepath.Join(a.home, "aster.yaml")); err != nil || !bytes.Equal(after, before) {
		a.Errorf("the configuration is not what it was: %v\n%s", err, after)
	}
	// With room again the record goes on.
	d := a.open(nil, "mcp", "serve", "--expose", "both")
	d.awaitTool("good__echo")
	if text := d.call("good__echo", `{"text":"room"}`).text(); !strings.Contains(text, "echo room") {
		a.Errorf("with room again: %q", text)
	}
	d.close()
	a.mendTorn()
	a.holds("calls refused once they cannot be recorded: %.90q; an edit leaves the file as it was; with room again all goes on", refused)
	a.figure("%d calls before the disk was full", made)
}

// mendTorn takes lines out of the record that a full disk or a kill cut, and says how many:
// later lines must not have been joined to them.
func (a *arena) mendTorn() (torn int) {
	a.Helper()
	path := filepath.Join(a.home, "audit.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}\n")) {
			kept = append(kept, line...)
		} else {
			torn++
		}
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		a.Fatal(err)
	}
	return torn
}

// asNobody has a command run without root's right to write everywhere.
func (a *arena) asNobody(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

func faultReadOnly(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	modes := map[string]os.FileMode{filepath.Dir(asterExe): 0o755, filepath.Dir(fakeExe): 0o755, a.dir: 0o755, filepath.Join(a.home, "aster.yaml"): 0o444, a.home: 0o555, a.tmp: 0o555}
	if os.Getenv("ASTER_HARD_EXE") != "" {
		delete(modes, filepath.Dir(asterExe))
	}
	for path, mode := range modes {
		if err := os.Chmod(path, mode); err != nil {
			a.Fatal(err)
		}
	}
	defer os.Chmod(a.home, 0o700)
	c := newClient(a.startCommand(nil, a.asNobody(exec.Command(asterExe, "mcp", "serve", "--expose", "both"))))
	c.initialize()
	var listed []string
	a.eventually(awaitTimeout, "no tool is listed", func() bool { listed = c.tools(); return len(listed) > 0 })
	text, failed := c.call("aster_mcp", `{"action":"execute","name":"good/echo","arguments":{"text":"x"}}`).isError()
	if !failed || strings.Contains(text, "echo x") {
		a.Errorf("a call without a record: %.300q", text)
	}
	c.close()
	for _, args := range [][]string{{"mcp", "add", "new", "--global", "--", "sh"}, {"mcp", "disable", "good"}, {"mcp", "call", "good/echo", "{}"}} {
		p := a.startCommand(nil, a.asNobody(exec.Command(asterExe, args...)))
		p.stdin.Close()
		if !p.ended(callTimeout) || p.cmd.ProcessState.ExitCode() <= 0 || p.stderr.String() == "" {
			a.Errorf("aster %q: %v, stderr %q", args, p.err, p.stderr.String())
		}
	}
	for _, args := range [][]string{{"mcp", "list", "--no-connect"}, {"config", "check"}, {"mcp", "log"}} {
		p := a.startCommand(nil, a.asNobody(exec.Command(asterExe, args...)))
		p.stdin.Close()
		if !p.ended(callTimeout) || p.err != nil {
			a.Errorf("aster %q, which only reads: %v, stderr %q", args, p.err, p.stderr.String())
		}
	}
	a.holds("what only reads works, edits fail, a call that cannot be recorded is refused: %.90q", text)
}

func faultNoHome(a *arena) {
	file := a.write("file", "")
	homes := []string{filepath.Join(file, "aster"), "/proc/aster-home", strings.Repeat("n", 5000), "/dev/null", "/dev/full/x", "relative", "\xff\xfe"}
	for _, home := range homes[:pick(3, len(homes))] {
		env := []string{"ASTER_HOME=" + home}
		for _, args := range [][]string{{"mcp", "list", "--no-connect"}, {"init"}, {"mcp", "serve"}, {"mcp", "log"}, {"daemon", "status"}} {
			begun := time.Now()
			_, errs, code := a.run(env, args...)
			if code < 0 || code > 12 || code != 0 && errs == "" {
				a.Errorf("ASTER_HOME=%.40q aster %q: exit code %d, %q", home, args, code, errs)
			}
			if took := time.Since(begun); took > slackTime {
				a.Errorf("ASTER_HOME=%.40q aster %q took %v", home, args, took)
			}
		}
	}
	a.removeEmptyRun()
	a.holds("each command works or says what is wrong")
}

// removeEmptyRun removes the daemon's place of where home has none, if it is empty.
func (a *arena) removeEmptyRun() {
	dirs, _ := filepath.Glob(filepath.Join(a.tmp, "aster-*"))
	for _, dir := range dirs {
		os.Remove(dir) // empty, or it stays and is told of
	}
}

// faultDamaged damages each file of a used directory in turn, and looks at what commands
// and calls make of it.
func faultDamaged(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	session := func() (string, bool) {
		c := a.connect(nil, "mcp", "serve", "--expose", "tools")
		if _, err := c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hard","version":"1"}}`); err != nil {
			// It may refuse to start, with a reason.
			if !c.ended(leaveTimeout) || c.cmd.ProcessState.ExitCode() != 1 {
				a.Fatalf("%v: %v; stderr:\n%s", err, c.err, c.stderr.String())
			}
			return c.stderr.String(), true
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		defer c.close()
		for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if len(c.tools()) > 0 {
				break
			}
		}
		return c.call("good__echo", `{"text":"x"}`).isError()
	}
	if text, failed := session(); failed {
		a.Fatalf("at first: %s", text)
	}
	keep, damages := map[string][]byte{}, 0
	filepath.WalkDir(a.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "aster.yaml" && !strings.HasSuffix(d.Name(), ".lock") {
			keep[path], _ = os.ReadFile(path)
		}
		return nil
	})
	rnd := random("damaged")
	for path, text := range keep {
		noise := make([]byte, 256)
		for i := range noise {
			noise[i] = byte(rnd.UintN(256))
		}
		for kind, damaged := range map[string][]byte{"cut": text[:len(text)/2], "empty": {}, "noise": noise, "null": []byte("null\n"), "list": []byte("[]\n")} {
			if !long && rnd.IntN(3) > 0 {
				continue
			}
			a.write(path, string(damaged))
			damages++
			if text, failed := session(); failed && strings.TrimSpace(text) == "" {
				a.Errorf("%s %s: an error without a word", filepath.Base(path), kind)
			}
			a.write(path, string(text))
		}
		os.Remove(path)
		os.Mkdir(path, 0o700)
		damages++
		if text, failed := session(); failed && strings.TrimSpace(text) == "" {
			a.Errorf("%s is a directory: an error without a word", path)
		}
		os.Remove(path)
		a.write(path, string(text))
	}
	if text, failed := session(); failed {
		a.Errorf("when all was put back: %s", text)
	}
	a.holds("each time a call was made or refused with a reason")
	a.figure("%d files, %d damages", len(keep), damages)
}

// faultSignals ends the program at random moments and looks at what it left.
func faultSignals(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}", "audit: {max_bytes: 4096, keep: 50}")
	rnd := random("signals")
	killed, termed := 0, 0
	for i := range pick(8, 200) {
		wait, sig := time.Duration(rnd.IntN(400))*time.Millisecond, syscall.SIGTERM
		if i%2 == 0 {
			sig = syscall.SIGKILL
			killed++
		} else {
			termed++
		}
		c := a.connect(nil, "mcp", "serve", "--expose", "both")
		edit := a.start(nil, "mcp", "add", fmt.Sprintf("new%d", i), "--global", "--disabled", "--", "sh")
		edit.stdin.Close()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			c.begin("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hard","version":"1"}}`)
			c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for j := 0; j < 200; j++ {
				if _, err := c.begin("tools/call", fmt.Sprintf(`{"name":"aster_mcp","arguments":{"action":"execute","name":"good/echo","arguments":{"text":"%d"}}}`, j)); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		time.Sleep(wait)
		c.signal(sig)
		edit.a.mu.Lock()
		edit.killed = true // either way
		edit.a.mu.Unlock()
		edit.cmd.Process.Signal(sig)
		if !c.ended(leaveTimeout) || !edit.ended(leaveTimeout) {
			a.Fatalf("%v after %v (seed %d): a program runs on", sig, wait, seed)
		}
		<-sent
		// 143 and -1 are those of a signal that came before the program could handle it.
		if code := c.cmd.ProcessState.ExitCode(); sig == syscall.SIGTERM && code != 0 && code != 130 && code != -1 {
			a.Errorf("TERM after %v (seed %d): exit code %d; stderr:\n%s", wait, seed, code, c.stderr.String())
		}
		if out, errs, code := a.run(nil, "config", "check"); code != 0 {
			a.Fatalf("%v after %v (seed %d): the configuration is broken: %s%s", sig, wait, seed, out, errs)
		}
	}
	c := a.open(nil, "mcp", "serve", "--expose", "both")
	c.awaitTool("good__echo")
	if text := c.call("good__echo", `{"text":"after"}`).text(); !strings.Contains(text, "echo after") {
		a.Errorf("after all that: %q", text)
	}
	c.close()
	if _, errs, code := a.run(nil, "mcp", "log", "--last", "0"); code != 0 {
		a.Errorf("aster mcp log: %s", errs)
	}
	left, _ := filepath.Glob(filepath.Join(a.home, ".aster.yaml.*"))
	for _, path := range left {
		os.Remove(path) // KILL between the two steps of an edit leaves its first half
	}
	if len(left) > killed {
		a.Errorf("%d files are left of %d killed edits", len(left), killed)
	}
	torn := a.mendTorn()
	a.holds("configuration and record whole, no process left")
	a.figure("%d TERM, %d KILL, %d torn lines, %d files of killed edits", termed, killed, torn, len(left))
}

func faultClock(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	for _, when := range []time.Time{time.Now().AddDate(50, 0, 0), time.Unix(0, 0), time.Now()} {
		filepath.WalkDir(a.home, func(path string, d os.DirEntry, err error) error {
			if err == nil {
				os.Chtimes(path, when, when)
			}
			return nil
		})
		c := a.open(nil, "mcp", "serve", "--expose", "both")
		c.awaitTool("good__echo")
		if text := c.call("good__echo", `{"text":"x"}`).text(); !strings.Contains(text, "echo x") {
			a.Errorf("files of %v: %q", when, text)
		}
		c.close()
	}
	a.holds("calls are made and recorded")
}
