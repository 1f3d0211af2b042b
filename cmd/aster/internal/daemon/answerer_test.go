package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
)

// What listens is found by the paths of the same state directory alone, and what a process
// that was killed left behind goes.
func TestAnswers(t *testing.T) {
	dir, err := os.MkdirTemp("", "as") // short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	paths, other := daemon.PathsIn(dir, "one"), daemon.PathsIn(dir, "two")
	if got := daemon.DialAnswers(t.Context(), paths); len(got) != 0 {
		t.Fatalf("%d listen before anybody does", len(got))
	}
	stale := filepath.Join(dir, filepath.Base(paths.Socket)[:8]+"-dead")
	fresh := stale[:len(stale)-len("dead")] + "born"
	for path, age := range map[string]time.Duration{stale: time.Minute, fresh: 0} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		ln, err := daemon.ListenAnswers(t.Context(), paths)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		if n := len(ln.Addr().String()); n > len(paths.Socket) {
			t.Errorf("the path has %d bytes, the daemon's, which was checked, %d", n, len(paths.Socket))
		}
		accepted := make(chan error, 1)
		go func() {
			conn, err := ln.Accept()
			if err == nil {
				conn.Close()
			}
			accepted <- err
		}()
		conns := daemon.DialAnswers(t.Context(), paths)
		if err := <-accepted; err != nil {
			t.Error(err)
		}
		for _, c := range conns {
			c.Close()
		}
		if len(conns) == 0 {
			t.Error("nobody was found")
		}
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("what was left behind is still there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("what another process has only just made is gone: %v", err)
	}
	if got := daemon.DialAnswers(t.Context(), other); len(got) != 0 {
		t.Errorf("%d listen for another state directory", len(got))
	}
	if got := daemon.DialAnswers(t.Context(), paths); len(got) != 2 {
		t.Errorf("%d listen, want 2", len(got))
	} else {
		got[0].Close()
		got[1].Close()
	}
}
