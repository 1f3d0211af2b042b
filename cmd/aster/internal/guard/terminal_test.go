package guard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// screen is what a terminal shows; wait waits until it shows more of something.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// wait waits until text was shown n times.
func (s *screen) wait(t *testing.T, text string, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); strings.Count(s.String(), text) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q was not shown %d times:\n%s", text, n, s)
		}
	}
}

func question() guard.Question {
	return guard.Question{ID: "gh/x", Client: guard.Client{Name: "tester"}, Choices: []guard.Answer{guard.AnswerOnce, guard.AnswerSession}}
}

func TestTerminal(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        guard.Answer
	}{
		{"yes", "y\n", guard.AnswerOnce}, {"in capitals, with spaces", " YES \r\n", guard.AnswerOnce}, {"session", "s\n", guard.AnswerSession},
		{"no", "n\n", guard.AnswerNo}, {"just enter", "\n", guard.AnswerNo}, {"not offered, twice", "always\na\n", guard.AnswerNo},
		{"nonsense, then yes", "hm\ny\n", guard.AnswerOnce}, {"yes in a sentence, twice", "yes please\nyes, once\n", guard.AnswerNo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, typing := io.Pipe()
			defer typing.Close()
			out := &screen{}
			term := guard.NewTerminal(in, out)
			go func() {
				for i, line := range strings.SplitAfter(strings.TrimSuffix(tt.typed, "\n"), "\n") {
					out.wait(t, "Allow? ", i+1)
					io.WriteString(typing, strings.TrimSuffix(line, "\n")+"\n")
				}
			}()
			got, err := term.Approve(t.Context(), question())
			if got != tt.want || err != nil {
				t.Errorf("typed %q: %s, %v, want %s", tt.typed, got, err, tt.want)
			}
			if s := out.String(); !strings.Contains(s, "tester wants to call gh/x") || strings.Contains(s, "[a]lways") {
				t.Errorf("the question is\n%s", s)
			}
		})
	}
}

// A line that was typed before the question is no answer to it.
func TestTerminalTypedAhead(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	out := &screen{}
	term := guard.NewTerminal(in, out)
	answer := make(chan guard.Answer, 1)
	ask := func() { a, _ := term.Approve(t.Context(), question()); answer <- a }
	go ask()
	out.wait(t, "Allow? ", 1)
	io.WriteString(typing, "y\n")
	if a := <-answer; a != guard.AnswerOnce {
		t.Fatalf("the first answer is %s, want once", a)
	}
	for range 3 {
		io.WriteString(typing, "s\n") // nobody asked; a pipe returns when it was read
	}
	io.WriteString(typing, "\n")
	go ask()
	out.wait(t, "Allow? ", 2)
	io.WriteString(typing, "n\n")
	if a := <-answer; a != guard.AnswerNo {
		t.Errorf("the second answer is %s, want no", a)
	}
}

func TestTerminalEnds(t *testing.T) {
	before := &screen{}
	term := guard.NewTerminal(strings.NewReader("y\ny\n"), before)
	if a, err := term.Approve(t.Context(), question()); a != guard.AnswerNo || !errors.Is(err, guard.ErrNoWayToAsk) || !strings.HasSuffix(before.String(), "\n") {
		t.Errorf("input that was there before: %s, %v after %q, want ErrNoWayToAsk on a new line", a, err, before.String())
	}
	in, typing := io.Pipe()
	defer typing.Close()
	out := &screen{}
	term = guard.NewTerminal(in, out)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { out.wait(t, "Allow? ", 1); cancel() }()
	if a, err := term.Approve(ctx, question()); a != guard.AnswerNo || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %s, %v", a, err)
	}
	// Questions stand one at a time, and the next can still be answered.
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if a, err := term.Approve(t.Context(), question()); a != guard.AnswerOnce || err != nil {
				t.Errorf("after a cancelled one: %s, %v", a, err)
			}
		})
	}
	for i := range 3 {
		out.wait(t, "Allow? ", 2+i)
		if n := strings.Count(out.String(), "Allow? "); n != 2+i {
			t.Errorf("%d questions stand before an answer, want %d so far", n, 2+i)
		}
		io.WriteString(typing, "y\n")
	}
	wg.Wait()
}
