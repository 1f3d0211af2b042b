package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
)

func TestEras(t *testing.T) {
	for _, tt := range []struct {
		row     string
		fake    string
		version string
		era     source.Era
	}{
		{"", "sdk", "2026-07-28", source.EraModern},
		{"pitfall row 6: ", "silent", "2025-11-25", source.EraLegacy},
		{"pitfall row 7: ", "leaver", "2025-11-25", source.EraLegacy},
		{"pitfall row 6: ", "stuck", "2025-11-25", source.EraLegacy},
		// It answers too late; the next start knows. Whether this one does is a race.
		{"", "late", "", source.EraModern},
	} {
		t.Run(tt.row+tt.fake, func(t *testing.T) {
			spec := fake(t, tt.fake)
			if tt.fake == "stuck" {
				spec.StartTimeout = 12 * time.Second
			}
			opts := &source.Options{DiscoverTimeout: 200 * time.Millisecond}
			if tt.fake == "late" {
				opts.CloseGrace = patience // however slowly the process begins
			}
			s := open(t, spec, opts)
			if tt.fake == "sdk" {
				s = open(t, spec, &source.Options{DiscoverTimeout: patience})
			}
			start(t, s)
			if v := s.Status().Version; v != tt.version && tt.version != "" {
				t.Errorf("version %s, want %s", v, tt.version)
			}
			eventually(t, "the era "+string(tt.era), func() bool { return s.Status().Era == tt.era })
			if got := call(t, s, "echo", `{"z":"1"}`); got != `{"z":"1"}` {
				t.Errorf("echo returned %q", got)
			}
		})
	}
}

// TestStuckSilently asks the other way at the next start.
func TestStuckSilently(t *testing.T) {
	spec := fake(t, "stuck silently")
	spec.StartTimeout = 1500 * time.Millisecond
	s := open(t, spec, &source.Options{DiscoverTimeout: 100 * time.Millisecond, CloseGrace: 50 * time.Millisecond})
	if f := failure(t, s); f.Kind != source.NotResponding {
		t.Errorf("failure %q", f)
	}
	eventually(t, "a start that works", func() bool { return s.Start(ctxFor(t)) == nil })
}

// TestEraRemembered starts a server that leaves at server/discover: with the
// era known it needs one process, not two.
func TestEraRemembered(t *testing.T) {
	spec := fake(t, "leaver")
	spec.Era = source.EraLegacy
	s := open(t, spec, nil)
	start(t, s)
	if lines := s.Status().Stderr; len(lines) != 0 {
		t.Errorf("a process saw server/discover: %q", lines)
	}
	// An era that no longer holds is found anew.
	spec = fake(t, "sdk")
	spec.Era = source.EraLegacy
	start(t, open(t, spec, nil))
}

func TestNoiseOnStdout(t *testing.T) {
	t.Run("pitfall row 8: lines that are no messages", func(t *testing.T) {
		s := open(t, fake(t, "noisy"), nil)
		start(t, s)
		for i := range 3 {
			want := fmt.Sprintf(`{"n":%d}`, i)
			if got := call(t, s, "echo", want); got != want {
				t.Errorf("echo returned %q, want %q", got, want)
			}
		}
		if n := s.Status().Dropped; n < 10 {
			t.Errorf("%d dropped messages are reported", n)
		}
	})
}

func TestFailures(t *testing.T) {
	secret := "s3cr3t-value-123"
	for _, tt := range []struct {
		name string
		spec func(t *testing.T) source.Spec
		kind source.FailureKind
		want string // a part of the line
	}{
		{"no command", func(*testing.T) source.Spec { return source.Spec{Name: "s", Command: "no-such-command-xyz"} },
			source.NotInstalled, `not installed: "no-such-command-xyz" is not on PATH`},
		{"no file", func(*testing.T) source.Spec { return source.Spec{Name: "s", Command: "/no/such/file"} },
			source.NotInstalled, `is not there`},
		{"crash", func(t *testing.T) source.Spec { return fake(t, "crash", "SECRET", secret) },
			source.Crashed, `crashed: exit status 3: ModuleNotFoundError: No module named 'mcp'`},
		{"shell", func(*testing.T) source.Spec {
			return source.Spec{Name: "s", Command: "sh", Args: []string{"-c", "no-such-command-xyz"}}
		}, source.Crashed, "not found"},
		{"hello", func(t *testing.T) source.Spec { return fake(t, "hello") },
			source.NotMCP, "not MCP: Hello, this is a web server. Usage: run it"},
		{"mute", func(t *testing.T) source.Spec {
			s := fake(t, "mute")
			s.StartTimeout = time.Second
			return s
		}, source.NotResponding, "not responding: no answer within 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, tt.spec(t), &source.Options{CloseGrace: 100 * time.Millisecond})
			f := failure(t, s)
			if f.Kind != tt.kind || !strings.Contains(f.Error(), tt.want) {
				t.Errorf("failure %q (%v), want %v with %q", f.Error(), f.Kind, tt.kind, tt.want)
			}
			st := s.Status()
			if st.State != source.Failed || st.String() != f.Error() || st.PID != 0 {
				t.Errorf("status %+v", st)
			}
			if all := fmt.Sprint(f, st); strings.Contains(all, secret) {
				t.Errorf("the secret is shown: %s", all)
			}
		})
	}
}

