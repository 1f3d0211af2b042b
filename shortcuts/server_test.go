package shortcuts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/shortcuts"
)

const (
	idA = "AAAAAAAA-0000-4000-8000-000000000001"
	idB = "BBBBBBBB-0000-4000-8000-000000000002"
	idC = "CCCCCCCC-0000-4000-8000-000000000003"
)

var three = listed([3]string{"Water", idA, "Home"}, [3]string{"Backup", idB, ""}, [3]string{"Water", idC, "Work"})

func TestList(t *testing.T) {
	t.Parallel()
	r, starts := fakes(t, plan{"list": three})
	cs, _ := connect(t, r, shortcuts.Options{})
	res := call(t, cs, "list", map[string]any{})
	var got struct{ Shortcuts []shortcuts.Shortcut }
	if err := json.Unmarshal([]byte(text(res)), &got); err != nil || res.IsError {
		t.Fatalf("%s: %v", text(res), err)
	}
	yes, no, n := true, false, []int{1, 2, 3}
	want := []shortcuts.Shortcut{{Name: "Backup", ID: idB, AcceptsInput: &no, Actions: &n[1]},
		{Name: "Water", ID: idA, Folder: "Home", AcceptsInput: &yes, Actions: &n[0]}, {Name: "Water", ID: idC, Folder: "Work", AcceptsInput: &yes, Actions: &n[2]}}
	if diff := cmp.Diff(want, got.Shortcuts); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if got := text(call(t, cs, "list", map[string]any{"folder": "Work", "query": "WAT"})); !strings.Contains(got, idC) || strings.Contains(got, idA) {
		t.Errorf("list of a folder: %s", got)
	}
	if got := text(call(t, cs, "list", map[string]any{"query": "none"})); got != `{"shortcuts":[]}` {
		t.Errorf("list of nothing: %s", got)
	}
	if s := starts()[0]; s.Args[0] != "-e" || s.Args[2] != "--" || len(s.Args) != 4 || s.Stdin != "" {
		t.Errorf("osascript was started with %q", s.Args)
	}
	cs, _ = connect(t, r, shortcuts.Options{Folders: []string{"Home"}})
	if got := text(call(t, cs, "list", map[string]any{})); strings.Contains(got, idB) || strings.Contains(got, idC) || !strings.Contains(got, idA) {
		t.Errorf("with the folder Home: %s", got)
	}
	if res := call(t, cs, "run", map[string]any{"id": idC}); !res.IsError || !strings.Contains(text(res), "no such shortcut") {
		t.Errorf("run outside the folder: %s", text(res))
	}
	cs, _ = connect(t, r, shortcuts.Options{Folders: []string{}})
	if got := text(call(t, cs, "list", map[string]any{})); got != `{"shortcuts":[]}` {
		t.Errorf("with no folder: %s", got)
	}
}

func TestListFallsBack(t *testing.T) {
	t.Parallel()
	denied := step{Stderr: "47:52: execution error: Not authorized to send Apple events to Shortcuts Events. (-1743)", Exit: 1}
	r, _ := fakes(t, plan{"list": denied, "tool": {Stdout: "Water (x) (" + idA + ")\r\n\nBackup (" + idB + ")\nno identifier\n"},
		"folders": {Stdout: "-Home\n$(Work)\n"}, "folder -Home": {Stdout: "Water (x) (" + idA + ")\n"}})
	got, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]shortcuts.Shortcut{{Name: "Water (x)", ID: idA, Folder: "-Home"}, {Name: "Backup", ID: idB}}, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	r, _ = fakes(t, plan{"list": denied})
	if _, err := r.List(t.Context()); !errors.Is(err, shortcuts.ErrNotAllowed) || !strings.Contains(err.Error(), "Automation") {
		t.Errorf("with both failing: %v, want ErrNotAllowed and the pane", err)
	}
	r, _ = fakes(t, plan{"list": {}, "tool": {Stdout: "Only names\n"}})
	if _, err := r.List(t.Context()); err == nil {
		t.Error("an unreadable list is no error")
	}
}

func TestListOfTenThousand(t *testing.T) {
	t.Parallel()
	rows := make([][3]string, 10_000)
	for i := range rows {
		rows[i] = [3]string{fmt.Sprintf("Shortcut %05d", i), fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), ""}
	}
	r, _ := fakes(t, plan{"list": listed(rows...), "run": {Stdout: "text‹F›ok‹E›"}})
	cs, s := connect(t, r, shortcuts.Options{})
	if list, err := s.List(t.Context(), "", ""); err != nil || len(list) != 10_000 || list[9999].Name != "Shortcut 09999" {
		t.Fatalf("%d shortcuts, %v", len(list), err)
	}
	if got := text(call(t, cs, "run", map[string]any{"name": "Shortcut 05000"})); got != "ok" {
		t.Errorf("run of one of them: %s", got)
	}
}

