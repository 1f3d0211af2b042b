package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// world is a user's directory and a project below one temporary directory.
type world struct {
	t    *testing.T
	root string
	opts config.Options
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), vars: map[string]string{}}
	w.opts = config.Options{
		UserDir: w.path("home/.aster"), Dir: w.path("project"), Home: w.path("home"),
		Getenv: func(name string) string { return w.vars[name] },
	}
	for _, dir := range []string{"home/.aster", "project/.git"} {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) path(rel string) string { return filepath.Join(w.root, filepath.FromSlash(rel)) }

func (w *world) write(rel, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(rel)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(rel), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) user(text string)    { w.t.Helper(); w.write("home/.aster/aster.yaml", text) }
func (w *world) project(text string) { w.t.Helper(); w.write("project/aster.yaml", text) }

func (w *world) load() *config.Config {
	w.t.Helper()
	c, err := config.Load(&w.opts)
	if err != nil {
		w.t.Fatalf("load: %v", err)
	}
	return c
}

// loadError loads what must not load; paths in the error are relative.
func (w *world) loadError() string {
	w.t.Helper()
	c, err := config.Load(&w.opts)
	if err == nil {
		w.t.Fatalf("no error, but %d servers", len(c.Servers))
	}
	return filepath.ToSlash(strings.ReplaceAll(err.Error(), w.root+string(filepath.Separator), ""))
}

// problems are the problems of a configuration, one a line.
func problems(c *config.Config) string {
	var b strings.Builder
	for _, p := range c.Problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func serverNames(c *config.Config) string {
	var out []string
	for _, s := range c.Servers {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}