func TestStderrTail(t *testing.T) {
	s := open(t, fake(t, "chatter"), nil)
	start(t, s)
	eventually(t, "the last line", func() bool {
		l := s.Status().Stderr
		return len(l) > 0 && strings.HasPrefix(l[len(l)-1], "line 99 ")
	})
	lines := s.Status().Stderr
	if len(lines) != 40 || len([]rune(lines[0])) > 401 || !strings.HasPrefix(lines[0], "line 60 ") {
		t.Errorf("%d lines, the first of %d characters: %.20q", len(lines), len(lines[0]), lines[0])
	}
}

// TestSignIn waits for a user who signs in.
func TestSignIn(t *testing.T) {
	done := t.TempDir() + "/signed-in"
	s := open(t, fake(t, "signin", "SIGNEDIN", done), nil)
	f := failure(t, s)
	if f.Error() != "needs sign-in at https://login.example/authorize?x=1" || !errors.Is(f, source.ErrNeedsSignIn) {
		t.Errorf("failure %q", f)
	}
	if st := s.Status(); st.State != source.Waiting {
		t.Errorf("state %v, want waiting", st.State)
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "connected", func() bool { return s.Status().State == source.Connected })
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo returned %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	t.Run("security row 15: the environment of a child", func(t *testing.T) {
		spec := fake(t, "silent", "DECLARED", "yes", "HOME", "/declared/home")
		s := open(t, spec, &source.Options{DiscoverTimeout: time.Millisecond,
			Environ: []string{"PATH=/bin", "HOME=/home/u", "LC_ALL=C", "AWS_SECRET_ACCESS_KEY=x", "MCPGODEBUG=a=1", "BASH_FUNC_x=() { :; }",
				"HTTP_PROXY=http://u:p@proxy", "HTTPS_PROXY=http://proxy", "LANG=() { :; }"}})
		start(t, s)
		var got []string
		if err := json.Unmarshal([]byte(call(t, s, "echo", `{"env":true}`)), &got); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(got, "\n") + "\n"
		for _, want := range []string{"PATH=/bin", "HOME=/declared/home", "LC_ALL=C", "DECLARED=yes", "HTTPS_PROXY=http://proxy"} {
			if !strings.Contains(all, want+"\n") {
				t.Errorf("%s is missing", want)
			}
		}
		for _, not := range []string{"AWS_", "MCPGODEBUG", "BASH_FUNC", "HTTP_PROXY=http://u", "LANG=", "/home/u"} {
			if strings.Contains(all, not) {
				t.Errorf("%s was passed on", not)
			}
		}
	})
}

// TestEnd ends children that do not want to, with all that they started.
func TestEnd(t *testing.T) {
	grace := 150 * time.Millisecond
	rows := map[string]string{"deaf": "pitfall row 14: ", "parent": "pitfall row 15: "}
	for _, name := range []string{"sdk", "deaf", "parent"} {
		t.Run(rows[name]+name, func(t *testing.T) {
			pidFile := t.TempDir() + "/pid"
			s := open(t, fake(t, name, "PIDFILE", pidFile), &source.Options{CloseGrace: grace})
			start(t, s)
			pids := []int{s.Status().PID}
			if name == "parent" {
				eventually(t, "the grandchild", func() bool {
					b, _ := os.ReadFile(pidFile)
					pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
					if err == nil {
						pids = append(pids, pid)
					}
					return err == nil
				})
			}
			begun := time.Now()
			s.Close()
			if took := time.Since(begun); took > patience/4 {
				t.Errorf("Close took %v", took)
			}
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("process %d is left", pid)
				}
			}
			if _, err := s.Call(t.Context(), "echo", nil, nil); !errors.Is(err, source.ErrClosed) {
				t.Errorf("Call after Close: %v", err)
			}
		})
	}
}

// TestCloseWhileStarting leaves nothing of a start that is under way.
func TestCloseWhileStarting(t *testing.T) {
	s := open(t, fake(t, "mute"), &source.Options{CloseGrace: 50 * time.Millisecond})
	done := make(chan error, 1)
	go func() { done <- s.Start(context.Background()) }()
	eventually(t, "starting", func() bool { return s.Status().State == source.Starting })
	s.Close()
	if err := <-done; !errors.Is(err, source.ErrClosed) {
		t.Errorf("Start: %v, want ErrClosed", err)
	}
	noGoroutines(t)
}

