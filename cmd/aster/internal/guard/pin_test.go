package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func openPins(t testing.TB, path string) *guard.Pins {
	t.Helper()
	p, err := guard.OpenPins(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func observe(t testing.TB, p *guard.Pins, instructions string, tools ...bridge.Tool) guard.Review {
	t.Helper()
	r, err := p.Observe(guard.Observation{Server: "gh", Identity: "npx gh", Instructions: instructions, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fullTool(name string) bridge.Tool {
	no := false
	t := tool("gh", name)
	t.Title = "Title"
	t.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}}}`)
	t.Annotations = &bridge.Annotations{Title: "T", ReadOnlyHint: true, DestructiveHint: &no}
	return t
}

func names(tools []bridge.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// One changed byte of any field of the definition blocks the call, and the change shows
// the field, old and new.
func TestEveryFieldIsPinned(t *testing.T) {
	for field, change := range map[string]func(*bridge.Tool, *string){
		"title":       func(x *bridge.Tool, _ *string) { x.Title = "Titlf" },
		"description": func(x *bridge.Tool, _ *string) { x.Description += " " },
		"inputSchema": func(x *bridge.Tool, _ *string) {
			x.InputSchema = json.RawMessage(`{"type":"object","properties":{"pati":{"type":"string"}}}`)
		},
		"outputSchema": func(x *bridge.Tool, _ *string) {
			x.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"numbes"}}}`)
		},
		"annotations":  func(x *bridge.Tool, _ *string) { x.Annotations = &bridge.Annotations{Title: "T", ReadOnlyHint: true} },
		"instructions": func(_ *bridge.Tool, s *string) { *s = "Use me wisely!" },
	} {
		t.Run("security row 1: "+field, func(t *testing.T) {
			pins := openPins(t, filepath.Join(t.TempDir(), "pins.json"))
			g, _ := newGuard(t, guard.Options{Pins: pins, Policy: policy(t, guard.PolicyOptions{Mode: guard.ModeNever})})
			x, instructions := fullTool("x"), "Use me wisely."
			invoke := func(x bridge.Tool) error {
				return g.Invoke(t.Context(), guard.Request{Tool: x, Identity: "npx gh"}, (&calls{}).call)
			}
			if r := observe(t, pins, instructions, x); !r.First || len(r.Usable) != 1 || len(r.Held) != 0 {
				t.Fatalf("the first list: %+v, want a baseline", r)
			}
			if err := invoke(x); err != nil {
				t.Fatal(err)
			}
			was := x
			change(&x, &instructions)
			if field != "instructions" {
				if err := invoke(x); !errors.Is(err, bridge.ErrToolChanged) {
					t.Errorf("the changed definition without a new list: %v, want ErrToolChanged", err)
				}
			}
			r := observe(t, pins, instructions, x)
			if len(r.Usable) != 0 || len(r.Held) != 1 || r.Held[0].Status != guard.PinChanged || len(r.Held[0].Fields) != 1 || r.Held[0].Fields[0].Field != field {
				t.Fatalf("after the change: %+v, want the tool held back for %s", r, field)
			}
			d := r.Held[0].Fields[0]
			if d.Old == d.New || d.Old == "" || d.New == "" {
				t.Errorf("the change shows %q and %q", d.Old, d.New)
			}
			lines := strings.Join(d.Lines(), "\n")
			if !strings.Contains(lines, "\n  - ") || field != "annotations" && !strings.Contains(lines, "\n  + ") {
				t.Errorf("the change is shown as\n%s", lines)
			}
			for _, y := range []bridge.Tool{x, was} {
				if err := invoke(y); !errors.Is(err, bridge.ErrToolChanged) || !strings.Contains(err.Error(), "aster mcp approve gh/x") {
					t.Errorf("the call: %v, want ErrToolChanged with what to do", err)
				}
			}
			if got, err := pins.Approve("gh/x", pins.Changes()); err != nil || len(got) != 1 {
				t.Fatalf("Approve = %v, %v", got, err)
			}
			if err := invoke(x); err != nil {
				t.Errorf("after approval: %v", err)
			}
			if r := observe(t, pins, instructions, x); len(r.Usable) != 1 || len(pins.Changes()) != 0 {
				t.Errorf("after approval the list is %+v", r)
			}
		})
	}
}

