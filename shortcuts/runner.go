package shortcuts

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed list.applescript
var listScript string

//go:embed run.applescript
var runScript string

// Times around a script.
const (
	listTimeout = 70 * time.Second // longer than the script's own
	// innerGrace is how much longer the script waits for the app than we for the script:
	// AppleScript's own default, 120 s, would end a longer run.
	innerGrace = 60 * time.Second
	killWait   = 2 * time.Second // for a killed script's pipes
)

// Programs are the paths of the two programs of macOS. They are fields so that tests can
// put others in their place.
type Programs struct {
	Osascript string
	Shortcuts string
}

// programs is a Runner over them.
type programs struct{ Programs }

// NewProgramRunner returns the runner over two programs, on any system: what [NewRunner]
// does with those of macOS.
func NewProgramRunner(p Programs) Runner { return programs{p} }

// List asks Shortcuts Events, and the command line tool where that fails. If both fail
// the first error counts: it is the one that tells of a missing permission.
func (p programs) List(ctx context.Context) ([]Shortcut, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	mark := rand.Text()
	out, err := p.script(ctx, listScript, mark)
	if err == nil {
		return parseList(out, mark)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("listing shortcuts: %w", err)
	}
	list, err2 := p.listByTool(ctx)
	if err2 != nil {
		return nil, fmt.Errorf("listing shortcuts: %w; the command line tool: %v", err, err2)
	}
	return list, nil
}

// listByTool asks the command line tool, folder by folder.
func (p programs) listByTool(ctx context.Context) ([]Shortcut, error) {
	out, err := p.run(ctx, p.Shortcuts, "list", "--show-identifiers")
	if err != nil {
		return nil, err
	}
	list, err := parseToolList(out)
	if err != nil {
		return nil, err
	}
	folders, err := p.run(ctx, p.Shortcuts, "list", "--folders")
	if err != nil {
		return list, nil // the list is what counts
	}
	in := map[string]string{}
	for _, folder := range strings.Split(strings.TrimSpace(string(folders)), "\n") {
		if folder = strings.TrimSuffix(folder, "\r"); folder == "" {
			continue
		}
		out, err := p.run(ctx, p.Shortcuts, "list", "--show-identifiers", "--folder-name="+folder)
		if err != nil {
			continue
		}
		part, err := parseToolList(out)
		if err != nil {
			continue
		}
		for _, s := range part {
			in[s.ID] = folder
		}
	}
	for i := range list {
		list[i].Folder = in[list[i].ID]
	}
	return list, nil
}

// Run runs the shortcut through the Shortcuts app.
func (p programs) Run(ctx context.Context, id string, in Input, limit time.Duration) ([]Value, error) {
	kind, input := "none", ""
	switch {
	case in.Text != nil:
		kind, input = "text", *in.Text
	case in.File != "":
		kind, input = "file", in.File
	}
	if strings.ContainsRune(id+input, 0) {
		return nil, errors.New("the input holds a null character, which macOS does not pass on")
	}
	dir, err := os.MkdirTemp("", "aster-shortcut-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	runCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	mark, data := rand.Text(), filepath.Join(dir, "data")
	out, err := p.script(runCtx, runScript, mark, id, kind, input, strconv.Itoa(int((limit+innerGrace)/time.Second)), data)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w; the shortcut itself may go on", ctx.Err())
	case runCtx.Err() != nil:
		return nil, fmt.Errorf("%w (%s); it may go on by itself, and may be waiting for an answer in a dialog", ErrTimeout, limit)
	case err != nil:
		return nil, err
	}
	return parseResult(out, mark, data)
}

// script runs a fixed AppleScript. The values are its arguments: behind "--" nothing is
// an option, and nothing of them is ever source.
func (p programs) script(ctx context.Context, source string, values ...string) ([]byte, error) {
	return p.run(ctx, p.Osascript, append([]string{"-e", source, "--"}, values...)...)
}

// run runs a program to its end and returns its output, bounded. Cancelling kills it with
// all that it started.
func (p programs) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	out, errs := &bounded{limit: MaxOutputBytes}, &bounded{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, errs, killWait
	group(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fmt.Errorf("the output is over %d MiB: %w", MaxOutputBytes>>20, ErrTooLarge)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out.buf.Bytes(), nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, scriptError(errs.buf.String())
	}
	return nil, err
}

// A bounded buffer takes all and keeps the first bytes.
type bounded struct {
	buf   bytes.Buffer
	limit int
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-b.buf.Len())
	b.buf.Write(p[:n])
	b.over = b.over || n < len(p)
	return len(p), nil
}

var _ io.Writer = (*bounded)(nil)

// errorNumber is how osascript ends a message: "… (-1712)".
var errorNumber = regexp.MustCompile(`\((-?[0-9]+)\)\s*$`)

