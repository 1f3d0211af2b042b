package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
	"github.com/google/go-cmp/cmp"
)

// document opens a file of that text.
func document(t *testing.T, text string) *config.Document {
	t.Helper()
	path := filepath.Join(t.TempDir(), "aster.yaml")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	d, err := config.OpenDocument(path, config.ScopeGlobal)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	deny     = []string{"mcp", "tools", "deny"}
	disabled = []string{"mcp", "servers", "a", "disabled"}
)

func appendDeny(d *config.Document) error { _, err := d.Append("web/crawl", deny...); return err }
func dropDeny(d *config.Document) error   { _, err := d.Drop("web/crawl", deny...); return err }
func disable(d *config.Document) error    { return d.SetBool(true, disabled...) }
func removeA(d *config.Document) error    { _, err := d.Remove("mcp", "servers", "a"); return err }
func addZ(d *config.Document) error {
	return d.AddServer(&config.Server{Name: "z", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "p"}, Env: map[string]string{"K": "${V}"}})
}

func TestEdits(t *testing.T) {
	const z = "    z:\n      command: npx\n      args: [\"-y\", p]\n      env:\n        K: \"${V}\"\n"
	tests := []struct {
		name, before string
		edit         func(*config.Document) error
		after        string
	}{
		{"empty file", "", appendDeny, "mcp:\n  tools:\n    deny:\n      - web/crawl\n"},
		{"only comments", "# c\n", appendDeny, "# c\nmcp:\n  tools:\n    deny:\n      - web/crawl\n"},
		{"empty section", "mcp:\n", appendDeny, "mcp:\n  tools:\n    deny:\n      - web/crawl\n"},
		{"empty section with a comment", "mcp: # all\n  # later\n", appendDeny, "mcp: # all\n  tools:\n    deny:\n      - web/crawl\n  # later\n"},
		{"empty brackets", "mcp: {} # all\nx-y: 1\n", appendDeny, "mcp: # all\n  tools:\n    deny:\n      - web/crawl\nx-y: 1\n"},
		{"empty list", "mcp:\n  tools:\n    deny: []   # none\n", appendDeny, "mcp:\n  tools:\n    deny: [web/crawl]   # none\n"},
		{"list in brackets", "mcp: {tools: {deny: [ a/b, 'c' ]}}\n", appendDeny, "mcp: {tools: {deny: [ a/b, 'c', web/crawl ]}}\n"},
		{"brackets over lines", "mcp:\n  tools:\n    deny: [\n      a, # one\n      b, # two\n    ]\n", appendDeny, "mcp:\n  tools:\n    deny: [\n      a, # one\n      b, web/crawl # two\n    ]\n"},
		{"brackets with brackets in quotes", "mcp: {tools: {deny: ['a/[x]', \"b}\"]}}\n", appendDeny, "mcp: {tools: {deny: ['a/[x]', \"b}\", web/crawl]}}\n"},
		{"list", "mcp:\n  tools:\n    deny:\n      - a   # one\n      # two\n\n  search_limit: 3\n", appendDeny, "mcp:\n  tools:\n    deny:\n      - a   # one\n      - web/crawl\n      # two\n\n  search_limit: 3\n"},
		{"list at the key's own indentation", "mcp:\n  tools:\n    deny:\n    - a\n    locked: true\n", appendDeny, "mcp:\n  tools:\n    deny:\n    - a\n    - web/crawl\n    locked: true\n"},
		{"no line end", "mcp:\n  tools:\n    deny:\n      - a", appendDeny, "mcp:\n  tools:\n    deny:\n      - a\n      - web/crawl"},
		{"windows line ends", "mcp:\r\n  tools:\r\n    deny:\r\n      - a\r\n", appendDeny, "mcp:\r\n  tools:\r\n    deny:\r\n      - a\r\n      - web/crawl\r\n"},
		{"byte order mark", "\ufeffmcp: {tools: {deny: [a]}}\n", appendDeny, "\ufeffmcp: {tools: {deny: [a, web/crawl]}}\n"},
		{"wide indentation", "mcp:\n    tools:\n        locked: true\n", appendDeny, "mcp:\n    tools:\n        locked: true\n        deny:\n            - web/crawl\n"},
		{"already there", "mcp: {tools: {deny: ['web/crawl']}}\n", appendDeny, "mcp: {tools: {deny: ['web/crawl']}}\n"},
		{"missing section", "mcp:\n  search_limit: 3\n\n# end\n", appendDeny, "mcp:\n  search_limit: 3\n  tools:\n    deny:\n      - web/crawl\n\n# end\n"},
		{"document marks", "---\nmcp:\n  search_limit: 3\n", appendDeny, "---\nmcp:\n  search_limit: 3\n  tools:\n    deny:\n      - web/crawl\n"},

		{"drop from a list", "mcp:\n  tools:\n    deny:\n      - a # one\n      - \"web/crawl\" # two\n      - b\n", dropDeny, "mcp:\n  tools:\n    deny:\n      - a # one\n      - b\n"},
		{"drop the only one", "mcp:\n  tools:\n    deny:\n      - web/crawl\n    locked: true\n", dropDeny, "mcp:\n  tools:\n    deny:\n    locked: true\n"},
		{"drop from brackets", "mcp: {tools: {deny: [web/crawl, a]}}\n", dropDeny, "mcp: {tools: {deny: [a]}}\n"},
		{"drop the last in brackets", "mcp: {tools: {deny: [a, web/crawl ]}}\n", dropDeny, "mcp: {tools: {deny: [a ]}}\n"},
		{"drop the only one in brackets", "mcp: {tools: {deny: [ web/crawl, ]}}\n", dropDeny, "mcp: {tools: {deny: [  ]}}\n"},
		{"drop doubled ones", "mcp: {tools: {deny: [web/crawl, a, 'web/crawl']}}\n", dropDeny, "mcp: {tools: {deny: [a]}}\n"},
		{"drop what is not there", "mcp: {tools: {deny: [a]}}\n", dropDeny, "mcp: {tools: {deny: [a]}}\n"},

		{"set a missing key", "mcp:\n  servers:\n    a:\n      command: x   # c\n      # args: [y]\n\n    b: {command: y}\n", disable, "mcp:\n  servers:\n    a:\n      command: x   # c\n      disabled: true\n      # args: [y]\n\n    b: {command: y}\n"},
		{"set a key", "mcp:\n  servers:\n    a:\n      disabled:   false # for now\n      command: x\n", disable, "mcp:\n  servers:\n    a:\n      disabled:   true # for now\n      command: x\n"},
		{"set in brackets", "mcp: {servers: {a: {command: x}}} # c\n", disable, "mcp: {servers: {a: {command: x, disabled: true}}} # c\n"},
		{"set in a quoted key", "\"mcp\":\n  'servers':\n    \"a\":\n      \"disabled\": false\n      command: x\n", disable, "\"mcp\":\n  'servers':\n    \"a\":\n      \"disabled\": true\n      command: x\n"},
		{"set after a list in brackets over lines", "mcp:\n  servers:\n    a:\n      command: x\n      args: [\n        y,\n      ]\n", disable, "mcp:\n  servers:\n    a:\n      command: x\n      args: [\n        y,\n      ]\n      disabled: true\n"},
		{"set after a block", "mcp:\n  servers:\n    a:\n      command: x\n      env:\n        A: |\n          one\n\n          # two\n    b: {command: y}\n", disable, "mcp:\n  servers:\n    a:\n      command: x\n      env:\n        A: |\n          one\n\n          # two\n      disabled: true\n    b: {command: y}\n"},
		{"an entry for a server elsewhere", "mcp:\n  servers:\n", disable, "mcp:\n  servers:\n    a:\n      disabled: true\n"},

		{"remove", "mcp:\n  servers:\n    # the first\n    a:\n      command: x\n      # more of it\n\n    # the second\n    b:\n      command: y\n", removeA, "mcp:\n  servers:\n    # the first\n\n    # the second\n    b:\n      command: y\n"},
		{"remove the only one", "mcp:\n  servers:\n    a: {command: x}\n  search_limit: 3\n", removeA, "mcp:\n  servers:\n  search_limit: 3\n"},
		{"remove from brackets", "mcp: {servers: {b: {command: y}, a: {command: x, args: [',', \"}\"]}}}\n", removeA, "mcp: {servers: {b: {command: y}}}\n"},
		{"remove at the end without a line end", "mcp:\n  servers:\n    b: {command: y}\n    a: {command: x}", removeA, "mcp:\n  servers:\n    b: {command: y}\n"},

		{"add", "mcp:\n  servers:\n    a: {command: x}\n\n  search_limit: 3 # c\n", addZ, "mcp:\n  servers:\n    a: {command: x}\n" + z + "\n  search_limit: 3 # c\n"},
		{"add to nothing", "", addZ, "mcp:\n  servers:\n" + z},
		{"add to empty brackets", "mcp:\n  servers: {}\n", addZ, "mcp:\n  servers:\n" + z},
		{"add in brackets", "mcp: {servers: {a: {command: x}}}\n", addZ, "mcp: {servers: {a: {command: x}, z: {command: npx, args: [\"-y\", p], env: {K: \"${V}\"}}}}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := document(t, tt.before)
			if err := tt.edit(d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, d.Text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := d.Save(); err != nil {
				t.Fatal(err)
			}
			if text, _ := os.ReadFile(d.Path()); string(text) != d.Text() {
				t.Error("the file holds something else")
			}
			if fi, _ := os.Stat(d.Path()); runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
				t.Errorf("the mode became %v", fi.Mode())
			}
		})
	}
}

