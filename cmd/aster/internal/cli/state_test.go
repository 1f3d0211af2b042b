package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestStateDir(t *testing.T) {
	abs := filepath.Join(t.TempDir(), "x")
	tests := []struct {
		name, home, aster, xdg, want string
	}{
		{"home", "/h", "", "", filepath.Join("/h", ".aster")},
		{"variable", "/h", abs, "/ignored", abs},
		{"XDG", "/h", "", abs, filepath.Join(abs, "aster")},
		{"relative XDG is ignored", "/h", "", "rel", filepath.Join("/h", ".aster")},
		{"nothing", "", "", "", ""},
	}
	for _, tt := range tests {
		e := (&Env{Home: tt.home, Getenv: func(name string) string {
			return map[string]string{"ASTER_HOME": tt.aster, "XDG_CONFIG_HOME": tt.xdg}[name]
		}}).complete()
		got, err := e.stateDir()
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestSecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	e := (&Env{Getenv: func(string) string { return dir }}).complete()
	log := slog.New(slog.DiscardHandler)
	const n = 16
	secrets := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { secrets[i] = e.shimSecret(log) })
	}
	wg.Wait()
	for _, s := range secrets {
		if len(s) != 2*secretBytes || s != secrets[0] {
			t.Fatalf("secrets differ or are odd: %q", secrets)
		}
	}
	path := filepath.Join(dir, secretFile)
	if runtime.GOOS != "windows" {
		os.Chmod(path, 0o644)
		e.shimSecret(log)
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", fi.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	if err := os.WriteFile(path, []byte("no secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := e.shimSecret(log); s != "" {
		t.Errorf("a broken file gives %q", s)
	}
}

func TestStamp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	e := (&Env{Getenv: func(string) string { return dir }}).complete()
	if err := e.touchStamp(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(e.stampPath(), old, old); err != nil {
		t.Fatal(err)
	}
	if err := e.touchStamp(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(e.stampPath()); err != nil || time.Since(fi.ModTime()) > time.Minute {
		t.Errorf("the stamp did not move: %v, %v", fi, err)
	}
}
