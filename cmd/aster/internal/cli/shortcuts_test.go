package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/aster-mcp/aster/shortcuts"
)

// fakeShortcuts is a Mac with two shortcuts.
type fakeShortcuts struct{ ran []string }

func (f *fakeShortcuts) List(context.Context) ([]shortcuts.Shortcut, error) {
	return []shortcuts.Shortcut{{Name: "Café", ID: "A-1", Folder: "Home"}, {Name: "$(rm -rf ~) \x1b[2J\nC-3  Forged", ID: "B-2"}}, nil
}

func (f *fakeShortcuts) Run(_ context.Context, id string, in shortcuts.Input, _ time.Duration) ([]shortcuts.Value, error) {
	text := "no input"
	if in.Text != nil {
		text = *in.Text
	}
	f.ran = append(f.ran, id+" "+text)
	return []shortcuts.Value{{Kind: "text", Text: "ran with " + text}}, nil
}

func TestShortcuts(t *testing.T) {
	fake := &fakeShortcuts{}
	home := t.TempDir()
	run := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = cli.Run(context.Background(), &cli.Env{Args: args, Stdout: &stdout, Stderr: &stderr, Home: home,
			Getenv:          func(name string) string { return map[string]string{"ASTER_HOME": home}[name] },
			ShortcutsRunner: func() (shortcuts.Runner, error) { return fake, nil }})
		return code, stdout.String(), stderr.String()
	}
	if code, out, errs := run("shortcuts", "list"); code != 0 || !strings.Contains(out, "A-1  Café  (Home)") || strings.Contains(out, "\x1b") || strings.Contains(out, "\nC-3") {
		t.Errorf("list: %d %q %q", code, out, errs)
	}
	if code, out, errs := run("shortcuts", "run", "Café", "--text", "milk & $(eggs)"); code != 0 || !strings.Contains(out, "ran with milk & $(eggs)") {
		t.Errorf("run: %d %q %q", code, out, errs)
	}
	if code, out, errs := run("shortcuts", "run", "--id", "B-2", "--input-json", `{"n":1}`); code != 0 || !strings.Contains(out, `{"n":1}`) {
		t.Errorf("run by id: %d %q %q", code, out, errs)
	}
	if len(fake.ran) != 2 || fake.ran[0] != "A-1 milk & $(eggs)" {
		t.Errorf("ran %q", fake.ran)
	}
	if code, _, _ := run("shortcuts", "run", "Cafe"); code == 0 {
		t.Errorf("a name that is nearly right: %d", code)
	}
	if code, out, _ := run("shortcuts", "run", "Café", "--text", ""); code != 0 || strings.Contains(out, "no input") {
		t.Errorf("an empty text: %d %q", code, out)
	}
	if code, _, errs := run("shortcuts", "run", "Café", "--id", "B-2"); code == 0 || len(fake.ran) != 3 {
		t.Errorf("a name and the id of another: %d %q, ran %q", code, errs, fake.ran)
	}
	if code, _, _ := run("shortcuts", "run", "Café", "--input-json", ""); code != cli.ExitUsage {
		t.Errorf("an empty text as JSON: %d", code)
	}
	if code, _, _ := run("shortcuts", "run"); code != cli.ExitUsage {
		t.Errorf("no name: %d", code)
	}
	if code, out, errs := run("mcp", "tools", "shortcuts"); code != 0 || !strings.Contains(out, "shortcuts/run") {
		t.Errorf("tools: %d %q %q", code, out, errs)
	}
	if code, out, _ := run("mcp", "log"); code != 0 || strings.Count(out, "shortcuts/run") != 5 {
		t.Errorf("log: %d %q", code, out)
	}
	var stdout, stderr bytes.Buffer
	code := cli.Run(context.Background(), &cli.Env{Args: []string{"mcp", "serve", "shortcuts"}, Stdout: &stdout, Stderr: &stderr, Home: home,
		ShortcutsRunner: func() (shortcuts.Runner, error) { return nil, shortcuts.ErrNotMac }})
	if code != cli.ExitUsage || !strings.Contains(stderr.String(), "macOS only") {
		t.Errorf("elsewhere: %d %q", code, stderr.String())
	}
}
