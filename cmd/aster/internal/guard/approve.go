package guard

import (
	"context"
	"errors"
	"sync"
	"time"
)

// An Answer is what the user said to a [Question]. The zero value is a refusal.
type Answer int

// The answers.
const (
	AnswerNo      Answer = iota
	AnswerOnce           // this call
	AnswerSession        // this tool, until the session ends
	AnswerAlways         // this tool, from now on: a rule is written
)

var answerWords = [...]string{"no", "once", "session", "always"}

// String is the answer in a word.
func (a Answer) String() string {
	if a < 0 || int(a) >= len(answerWords) {
		return answerWords[0]
	}
	return answerWords[a]
}

// An Approver asks the user about one call. It must return soon after ctx ends. An error
// is no answer, so the call is refused; [ErrNoWayToAsk] says that the user cannot be
// reached, and an *[InputRequired] that the answer will come with another request.
// An answer that the question does not offer counts as a refusal.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}

// ErrNoWayToAsk is the error of an Approver that cannot reach the user.
var ErrNoWayToAsk = errors.New("there is no way to ask the user here")

// ApproverFunc is a function as an Approver.
type ApproverFunc func(ctx context.Context, q Question) (Answer, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// askAgain is how long one that cannot ask is left alone while another one asks.
const askAgain = time.Second

// FirstAnswer returns an Approver that asks all of approvers at once and takes the first
// answer; the others' contexts end, and their answers count for nothing, whatever they
// are. An *[InputRequired] is taken like an answer: the client is asking then. Approve
// returns when all of them have. One that cannot ask leaves it to the others, and is tried
// again every second while another one asks; nil ones are left out.
func FirstAnswer(approvers ...Approver) Approver {
	var all firstAnswer
	for _, a := range approvers {
		if a != nil {
			all = append(all, a)
		}
	}
	return all
}

type firstAnswer []Approver

func (all firstAnswer) Approve(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &race{over: cancel, asking: len(all), errs: make([]error, len(all))}
	var wg sync.WaitGroup
	for i, a := range all {
		wg.Go(func() { r.run(ctx, i, a, q) })
	}
	wg.Wait()
	switch {
	case r.input != nil:
		return AnswerNo, r.input
	case r.won:
		return r.answer, nil
	}
	return AnswerNo, worst(r.errs)
}

// race is one question that several approvers ask.
type race struct {
	over func() // ends the approvers' context

	mu     sync.Mutex
	asking int // approvers that may answer yet
	won    bool
	answer Answer
	input  error   // an *InputRequired, the winner's
	errs   []error // the last of each approver
}

// run asks one approver until it has asked, or nobody asks.
func (r *race) run(ctx context.Context, i int, a Approver, q Question) {
	for {
		answer, err := a.Approve(ctx, q)
		if r.take(i, answer, err) || !errors.Is(err, ErrNoWayToAsk) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(askAgain):
		}
		if !r.again() {
			return
		}
	}
}

// again counts an approver among those that ask, unless none is left.
func (r *race) again() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.won || r.asking == 0 {
		return false
	}
	r.asking++
	return true
}

// take takes what an approver came to, and reports whether the question is settled.
func (r *race) take(i int, answer Answer, err error) (settled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking--
	var input *InputRequired
	switch {
	case r.won:
	case err == nil:
		r.won, r.answer = true, answer
	case errors.As(err, &input):
		r.won, r.input = true, err
	default:
		r.errs[i] = err
	}
	if settled = r.won || r.asking == 0; settled {
		r.over()
	}
	return settled
}

// worst picks the error that says most: one of an approver that could ask, before that
// none could.
func worst(errs []error) error {
	out := ErrNoWayToAsk
	for _, err := range errs {
		if err != nil && errors.Is(out, ErrNoWayToAsk) && (out == ErrNoWayToAsk || !errors.Is(err, ErrNoWayToAsk)) {
			out = err
		}
	}
	return out
}
