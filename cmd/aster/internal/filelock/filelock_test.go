package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
)

// TestTake has many take the lock, of whom one may hold it.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "x.lock")
	var inside, n atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				unlock, err := filelock.Take(path)
				if errors.Is(err, filelock.ErrLocked) {
					continue // on a busy machine
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				n.Add(1)
				inside.Add(-1)
				unlock()
				return
			}
		})
	}
	wg.Wait()
	if n.Load() != 20 {
		t.Errorf("%d took it, want 20", n.Load())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the lock stays")
	}
}

func TestLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Take(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a fresh lock: %v", err)
	}
	// From long ago, and from before the clock was set back.
	for _, age := range []time.Duration{time.Minute, -time.Hour} {
		when := time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		unlock, err := filelock.Take(path)
		if err != nil {
			t.Fatalf("a lock of %v ago: %v", age, err)
		}
		unlock()
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
