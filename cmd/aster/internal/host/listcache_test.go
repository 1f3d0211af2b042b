package host_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

func cachedServer() (*config.Server, *host.List) {
	s := &config.Server{Name: "files", Transport: config.Stdio, Command: "files", Args: []string{"--root", "/"}}
	return s, &host.List{Server: s.Name, Identity: s.Fingerprint(), Era: source.EraLegacy, About: "files of this machine",
		Tools: []bridge.Tool{{Server: "files", Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`)}}}
}

func listFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "lists", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	return files[0]
}

func TestLists(t *testing.T) {
	dir := t.TempDir()
	s, list := cachedServer()
	if err := host.OpenLists(dir).Save(list); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(listFile(t, dir)); err != nil || fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v: others can read it", fi.Mode(), err)
	}
	lists := host.OpenLists(dir)
	got, err := lists.Load(s)
	if err != nil || !cmp.Equal(got, list) {
		t.Errorf("%v\n%s", err, cmp.Diff(list, got))
	}
	other := *s
	other.Args = []string{"--root", "/home"}
	if got, err := lists.Load(&other); got != nil || err != nil {
		t.Errorf("after a change of what is run: %+v, %v", got, err)
	}
	if n, err := lists.Forget("files"); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if got, err := lists.Load(s); got != nil || err != nil {
		t.Errorf("forgotten, but %+v, %v", got, err)
	}
	if err := lists.Save(list); err != nil { // the same again, after it was forgotten
		t.Error(err)
	}
	listFile(t, dir)
}

func TestListsTampered(t *testing.T) {
	s, list := cachedServer()
	for name, change := range map[string]func(t *testing.T, file string, text []byte){
		"a letter":    func(t *testing.T, f string, b []byte) { write(t, f, strings.Replace(string(b), "read", "rm-r", 1)) },
		"cut":         func(t *testing.T, f string, b []byte) { write(t, f, string(b[:len(b)-9])) },
		"empty":       func(t *testing.T, f string, b []byte) { write(t, f, "") },
		"too long":    func(t *testing.T, f string, b []byte) { write(t, f, string(b)+strings.Repeat(" ", 8<<20)) },
		"mode":        func(t *testing.T, f string, b []byte) { must(t, os.Chmod(f, 0o666)) },
		"a link":      func(t *testing.T, f string, b []byte) { must(t, os.Rename(f, f+"x")); must(t, os.Symlink(f+"x", f)) },
		"a directory": func(t *testing.T, f string, b []byte) { must(t, os.Remove(f)); must(t, os.Mkdir(f, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, host.OpenLists(dir).Save(list))
			file := listFile(t, dir)
			text, err := os.ReadFile(file)
			must(t, err)
			change(t, file, text)
			if got, err := host.OpenLists(dir).Load(s); !errors.Is(err, host.ErrBadList) || got != nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestListsForeign has files that are whole but not of the server that asks.
func TestListsForeign(t *testing.T) {
	s, list := cachedServer()
	for name, change := range map[string]func(*host.List){
		"another server's tool": func(l *host.List) { l.Tools[0].Server = "bank" },
		"a tool without a name": func(l *host.List) { l.Tools[0].Name = "" },
		"an era of its own":     func(l *host.List) { l.Era = "2099" },
		"too many tools":        func(l *host.List) { l.Tools = make([]bridge.Tool, source.MaxTools+1) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, l := cachedServer()
			change(l)
			must(t, host.OpenLists(dir).Save(l))
			if got, err := host.OpenLists(dir).Load(s); !errors.Is(err, host.ErrBadList) || got != nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if err := (&host.Lists{}).Save(list); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
