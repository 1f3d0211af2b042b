package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// Bounds on what is kept of the servers' lists.
const (
	listDir      = "lists" // below the user's directory
	maxListBytes = 8 << 20 // a longer list is not kept
	maxLists     = 256     // the ones not written for longest go
	maxAbout     = 512     // bytes of what a server says it is for
	listHead     = "aster-list 1 sha256:"
)

// ErrBadList is the error of a kept list that is not as it was written, or that others
// could have written. It counts as none.
var ErrBadList = errors.New("a kept list that is not to be trusted")

// A List is what a configured server listed when it was last connected.
type List struct {
	Server   string        `json:"server"`
	Identity string        `json:"identity"` // a hash over all that is run: see config.Server.Fingerprint
	Era      source.Era    `json:"era"`
	About    string        `json:"about,omitempty"`
	Time     time.Time     `json:"time"`
	Tools    []bridge.Tool `json:"tools"`
}

// Lists keeps the last list of each configured server, one file of mode 0600 for each, so
// that a gateway knows their tools before they are up. A kept list never starts, approves
// or calls anything: its tools count only while their definitions are the approved ones,
// and a call waits for the server's own list. Servers inside aster and page tools are
// never kept. The zero Lists, and one without a directory, keeps nothing. It is safe for
// concurrent use, by several processes too.
type Lists struct {
	dir string

	mu    sync.Mutex
	saved map[string]kept // what this process wrote or read, by file
}

// A kept is what a file holds: the list that was read of it, until it is first compared, or
// the digest.
type kept struct {
	list   *List
	digest [sha256.Size]byte
}

// clone is a list whose tools can be changed, added and removed without the other's.
func (l *List) clone() *List {
	out := *l
	out.Tools = slices.Clone(l.Tools)
	return &out
}

// holds reports whether a file with k in it holds list, and what it will hold after list is
// saved. Most lists are the same to the byte, which costs no encoding.
func (k kept) holds(list *List) (bool, kept) {
	if k.list != nil {
		a, b := *k.list, *list
		if a.Time = b.Time; reflect.DeepEqual(a, b) {
			return true, k
		}
		k.digest = k.list.digest()
	}
	digest := list.digest()
	return k.digest == digest, kept{digest: digest}
}

// OpenLists are the lists kept in the user's directory; "" keeps none.
func OpenLists(stateDir string) *Lists {
	l := &Lists{saved: map[string]kept{}}
	if stateDir != "" {
		l.dir = filepath.Join(stateDir, listDir)
	}
	return l
}

// Load returns what the server listed last, as it is configured now; nil if nothing is
// kept. A file that does not hold is [ErrBadList].
func (l *Lists) Load(s *config.Server) (*List, error) {
	if l.dir == "" {
		return nil, nil
	}
	identity := s.Fingerprint()
	path := l.path(s.Name, identity)
	body, err := readList(path)
	if err != nil || body == nil {
		return nil, err
	}
	list := &List{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(list); err != nil || dec.More() {
		return nil, fmt.Errorf("%w: %s", ErrBadList, path)
	}
	wrong := list.Server != s.Name || list.Identity != identity || len(list.Tools) > source.MaxTools || len(list.About) > maxAbout ||
		!slices.Contains([]source.Era{source.EraUnknown, source.EraLegacy, source.EraModern}, list.Era) ||
		slices.ContainsFunc(list.Tools, func(t bridge.Tool) bool { return t.Server != s.Name || t.Name == "" })
	if wrong {
		return nil, fmt.Errorf("%w: %s", ErrBadList, path)
	}
	l.mu.Lock()
	l.saved[path] = kept{list: list.clone()} // the caller may change and save what it got
	l.mu.Unlock()
	return list, nil
}

// readList reads the body of a file, nil if there is none.
func readList(path string) ([]byte, error) {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular(), fi.Size() > maxListBytes, runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%w: %s", ErrBadList, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxListBytes))
	if err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(head) != listHead+hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("%w: %s", ErrBadList, path)
	}
	return body, nil
}