// Hostile names and inputs arrive as they are, as data.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	hostile := []string{
		`"`, `\"`, `'`, "`id`", `$(touch /tmp/x)`, `${HOME}`, `"; do shell script "id"`, `" & (do shell script "id") & "`, `-e`, `--`, `-`, `--folder-name`, `-x do`,
		"a\nb", "a\r\nb", "\t", " ", "  two  ", "\x1b[31mred", "\x07", "\u202etxt.exe", "zero\u200bwidth", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "日本語", "עברית", "cafe\u0301", "é", "%s%n", "%00",
		"../../etc/passwd", "/bin/sh", "a;b", "a|b", "a&&b", "a>b", "*", "?", "[a]", "{a,b}", "~", "!history", "#comment", "--\n-- comment", "end run\non run argv", strings.Repeat("x", 5000), "¬", "«class furl»", "\u2028", "\ufeffbom",
	}
	if len(hostile) < 40 {
		t.Fatalf("only %d names", len(hostile))
	}
	rows := make([][3]string, len(hostile))
	for i, name := range hostile {
		rows[i] = [3]string{name, fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), name}
	}
	r, starts := fakes(t, plan{"list": listed(rows...), "run": {Stdout: "text‹F›ok‹E›"}})
	list, err := r.List(t.Context())
	if err != nil || len(list) != len(hostile) {
		t.Fatalf("%d shortcuts, %v", len(list), err)
	}
	cs, _ := connect(t, listing{r, list}, shortcuts.Options{})
	source := ""
	for i, name := range hostile {
		if list[i].Name != name || list[i].Folder != name {
			t.Errorf("%q is listed as %q of %q", name, list[i].Name, list[i].Folder)
		}
		if res := call(t, cs, "run", map[string]any{"name": name, "id": rows[i][1], "input": name}); res.IsError || text(res) != "ok" {
			t.Errorf("%q: %s", name, text(res))
			continue
		}
		all := starts()
		got := all[len(all)-1].Args
		if source == "" {
			source = got[1]
		}
		if got[1] != source || strings.Contains(source, "do shell script") || strings.ContainsFunc(source, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("%q: the script is another one", name)
		}
		// The script's own limit is longer than ours, 120 s.
		if want := []string{"--", rows[i][1], "text", name, "180"}; cmp.Diff(want, append([]string{got[2]}, got[4:8]...)) != "" {
			t.Errorf("%q: the arguments are %q, want %q", name, got[2:], want)
		}
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	r := &recorder{listing: listing{list: []shortcuts.Shortcut{{Name: "Water", ID: idA, Folder: "Home"}, {Name: "Water", ID: idC, Folder: "Work"}, {Name: "Cafe\u0301 open", ID: idB}}}}
	cs, _ := connect(t, r, shortcuts.Options{})
	for _, tt := range []struct {
		name, shortcut, id, want string
		ok                       bool
	}{
		{"in the other normal form", "Café open", "", idB, true},
		{"by id", "", idC, idC, true},
		{"by id in small letters", "", strings.ToLower(idC), idC, true},
		{"both", "Water", idC, idC, true},
		{"both, that do not belong together", "Water", idB, "no such shortcut", false},
		{"ambiguous", "Water", "", idA, false},
		{"case", "café OPEN", "", "Did you mean", false},
		{"unknown", "zzz", "", "list shows all", false},
		{"neither", "", "", "give the name or the id", false},
	} {
		r.ids = nil
		res := call(t, cs, "run", map[string]any{"name": tt.shortcut, "id": tt.id})
		if ran := len(r.ids) > 0; res.IsError == tt.ok || ran != tt.ok {
			t.Errorf("%s: %s, ran %v", tt.name, text(res), r.ids)
		} else if tt.ok && r.ids[0] != tt.want || !tt.ok && !strings.Contains(text(res), tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, text(res), tt.want)
		}
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	p, starts := fakes(t, plan{"run": {Stdout: "none‹F›‹E›"}})
	cs, _ := connect(t, listing{p, []shortcuts.Shortcut{{Name: "Backup", ID: idB}}}, shortcuts.Options{})
	file := filepath.Join(t.TempDir(), "in -put.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, args string
		want       []string // kind and input; nil is an error
	}{
		{"none", `{"id":"` + idB + `"}`, []string{"none", ""}},
		{"null", `{"id":"` + idB + `","input":null}`, []string{"none", ""}},
		{"text", `{"id":"` + idB + `","input":"a\u0022b"}`, []string{"text", `a"b`}},
		{"empty text", `{"id":"` + idB + `","input":""}`, []string{"text", ""}},
		{"object", `{"id":"` + idB + `","input":{"n":12345678901234567890}}`, []string{"text", `{"n":12345678901234567890}`}},
		{"number", `{"id":"` + idB + `","input":1.50}`, []string{"text", "1.50"}},
		{"file", `{"id":"` + idB + `","inputFile":` + string(must(json.Marshal(file))) + `}`, []string{"file", file}},
		{"both", `{"id":"` + idB + `","input":"x","inputFile":` + string(must(json.Marshal(file))) + `}`, nil},
		{"relative file", `{"id":"` + idB + `","inputFile":"in.txt"}`, nil},
		{"missing file", `{"id":"` + idB + `","inputFile":` + string(must(json.Marshal(file+"x"))) + `}`, nil},
		{"folder", `{"id":"` + idB + `","inputFile":` + string(must(json.Marshal(filepath.Dir(file)))) + `}`, nil},
		{"field of another case", `{"ID":"` + idB + `"}`, nil},
		{"unknown field", `{"id":"` + idB + `","script":"x"}`, nil},
		{"number as id", `{"id":7}`, nil},
		{"null character", `{"id":"` + idB + `","input":"a\u0000b"}`, nil},
		{"too large", `{"id":"` + idB + `","input":"` + strings.Repeat("x", shortcuts.MaxInputBytes+1) + `"}`, nil},
	} {
		before := len(starts())
		res := call(t, cs, "run", json.RawMessage(tt.args))
		all := starts()[before:]
		if tt.want == nil {
			if !res.IsError || len(all) > 0 && all[len(all)-1].Key == "run" {
				t.Errorf("%s: it ran", tt.name)
			}
			continue
		}
		if res.IsError || cmp.Diff(tt.want, all[len(all)-1].Args[5:7]) != "" {
			t.Errorf("%s: %s, started with %q, want %q", tt.name, text(res), all[len(all)-1].Args[3:], tt.want)
		}
	}
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

func TestResults(t *testing.T) {
	t.Parallel()
	png := []byte("\x89PNG\r\n\x1a\nrest")
	dir := t.TempDir()
	image, doc := filepath.Join(dir, "i mage.png"), filepath.Join(dir, "doc.pdf")
	for path, raw := range map[string][]byte{image: png, doc: []byte("%PDF-1.7")} {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		step step
		want string // kinds of content, or a part of the error
		text string
		err  bool
	}{
		{"text", step{Stdout: "text‹F›two\nlines‹E›\n"}, "text", "two\nlines", false},
		{"text that ends in a line break", step{Stdout: "text‹F›x\n‹E›\n"}, "text", "x\n", false},
		{"number", step{Stdout: "number‹F›4.5‹E›\n"}, "text", "4.5", false},
		{"nothing", step{Stdout: "none‹F›‹E›\n"}, "text", "The shortcut ran and gave no result.", false},
		{"list", step{Stdout: "list‹F›3‹R›text‹F›a‹R›number‹F›2‹R›boolean‹F›true‹E›"}, "text", "a\n2\ntrue", false},
		{"number in another language", step{Stdout: "number‹F›1,5‹E›"}, "text", "1.5", false},
		{"large number", step{Stdout: "number‹F›1.234567890123E+12‹E›"}, "text", "1234567890123", false},
		{"whole number", step{Stdout: "number‹F›-9007199254740993‹E›"}, "text", "-9007199254740993", false},
		{"no number", step{Stdout: "number‹F›NaN‹E›"}, "text", "NaN", false},
		{"nothing, as AppleScript says it", step{Stderr: "execution error: No result was returned from some part of this expression. (-2763)", Exit: 1}, "text", "The shortcut ran and gave no result.", false},
		{"nothing, as AppleScript says it later", step{Stderr: "execution error: La variable « theResult » n’est pas définie. (-2753)", Exit: 1}, "text", "The shortcut ran and gave no result.", false},
		{"nothing in a list", step{Stdout: "list‹F›2‹R›none‹F›‹R›text‹F›a‹E›"}, "text", "a", false},
		{"folder", step{Stdout: "file‹F›" + dir + "/‹E›"}, "folder", "", false},
		{"empty list", step{Stdout: "list‹F›0‹E›"}, "text", "The shortcut ran and gave no result.", false},
		{"file", step{Stdout: "file‹F›" + doc + "‹E›"}, "link", "", false},
		{"image file", step{Stdout: "file‹F›" + image + "‹E›"}, "image", "", false},
		{"file that went", step{Stdout: "file‹F›/nowhere/x‹E›"}, "text", `(the file "/nowhere/x", which is not there any more)`, false},
		{"image data", step{Stdout: "data‹F›PNGf‹E›", Data: png}, "image", "", false},
		{"other data", step{Stdout: "data‹F›rdat‹E›", Data: []byte{1, 2, 3}}, "blob", "", false},
		{"mixed list", step{Stdout: "list‹F›3‹R›text‹F›a‹R›file‹F›" + doc + "‹R›text‹F›b‹E›"}, "text link text", "a\nb", false},
		{"unknown class", step{Stdout: "other‹F›record‹E›"}, "text", `(a result of the kind "record", which cannot be shown; let the shortcut give text)`, false},
		{"odd encoding", step{Stdout: "text‹F›a‹BAD›b‹E›"}, "text", "a\ufffdb", false},
		{"forged marks", step{Stdout: "text‹F›x e f r QQQe‹E›"}, "text", "x e f r QQQe", false},
		{"no end", step{Stdout: "text‹F›x"}, "incomplete", "", true},
		{"list cut short", step{Stdout: "list‹F›3‹R›text‹F›a‹E›"}, "incomplete", "", true},
		{"unknown kind", step{Stdout: "spell‹F›x‹E›"}, "cannot be read", "", true},
		{"no data", step{Stdout: "data‹F›PNGf‹E›"}, "reading the result", "", true},
		{"too much", step{Stdout: "text‹F›", Pad: shortcuts.MaxOutputBytes}, "too large", "", true},
		{"too much data", step{Stdout: "data‹F›rdat‹E›", Data: []byte{1}, Pad: 2 << 20}, "too large", "", true},
		{"timed out inside", step{Stderr: "execution error: Shortcuts got an error: AppleEvent timed out. (-1712)\n", Exit: 1}, "waiting in a dialog", "", true},
		{"gone", step{Stderr: "execution error: Can’t get shortcut id. (-1728)", Exit: 1}, "deleted or renamed", "", true},
		{"not allowed", step{Stderr: "execution error: Not authorized to send Apple events. (-1743)", Exit: 1}, "Privacy & Security, Automation", "", true},
		{"cancelled by the user", step{Stderr: "execution error: User canceled. (-128)", Exit: 1}, "the user cancelled", "", true},
		{"nobody logged in", step{Stderr: "execution error: Application isn’t running. (-600)", Exit: 1}, "logged in", "", true},
		{"the app ended", step{Stderr: "execution error: Shortcuts got an error: Connection is invalid. (-609)", Exit: 1}, "ended before it answered", "", true},
		{"a variable of no result", step{Stderr: "execution error: The variable x is not defined. (-2753)", Exit: 1}, "-2753", "", true},
		{"another error", step{Stderr: "execution error: \x1b[31mThe action “Get” failed. (9)", Exit: 1}, "The action “Get” failed. (9)", "", true},
		{"silent failure", step{Exit: 3}, "no message", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, _ := fakes(t, plan{"run": tt.step})
			cs, _ := connect(t, listing{r, []shortcuts.Shortcut{{Name: "Backup", ID: idB}}}, shortcuts.Options{})
			res := call(t, cs, "run", map[string]any{"id": idB})
			if tt.err {
				if !res.IsError || !strings.Contains(text(res), tt.want) || !strings.Contains(text(res), `"Backup"`) || strings.Contains(text(res), "\x1b") {
					t.Errorf("%q (error %v), want an error with %q that names the shortcut", text(res), res.IsError, tt.want)
				}
				return
			}
			var kinds []string
			for _, c := range res.Content {
				switch c := c.(type) {
				case *mcp.TextContent:
					kinds = append(kinds, "text")
				case *mcp.ImageContent:
					kinds = append(kinds, "image")
					if c.MIMEType != "image/png" || string(c.Data) != string(png) {
						t.Errorf("image of %s, %d bytes", c.MIMEType, len(c.Data))
					}
				case *mcp.ResourceLink:
					if c.MIMEType == "inode/directory" {
						kinds = append(kinds, "folder")
						break
					}
					kinds = append(kinds, "link")
					if !strings.HasPrefix(c.URI, "file:///") || c.Size == nil || *c.Size != 8 || c.Name != "doc.pdf" {
						t.Errorf("link %+v", c)
					}
				case *mcp.EmbeddedResource:
					kinds = append(kinds, "blob")
				}
			}
			if got := strings.Join(kinds, " "); res.IsError || got != tt.want || text(res) != tt.text {
				t.Errorf("content %s with text %q (error %v), want %s with %q", got, text(res), res.IsError, tt.want, tt.text)
			}
		})
	}
}

