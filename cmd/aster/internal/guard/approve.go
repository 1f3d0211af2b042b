package guard

import (
	"context"
	"errors"
	"sync"
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

// FirstAnswer returns an Approver that asks all of approvers at once and takes the first
// answer; the others' contexts end, and their answers count for nothing, whatever they
// are. Approve returns when all of them have. One that cannot ask leaves it to the
// others; nil ones are left out.
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
	var (
		mu     sync.Mutex
		won    bool
		answer Answer
		errs   []error
		wg     sync.WaitGroup
	)
	for _, a := range all {
		wg.Go(func() {
			got, err := a.Approve(ctx, q)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case won:
			case err != nil:
				errs = append(errs, err)
			default:
				won, answer = true, got
				cancel()
			}
		})
	}
	wg.Wait()
	if won {
		return answer, nil
	}
	return AnswerNo, worst(errs)
}

// worst picks the error that says most: one that asks for input, then one of an approver
// that could ask, then that none could.
func worst(errs []error) error {
	out := ErrNoWayToAsk
	for _, err := range errs {
		var input *InputRequired
		if errors.As(err, &input) {
			return err
		}
		if errors.Is(out, ErrNoWayToAsk) && !errors.Is(err, ErrNoWayToAsk) {
			out = err
		}
	}
	return out
}
