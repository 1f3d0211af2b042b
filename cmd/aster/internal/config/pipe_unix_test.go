//go:build unix

package config_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// TestPipe puts a pipe, to which nobody writes, where a file is read.
func TestPipe(t *testing.T) {
	for _, test := range []struct {
		file string
		load func(w *world) error
	}{
		{"project/aster.yaml", func(w *world) error { _, err := config.Load(&w.opts); return err }},
		{"home/.aster/aster.yaml", func(w *world) error { _, err := config.Load(&w.opts); return err }},
		{"project/aster.yaml", func(w *world) error { _, err := config.OpenDocument(w.path("project/aster.yaml"), 0); return err }},
		{"home/.cursor/mcp.json", func(w *world) error {
			_, err := config.Import("cursor", &config.ImportOptions{Home: w.path("home")})
			return err
		}},
	} {
		t.Run(test.file, func(t *testing.T) {
			w := newWorld(t)
			w.write(test.file, "")
			if err := os.Remove(w.path(test.file)); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(w.path(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- test.load(w) }()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), "it is a pipe or a device, not a file") {
					t.Errorf("%v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("it waits for whoever writes")
				os.WriteFile(w.path(test.file), nil, 0o600) // ends the wait
			}
		})
	}
}
