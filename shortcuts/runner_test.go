package shortcuts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/shortcuts"
)

// columns is an answer of the list script with these ids before and after, and names.
func columns(ids, names, again string) step {
	n := strings.Count(ids, "‹F›")
	return step{Stdout: "ids" + ids + "‹R›names" + names + "‹R›inputs" + strings.Repeat("‹F›true", n) + "‹R›counts" + strings.Repeat("‹F›1", n) + "‹R›again" + again + "‹E›"}
}

// A list whose columns do not belong together would run one shortcut under the name of
// another: it is asked for again, and then left to the command line tool.
func TestListThatChanges(t *testing.T) {
	t.Parallel()
	a, b := "‹F›"+idA, "‹F›"+idB
	tool := step{Stdout: "Tool (" + idC + ")\n"}
	for _, tt := range []struct {
		name   string
		list   step
		starts int // of the list script
		want   string
	}{
		{"order", columns(a+b, "‹F›A‹F›B", b+a), 2, "Tool"},
		{"one more name", columns(a, "‹F›A‹F›B", a), 2, "Tool"},
		{"one more id", columns(a, "‹F›A", a+b), 2, "Tool"},
		{"unreadable", step{Stdout: "names‹F›A‹E›"}, 1, "Tool"},
		{"the same", columns(a, "‹F›A", a), 1, "A"},
		{"empty", columns("", "", ""), 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, starts := fakes(t, plan{"list": tt.list, "tool": tool})
			list, err := r.List(t.Context())
			n, got := 0, ""
			for _, s := range starts() {
				if s.Key == "list" {
					n++
				}
			}
			for _, s := range list {
				got += s.Name
			}
			if err != nil || n != tt.starts || got != tt.want {
				t.Errorf("%q after %d starts, %v; want %q after %d", got, n, err, tt.want, tt.starts)
			}
		})
	}
}

func TestListWhenEventsHangs(t *testing.T) {
	t.Parallel()
	dir := newFakes(t, plan{"list": {Hang: true}, "tool": {Stdout: "Water (" + idA + ")\n"}, "folders": {}})
	p := programsIn(dir)
	p.ListTimeout = 200 * time.Millisecond
	list, err := shortcuts.NewProgramRunner(p).List(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != idA {
		t.Errorf("%v, %v; want the command line tool's list", list, err)
	}
	writePlan(t, dir, plan{"list": {Hang: true}})
	if _, err := shortcuts.NewProgramRunner(p).List(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("with neither: %v", err)
	}
	// -1728 of a list is the known fault of Shortcuts Events, and no missing shortcut.
	writePlan(t, dir, plan{"list": {Stderr: "execution error: Can't get object. (-1728)", Exit: 1}})
	p.ListTimeout = 0
	if _, err := shortcuts.NewProgramRunner(p).List(t.Context()); err == nil || strings.Contains(err.Error(), "deleted") || !strings.Contains(err.Error(), "restarting") {
		t.Errorf("a broken Shortcuts Events: %v", err)
	}
}

// In the tool's list a name with a line break can pose as the line of another shortcut.
func TestForgedLineOfTheTool(t *testing.T) {
	t.Parallel()
	r, _ := fakes(t, plan{"list": {Exit: 1}, "tool": {Stdout: "Trusted (" + idA + ")\nBackup (" + idB + ")\nTrusted (" + idB + ")\nrest (" + idC + ")\n"}})
	list, err := r.List(t.Context())
	if diff := cmp.Diff([]shortcuts.Shortcut{{Name: "Trusted", ID: idA}, {Name: "rest", ID: idC}}, list); err != nil || diff != "" {
		t.Errorf("%v, list (-want +got):\n%s", err, diff)
	}
}

// Pictures in the Mac's own forms arrive as PNG, also where they are larger than what is
// passed on otherwise.
func TestPictures(t *testing.T) {
	t.Parallel()
	const png = "\x89PNG\r\n\x1a\nrest"
	tiff, pad := []byte("MM\x00*\x00\x00\x00\x08more"), shortcuts.MaxImageBytes
	dir := t.TempDir()
	heic := filepath.Join(dir, "photo.heic")
	if err := os.WriteFile(heic, []byte("\x00\x00\x00\x18ftypheic0123"), 0o600); err != nil {
		t.Fatal(err)
	}
	converts, fails := step{Data: []byte(png)}, step{Stderr: "Error: cannot do", Exit: 13}
	for _, tt := range []struct {
		name string
		run  step
		sips step
		want string
	}{
		{"data", step{Stdout: "data‹F›TIFF picture‹E›", Data: tiff, Pad: pad}, converts, "image"},
		{"data in a list", step{Stdout: "list‹F›1‹R›text‹F›a‹E›"}, converts, "text"},
		{"file", step{Stdout: "file‹F›" + heic + "‹E›"}, converts, "image"},
		{"file that cannot be converted", step{Stdout: "file‹F›" + heic + "‹E›"}, fails, "link"},
		{"small data that cannot be converted", step{Stdout: "data‹F›TIFF picture‹E›", Data: tiff}, fails, "blob"},
		{"large data that cannot be converted", step{Stdout: "data‹F›TIFF picture‹E›", Data: tiff, Pad: pad}, fails, "error"},
		{"a conversion to something else", step{Stdout: "file‹F›" + heic + "‹E›"}, step{Data: []byte("<svg/>")}, "link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, starts := fakes(t, plan{"run": tt.run, "sips": tt.sips})
			cs, _ := connect(t, listing{r, []shortcuts.Shortcut{{Name: "Backup", ID: idB}}}, shortcuts.Options{})
			res, got := call(t, cs, "run", map[string]any{"id": idB}), "error"
			if !res.IsError {
				switch c := res.Content[0].(type) {
				case *mcp.ImageContent:
					if got = "image"; string(c.Data) != png || c.MIMEType != "image/png" {
						t.Errorf("an image of %s, %d bytes", c.MIMEType, len(c.Data))
					}
				case *mcp.ResourceLink:
					got = "link"
				case *mcp.EmbeddedResource:
					got = "blob"
				case *mcp.TextContent:
					got = "text"
				}
			}
			if got != tt.want {
				t.Errorf("a result of the kind %s, want %s: %s", got, tt.want, text(res))
			}
			if all := starts(); got == "image" && (len(all) != 2 || !strings.HasPrefix(strings.Join(all[1].Args, " "), "-s format png /")) {
				t.Errorf("sips was started with %q", all)
			}
		})
	}
}

// Names are found whatever normal form macOS hands them out in.
func TestNormalForms(t *testing.T) {
	t.Parallel()
	r := listing{list: []shortcuts.Shortcut{{Name: "Cafe\u0301 open", ID: idA, Folder: "E\u0301cole"}, {Name: "\u00c9t\u00e9", ID: idB}}}
	s, err := shortcuts.NewServer(&shortcuts.Options{Runner: r})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ folder, query, want string }{
		{"", "caf\u00e9", idA}, {"", "CAFE\u0301", idA}, {"", "e\u0301te\u0301", idB}, {"\u00c9cole", "", idA},
	} {
		if list, err := s.List(t.Context(), tt.folder, tt.query); err != nil || len(list) != 1 || list[0].ID != tt.want {
			t.Errorf("folder %q, query %q: %v, %v; want %s", tt.folder, tt.query, list, err, tt.want)
		}
	}
}
