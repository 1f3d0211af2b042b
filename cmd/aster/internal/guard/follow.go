package guard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// followStep is how often a followed file is looked at.
const followStep = 200 * time.Millisecond

// FollowLog calls fn with each entry that is added to the log at path from now on, until
// ctx ends or fn returns an error, which it then returns. The end of ctx is no error. It
// goes on when the file is rotated, or made only later. Lines that are no entry are passed
// over.
func FollowLog(ctx context.Context, path string, fn func(*Entry) error) error {
	t := &tail{path: path}
	defer t.close()
	if err := t.open(true); err != nil {
		return err
	}
	tick := time.NewTicker(followStep)
	defer tick.Stop()
	for {
		if err := t.step(fn); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// A tail is a place in a file that grows.
type tail struct {
	path string
	file *os.File
	buf  *bufio.Reader
	part []byte // of a line whose end is not there yet
	long bool   // the line is over MaxEntryBytes and passed over
}

func (t *tail) open(atEnd bool) error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if atEnd {
		if _, err := f.Seek(0, io.SeekEnd); err != nil {
			f.Close()
			return err
		}
	}
	t.file, t.buf, t.part, t.long = f, bufio.NewReader(f), nil, false
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// step reads what was added. Whether the file was rotated is asked before the last read
// of it, so that nothing between the two is missed.
func (t *tail) step(fn func(*Entry) error) error {
	for {
		if t.file == nil {
			if err := t.open(false); err != nil || t.file == nil {
				return err
			}
		}
		moved := t.moved()
		if err := t.lines(fn); err != nil {
			return err
		}
		if !moved {
			return nil
		}
		t.close()
	}
}

func (t *tail) moved() bool {
	mine, err1 := t.file.Stat()
	there, err2 := os.Stat(t.path)
	return err1 != nil || err2 != nil || !os.SameFile(mine, there)
}

func (t *tail) lines(fn func(*Entry) error) error {
	for {
		part, err := t.buf.ReadSlice('\n')
		if t.long = t.long || len(t.part)+len(part) > MaxEntryBytes; t.long {
			t.part = nil
		} else {
			t.part = append(t.part, part...)
		}
		switch {
		case err == nil:
			e := parseEntry(t.part)
			t.part, t.long = t.part[:0], false
			if e != nil {
				if err := fn(e); err != nil {
					return err
				}
			}
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}
