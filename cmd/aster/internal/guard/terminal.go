package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Terminal asks on a terminal, one question at a time. Make it with [NewTerminal].
type Terminal struct {
	in   io.Reader
	out  io.Writer
	turn chan struct{} // holds one token: whose turn it is to ask

	once  sync.Once
	ended chan struct{} // closed at the end of input
	mu    sync.Mutex
	want  chan string // takes the next line; nil while no question stands
}

const (
	maxAnswerBytes = 4096 // of one line of input
	// typedAhead is how long the first question waits for lines that the terminal holds
	// from before it.
	typedAhead = 30 * time.Millisecond
)

// NewTerminal returns an approver that writes questions to out and reads answers, a line
// each, from in. The caller has checked that both are a terminal. From the first question
// on, one goroutine reads in until it ends; a read of a terminal cannot be stopped, so it
// may outlive the Terminal, and nobody else must read from in.
func NewTerminal(in io.Reader, out io.Writer) *Terminal {
	t := &Terminal{in: in, out: out, turn: make(chan struct{}, 1), ended: make(chan struct{})}
	t.turn <- struct{}{}
	return t
}

// read hands each line to the question that stands, and drops it where none does.
func (t *Terminal) read() {
	defer close(t.ended)
	s := bufio.NewScanner(t.in)
	s.Buffer(make([]byte, 0, maxAnswerBytes), maxAnswerBytes)
	for s.Scan() {
		t.mu.Lock()
		select {
		case t.want <- s.Text():
		default:
		}
		t.mu.Unlock()
	}
}

// listen makes the lines to come answers, in place of those that came.
func (t *Terminal) listen(want chan string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.want = want
}

// Approve asks and waits for a line. What was typed before the question stood there is
// no answer to it; an empty line, the end of input and whatever is not understood twice
// are a refusal.
func (t *Terminal) Approve(ctx context.Context, q Question) (Answer, error) {
	select {
	case <-t.turn:
		defer func() { t.turn <- struct{}{} }()
	case <-ctx.Done():
		return AnswerNo, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return AnswerNo, err
	}
	t.once.Do(func() {
		go t.read()
		select {
		case <-t.ended:
		case <-time.After(typedAhead):
		}
	})
	for _, text := range []string{"\n" + q.Text() + "\n" + prompt(&q), "Not understood. " + prompt(&q)} {
		want := make(chan string, 1)
		t.listen(want)
		defer t.listen(nil)
		if _, err := io.WriteString(t.out, text); err != nil {
			return AnswerNo, fmt.Errorf("%w: %v", ErrNoWayToAsk, err)
		}
		line, err := t.next(ctx, want)
		if err != nil {
			return AnswerNo, err
		}
		if a, ok := parseAnswer(line); ok && q.Offers(a) {
			return a, nil
		}
	}
	return AnswerNo, nil
}

func (t *Terminal) next(ctx context.Context, want chan string) (string, error) {
	select {
	case line := <-want:
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(t.out, "\n(no longer needed)")
		return "", ctx.Err()
	case <-t.ended:
	}
	select { // the last line came before the end
	case line := <-want:
		return line, nil
	default:
		fmt.Fprintln(t.out) // the question is a line without an end
		return "", fmt.Errorf("%w: the input has ended", ErrNoWayToAsk)
	}
}

func prompt(q *Question) string {
	words := []string{"[y]es, once"}
	if q.Offers(AnswerSession) {
		words = append(words, "for this [s]ession")
	}
	if q.Offers(AnswerAlways) {
		words = append(words, "[a]lways")
	}
	return "Allow? " + strings.Join(words, ", ") + ", [N]o: "
}

// parseAnswer reads a typed answer; the empty line is no.
func parseAnswer(line string) (Answer, bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "o", "once":
		return AnswerOnce, true
	case "s", "session":
		return AnswerSession, true
	case "a", "always":
		return AnswerAlways, true
	case "n", "no", "":
		return AnswerNo, true
	}
	return AnswerNo, false
}
