package websrv

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Limits of the cache's directory.
const (
	maxDiskBytes = 256 << 20
	pruneEvery   = 64 // files written between two looks at the directory's size
	diskSuffix   = ".aster"
)

// diskCache keeps entries as files of a directory, one a URL: a line of JSON, then the
// body. A file that cannot be read is as good as none. It is safe for concurrent use, also
// by several processes: files appear whole or not at all.
type diskCache struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	written int // guarded by mu
}

func (d *diskCache) path(url string) string {
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(d.dir, hex.EncodeToString(sum[:16])+diskSuffix)
}

// load is the entry of a URL, nil if there is none.
func (d *diskCache) load(url string) *entry {
	path := d.path(url)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxEntryBytes+2*maxHeaderBytes {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	head, body, ok := bytes.Cut(b, []byte("\n"))
	var e entry
	if !ok || json.Unmarshal(head, &e) != nil || e.URL != url {
		os.Remove(path)
		return nil
	}
	e.Body = body
	return &e
}

// save writes an entry for its user's eyes only. What goes wrong costs a request later on.
func (d *diskCache) save(e *entry) {
	head := *e
	head.Body = nil
	line, err := json.Marshal(&head)
	if err == nil {
		err = d.write(d.path(e.URL), line, e.Body)
	}
	if err != nil {
		d.log.Debug("the cache's directory cannot be written", "err", err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.written++; d.written%pruneEvery == 1 {
		d.prune()
	}
}

func (d *diskCache) write(path string, line, body []byte) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.dir, "new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Concat(line, []byte("\n"), body))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func (d *diskCache) remove(url string) { os.Remove(d.path(url)) }

// prune removes the oldest files of ours until the rest is within bounds; mu is held.
func (d *diskCache) prune() {
	list, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var total int64
	for _, f := range list {
		if info, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), diskSuffix) && info.Mode().IsRegular() {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= maxDiskBytes {
			return
		}
		if os.Remove(filepath.Join(d.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
