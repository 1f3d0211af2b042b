package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
)

// patience is longer than anything takes on a loaded machine.
const patience = 60 * time.Second

// fake is the spec of a child that runs the fake of that name.
func fake(t *testing.T, name string, env ...string) source.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := source.Spec{Name: "s", Command: exe, Env: map[string]string{"FAKE": name}, StartTimeout: patience}
	for i := 0; i < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

// open makes a source that is closed at the end of the test, with nothing left of it.
func open(t *testing.T, spec source.Spec, opts *source.Options) *source.Source {
	t.Helper()
	s, err := source.New(spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	openSources++
	t.Cleanup(func() {
		openSources--
		pid := s.Status().PID
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if pid != 0 && alive(pid) {
			t.Errorf("process %d is left", pid)
		}
		if openSources == 0 {
			noGoroutines(t)
		}
	})
	return s
}

// openSources counts those that are not closed yet. Tests run one after another.
var openSources int

func start(t *testing.T, s *source.Source) {
	t.Helper()
	if err := s.Start(ctxFor(t)); err != nil {
		t.Fatalf("Start: %v; status %+v", err, s.Status())
	}
}

func ctxFor(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// failure starts a source that cannot be.
func failure(t *testing.T, s *source.Source) *source.Failure {
	t.Helper()
	err := s.Start(ctxFor(t))
	var f *source.Failure
	if !errors.As(err, &f) {
		t.Fatalf("Start: %v, want a Failure", err)
	}
	if strings.ContainsAny(f.Error(), "\n\x1b") {
		t.Errorf("the failure is not one clean line: %q", f.Error())
	}
	return f
}

// call calls a tool and returns the text of its result.
func call(t *testing.T, s *source.Source, name, args string) string {
	t.Helper()
	raw, err := s.Call(ctxFor(t), name, json.RawMessage(args), nil)
	if err != nil {
		t.Fatalf("Call %s: %v", name, err)
	}
	return textOf(t, raw)
}

func textOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("result %s: %v", raw, err)
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "|")
}

// eventually waits for cond.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// noGoroutines waits until no goroutine of the package or the SDK is left.
func noGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		buf := make([]byte, 4<<20)
		left = nil
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "testing.tRunner") {
				continue
			}
			if strings.Contains(g, "aster/bridge/source.") || strings.Contains(g, "go-sdk/") || strings.Contains(g, "persistConn") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}