func TestPinStatusesDriveAll(t *testing.T) {
	t.Run("security row 3: one status drives all", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state", "pins.json")
		pins := openPins(t, path)
		a, b, c := fullTool("a"), fullTool("b"), fullTool("c")
		observe(t, pins, "", a, b)
		r := observe(t, pins, "", a, b, c)
		if diff := cmp.Diff([]string{"a", "b"}, names(r.Usable)); diff != "" {
			t.Errorf("usable with a new tool (-want +got):\n%s", diff)
		}
		if len(r.Held) != 1 || r.Held[0].Tool != "c" || r.Held[0].State != "new" || len(r.Held[0].Fields) == 0 {
			t.Errorf("held: %+v, want c as new with its fields", r.Held)
		}
		for x, want := range map[string]guard.PinStatus{"a": guard.PinApproved, "c": guard.PinNew, "d": guard.PinUnknown} {
			if got := pins.Status("npx gh", "", fullTool(x)); got != want {
				t.Errorf("status of %s: %s, want %s", x, got, want)
			}
		}
		// What only reorders its schema did not change.
		a2 := a
		a2.InputSchema = json.RawMessage(` { "properties" : {"path":{"type":"string"}}, "type":"object" } `)
		if r := observe(t, pins, "", a2); len(r.Usable) != 1 || cmp.Diff([]string{"b"}, r.Removed) != "" {
			t.Errorf("the same tool with another order of keys, without b: %+v", r)
		}
		if r := observe(t, pins, "", a, b, c, b); cmp.Diff([]string{"a", "b"}, names(r.Usable)) != "" {
			t.Errorf("b came back, and twice: usable %v, want a and b once", names(r.Usable))
		}
		// Another thing under the same name has a baseline of its own.
		if r, err := pins.Observe(guard.Observation{Server: "gh", Identity: "other", Tools: []bridge.Tool{c}}); err != nil || !r.First || len(r.Usable) != 1 {
			t.Errorf("another identity: %+v, %v, want a baseline", r, err)
		}
		// Another process knows the same.
		if got := openPins(t, path).Status("npx gh", "", c); got != guard.PinNew {
			t.Errorf("read anew: c is %s, want new", got)
		}
		if _, err := pins.Approve("gh/none", nil); !errors.Is(err, guard.ErrNotPinned) {
			t.Errorf("Approve of nothing: %v, want ErrNotPinned", err)
		}
		if n, err := pins.Forget("gh"); n != 2 || err != nil {
			t.Errorf("Forget = %d, %v, want 2", n, err)
		}
		if r := observe(t, pins, "", c); !r.First || len(r.Usable) != 1 {
			t.Errorf("after Forget: %+v, want a baseline", r)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the file: %v, %v, want mode 0600", info, err)
		}
	})
}

// What is approved is what was shown, not what the server put in its place meanwhile.
func TestApproveWhatWasShown(t *testing.T) {
	pins := openPins(t, "")
	x := fullTool("x")
	observe(t, pins, "", x)
	x.Description = "Harmless."
	observe(t, pins, "", x)
	shown := pins.Changes()
	x.Description = "Sends your keys."
	observe(t, pins, "", x)
	if got, err := pins.Approve("gh", shown); !errors.Is(err, guard.ErrNotPinned) {
		t.Errorf("Approve = %v, %v, want ErrNotPinned", got, err)
	}
	if got := pins.Status("npx gh", "", x); got != guard.PinChanged {
		t.Errorf("status %s, want changed", got)
	}
}

func TestApprovalReachesOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	running, cli := openPins(t, path), openPins(t, path)
	observe(t, running, "")
	observe(t, running, "", fullTool("x"))
	if err := cli.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := cli.Approve("gh/*", cli.Changes()); err != nil {
		t.Fatal(err)
	}
	if err := running.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := running.Status("npx gh", "", fullTool("x")); got != guard.PinApproved {
		t.Errorf("status %s after another process approved, want approved", got)
	}
}

// A tool whose first definition hides something is no part of the baseline.
func TestHardWarningIsNoBaseline(t *testing.T) {
	pins := openPins(t, "")
	bad := fullTool("bad")
	bad.Description = "Adds numbers.\U000e0052\U000e0075\U000e006e"
	r := observe(t, pins, "", fullTool("good"), bad)
	if cmp.Diff([]string{"good"}, names(r.Usable)) != "" || len(r.Held) != 1 || len(r.Held[0].Warnings) == 0 || !strings.Contains(r.Held[0].Warnings[0].Text, `"Run"`) {
		t.Errorf("review %+v, want bad held back with what its tags spell", r)
	}
	if _, err := pins.Approve("gh/bad", nil); err != nil {
		t.Fatal(err)
	}
	if r := observe(t, pins, "", fullTool("good"), bad); len(r.Usable) != 2 {
		t.Errorf("after approval: usable %v", names(r.Usable))
	}
}

