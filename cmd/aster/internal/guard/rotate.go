package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
)

// Defaults of LogOptions, and bounds.
const (
	DefaultLogBytes = 10 << 20
	DefaultLogFiles = 5
	// MaxEntryBytes bounds one line.
	MaxEntryBytes = 64 << 10
	maxLogFiles   = 1000
	logMode       = 0o600
	logDirMode    = 0o700
)

// ErrLogClosed is the error of a Log after Close.
var ErrLogClosed = errors.New("the audit log is closed")

// A Log is an [Auditor] that writes JSON Lines to a file of mode 0600: one object a line,
// two lines a call. A line is written with one write to the end of the file, so several
// processes may share it. When the file would grow over MaxBytes it becomes FILE.1, the
// one that was FILE.1 becomes FILE.2, and so on; what is beyond Keep goes. A line that was
// torn, by a crash or a full disk, is ended before the next one, and passed over by the
// readers.
type Log struct {
	path     string
	maxBytes int64
	keep     int
	now      func() time.Time
	open     func(path string) (LogFile, error)

	mu     sync.Mutex
	file   LogFile     // nil before the first entry and after Close
	opened fs.FileInfo // of file, when it was opened
	torn   bool        // the last write may not have ended its line
	whole  int64       // the file's size after the last write, which ended its line
	closed bool
	buf    bytes.Buffer
}

// A LogFile is what a Log writes to.
type LogFile interface {
	io.WriteCloser
	Stat() (fs.FileInfo, error)
}

// LogOptions are options of a Log; zero values are the defaults.
type LogOptions struct {
	MaxBytes int64            // of one file; 0 is DefaultLogBytes
	Keep     int              // rotated files to keep; 0 is DefaultLogFiles, below 0 none
	Now      func() time.Time // nil is time.Now
	// Open opens the file to append to; nil is os.OpenFile with mode 0600.
	Open func(path string) (LogFile, error)
}

// NewLog returns a log in the file at path, whose directory is made with mode 0700 when
// the first entry is written. It touches nothing before that. opts may be nil.
func NewLog(path string, opts *LogOptions) *Log {
	var o LogOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultLogBytes
	}
	if o.Keep == 0 {
		o.Keep = DefaultLogFiles
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Open == nil {
		o.Open = openLogFile
	}
	return &Log{path: path, maxBytes: o.MaxBytes, keep: min(max(o.Keep, 0), maxLogFiles), now: o.Now, open: o.Open}
}

func openLogFile(path string) (LogFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), logDirMode); err != nil {
		return nil, err
	}
	// To read is needed for the last byte, which tells a torn line.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, logMode)
	if err != nil {
		return nil, err
	}
	// A file from elsewhere may be open to others. Where modes mean nothing this does nothing.
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(logMode); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Begin writes the first line of a call.
func (l *Log) Begin(_ context.Context, e *Entry) error { return l.write(e) }

// End writes the second.
func (l *Log) End(_ context.Context, e *Entry) error { return l.write(e) }

// Record makes a Log the [bridge.Metrics] of an injector: searches, descriptions and
// prompt sections become notes, from which Stats counts. Calls are recorded by the guard
// itself and are not doubled. A note that cannot be written is lost.
func (l *Log) Record(ev bridge.Event) {
	switch ev.Kind {
	case bridge.EventInjected, bridge.EventSearched, bridge.EventDescribed, bridge.EventRefused:
	case bridge.EventExecuted, bridge.EventDenied, bridge.EventFailed:
		if ev.Described {
			_ = l.write(&Entry{Event: eventCallDescribed, Tool: ev.ID, Time: l.now()})
		}
		return
	default:
		return
	}
	e := &Entry{Event: ev.Kind.String(), Tool: ev.ID, Time: l.now(), Hits: ev.Hits, Described: ev.Described,
		ManifestTokens: ev.ManifestTokens, PromptTokens: ev.PromptTokens, BudgetTokens: ev.BudgetTokens}
	_ = l.write(e)
}

// Close closes the file. Entries are refused from then on.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.drop()
}

func (l *Log) drop() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

// write appends one line. The lock is held while it writes: lines of one process are in
// the order of their calls, and a full disk is met by one of them at a time.
func (l *Log) write(e *Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrLogClosed
	}
	line, err := l.encode(e)
	if err != nil {
		return err
	}
	size, err := l.ready(int64(len(line)))
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	if l.torn || size != l.whole && endsTorn(l.file, size) { // by this process or by another that died
		line = append([]byte("\n"), line...)
	}
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	l.torn = err != nil && (l.torn || n > 0)
	if err != nil {
		l.whole = 0
		return fmt.Errorf("audit log: %w", err)
	}
	l.whole = size + int64(n)
	return nil
}

// encode makes the line, without its arguments if it would be too long. It is in l.buf.
func (l *Log) encode(e *Entry) ([]byte, error) {
	for _, with := range []bool{true, false} {
		line := *e
		if !with {
			line.Arguments, line.Error, line.Reason = json.RawMessage(`"(too large to keep)"`), "", ""
		}
		l.buf.Reset()
		enc := json.NewEncoder(&l.buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&line); err != nil {
			return nil, fmt.Errorf("audit entry: %w", err)
		}
		if l.buf.Len() <= MaxEntryBytes {
			return l.buf.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("audit entry: over %d bytes", MaxEntryBytes)
}

// ready opens the file, follows one that another process rotated, and rotates it when n
// more bytes would be too many. It returns the size of the file.
func (l *Log) ready(n int64) (int64, error) {
	for try := 0; ; try++ {
		info, err := l.follow()
		if err != nil {
			return 0, err
		}
		if info.Size() == 0 || info.Size()+n <= l.maxBytes || try > 0 {
			return info.Size(), nil
		}
		if err := l.rotate(); err != nil {
			// A file that cannot be moved, as when another process has it open on Windows,
			// is better long than lost.
			return info.Size(), nil
		}
	}
}

// follow makes l.file the file that is at the path now.
func (l *Log) follow() (fs.FileInfo, error) {
	if l.file != nil {
		there, err := os.Stat(l.path)
		switch {
		case err == nil && os.SameFile(l.opened, there):
			return there, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		_ = l.drop() // rotated or removed
	}
	f, err := l.open(l.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	l.file, l.opened, l.torn, l.whole = f, info, false, 0
	return info, nil
}

// endsTorn reports whether the last line of a file of this size has no end.
func endsTorn(f LogFile, size int64) bool {
	r, ok := f.(io.ReaderAt)
	if !ok || size == 0 {
		return false
	}
	var last [1]byte
	_, err := r.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// rotate moves the files up by one, once: another process may have done it meanwhile.
func (l *Log) rotate() error {
	unlock, err := filelock.Take(l.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if there, err := os.Stat(l.path); err != nil || !os.SameFile(l.opened, there) {
		return l.drop()
	}
	if err := l.drop(); err != nil { // Windows moves no open file
		return err
	}
	if err := shift(l.path, l.keep); err != nil {
		_, again := l.follow()
		return errors.Join(err, again)
	}
	return nil
}

// shift renames path to path.1, path.1 to path.2 and so on, and removes what is over.
func shift(path string, keep int) error {
	if keep == 0 {
		return os.Remove(path)
	}
	name := func(i int) string {
		if i == 0 {
			return path
		}
		return path + "." + strconv.Itoa(i)
	}
	if err := os.Remove(name(keep)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i := keep - 1; i >= 0; i-- {
		if err := os.Rename(name(i), name(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
