package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Bounds on answers that are not taken.
const (
	// maxDepth is how deep a message may be nested (go-sdk 1.8 reads no deeper).
	maxDepth = 1000
	// maxSkipBytes is how much of one message beyond MaxMessageBytes is read and dropped
	// before the connection is ended.
	maxSkipBytes = 512 << 20
	// maxTailBytes is what is kept of the end of such a message, where the id may stand.
	maxTailBytes = 256
	// maxIDBytes bounds an id that is read from what is no message: ours are numbers.
	maxIDBytes = 64
)

// ErrBadAnswer is wrapped by the error of a call whose answer came but cannot be taken:
// it is too long, nested too deep, or no message. The server may have acted.
var ErrBadAnswer = errors.New("the server's answer is not taken")

// Why an answer is not taken.
var (
	whyLong    = fmt.Sprintf("it is over %d MiB, the most that a message may have", MaxMessageBytes>>20)
	whyDeep    = fmt.Sprintf("it is nested over %d levels deep, the most that is read", maxDepth)
	whyNotJSON = "it is not JSON"
	whyNoRPC   = "it is not an answer as JSON-RPC has them"
)

// A glimpse is what can be told of a text that is not read as a message.
type glimpse struct {
	object bool            // it begins as one
	id     json.RawMessage // nil where none was found
	method bool            // it is a request or a notification
	answer bool            // it has a result or an error
	depth  int             // of its nesting, as far as it goes
}

// glance looks through a text, which may be cut off or broken, for the members of an
// object that make it an answer. It takes time in proportion to the text and no memory.
func glance(text []byte) (g glimpse) {
	var key []byte
	start, depth := -1, 0 // start of the string or number at the top level
	quoted, escaped, value := false, false, false
	for i, b := range text {
		if quoted {
			switch {
			case escaped:
				escaped = false
			case b == '\\':
				escaped = true
			case b == '"':
				quoted = false
				if depth == 1 && value {
					g.member(key, text[start:i+1])
				} else if depth == 1 {
					key = text[start : i+1]
				}
				start = -1
			}
			continue
		}
		if depth == 1 && start >= 0 && bytes.IndexByte([]byte(" \t\r\n,}"), b) >= 0 {
			g.member(key, text[start:i])
			start = -1
		}
		switch b {
		case ' ', '\t', '\r', '\n':
		case '"':
			quoted, start = true, i
		case '{', '[':
			if depth == 0 && b == '[' {
				return g
			}
			if depth == 1 {
				g.member(key, nil)
			}
			depth++
			g.object, g.depth = true, max(g.depth, depth)
		case '}', ']':
			if depth--; depth == 0 {
				return g
			}
		case ',':
			if depth == 1 {
				key, value = nil, false
			}
		case ':':
			value = value || depth == 1
		default:
			if depth == 0 {
				return g
			}
			if depth == 1 && value && start < 0 {
				start = i
			}
		}
	}
	if depth == 1 && value && start >= 0 { // cut off in the middle of a value
		g.member(key, nil)
	}
	return g
}

// member notes a member of the top level; value is nil for an object or a list.
func (g *glimpse) member(key, value []byte) {
	switch string(key) {
	case `"id"`:
		if isID(value) {
			g.id = value
		}
	case `"method"`:
		g.method = true
	case `"result"`, `"error"`:
		g.answer = true
	}
}

// isID reports whether a value is an id that can be repeated as it stands.
func isID(v []byte) bool {
	if len(v) == 0 || len(v) > maxIDBytes || v[0] != '"' && v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return false
	}
	return json.Valid(v)
}

// refuse ends the request that a text which is no message would have answered: with the
// message that it returns for the SDK, nil where the text answers none.
func (t *tap) refuse(text []byte) []byte {
	g := glance(text)
	if g.id == nil || g.method || !g.answer {
		return nil
	}
	return t.refusal(string(g.id), whyNotMessage(text))
}

// whyNotMessage says what is wrong with a text that is no message.
func whyNotMessage(text []byte) string {
	switch {
	case glance(text).depth > maxDepth:
		return whyDeep
	case !json.Valid(text):
		return whyNotJSON
	}
	return whyNoRPC
}

// refusal is the message that ends a request in its answer's place, nil if it is over. The
// request's own error is in its slot.
func (t *tap) refusal(id, why string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[id]
	delete(t.pending, id)
	switch {
	case p == nil:
	case p.method == methodDiscover && p.late:
		return nil
	case p.method == methodDiscover:
		if t.discover != nil {
			t.discover.Stop()
		}
		return unknownDiscover(id)
	case p.slot != nil:
		p.slot.refused = why
	}
	return errorMessage([]byte(id), ErrBadAnswer.Error()+": "+why)
}

// A skipped is a message that is too long, while the rest of it is read and dropped.
type skipped struct {
	tap  *tap
	tail []byte // its last bytes, nil where they do not matter
	size int
}

// skip begins to drop a message that is too long, of which head is the beginning. What it
// returns for the SDK ends the request that the message answers, which is id where that is
// known.
func (t *tap) skip(id string, head []byte) (*skipped, []byte) {
	t.junk(head)
	t.mu.Lock()
	if t.messages == 0 { // a start that fails failed for this
		t.long.Store(true)
	}
	t.mu.Unlock()
	k := &skipped{tap: t}
	g := glance(head)
	switch {
	case id != "":
		return k, t.refusal(id, whyLong)
	case g.id != nil && g.answer && !g.method:
		return k, t.refusal(string(g.id), whyLong)
	case g.method || !g.object && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")):
		return k, nil // a notification, or a line of a log
	}
	k.tail = bytes.Clone(head[max(0, len(head)-maxTailBytes):])
	return k, nil
}

// drop takes the next part. The error is errLong where there is no end to it.
func (k *skipped) drop(part []byte) error {
	if k.size += len(part); k.size > maxSkipBytes {
		k.tap.long.Store(true)
		return errLong
	}
	if k.tail != nil {
		k.tail = append(k.tail, part...)
		k.tail = k.tail[max(0, len(k.tail)-maxTailBytes):]
	}
	return nil
}

// line drops the rest of a line of which head is the beginning.
func (k *skipped) line(r *bufio.Reader, head []byte) error {
	if bytes.HasSuffix(head, []byte("\n")) {
		return nil
	}
	for {
		part, err := r.ReadSlice('\n')
		if long := k.drop(part); long != nil {
			return long
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// end is called at the end of the message. Where nothing says which request it answers
// the error is errLong: all calls of the connection end, since one of them waits for it.
func (k *skipped) end() ([]byte, error) {
	if k.tail == nil {
		return nil, nil
	}
	if m := lastID().FindSubmatch(k.tail); m != nil && isID(m[1]) {
		return k.tap.refusal(string(m[1]), whyLong), nil
	}
	k.tap.long.Store(true)
	return nil, errLong
}

// lastID finds the id of a message that ends with it, or with the version after it.
var lastID = lazily(`,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
