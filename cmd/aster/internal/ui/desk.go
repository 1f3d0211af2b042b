package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// desk keeps the questions that wait for the user. It is safe for concurrent use.
type desk struct {
	log *slog.Logger

	mu   sync.Mutex
	list []*asked // in the order in which they came; guarded by mu
}

// asked is a question and where its answer goes.
type asked struct {
	row    askRow
	answer chan string // takes one
}

type askRow struct {
	ID      string   `json:"id"`
	Since   string   `json:"since"` // RFC 3339
	PID     int      `json:"pid"`
	Lines   []string `json:"lines"`
	Choices []string `json:"choices"`
}

// serve takes questions until ctx ends, and returns when the last of them is settled. l is
// closed.
func (d *desk) serve(ctx context.Context, l net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	free := make(chan struct{}, MaxQuestions)
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors
			d.log.Warn("a question was missed", "err", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(step):
			}
			continue
		}
		select {
		case free <- struct{}{}:
			wg.Go(func() {
				defer func() { <-free }()
				d.take(ctx, conn)
			})
		default: // its process asks elsewhere
			conn.Close()
		}
	}
}

// take shows the question of a connection until it is answered, or its process needs no
// answer any more.
func (d *desk) take(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	conn.SetReadDeadline(time.Now().Add(lineWait))
	var q question
	err := readLine(conn, maxQuestion, &q)
	if err == nil {
		err = q.check()
	}
	if err != nil {
		if ctx.Err() == nil {
			d.log.Debug("no question", "err", err)
		}
		return
	}
	a := d.add(&q)
	defer d.remove(a.row.ID)
	conn.SetReadDeadline(time.Time{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		conn.Read(make([]byte, 1)) // nothing more comes but the end
	}()
	select {
	case <-gone:
		return
	case word := <-a.answer:
		if err := writeLine(conn, &reply{word}); err != nil {
			d.log.Warn("an answer came too late", "err", err)
		}
	}
	conn.Close()
	<-gone
}

func (d *desk) add(q *question) *asked {
	a := &asked{askRow{ID: rand.Text(), Since: time.Now().UTC().Format(time.RFC3339), PID: q.PID, Choices: append([]string{}, q.Choices...)}, make(chan string, 1)}
	for _, l := range q.Lines {
		a.row.Lines = append(a.row.Lines, guard.Show(l, maxLine))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, a)
	return a
}

// remove takes a question off the list, and returns it if it was on it.
func (d *desk) remove(id string) *asked {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.list, func(a *asked) bool { return a.row.ID == id })
	if i < 0 {
		return nil
	}
	a := d.list[i]
	d.list = slices.Delete(d.list, i, i+1)
	return a
}

// settle gives a question its answer, once: false means that it waits no more. A word
// that the question does not offer is a refusal.
func (d *desk) settle(id, word string) bool {
	a := d.remove(id)
	if a == nil {
		return false
	}
	if !slices.Contains(a.row.Choices, word) {
		word = guard.AnswerNo.String()
	}
	a.answer <- word
	return true
}

// rows are the questions that wait, the oldest first.
func (d *desk) rows() []askRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []askRow{}
	for _, a := range d.list {
		out = append(out, a.row)
	}
	return out
}
