//go:build unix

package hard_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// crash matches what a Go program says when it breaks.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |goroutine \d+ \[|SIGSEGV|runtime: goroutine stack exceeds)|DATA RACE|runtime error:`)

// checkAll is what must hold after every case, when its programs have ended.
func (a *arena) checkAll() {
	a.Helper()
	var left []string
	for deadline := time.Now().Add(goneTimeout); ; time.Sleep(20 * time.Millisecond) {
		if left = a.descendants(); len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if len(left) > 0 {
		a.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	for _, p := range a.programs {
		a.mu.Lock()
		killed := p.killed
		a.mu.Unlock()
		if text := p.stderr.String(); !killed && crash.MatchString(text) {
			a.Errorf("%q crashed:\n%s", p.cmd.Args[1:], text)
		}
	}
	if entries, err := os.ReadDir(a.tmp); err != nil {
		a.Error(err)
	} else if len(entries) > 0 {
		a.Errorf("left in the temporary directory: %v", entries)
	}
	a.checkFiles()
}

// stray matches names of files that should have become others.
var stray = regexp.MustCompile(`(?i)\.(tmp|temp|new|part|partial)\d*$|^\.?tmp|~$`)

// checkFiles checks what lies in the program's directory: whole files, no leftovers, and
// no secret in any of them.
func (a *arena) checkFiles() {
	a.Helper()
	err := filepath.WalkDir(a.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path == filepath.Join(a.home, "chrome") {
			return fs.SkipDir // a browser's profile
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if stray.MatchString(d.Name()) {
			a.Errorf("left behind: %s (%d bytes)", path, len(text))
		}
		switch {
		case strings.Contains(d.Name(), ".jsonl"):
			a.checkLines(path, text)
		case strings.HasSuffix(d.Name(), ".json") && !whole(text):
			a.Errorf("%s is not whole: %.200q", path, text)
		}
		if d.Name() != "aster.yaml" { // where the user wrote it
			a.clean(path, string(text))
		}
		return nil
	})
	if err != nil {
		a.Error(err)
	}
	for _, p := range a.programs {
		a.clean("stderr", p.stderr.String())
	}
}

// whole reports whether a file is JSON, or JSON below a line with its SHA-256 as kept lists are.
func whole(text []byte) bool {
	if head, body, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(head, []byte("aster-list ")) {
		sum := sha256.Sum256(body)
		return bytes.HasSuffix(head, []byte(hex.EncodeToString(sum[:]))) && json.Valid(body)
	}
	return json.Valid(text)
}

// checkLines checks that a record consists of whole lines.
func (a *arena) checkLines(path string, text []byte) {
	a.Helper()
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) || !json.Valid(line) {
			a.Errorf("%s: a line is not whole: %.300q", path, line)
		}
	}
}

// clean checks that a text holds no secret of the case.
func (a *arena) clean(where, text string) {
	a.Helper()
	for _, c := range a.canaries {
		if i := strings.Index(text, c); i >= 0 {
			a.Errorf("%s holds %s: …%s", where, c, text[max(0, i-200):min(len(text), i+len(c)+50)])
		}
	}
}

// entry is what the tests read of a line of the record.
type entry struct {
	ID, Event, Tool, Decision, Outcome, Origin, Error string
}

// audit reads the record of calls.
func (a *arena) audit() (entries []entry) {
	a.Helper()
	text, err := os.ReadFile(filepath.Join(a.home, "audit.jsonl"))
	if err != nil {
		a.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			a.Errorf("the record has a line %.200q", line)
		}
		entries = append(entries, e)
	}
	return entries
}

// unended are the calls that the record has a beginning of and no end.
func unended(entries []entry) (ids []string) {
	open := map[string]bool{}
	for _, e := range entries {
		switch e.Event {
		case "begin":
			open[e.ID] = true
		case "end":
			delete(open, e.ID)
		}
	}
	for id := range open {
		ids = append(ids, id)
	}
	return ids
}
