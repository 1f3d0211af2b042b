package guard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"time"
)

// Events of entries beside those of bridge.EventKind.
const (
	eventBegin         = "begin"
	eventEnd           = "end"
	eventCallDescribed = "executed" // a call of a tool that had been described
)

// A ReadResult says what reading a log met on the way.
type ReadResult struct {
	Torn int // lines that are no entry: torn by a crash, or not ours
}

// ReadLog yields the entries of a log, oldest first, the rotated files before the present
// one. Lines that are no entry are counted in res, which may be nil, and passed over. A
// log that does not exist is empty. Another error is yielded last.
func ReadLog(path string, res *ReadResult) iter.Seq2[*Entry, error] {
	if res == nil {
		res = &ReadResult{}
	}
	return func(yield func(*Entry, error) bool) {
		files := logFiles(path)
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		for _, f := range files {
			if !readEntries(f, res, yield) {
				return
			}
		}
		if _, err := os.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(nil, fmt.Errorf("audit log: %w", err))
		}
	}
}

// logFiles opens the files of a log, oldest first. All are opened before one is read, and
// the newest first, so that a rotation meanwhile hides none; one that is met twice counts
// once.
func logFiles(path string) (files []*os.File) {
	var infos []fs.FileInfo
	for i := range maxLogFiles {
		name := path
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		f, err := os.Open(name)
		if err != nil {
			if i == 0 {
				continue
			}
			break
		}
		info, err := f.Stat()
		again := false
		for _, other := range infos {
			again = again || err == nil && os.SameFile(info, other)
		}
		if err != nil || again || !info.Mode().IsRegular() {
			f.Close()
			continue
		}
		infos = append(infos, info)
		files = append([]*os.File{f}, files...)
	}
	return files
}

func readEntries(r io.Reader, res *ReadResult, yield func(*Entry, error) bool) bool {
	b := bufio.NewReaderSize(r, 32<<10)
	for {
		line, err := readLine(b)
		if len(line) > 0 {
			if e := parseEntry(line); e == nil {
				res.Torn++
			} else if !yield(e, nil) {
				return false
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, errLongLine):
			res.Torn++
		case err != nil:
			return yield(nil, fmt.Errorf("audit log: %w", err))
		}
	}
}

var errLongLine = errors.New("line too long")

// readLine reads one line without its end. A line over MaxEntryBytes is passed over.
func readLine(b *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, more, err := b.ReadLine()
		if err != nil {
			return line, err
		}
		if long = long || len(line)+len(part) > MaxEntryBytes; !long {
			line = append(line, part...)
		}
		if !more {
			if long {
				return nil, errLongLine
			}
			return line, nil
		}
	}
}

func parseEntry(line []byte) *Entry {
	var e Entry
	if json.Unmarshal(line, &e) != nil || e.Event == "" || e.Time.IsZero() {
		return nil
	}
	return &e
}

// A Record is one call, its two entries put together. Ended is false for a call that is
// still running, or whose process died.
type Record struct {
	Entry
	Ended bool `json:"ended"`
}

// maxOpenCalls bounds the calls that Records holds open at once; older ones are yielded
// as they are.
const maxOpenCalls = 10_000

// Records yields the calls of a log in the order in which they ended, and at last those
// that did not, in the order in which they began. Notes are left out.
func Records(entries iter.Seq2[*Entry, error]) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		open := map[string]*Record{}
		var order []string
		for e, err := range entries {
			switch {
			case err != nil:
				if !yield(nil, err) {
					return
				}
			case e.Event == eventBegin:
				if len(open) >= maxOpenCalls {
					for len(order) > 0 && open[order[0]] == nil {
						order = order[1:]
					}
					if !yield(open[order[0]], nil) {
						return
					}
					delete(open, order[0])
					order = order[1:]
				}
				if open[e.ID] == nil {
					order = append(order, e.ID)
				}
				open[e.ID] = &Record{Entry: *e}
			case e.Event == eventEnd:
				r := ended(open[e.ID], e)
				delete(open, e.ID)
				if !yield(r, nil) {
					return
				}
			}
		}
		for _, id := range order {
			if r := open[id]; r != nil && !yield(r, nil) {
				return
			}
		}
	}
}

// ended puts the second line of a call to the first, which may have been lost. Time is
// when the call began.
func ended(r *Record, e *Entry) *Record {
	if r == nil {
		r = &Record{Entry: *e}
		r.Time = e.Time.Add(-time.Duration(e.DurationMS * float64(time.Millisecond)))
	}
	r.Ended = true
	r.Outcome, r.DurationMS, r.ResultBytes, r.Error = e.Outcome, e.DurationMS, e.ResultBytes, e.Error
	return r
}
