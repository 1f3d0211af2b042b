package websrv

import (
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"
)

// document is a text that is read piece by piece, and where it is from.
type document struct {
	Source string // its address
	Text   string
}

// textKey names documents by their content.
type textKey [16]byte

// keyOf is the name of documents: the same text of the same source has the same.
func keyOf(docs []document) (k textKey) {
	h := sha256.New()
	for _, d := range docs {
		var n [16]byte
		binary.BigEndian.PutUint64(n[:8], uint64(len(d.Source)))
		binary.BigEndian.PutUint64(n[8:], uint64(len(d.Text)))
		h.Write(n[:])
		h.Write([]byte(d.Source))
		h.Write([]byte(d.Text))
	}
	copy(k[:], h.Sum(nil))
	return k
}

// maxStoreBytes bounds the texts that are kept for reading on.
const maxStoreBytes = 32 << 20

// store keeps the texts of the latest replies that did not fit. It is safe for concurrent use.
type store struct {
	mu    sync.Mutex
	byKey map[textKey]*list.Element // guarded by mu
	order list.List                 // of *stored, latest first; guarded by mu
	bytes int                       // guarded by mu
}

type stored struct {
	key  textKey
	docs []document
	size int
}

// put keeps documents; the oldest make room.
func (s *store) put(docs []document) textKey {
	k, size := keyOf(docs), 0
	for _, d := range docs {
		size += len(d.Source) + len(d.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey = map[textKey]*list.Element{}
	}
	if e := s.byKey[k]; e != nil {
		s.order.MoveToFront(e)
		return k
	}
	s.byKey[k] = s.order.PushFront(&stored{k, docs, size})
	for s.bytes += size; s.bytes > maxStoreBytes && s.order.Len() > 1; {
		old := s.order.Remove(s.order.Back()).(*stored)
		delete(s.byKey, old.key)
		s.bytes -= old.size
	}
	return k
}

// get gives back documents, nil if they are gone.
func (s *store) get(k textKey) []document {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[k]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*stored).docs
}

// position is a place in documents: read from Offset of the document at Index, to End of
// that document alone if End is not 0, else to the end of the last.
type position struct {
	Key                textKey
	Index, Offset, End int
}

// Kinds of cursors, their first byte.
const (
	cursorText = 't' // a position
	cursorNext = 'n' // the continuation of a crawl or a sitemap
)

// Bounds of cursors.
const (
	maxCursor     = 16 << 10 // characters
	cursorSum     = 4        // bytes of checksum
	maxCursorPart = 1 << 30
)

// errCursor says that a cursor is not one of ours.
var errCursor = errors.New("this cursor is not one that this server gave: use it exactly as it was given, or leave it out to begin anew")

// seal makes a cursor of bytes. The checksum finds typing errors; it keeps no secret.
func seal(kind byte, data []byte) string {
	b := append([]byte{kind}, data...)
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:cursorSum]...))
}

// unseal undoes seal.
func unseal(cursor string) (kind byte, data []byte, err error) {
	if len(cursor) > maxCursor {
		return 0, nil, errCursor
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSpace(cursor))
	if err != nil || len(b) < 1+cursorSum {
		return 0, nil, errCursor
	}
	body, tail := b[:len(b)-cursorSum], b[len(b)-cursorSum:]
	if sum := sha256.Sum256(body); string(sum[:cursorSum]) != string(tail) {
		return 0, nil, errCursor
	}
	return body[0], body[1:], nil
}

// cursor is p as a cursor.
func (p position) cursor() string {
	b := p.Key[:len(p.Key):len(p.Key)]
	for _, n := range []int{p.Index, p.Offset, p.End} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return seal(cursorText, b)
}

// parsePosition reads a cursor's bytes.
func parsePosition(data []byte) (p position, err error) {
	if len(data) < len(p.Key) {
		return p, errCursor
	}
	copy(p.Key[:], data)
	data = data[len(p.Key):]
	for _, n := range []*int{&p.Index, &p.Offset, &p.End} {
		v, size := binary.Uvarint(data)
		if size <= 0 || v > maxCursorPart {
			return p, errCursor
		}
		*n, data = int(v), data[size:]
	}
	if len(data) > 0 {
		return p, errCursor
	}
	return p, nil
}

// within reports whether a position is one of these documents, between two characters.
func (p position) within(docs []document) bool {
	if p.Index >= len(docs) {
		return false
	}
	text := docs[p.Index].Text
	end := p.End
	if end == 0 {
		end = len(text)
	}
	boundary := func(i int) bool { return i == len(text) || i < len(text) && utf8.RuneStart(text[i]) }
	return p.Offset <= end && end <= len(text) && boundary(p.Offset) && boundary(end)
}
