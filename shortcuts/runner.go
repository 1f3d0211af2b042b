package shortcuts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	listTimeout = 70 * time.Second
	toolTimeout = 30 * time.Second // for the command line tool, with its call for each folder
	// innerGrace is how much longer the script waits for the app than we for the script:
	// AppleScript's own default, 120 s, would end a longer run.
	innerGrace = 60 * time.Second
	killWait   = 2 * time.Second // for a killed script's pipes
)

// Programs are the paths of the programs of macOS. They are fields so that tests can put
// others in their place.
type Programs struct {
	Osascript string
	Shortcuts string
	Sips      string // converts pictures; "" leaves them as they are
	// ListTimeout is how long the list script may take before the command line tool is
	// asked instead; 0 is 70 seconds, longer than the script's own limit.
	ListTimeout time.Duration
}

// programs is a Runner over them.
type programs struct{ Programs }

// NewProgramRunner returns the runner over two programs, on any system: what [NewRunner]
// does with those of macOS.
func NewProgramRunner(p Programs) Runner { return programs{p} }

// List asks Shortcuts Events, and the command line tool where that fails or hangs. If both
// fail the first error counts: it is the one that tells of a missing permission.
func (p programs) List(ctx context.Context) ([]Shortcut, error) {
	list, err := p.listByScript(ctx)
	if err == nil {
		return list, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("listing shortcuts: %w", ctx.Err())
	}
	toolCtx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	list, err2 := p.listByTool(toolCtx)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("listing shortcuts: %w", ctx.Err())
	case err2 != nil:
		return nil, fmt.Errorf("listing shortcuts: %w; the command line tool: %v", err, err2)
	}
	return list, nil
}

// listByScript asks Shortcuts Events, and once more if the shortcuts changed meanwhile.
func (p programs) listByScript(ctx context.Context) (list []Shortcut, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(p.ListTimeout, listTimeout))
	defer cancel()
	for range 2 {
		mark := rand.Text()
		out, err := p.script(ctx, listScript, mark)
		switch {
		case ctx.Err() != nil:
			return nil, errNoAnswer
		case err != nil:
			return nil, listError(err)
		}
		if list, err = parseList(out, mark); !errors.Is(err, errChanged) {
			return list, err
		}
	}
	return nil, errChanged
}

var (
	errNoAnswer = errors.New("the program Shortcuts Events did not answer; macOS may be asking whether this program may control it")
	errBroken   = errors.New("the program Shortcuts Events cannot read its shortcuts; restarting the Mac has helped others")
)

// listError says of the list what the same numbers say of a run.
func listError(err error) error {
	switch {
	case errors.Is(err, ErrTimeout):
		return errNoAnswer
	case errors.Is(err, ErrNotFound):
		return errBroken
	}
	return err
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
	case errors.Is(err, errNoResult):
		return []Value{}, nil
	case err != nil:
		return nil, err
	}
	values, err := parseResult(out, mark, data)
	if err != nil {
		return nil, err
	}
	return p.load(runCtx, values)
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