func TestShapes(t *testing.T) {
	tests := []struct {
		name, text string
		edit       func(*config.Document) error
	}{
		{"alias", "x-a: &a [x]\nmcp: {tools: {deny: *a}}\n", appendDeny},
		{"anchor", "mcp: {tools: {deny: &a [x]}}\n", appendDeny},
		{"merged server", "x-s: &s {a: {command: x}}\nmcp:\n  servers:\n    <<: *s\n", disable},
		{"merged key", "x-s: &s {command: x, disabled: false}\nmcp:\n  servers:\n    a:\n      <<: *s\n", disable},
		{"tagged value", "mcp: {servers: {a: {command: x, disabled: !!bool false}}}\n", disable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := document(t, tt.text)
			err := tt.edit(d)
			if !errors.Is(err, config.ErrShape) {
				t.Errorf("error %v, text:\n%s", err, d.Text())
			}
			if d.Changed() {
				t.Errorf("it was changed:\n%s", d.Text())
			}
			if err != nil && !strings.Contains(err.Error(), d.Path()+":") {
				t.Errorf("no place in %q", err)
			}
		})
	}
}

// TestThereAndBack takes back each edit and wants the bytes of before.
func TestThereAndBack(t *testing.T) {
	for _, text := range []string{everything, "mcp:\n  tools:\n    deny: []\n", "mcp:\n  tools:\n    deny:\n      - a\n  # c\n"} {
		d := document(t, text)
		if err := errors.Join(appendDeny(d), addZ(d)); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Remove("mcp", "servers", "z"); err != nil {
			t.Fatal(err)
		}
		if err := dropDeny(d); err != nil {
			t.Fatal(err)
		}
		got := d.Text()
		if !strings.Contains(text, "servers:") {
			got = strings.Replace(got, "  servers:\n", "", 1)
		}
		if diff := cmp.Diff(text, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	d := document(t, "mcp: {}\n")
	if err := appendDeny(d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path(), []byte("mcp: {search_limit: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(); !errors.Is(err, config.ErrChanged) {
		t.Errorf("error %v", err)
	}
	if text, _ := os.ReadFile(d.Path()); string(text) != "mcp: {search_limit: 1}\n" {
		t.Errorf("another's file was overwritten: %s", text)
	}
	if _, err := config.OpenDocument(filepath.Join(t.TempDir(), "no", "file.yaml"), config.ScopeGlobal); err != nil {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSaveKeepsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.yaml"), filepath.Join(dir, "aster.yaml")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	d, err := config.OpenDocument(link, config.ScopeGlobal)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(appendDeny(d), d.Save()); err != nil {
		t.Fatal(err)
	}
	if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if text, _ := os.ReadFile(target); !strings.Contains(string(text), "web/crawl") {
		t.Errorf("the target holds %q", text)
	}
}

func TestAddRule(t *testing.T) {
	d := document(t, "mcp:\n  policy:\n    rules:\n      - deny: a # c\n        reason: r\n")
	p, _ := config.NewPattern("webmcp/pay", config.Place{})
	r := &config.Rule{Decision: config.Allow, Tools: []config.Pattern{p}, Origins: []string{"https://shop.example"}, Definition: "sha256:ab"}
	if err := d.AddRule(r); err != nil {
		t.Fatal(err)
	}
	want := "mcp:\n  policy:\n    rules:\n      - deny: a # c\n        reason: r\n      - {allow: [webmcp/pay], origins: [\"https://shop.example\"], definition: \"sha256:ab\"}\n"
	if diff := cmp.Diff(want, d.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d = document(t, "")
	if err := d.AddRule(r); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Text(), "mcp:\n  policy:\n    rules:\n      - {allow:") {
		t.Errorf("got %s", d.Text())
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{everything, "mcp: {tools: {deny: [a]}}", "a: &x [*x]\n", "mcp:\n\t- x", "? a\n: b", "mcp: !!str {", "- - - x", "mcp: |\n  x\n", "\ufeffmcp: 'it''s'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "aster.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(&config.Options{UserDir: dir, Getenv: func(string) string { return text }})
		if (c == nil) == (err == nil) {
			t.Errorf("configuration %v, error %v", c, err)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for _, s := range []string{everything, "", "mcp: {tools: {deny: [a, 'b', \"c\"]}}", "mcp:\n  tools:\n    deny:\n    - a\n", "mcp:\r\n  servers:\r\n", "mcp: {} # c", "---\nmcp:\n", "mcp:\n  servers:\n    a:\n      command: >-\n        x\n        y\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		path := filepath.Join(t.TempDir(), "aster.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := config.OpenDocument(path, config.ScopeGlobal)
		if err != nil {
			return
		}
		for _, edit := range []func(*config.Document) error{appendDeny, addZ, disable, dropDeny, removeA} {
			before := d.Text()
			if err := edit(d); err != nil && d.Text() != before {
				t.Fatalf("an edit that failed changed the text: %v", err)
			}
		}
		if d.Has("mcp", "servers", "a") && errors.Is(removeA(d), nil) && d.Has("mcp", "servers", "a") {
			t.Fatal("it is still there")
		}
	})
}

// TestSaveAtOnce edits one file from many sides: what was saved is in the file.
func TestSaveAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "aster.yaml")
	const edits = 12
	done := make([]bool, edits)
	var wg sync.WaitGroup
	for i := range edits {
		wg.Go(func() {
			d, err := config.OpenDocument(path, config.ScopeGlobal)
			if err == nil {
				err = errors.Join(d.AddServer(&config.Server{Name: fmt.Sprintf("new%d", i), Transport: config.Stdio, Command: "true"}), d.Save())
			}
			done[i] = err == nil
			if err != nil && !errors.Is(err, config.ErrChanged) && !errors.Is(err, filelock.ErrLocked) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, ok := range done {
		if there := strings.Contains(string(text), fmt.Sprintf("new%d:", i)); there != ok {
			t.Errorf("edit %d: saved %v, in the file %v", i, ok, there)
		}
	}
}