// TestCloseEndsCalls ends the calls under way with their connection, and those that wait
// for one of its slots.
func TestCloseEndsCalls(t *testing.T) {
	spec := fake(t, "silent")
	spec.Era = source.EraLegacy
	s := open(t, spec, &source.Options{CloseGrace: 50 * time.Millisecond})
	start(t, s)
	const calls = source.MaxCalls + 2
	errs := make(chan error, calls)
	for range calls {
		go func() {
			_, err := s.Call(context.Background(), "echo", json.RawMessage(`{"hang":true}`), nil)
			errs <- err
		}()
	}
	eventually(t, "every slot taken", func() bool { return source.Underway(s) == source.MaxCalls })
	s.Close()
	for range calls {
		select {
		case err := <-errs:
			if !errors.Is(err, source.ErrClosed) {
				t.Errorf("Call: %v, want ErrClosed", err)
			}
		case <-time.After(patience):
			t.Fatal("a call has not ended with its connection")
		}
	}
}

// TestRestart calls a server that dies in every call: the call fails with the
// reason and is not repeated, the next one starts it again, with a growing wait.
func TestRestart(t *testing.T) {
	s := open(t, fake(t, "dies"), nil)
	start(t, s)
	first := s.Status().PID
	for i := range 2 {
		_, err := s.Call(ctxFor(t), "echo", nil, nil)
		if want := "s: crashed: exit status 4: panic: out of cheese"; err == nil || err.Error() != want {
			t.Fatalf("call %d: %v, want %q", i, err, want)
		}
		eventually(t, "failed", func() bool { return s.Status().State == source.Failed })
		if n := len(s.Tools()); n != 1 {
			t.Errorf("%d tools after the crash, want the one from before", n)
		}
		if wait := time.Until(s.Status().RetryAt); (wait > 0) != (i > 0) {
			t.Errorf("after crash %d the wait is %v", i+1, wait)
		}
	}
	if err := s.Restart(ctxFor(t)); err != nil {
		t.Fatalf("Restart: %v", err)
	}
	if pid := s.Status().PID; pid == first || pid == 0 {
		t.Errorf("the process is %d, was %d", pid, first)
	}
}

// TestBackoff fails calls at once while a server that never came up is left alone.
func TestBackoff(t *testing.T) {
	s := open(t, fake(t, "crash", "SECRET", ""), nil)
	for range 3 {
		failure(t, s)
	}
	begun := time.Now()
	_, err := s.Call(ctxFor(t), "echo", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "crashed: exit status 3") || !strings.Contains(err.Error(), "next try in") {
		t.Errorf("Call: %v", err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestLimits(t *testing.T) {
	t.Run("call", func(t *testing.T) {
		spec := fake(t, "silent")
		spec.Era, spec.CallTimeout = source.EraLegacy, 2*time.Second
		s := open(t, spec, nil)
		start(t, s)
		if _, err := s.Call(ctxFor(t), "echo", json.RawMessage(`{"hang":true}`), nil); !errors.Is(err, source.ErrCallTimeout) {
			t.Errorf("Call: %v, want ErrCallTimeout", err)
		}
		// The session is as good as before, and progress keeps a call alive.
		var reports int
		raw, err := s.Call(ctxFor(t), "echo", json.RawMessage(`{"progress":true}`), &source.CallOptions{
			Progress: func(progress, total float64, _ string) {
				if reports++; total != 8 || progress != float64(reports) {
					t.Errorf("progress %v of %v", progress, total)
				}
			}})
		if err != nil || reports < 7 { // the last may come after the result
			t.Errorf("Call: %s, %v, %d reports", raw, err, reports)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		seen := t.TempDir() + "/cancelled"
		s := open(t, fake(t, "sdk", "CANCELLED", seen), nil)
		start(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := s.Call(ctx, "hang", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		eventually(t, "the server hears of it", func() bool { _, err := os.Stat(seen); return err == nil })
		call(t, s, "echo", `{}`)
	})
	t.Run("full pipe", func(t *testing.T) {
		s := open(t, fake(t, "closed"), &source.Options{CloseGrace: 50 * time.Millisecond})
		start(t, s)
		big, _ := json.Marshal(map[string]string{"x": strings.Repeat("x", 1<<20)})
		begun := time.Now()
		if _, err := s.Call(ctxFor(t), "echo", big, nil); err == nil {
			t.Error("a call that cannot be sent succeeded")
		}
		if took := time.Since(begun); took > patience/2 {
			t.Errorf("it took %v", took)
		}
	})
}