func TestHangingShortcut(t *testing.T) {
	t.Parallel()
	r, starts := fakes(t, plan{"run": {Hang: true, Stdout: "x"}})
	cs, _ := connect(t, listing{r, []shortcuts.Shortcut{{Name: "Backup", ID: idB}}}, shortcuts.Options{Timeout: time.Second})
	if res := call(t, cs, "run", map[string]any{"id": idB}); !res.IsError || !strings.Contains(text(res), "may go on") {
		t.Errorf("the limit: %s", text(res))
	}
	ctx, cancel := context.WithCancel(t.Context())
	before := len(starts())
	go func() { // cancel when it runs
		for len(starts()) == before && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := r.Run(ctx, idB, shortcuts.Input{}, time.Minute); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "may go on") {
		t.Errorf("cancelled: %v", err)
	}
	r, _ = fakes(t, plan{"list": {Hang: true}})
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := r.List(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a list that hangs: %v", err)
	}
}

func TestAsTools(t *testing.T) {
	t.Parallel()
	names := func(cs *mcp.ClientSession) (out []string) {
		t.Helper()
		for tool, err := range cs.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if tool.Name != "list" && tool.Name != "run" {
				out = append(out, tool.Name)
			}
		}
		return out
	}
	dir := newFakes(t, plan{"list": listed([3]string{"Log Water 💧!", idA, "Home"}, [3]string{"👋", idB, ""}), "run": {Stdout: "text‹F›ok‹E›"}})
	r, starts := shortcuts.NewProgramRunner(programsIn(dir)), func() []start { return startsIn(t, dir) }
	cs, s := connect(t, r, shortcuts.Options{AsTools: true})
	if got := names(cs); got != nil {
		t.Errorf("before the first list: %v", got)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := names(cs)
	if len(first) != 2 || !strings.HasPrefix(first[0], "log_water_") || !strings.HasPrefix(first[1], "shortcut_") {
		t.Fatalf("tools %v", first)
	}
	if got := text(call(t, cs, first[0], map[string]any{"input": "x"})); got != "ok" {
		t.Errorf("a shortcut's own tool: %s", got)
	}
	if all := starts(); all[len(all)-1].Args[4] != idA {
		t.Errorf("it ran %s", all[len(all)-1].Args[4])
	}
	// Others come: the names stay. It goes: the tool goes.
	writePlan(t, dir, plan{"list": listed([3]string{"Log Water 💧!", idC, ""}, [3]string{"Log Water 💧!", idA, "Home"}, [3]string{"A", idB + "x", ""})})
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := names(cs); len(got) != 3 || !strings.Contains(strings.Join(got, " "), first[0]) || strings.Contains(strings.Join(got, " "), first[1]) {
		t.Errorf("tools %v, want %s still there and %s gone", got, first[0], first[1])
	}
	for _, name := range names(cs) {
		if len(name) > 51 {
			t.Errorf("the name %s has %d characters, over 51", name, len(name))
		}
	}
}

func TestNewServer(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{-1, time.Millisecond, 48 * time.Hour} {
		if _, err := shortcuts.NewServer(&shortcuts.Options{Timeout: timeout, Runner: shortcuts.NewProgramRunner(shortcuts.Programs{})}); err == nil {
			t.Errorf("a timeout of %s is no error", timeout)
		}
	}
	r := shortcuts.NewProgramRunner(shortcuts.Programs{Osascript: filepath.Join(t.TempDir(), "none"), Shortcuts: "/none"})
	cs, _ := connect(t, r, shortcuts.Options{})
	if res := call(t, cs, "list", map[string]any{}); !res.IsError {
		t.Error("without programs list is no error")
	}
}