// scriptError makes an error of what a script wrote to its standard error, by the numbers
// of AppleScript.
func scriptError(stderr string) error {
	message := clean(strings.ToValidUTF8(stderr, "\ufffd"))
	number := ""
	if m := errorNumber.FindStringSubmatch(message); m != nil {
		number = m[1]
	}
	switch number {
	case "-1712":
		return fmt.Errorf("%w: the Shortcuts app did not answer; it may be waiting in a dialog", ErrTimeout)
	case "-1728":
		return fmt.Errorf("%w: it may have been deleted or renamed; list shows what is there", ErrNotFound)
	case "-1743":
		return fmt.Errorf("%w: allow it in System Settings, Privacy & Security, Automation, for the program that started aster", ErrNotAllowed)
	case "-128":
		return ErrCancelled
	case "-600", "-10810":
		return errors.New("the Shortcuts app could not be started: a user must be logged in at the screen")
	}
	if message == "" {
		message = "no message"
	}
	if r := []rune(message); len(r) > 500 {
		message = string(r[:500]) + "…"
	}
	return fmt.Errorf("the shortcut failed: %s", message)
}

// rows takes a script's output apart.
func rows(out []byte, mark string) ([][]string, error) {
	text := strings.ToValidUTF8(string(out), "\ufffd")
	text, rest, ok := strings.Cut(text, mark+"e")
	if !ok || strings.Contains(rest, mark) {
		return nil, errors.New("the script's answer is incomplete")
	}
	if text == "" {
		return nil, nil
	}
	var all [][]string
	for _, row := range strings.Split(text, mark+"r") {
		all = append(all, strings.Split(row, mark+"f"))
	}
	return all, nil
}

func parseList(out []byte, mark string) ([]Shortcut, error) {
	all, err := rows(out, mark)
	if err != nil {
		return nil, fmt.Errorf("listing shortcuts: %w", err)
	}
	var list []Shortcut
	at := map[string]int{}
	for _, row := range all {
		switch {
		case len(row) == 5 && row[0] == "s":
			s := Shortcut{ID: row[1], Name: row[2]}
			if row[3] == "true" || row[3] == "false" {
				accepts := row[3] == "true"
				s.AcceptsInput = &accepts
			}
			if n, err := strconv.Atoi(row[4]); err == nil {
				s.Actions = &n
			}
			if _, again := at[s.ID]; again || s.ID == "" {
				continue
			}
			at[s.ID] = len(list)
			list = append(list, s)
		case len(row) >= 2 && row[0] == "f":
			for _, id := range row[2:] {
				if i, ok := at[id]; ok {
					list[i].Folder = row[1]
				}
			}
		default:
			return nil, fmt.Errorf("listing shortcuts: a row of %d fields cannot be read", len(row))
		}
	}
	if len(list) > MaxShortcuts {
		return nil, fmt.Errorf("listing shortcuts: over %d: %w", MaxShortcuts, ErrTooLarge)
	}
	return list, nil
}

// toolLine is a line of "shortcuts list --show-identifiers".
var toolLine = regexp.MustCompile(`^(.*) \(([0-9A-Fa-f-]{36})\)$`)

func parseToolList(out []byte) ([]Shortcut, error) {
	var list []Shortcut
	for line := range strings.Lines(strings.ToValidUTF8(string(out), "\ufffd")) {
		if m := toolLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			if list = append(list, Shortcut{Name: m[1], ID: m[2]}); len(list) > MaxShortcuts {
				return nil, fmt.Errorf("over %d shortcuts: %w", MaxShortcuts, ErrTooLarge)
			}
		}
	}
	if len(list) == 0 && len(bytes.TrimSpace(out)) > 0 {
		return nil, errors.New("the list shows no identifiers")
	}
	return list, nil
}

var valueKinds = []string{"text", "number", "boolean", "file", "data", "none", "other"}

// parseResult reads what a run gave. data is where the script may have written.
func parseResult(out []byte, mark, data string) ([]Value, error) {
	all, err := rows(out, mark)
	if err != nil {
		return nil, err
	}
	list := len(all) > 0 && len(all[0]) == 2 && all[0][0] == "list"
	if list {
		if n, err := strconv.Atoi(all[0][1]); err != nil || n != len(all)-1 {
			return nil, errors.New("the script's answer is incomplete")
		}
		all = all[1:]
	}
	values := []Value{}
	for i, row := range all {
		if len(row) != 2 || !slices.Contains(valueKinds, row[0]) {
			return nil, errors.New("the script's answer cannot be read")
		}
		v := Value{Kind: row[0], Text: row[1]}
		if v.Kind == "data" {
			path := data
			if list {
				path = fmt.Sprintf("%s.%d", data, i+1)
			}
			if v.Data, err = readBounded(path); err != nil {
				return nil, fmt.Errorf("reading the result: %w", err)
			}
		}
		values = append(values, v)
	}
	return values, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxImageBytes+1))
	if err == nil && len(raw) > MaxImageBytes {
		err = fmt.Errorf("over %d MiB: %w", MaxImageBytes>>20, ErrTooLarge)
	}
	return raw, err
}
