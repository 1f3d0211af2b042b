package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	restartFile     = "restart.json" // below the user's directory
	maxRestartBytes = 64 << 10
	maxRestarts     = 100       // servers in the file; the oldest go
	restartLifetime = time.Hour // after which a wish is dropped
)

// RestartEvery is how often a running session looks for servers to start anew.
const RestartEvery = time.Second

// ErrNoStateDir is the error of what needs a place to keep something, where there is none.
var ErrNoStateDir = errors.New("there is no directory to keep anything in: set ASTER_HOME or HOME")

// A restartWish asks running sessions to start a server anew.
type restartWish struct {
	Server string    `json:"server"`
	Time   time.Time `json:"time"`
}

// Restart forgets what is kept of a configured server, its list and its era, and asks all
// running sessions of the user to start it anew; they do within [RestartEvery]. It
// reports whether anything was kept.
func Restart(stateDir, server string) (kept bool, err error) {
	if stateDir == "" {
		return false, ErrNoStateDir
	}
	n, err := OpenLists(stateDir).Forget(server)
	if err != nil {
		return false, err
	}
	return n > 0, askRestart(stateDir, server)
}

// askRestart asks all running sessions of the user to start a server anew.
func askRestart(stateDir, server string) error {
	now := time.Now()
	wishes, err := readWishes(filepath.Join(stateDir, restartFile))
	if err != nil {
		wishes = nil // what is not understood cannot be obeyed either
	}
	wishes = slices.DeleteFunc(wishes, func(w restartWish) bool {
		return w.Server == server || now.Sub(w.Time).Abs() > restartLifetime // or the clock was set back
	})
	wishes = append(wishes, restartWish{server, now})
	return writeWishes(stateDir, wishes[max(0, len(wishes)-maxRestarts):])
}

func readWishes(path string) (wishes []restartWish, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRestartBytes))
	if err != nil {
		return nil, err
	}
	return wishes, json.Unmarshal(text, &wishes)
}

func writeWishes(dir string, wishes []restartWish) error {
	text, err := json.Marshal(wishes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+restartFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, restartFile))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// heedRestarts starts servers anew that the user asked for, until the session ends.
func (s *Session) heedRestarts() {
	if s.opts.StateDir == "" {
		return
	}
	path := filepath.Join(s.opts.StateDir, restartFile)
	old, _ := readWishes(path) // one that is not understood is not obeyed later either
	var last time.Time         // zero has the first look compare with what was read just now
	tick := time.NewTicker(RestartEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		fi, err := os.Stat(path)
		if err != nil || fi.ModTime().Equal(last) {
			continue
		}
		last = fi.ModTime()
		wishes, err := readWishes(path)
		if err != nil {
			s.log.Info("servers not started anew", "err", err)
		}
		for _, w := range wishes {
			// New is what was not there before: clocks can be set back.
			if !slices.ContainsFunc(old, func(o restartWish) bool { return o.Server == w.Server && o.Time.Equal(w.Time) }) {
				s.restart(w.Server)
			}
		}
		if err == nil {
			old = wishes
		}
	}
}

// restart starts one server anew, in the background.
func (s *Session) restart(name string) {
	src, sv := s.set.Source(name), s.servers[name]
	if src == nil || sv == nil || sv.builtin != nil {
		return
	}
	s.log.Info("started anew, as the user asked", "server", name)
	if s.logins.Store != nil {
		s.logins.Store.Changed() // it may be asked for by a login
	}
	s.wg.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-s.done:
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := src.Restart(ctx); err != nil {
			s.log.Warn("server does not start", "server", name, "err", err)
		}
	})
}