// Save keeps a list, if it is not the one that is kept. A list that is too long is
// forgotten instead.
func (l *Lists) Save(list *List) error {
	if l.dir == "" {
		return nil
	}
	path := l.path(list.Server, list.Identity)
	l.mu.Lock()
	before := l.saved[path]
	l.mu.Unlock()
	same, now := before.holds(list)
	l.mu.Lock()
	l.saved[path] = now
	l.mu.Unlock()
	if same {
		return nil
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	head := listHead + hex.EncodeToString(sum[:]) + "\n"
	if len(head)+len(body) > maxListBytes {
		return ignoreMissing(os.Remove(path))
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(l.dir, ".list.*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(head), body...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	l.prune()
	return nil
}

// Forget drops what is kept of a server, under whatever it was configured as, and returns
// how many lists that were.
func (l *Lists) Forget(server string) (n int, err error) {
	if l.dir == "" {
		return 0, nil
	}
	files, _ := filepath.Glob(filepath.Join(l.dir, nameHash(server)+"-*.json")) // the pattern is right
	for _, f := range files {
		err = errors.Join(err, ignoreMissing(os.Remove(f)))
		l.mu.Lock()
		delete(l.saved, f)
		l.mu.Unlock()
	}
	return len(files), err
}

// prune removes the files beyond the bound.
func (l *Lists) prune() {
	entries, err := os.ReadDir(l.dir)
	if err != nil || len(entries) <= maxLists {
		return
	}
	age := func(e fs.DirEntry) time.Time {
		if fi, err := e.Info(); err == nil {
			return fi.ModTime()
		}
		return time.Time{}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:len(entries)-maxLists] {
		os.Remove(filepath.Join(l.dir, e.Name()))
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// digest is a hash of all but the time.
func (l *List) digest() [sha256.Size]byte {
	c := *l
	c.Time = time.Time{}
	b, err := json.Marshal(c)
	if err != nil { // a schema that is no JSON cannot be kept
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(b)
}

// path is the file of a server as it is configured: names are a stranger's, so both parts
// are hashes.
func (l *Lists) path(server, identity string) string {
	return filepath.Join(l.dir, nameHash(server)+"-"+nameHash(identity)+".json")
}

func nameHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// recall gives a spec what its server listed last.
func (s *Session) recall(spec *source.Spec, cs *config.Server, sv *server) {
	list, err := s.lists.Load(cs)
	if err != nil {
		s.log.Info("kept list not used", "server", cs.Name, "err", err)
	}
	if list == nil {
		return
	}
	spec.Known, spec.Era, sv.about, sv.era = list.Tools, list.Era, list.About, list.Era
}

// keepList keeps what a server lists now.
func (s *Session) keepList(src *source.Source) {
	sv := s.servers[src.Name()]
	if sv == nil || sv.builtin != nil {
		return
	}
	st := src.Status()
	if st.State != source.Connected || !st.Listed {
		return
	}
	era := st.Era
	if s.opts.Legacy { // then the era was our choice
		era = sv.era
	}
	list := &List{Server: sv.name, Identity: sv.identity, Era: era, About: aboutOf(&st, ""), Time: time.Now().UTC().Truncate(time.Second), Tools: src.Tools()}
	if err := s.lists.Save(list); err != nil {
		s.log.Info("list not kept", "server", sv.name, "err", err)
	}
}

// aboutOf is what a server says it is for: the first line of its instructions, else what
// it said before.
func aboutOf(st *source.Status, before string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(st.Instructions), "\n")
	if first == "" && !st.Listed {
		return before
	}
	return strings.ToValidUTF8(first[:min(len(first), maxAbout)], "")
}

// usable is what of a configured server's list may be in the catalogue, beside what the
// server says that it is for.
func (s *Session) usable(sv *server, st *source.Status, about string, list []bridge.Tool) []bridge.Tool {
	switch {
	case st.Listed:
		return s.reviewed(sv, about, list)
	case st.Failure != nil: // it did not come up, so what it listed once is no promise
		return nil
	}
	return slices.DeleteFunc(list, func(t bridge.Tool) bool { return s.pins.Status(sv.identity, about, t) != guard.PinApproved })
}

// ready waits for a server whose tools are only known from before, and checks that it
// still lists the one that is to be called, as it was.
func (s *Session) ready(ctx context.Context, src *source.Source, tool bridge.Tool) error {
	if sv := s.servers[src.Name()]; sv.builtin != nil || src.Listed() {
		return nil
	}
	if err := src.Start(ctx); err != nil {
		return err
	}
	s.mark()
	now, ok := s.Catalog().Get(tool.ID())
	if !ok || now.Hash() != tool.Hash() {
		return bridge.ErrToolChanged
	}
	return nil
}