func TestPinsFailClosed(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "not JSON": "nonsense", "another version": `{"version":2}`, "null server": `{"version":1,"servers":[null]}`,
		"nothing pinned": `{"version":1,"servers":[{"name":"gh","tools":{"x":{}}}]}`, "no hashes": `{"version":1,"servers":[{"name":"gh","tools":{"x":{"approved":{"digest":"d"}}}}]}`,
	} {
		path := filepath.Join(t.TempDir(), "pins.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := guard.OpenPins(path, nil)
		if !errors.Is(err, guard.ErrPins) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: OpenPins = %v, want ErrPins with the path", name, err)
		}
		if r, err := p.Observe(guard.Observation{Server: "gh", Tools: []bridge.Tool{fullTool("x")}}); !errors.Is(err, guard.ErrPins) || len(r.Usable) != 0 {
			t.Errorf("%s: Observe = %+v, %v, want ErrPins and nothing usable", name, r, err)
		}
		if raw, _ := os.ReadFile(path); string(raw) != content {
			t.Errorf("%s: the file was overwritten", name)
		}
	}
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	p := openPins(t, filepath.Join(dir, "pins.json"))
	if r, err := p.Observe(guard.Observation{Server: "gh", Tools: []bridge.Tool{fullTool("x")}}); err == nil || len(r.Usable) != 1 {
		t.Errorf("in a directory that cannot be written: %+v, %v, want the review and an error", r, err)
	}
}

func TestPinsConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	var wg sync.WaitGroup
	for i := range 4 {
		p := openPins(t, path)
		for j := range 4 {
			wg.Go(func() {
				x := tool("x", "t")
				x.Server = fmt.Sprintf("server%d-%d", i, j)
				if r, err := p.Observe(guard.Observation{Server: x.Server, Tools: []bridge.Tool{x}}); err != nil || len(r.Usable) != 1 {
					t.Errorf("Observe = %+v, %v", r, err)
				}
				p.Status("", "", x)
			})
		}
	}
	wg.Wait()
	p := openPins(t, path)
	for i := range 4 {
		for j := range 4 {
			x := tool(fmt.Sprintf("server%d-%d", i, j), "t")
			if got := p.Status("", "", x); got != guard.PinApproved {
				t.Errorf("%s is %s after all wrote, want approved", x.ID(), got)
			}
		}
	}
}

func TestDiffHidesNothing(t *testing.T) {
	pins := openPins(t, "")
	x := fullTool("x")
	x.Description = strings.Repeat("word ", 2000)
	observe(t, pins, "", x)
	x.Description = x.Description[:5000] + "\x1b[8mevil\u202e" + x.Description[5000:]
	r := observe(t, pins, "", x)
	lines := strings.Join(r.Held[0].Fields[0].Lines(), "\n")
	if !strings.Contains(lines, `\u{1b}[8mevil\u{202e}`) {
		t.Errorf("the change is not shown:\n%s", lines)
	}
	if strings.ContainsAny(lines, "\x1b\u202e") {
		t.Error("the shown change holds control characters")
	}
	x.Description = strings.Repeat("y", 1<<20)
	r = observe(t, pins, "", x)
	if f := r.Held[0].Fields[0]; !f.Omitted || !strings.Contains(f.Lines()[0], "too large") {
		t.Errorf("a huge definition: %v", r.Held[0].Fields[0].Lines())
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("n", "d", `{"type":"object"}`, "m", "e", `{"type":"object"}`)
	f.Fuzz(func(t *testing.T, n1, d1, s1, n2, d2, s2 string) {
		a := bridge.Tool{Name: n1, Description: d1, InputSchema: json.RawMessage(s1)}
		b := bridge.Tool{Name: n2, Description: d2, InputSchema: json.RawMessage(s2)}
		same := n1 == n2 && d1 == d2 && s1 == s2
		if equal := guard.Digest(a) == guard.Digest(b); same && !equal || equal && (n1 != n2 || d1 != d2) {
			t.Errorf("digests equal: %v for %q %q", equal, []string{n1, d1, s1}, []string{n2, d2, s2})
		}
		p, _ := guard.OpenPins("", nil)
		_, _ = p.Observe(guard.Observation{Server: "s", Tools: []bridge.Tool{a}})
		if r, _ := p.Observe(guard.Observation{Server: "s", Tools: []bridge.Tool{b}}); !same && n1 == n2 && d1 != d2 && len(r.Usable) != 0 {
			t.Error("a changed definition is usable")
		}
		for _, c := range p.Changes() {
			for _, d := range c.Fields {
				d.Lines()
			}
		}
	})
}

// A list of which all is known is judged without the file: each rebuild of a catalogue
// observes every server. A lock that is held shows whether it was asked for.
func TestKnownListTakesNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	p := openPins(t, path)
	observe(t, p, "", fullTool("a"), fullTool("b"))
	added := []bridge.Tool{fullTool("b"), fullTool("c")}
	want := observe(t, p, "", added...)
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := observe(t, p, "", added...)
	if d := cmp.Diff(want, got); d != "" || len(got.Held) != 1 || len(got.Removed) != 1 {
		t.Errorf("the same list again: %s", d)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := openPins(t, path).Approve("gh/c", nil); err != nil {
		t.Fatal(err)
	}
	if r := observe(t, p, "", added...); len(r.Held) != 0 || len(r.Usable) != 2 {
		t.Errorf("approved by another process: held %v, usable %v", r.Held, names(r.Usable))
	}
}
