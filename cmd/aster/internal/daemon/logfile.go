package daemon

import (
	"os"
	"sync"
)

// MaxLog is the size beyond which the log begins anew; the last one is kept beside it.
const MaxLog = 1 << 20

// LogFile is the daemon's log: a file of bounded size. A write that fails, as on a full
// disk, is dropped: the daemon works on.
type LogFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLog opens the log to be added to.
func OpenLog(path string) *LogFile {
	l := &LogFile{path: path}
	l.open()
	return l
}

func (l *LogFile) open() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = f, 0
	if fi, err := f.Stat(); err == nil {
		l.size = fi.Size()
	}
}

// Write never fails.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size+int64(len(p)) > MaxLog {
		l.file.Close()
		l.file = nil
		os.Rename(l.path, l.path+".old")
		l.open()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

// Close closes the file.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
