package shortcuts_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shortcuts"
)

// A step is how one of the programs answers. F, R and E in Stdout, between ‹ and ›, become
// the marks of the scripts.
type step struct {
	Stdout, Stderr string
	Exit           int
	Hang           bool
	Data           []byte // written to the path that run or sips was given
	Pad            int    // zeros after Data, or after Stdout without Data
}

// A plan has the keys "list" and "run" (osascript), "tool" (shortcuts list), "folders"
// (its --folders), "folder NAME" and "sips".
type plan map[string]step

// A start is one recorded start of a program.
type start struct {
	Key   string
	Args  []string
	Stdin string
}

// fakeProgram is testdata/fake, built once. It is built without the race detector, which
// makes a hundred starts of a program take minutes.
var fakeProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(fakeDir, "fake.exe")
	out, err := exec.Command("go", "build", "-race=false", "-o", path, "./testdata/fake").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building the fake: %w\n%s", err, out)
	}
	return path, err
})

var fakeDir string // for fakeProgram; TestMain removes it

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shortcuts-test-")
	if err != nil {
		panic(err)
	}
	fakeDir = dir
	code := cdptest.Main(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// fakes returns programs that follow the plan, and what they were started with so far.
func fakes(t *testing.T, p plan) (shortcuts.Runner, func() []start) {
	t.Helper()
	dir := newFakes(t, p)
	return shortcuts.NewProgramRunner(programsIn(dir)), func() []start { return startsIn(t, dir) }
}

// newFakes makes the programs, which look for their plan beside themselves.
func newFakes(t *testing.T, p plan) (dir string) {
	t.Helper()
	program, err := fakeProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, name := range []string{"osascript.exe", "shortcuts.exe", "sips.exe"} {
		if err := os.Link(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	writePlan(t, dir, p)
	return dir
}

func programsIn(dir string) shortcuts.Programs {
	return shortcuts.Programs{Osascript: filepath.Join(dir, "osascript.exe"), Shortcuts: filepath.Join(dir, "shortcuts.exe"), Sips: filepath.Join(dir, "sips.exe")}
}

// writePlan gives the fakes of a folder a plan, in place of another one they may have.
func writePlan(t *testing.T, dir string, p plan) {
	t.Helper()
	var b strings.Builder
	for key, s := range p {
		fmt.Fprintf(&b, "%q %q %q %q %q %q %q\n", key, s.Stdout, s.Stderr, fmt.Sprint(s.Exit), fmt.Sprint(s.Hang), s.Data, fmt.Sprint(s.Pad))
	}
	if err := os.WriteFile(filepath.Join(dir, "plan"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func startsIn(t *testing.T, dir string) (all []start) {
	t.Helper()
	raw, _ := os.ReadFile(filepath.Join(dir, "starts"))
	for line := range strings.Lines(string(raw)) {
		if !strings.HasSuffix(line, "\n") {
			break // being written
		}
		var fields []string
		for line = strings.TrimSpace(line); line != ""; line = strings.TrimPrefix(line, " ") {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatal(err)
			}
			field, _ := strconv.Unquote(q)
			fields, line = append(fields, field), line[len(q):]
		}
		all = append(all, start{Key: fields[0], Stdin: fields[1], Args: fields[2:]})
	}
	return all
}

// listed is the answer of the list script with these shortcuts: name, id and folder each.
func listed(rows ...[3]string) step {
	columns, folders := [][]string{{"ids"}, {"names"}, {"inputs"}, {"counts"}, {"again"}}, [][]string(nil)
	for i, r := range rows {
		for j, field := range []string{r[1], r[0], fmt.Sprint(i%2 == 0), fmt.Sprint(i + 1), r[1]} {
			columns[j] = append(columns[j], field)
		}
		if r[2] != "" {
			folders = append(folders, []string{"folder", r[2], r[1]})
		}
	}
	var out []string
	for _, row := range append(columns, folders...) {
		out = append(out, strings.Join(row, "‹F›"))
	}
	return step{Stdout: strings.Join(out, "‹R›") + "‹E›\n"}
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
