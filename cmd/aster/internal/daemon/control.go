package daemon

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"
)

// reasonHandover is the reason of a stop that a newer aster asks for.
const reasonHandover = "a newer aster takes over"

// stopWait bounds the wait for a daemon that was told to stop; closing a browser of its
// own takes it up to six seconds.
const stopWait = 8 * time.Second

// ErrNone is the error of asking a daemon that does not run.
var ErrNone = errNone

// Ask asks the running daemon for its status.
func Ask(ctx context.Context, p *Paths) (*Status, error) {
	w, err := ask(ctx, p, &Hello{Protocol: Protocol, Ask: askStatus})
	if err != nil {
		return nil, err
	}
	if w.Status == nil {
		return nil, errors.New("the daemon does not say how it stands")
	}
	return w.Status, nil
}

// Stop ends the running daemon and waits until it is gone.
func Stop(ctx context.Context, p *Paths) error { return stop(ctx, p, "asked to") }

func stop(ctx context.Context, p *Paths, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	if _, err := ask(ctx, p, &Hello{Protocol: Protocol, Ask: askStop, Reason: reason}); err != nil {
		return err
	}
	for {
		f, err := lock(p.Lock)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, errRunning) {
			return err
		}
		if !sleep(ctx, pollEvery) {
			return errors.New("the daemon was told to stop and still runs")
		}
	}
}

// ask makes a connection for one question.
func ask(ctx context.Context, p *Paths, h *Hello) (*Welcome, error) {
	conn, err := dial(ctx, p)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	w, _, err := greet(conn, h)
	return w, err
}

// greet sends the first line and reads the other's, which one that refuses may have sent
// before it closed: then the first line does not get through, and the reason still does.
func greet(conn net.Conn, h *Hello) (*Welcome, *bufio.Reader, error) {
	conn.SetDeadline(time.Now().Add(helloWait))
	defer conn.SetDeadline(time.Time{})
	unsent := writeJSON(conn, h)
	r := bufio.NewReaderSize(conn, 64<<10)
	w := &Welcome{}
	if err := readJSON(r, w); err != nil {
		return nil, nil, cmp.Or(unsent, err)
	}
	if unsent != nil && w.Error == "" {
		return nil, nil, unsent
	}
	return w, r, nil
}

func sortBrowsers(list []BrowserStatus) {
	slices.SortFunc(list, func(a, b BrowserStatus) int {
		return cmp.Or(cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.State, b.State))
	})
}

// sleep waits and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// ReadLog is the end of the daemon's log, at most n bytes of it.
func ReadLog(p *Paths, n int64) ([]byte, error) {
	f, err := os.Open(p.Log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-n)
	text := make([]byte, fi.Size()-from)
	if _, err := f.ReadAt(text, from); err != nil {
		return nil, err
	}
	if from > 0 { // begin with a whole line
		if i := slices.Index(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return text, nil
}
