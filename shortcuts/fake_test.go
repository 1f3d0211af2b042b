package shortcuts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/shortcuts"
)

// The test binary plays osascript and shortcuts when this is set: it records what it was
// started with and answers as the plan in that folder says.
const fakeDir = "ASTER_FAKE_SHORTCUTS"

// A step is how one of the programs answers. F, R and E in Stdout, between ‹ and ›, become
// the marks of the scripts.
type step struct {
	Stdout, Stderr string
	Exit           int
	Hang           bool
	Data           []byte // written to the path that run was given
}

// A plan has the keys "list" and "run" (osascript), "tool" (shortcuts list), "folders"
// (its --folders) and "folder NAME".
type plan map[string]step

// A start is one recorded start of a program.
type start struct {
	Key   string
	Args  []string
	Stdin string
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(fakeDir); dir != "" {
		os.Exit(fake(dir, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func fake(dir string, args []string) int {
	key, mark, data := "tool", "", ""
	if args[0] == "-e" {
		key, mark = "list", args[3]
		if len(args) > 4 {
			key, data = "run", args[8]
		}
	} else if args[1] == "--folders" {
		key = "folders"
	} else if len(args) > 2 {
		key = "folder " + strings.TrimPrefix(args[2], "--folder-name=")
	}
	stdin, _ := io.ReadAll(os.Stdin)
	raw, _ := json.Marshal(start{key, args, string(stdin)})
	f, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	fmt.Fprintf(f, "%s\n", raw)
	f.Close()
	var p plan
	if raw, err := os.ReadFile(filepath.Join(dir, "plan")); err != nil || json.Unmarshal(raw, &p) != nil {
		return 98
	}
	s, ok := p[key]
	if !ok {
		fmt.Fprint(os.Stderr, "execution error: no plan (-2700)")
		return 1
	}
	if s.Data != nil {
		if err := os.WriteFile(data, s.Data, 0o600); err != nil {
			return 97
		}
	}
	fmt.Fprint(os.Stderr, s.Stderr)
	fmt.Print(strings.NewReplacer("‹F›", mark+"f", "‹R›", mark+"r", "‹E›", mark+"e", "‹BAD›", "\xff\x8e").Replace(s.Stdout))
	if s.Hang {
		time.Sleep(10 * time.Minute)
	}
	return s.Exit
}

// fakes returns programs that follow the plan, and what they were started with so far.
func fakes(t *testing.T, p plan) (shortcuts.Runner, func() []start) {
	t.Helper()
	dir := t.TempDir()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeDir, dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return shortcuts.NewProgramRunner(shortcuts.Programs{Osascript: self, Shortcuts: self}), func() (all []start) {
		raw, _ := os.ReadFile(filepath.Join(dir, "starts"))
		for line := range strings.Lines(string(raw)) {
			var s start
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		return all
	}
}

// listed is the answer of the list script with these shortcuts: name, id and folder each.
func listed(rows ...[3]string) step {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteString("‹R›")
		}
		fmt.Fprintf(&b, "s‹F›%s‹F›%s‹F›%v‹F›%d", r[1], r[0], i%2 == 0, i+1)
	}
	for _, r := range rows {
		if r[2] != "" {
			fmt.Fprintf(&b, "‹R›f‹F›%s‹F›%s", r[2], r[1])
		}
	}
	return step{Stdout: b.String() + "‹E›\n"}
}

// listing is a runner that lists without starting a program: the start of one takes its
// time on a busy machine.
type listing struct {
	shortcuts.Runner
	list []shortcuts.Shortcut
}

func (l listing) List(context.Context) ([]shortcuts.Shortcut, error) { return l.list, nil }

// recorder runs nothing and remembers what it was to run.
type recorder struct {
	listing
	ids    []string
	inputs []shortcuts.Input
}

func (r *recorder) Run(_ context.Context, id string, in shortcuts.Input, _ time.Duration) ([]shortcuts.Value, error) {
	r.ids, r.inputs = append(r.ids, id), append(r.inputs, in)
	return []shortcuts.Value{{Kind: "text", Text: "ok"}}, nil
}

// connect returns a client of a server over r.
func connect(t *testing.T, r shortcuts.Runner, opts shortcuts.Options) (*mcp.ClientSession, *shortcuts.Server) {
	t.Helper()
	opts.Runner = r
	s, err := shortcuts.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := mcp.NewInMemoryTransports()
	ss, err := s.MCP().Connect(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); _ = ss.Wait() })
	return cs, s
}

func call(t *testing.T, cs *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}
