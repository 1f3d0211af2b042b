package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// protocol is the number of the lines that [Asker] and [Serve] exchange: a question, then
// an answer.
const protocol = 1

// Bounds of questions.
const (
	MaxQuestions = 50 // that stand at once
	maxQuestion  = 256 << 10
	maxReply     = 4 << 10
	maxLines     = 100
	maxLine      = 2_000            // characters
	lineWait     = 10 * time.Second // for the other side to send or take a line
)

type question struct {
	Protocol int      `json:"protocol"`
	PID      int      `json:"pid"`
	Lines    []string `json:"lines"`   // for a person
	Choices  []string `json:"choices"` // what may be answered beside no
}

type reply struct {
	Answer string `json:"answer"`
}

// Asker returns an approver that puts its questions to the pages of the user's aster ui
// processes. dial connects to these; the approver closes the connections. Where there is
// none, or all of them go away, the user cannot be asked in this way.
func Asker(dial func(context.Context) []net.Conn) guard.Approver { return asker(dial) }

type asker func(context.Context) []net.Conn

func (dial asker) Approve(ctx context.Context, q guard.Question) (guard.Answer, error) {
	var all []guard.Approver
	for _, conn := range dial(ctx) {
		defer conn.Close()
		all = append(all, &page{conn})
	}
	return guard.FirstAnswer(all...).Approve(ctx, q)
}

// page is an aster ui, for one question.
type page struct{ conn net.Conn }

func (p *page) Approve(ctx context.Context, q guard.Question) (guard.Answer, error) {
	stop := context.AfterFunc(ctx, func() { p.conn.Close() })
	defer stop()
	line := question{Protocol: protocol, PID: os.Getpid(), Lines: q.Lines()}
	for _, c := range q.Choices {
		line.Choices = append(line.Choices, c.String())
	}
	var r reply
	err := writeLine(p.conn, &line)
	if err == nil {
		err = readLine(p.conn, maxReply, &r)
	}
	switch {
	case ctx.Err() != nil:
		return guard.AnswerNo, ctx.Err()
	case err != nil: // it is gone, or has too many questions
		return guard.AnswerNo, guard.ErrNoWayToAsk
	}
	for _, c := range q.Choices {
		if c.String() == r.Answer {
			return c, nil
		}
	}
	return guard.AnswerNo, nil
}

func writeLine(conn net.Conn, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	conn.SetWriteDeadline(time.Now().Add(lineWait))
	_, err = conn.Write(append(text, '\n'))
	return err
}

var errLongLine = errors.New("line too long")

func readLine(r io.Reader, limit int64, v any) error {
	line, err := bufio.NewReader(io.LimitReader(r, limit)).ReadBytes('\n')
	switch {
	case err == io.EOF && int64(len(line)) == limit:
		return errLongLine
	case err != nil:
		return err
	}
	return json.Unmarshal(line, v)
}

// check refuses what no [Asker] sends.
func (q *question) check() error {
	words := []string{guard.AnswerOnce.String(), guard.AnswerSession.String(), guard.AnswerAlways.String()}
	switch {
	case q.Protocol != protocol:
		return errors.New("a question of another version of aster")
	case len(q.Lines) == 0 || len(q.Lines) > maxLines:
		return errors.New("a question without text, or with too much")
	case slices.ContainsFunc(q.Choices, func(c string) bool { return !slices.Contains(words, c) }):
		return errors.New("a question with answers of its own")
	}
	return nil
}
