package guard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/filelock"
)

// ErrPins is the error of a file of pins that cannot be understood.
var ErrPins = errors.New("the file of approved tool definitions cannot be read")

const (
	pinVersion      = 1
	maxPinFileBytes = 256 << 20
)

// pinFile is the file's content.
type pinFile struct {
	Version int             `json:"version"`
	Servers []*pinnedServer `json:"servers"` // in the order in which they were first seen

	stamp fs.FileInfo // of the file with just this content; nil where there is none
}

type pinnedServer struct {
	Name     string                 `json:"name"`
	Identity string                 `json:"identity,omitempty"`
	Seen     time.Time              `json:"seen"`
	Tools    map[string]*pinnedTool `json:"tools"`
}

// pinnedTool holds the approved definition, the one that waits, or both.
type pinnedTool struct {
	Approved *pinned `json:"approved,omitempty"`
	Pending  *pinned `json:"pending,omitempty"`
}

// pinned is one definition. Fields are in the order of fieldNames; nil for one that was
// too large to keep. Hashes are always there.
type pinned struct {
	Digest       string    `json:"digest"`
	At           time.Time `json:"at"`
	Fields       []string  `json:"fields,omitempty"`
	Hashes       []string  `json:"hashes"`
	Instructions string    `json:"instructions,omitempty"` // again, where Fields are not kept
}

func newPinned(d definition, digest string, now time.Time) *pinned {
	p := &pinned{Digest: digest, At: now, Instructions: d[len(d)-1]}
	n := 0
	for _, f := range d {
		sum := sha256.Sum256([]byte(f))
		p.Hashes = append(p.Hashes, hex.EncodeToString(sum[:]))
		n += len(f)
	}
	if n <= maxPinnedBytes {
		p.Fields = slices.Clone(d[:])
	}
	return p
}

func (p *pinned) definition() (d definition, ok bool) {
	if p == nil || len(p.Fields) != len(d) {
		return d, false
	}
	copy(d[:], p.Fields)
	return d, true
}

func (f *pinFile) server(name, identity string) *pinnedServer {
	for _, s := range f.Servers {
		if s.Name == name && s.Identity == identity {
			return s
		}
	}
	return nil
}

// add appends a server; the one not seen for longest makes room.
func (f *pinFile) add(s *pinnedServer) {
	if len(f.Servers) >= maxPinnedServers {
		oldest := 0
		for i, o := range f.Servers {
			if o.Seen.Before(f.Servers[oldest].Seen) {
				oldest = i
			}
		}
		f.Servers = slices.Delete(f.Servers, oldest, oldest+1)
	}
	f.Servers = append(f.Servers, s)
}

// check refuses what could not have been written by save.
func (f *pinFile) check() error {
	if f.Version != pinVersion {
		return fmt.Errorf("version %d, want %d", f.Version, pinVersion)
	}
	for _, s := range f.Servers {
		if s == nil || s.Name == "" {
			return errors.New("a server without a name")
		}
		if s.Tools == nil {
			s.Tools = map[string]*pinnedTool{}
		}
		for name, t := range s.Tools {
			if t == nil || t.Approved == nil && t.Pending == nil {
				return fmt.Errorf("tool %q without a definition", Clean(name, maxShownName))
			}
			for _, p := range []*pinned{t.Approved, t.Pending} {
				if p != nil && (len(p.Hashes) != len(fieldNames) || p.Digest == "") {
					return fmt.Errorf("tool %q with a broken definition", Clean(name, maxShownName))
				}
			}
		}
	}
	return nil
}

// pinStore is where a pinFile is kept. The zero value keeps nothing.
type pinStore struct{ path string }

func (st pinStore) load() (*pinFile, error) {
	empty := &pinFile{Version: pinVersion}
	if st.path == "" {
		return empty, nil
	}
	info, err := os.Stat(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err == nil && info.Size() > maxPinFileBytes {
		err = fmt.Errorf("over %d MiB", maxPinFileBytes>>20)
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(st.path)
	}
	f := &pinFile{}
	if err == nil {
		f.stamp = info // from before it was read, so never of what came later
		if err = json.Unmarshal(raw, f); err == nil {
			err = f.check()
		}
	}
	if err != nil {
		return empty, fmt.Errorf("%w: %s: %v", ErrPins, st.path, err)
	}
	return f, nil
}

// current reports whether what f holds is what is kept.
func (st pinStore) current(f *pinFile) bool {
	if st.path == "" {
		return true
	}
	info, err := os.Stat(st.path)
	return err == nil && f.stamp != nil && os.SameFile(info, f.stamp) && info.Size() == f.stamp.Size() && info.ModTime().Equal(f.stamp.ModTime())
}

// update reads the file anew, changes it and writes it, all under a lock between
// processes, and returns the new content. If the file cannot be locked or written the
// change is made to a copy of mem, or of what was read, and returned with the error; if
// it cannot be read there is no new content.
func (st pinStore) update(mem *pinFile, change func(*pinFile) (bool, error)) (*pinFile, error) {
	unlock := func() {}
	var lockErr error
	if st.path != "" {
		unlock, lockErr = filelock.Take(st.path + ".lock")
	}
	if st.path == "" || lockErr != nil {
		f, err := mem.clone()
		if err == nil {
			_, err = change(f)
		}
		if err != nil {
			return nil, err
		}
		if lockErr != nil {
			return f, fmt.Errorf("approved tool definitions: %w", lockErr)
		}
		return f, nil
	}
	defer unlock()
	f, err := st.load()
	if err != nil {
		return nil, err
	}
	dirty, err := change(f)
	if err != nil {
		return nil, err
	}
	if dirty {
		if f.stamp, err = writeFile(st.path, f); err != nil {
			return f, fmt.Errorf("approved tool definitions: %w", err)
		}
	}
	return f, nil
}

func (f *pinFile) clone() (*pinFile, error) {
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	c := &pinFile{}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, err
	}
	return c, c.check()
}

// writeFile replaces a file by one of mode 0600, so that a reader sees the old content or
// the new one, and returns what the new one is; nil with an error.
func writeFile(path string, v any) (written fs.FileInfo, err error) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // of mode 0600
	if err != nil {
		return nil, err
	}
	_, err = tmp.Write(raw.Bytes())
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		written, err = tmp.Stat()
	}
	if err2 := tmp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return nil, err
	}
	return written, nil
}
