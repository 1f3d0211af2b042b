//go:build unix

package hard_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// attack is a row of the suite.
type attack struct {
	name  string // unique below its heading
	did   string // what is done, for the table
	rows  []int  // of securityRows
	long  bool   // only in the long form
	alone bool   // it measures, or disturbs others: none runs beside it
	run   func(a *arena)
}

// arena is where one case takes place: directories of its own, the programs that it
// started, and what it found. Its methods may be called from any goroutine, but those that
// fail the test from that of the test only.
type arena struct {
	*testing.T
	dir  string // a home directory; every descendant has it in its environment
	home string // ASTER_HOME
	tmp  string // TMPDIR

	capabilities string // of the case's clients, as JSON; "" is none
	native       bool   // its browser has WebMCP of its own

	mu       sync.Mutex
	programs []*program
	held     []string
	figures  []string
	failures []string // the first words of what failed
	canaries []string // must be in nothing that was written
}

// row is a line of the table.
type row struct {
	heading, name, did, held, figures string
	failed                            bool
	took                              time.Duration
}

var (
	rowsMu sync.Mutex
	rows   []row
)

// play runs the cases of a heading: first those that may run side by side, in the short
// form with those of other headings, then each that must be alone.
func play(t *testing.T, heading string, cases []attack) {
	if !long {
		t.Parallel()
	}
	t.Run("beside", func(t *testing.T) {
		for _, c := range cases {
			if !c.alone && (long || !c.long) {
				t.Run(c.name, func(t *testing.T) { t.Parallel(); c.play(t, heading) })
			}
		}
	})
	for _, c := range cases {
		if c.alone && (long || !c.long) {
			t.Run(c.name, func(t *testing.T) { c.play(t, heading) })
		}
	}
}

func (c *attack) play(t *testing.T, heading string) {
	dir, err := os.MkdirTemp("", "hard-case") // short, for the sake of sockets
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{T: t, dir: dir, home: filepath.Join(dir, "aster"), tmp: filepath.Join(dir, "tmp")}
	for _, d := range []string{a.home, a.tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	defer func() {
		a.endAll()
		if !t.Failed() {
			a.checkAll()
		}
		rowsMu.Lock()
		defer rowsMu.Unlock()
		held := a.held
		if t.Failed() {
			held = append([]string{"FAILED"}, a.failures...)
		}
		rows = append(rows, row{heading, c.name, c.did, strings.Join(held, "; "), strings.Join(a.figures, ", "), t.Failed(), time.Since(begun)})
		if err := writeTable(); err != nil { // each time: a run that is cut short leaves its rows
			t.Error(err)
		}
		os.RemoveAll(dir)
	}()
	c.run(a)
}

// Errorf fails the test, and notes for the table why.
func (a *arena) Errorf(format string, args ...any) {
	a.Helper()
	a.fails(fmt.Sprintf(format, args...))
	a.T.Errorf(format, args...)
}

// Fatalf is Errorf, and ends the test.
func (a *arena) Fatalf(format string, args ...any) {
	a.Helper()
	a.fails(fmt.Sprintf(format, args...))
	a.T.Fatalf(format, args...)
}

func (a *arena) fails(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failures) < 3 {
		a.failures = append(a.failures, fmt.Sprintf("%.300s", text))
	}
}

// holds notes for the table what held.
func (a *arena) holds(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = append(a.held, fmt.Sprintf(format, args...))
}

// figure notes a measure for the table.
func (a *arena) figure(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.figures = append(a.figures, fmt.Sprintf(format, args...))
}

// secret is a text that nothing we write may hold, made from a name.
func (a *arena) secret(name string) string {
	text := "canary-" + name + "-8f3b1c92d7e64a05"
	a.mu.Lock()
	defer a.mu.Unlock()
	a.canaries = append(a.canaries, text)
	return text
}

// write writes a file below the case's directory.
func (a *arena) write(path, text string) string {
	a.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

// config writes the user's aster.yaml: servers that the command fake plays, as
// "name: mode argument…", or remote ones, as "name: http://…", and further lines below mcp.
func (a *arena) config(servers []string, more ...string) {
	a.Helper()
	var text strings.Builder
	text.WriteString("mcp:\n  servers:\n    web: {disabled: true}\n    webmcp: {disabled: true}\n    shortcuts: {disabled: true}\n")
	for _, s := range servers {
		name, mode, _ := strings.Cut(s, ": ")
		if strings.HasPrefix(mode, "http://") {
			fmt.Fprintf(&text, "    %s: {url: %q}\n", name, mode)
			continue
		}
		fmt.Fprintf(&text, "    %s:\n      command: %q\n      args: [%s]\n", name, fakeExe, strings.Join(strings.Fields(mode), ", "))
	}
	for _, line := range more {
		text.WriteString("  " + line + "\n")
	}
	a.write(filepath.Join(a.home, "aster.yaml"), text.String())
}

// eventually waits until a condition holds.
func (a *arena) eventually(within time.Duration, what string, holds func() bool) {
	a.Helper()
	for deadline := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.Fatalf("after %v: %s", within, what)
		}
	}
}

// started is when the first case began, but for building.
var started time.Time

// writeTable writes the rows to the file that ASTER_HARD_TABLE names, with rowsMu held.
func writeTable() error {
	path := os.Getenv("ASTER_HARD_TABLE")
	if path == "" {
		return nil
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.heading, b.heading), cmp.Compare(a.name, b.name)) })
	var b strings.Builder
	b.WriteString("| case | what was done | what held | figures |\n| --- | --- | --- | --- |\n")
	failed := 0
	for _, r := range rows {
		if r.failed {
			failed++
		}
		figures := strings.TrimPrefix(r.figures+fmt.Sprintf(", %.1f s", r.took.Seconds()), ", ")
		fmt.Fprintf(&b, "| %s/%s | %s | %s | %s |\n", r.heading, r.name, cell(r.did), cell(r.held), cell(figures))
	}
	fmt.Fprintf(&b, "\n%d cases, %d failed, %.0f s, seed %d\n", len(rows), failed, time.Since(started).Seconds(), seed)
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// cell is a text that breaks no row of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
