package source

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Methods that the tap knows.
const (
	methodDiscover  = "server/discover"
	methodListen    = "subscriptions/listen"
	methodListTools = "tools/list"
	methodCallTool  = "tools/call"
	methodPrompt    = "prompts/get"
	methodRead      = "resources/read"
)

// A tap reads what goes by on one connection, before the SDK does. It keeps the
// results of tools/list and tools/call as the server sent them and hands the
// SDK a short stand-in, so that one bad tool or content block cannot fail a
// whole message and nothing of a schema or a number is lost. Other messages
// pass unchanged; what is no message is dropped.
//
// A result finds its request by the progress token, which the SDK sends on.
type tap struct {
	mu      sync.Mutex
	next    int64
	slots   map[int64]*slot  // by progress token
	pending map[string]*sent // by the request's id as JSON

	junkLines int
	firstJunk string    // the first bytes of what was no message
	messages  int       // that were
	first     time.Time // when the first text came

	// long is set when a message was too long and that ended the session, or a start.
	long atomic.Bool
	// modern is set when server/discover was answered well, in time or late.
	modern *atomic.Bool

	// discoverLimit bounds the wait for server/discover; 0 does not. Then inject
	// is given an answer in the server's place. Both are set before use.
	discoverLimit time.Duration
	inject        func(message []byte)
	discover      *time.Timer
}

// A slot receives what belongs to one call of ours.
type slot struct {
	token   int64
	ids     []string // requests sent with the token
	raw     json.RawMessage
	refused string // why an answer that came was not taken, "" if it was; set before the release
	pass    bool   // a result that wants input is for the caller, not for the SDK
	input   bool   // raw is such a result; set before raw is released

	// reporting is held while progress runs, so that none runs after the release.
	reporting sync.Mutex
	progress  func(progress, total float64, message string) // nil where nobody listens
}

// A sent is a request under way.
type sent struct {
	method string
	slot   *slot // nil where nobody waits for the raw result
	late   bool  // it was answered in the server's place
}

func newTap(modern *atomic.Bool) *tap {
	return &tap{modern: modern, slots: map[int64]*slot{}, pending: map[string]*sent{}}
}

// open makes a slot. It must be released.
func (t *tap) open(progress func(progress, total float64, message string)) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	s := &slot{token: t.next, progress: progress}
	t.slots[s.token] = s
	return s
}

// release forgets the slot and returns the raw result, nil if none came. It waits for
// a report of progress under way; none follows.
func (t *tap) release(s *slot) json.RawMessage {
	s.reporting.Lock()
	s.progress = nil
	s.reporting.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.slots, s.token)
	for _, id := range s.ids {
		delete(t.pending, id)
	}
	return s.raw
}

// onProgress passes a progress notification to its call.
func (t *tap) onProgress(token any, progress, total float64, message string) {
	n, ok := token.(float64)
	if text, isText := token.(string); isText { // some servers send it back as text
		i, err := strconv.ParseInt(text, 10, 64)
		n, ok = float64(i), err == nil
	}
	if !ok {
		return
	}
	t.mu.Lock()
	s := t.slots[int64(n)]
	t.mu.Unlock()
	if s == nil {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if s.progress != nil {
		s.progress(progress, total, message)
	}
}

// An envelope is the part of a message that the tap looks at.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// outgoing looks at a message that the SDK is about to send. The id, as JSON, is "" for
// what is no request.
func (t *tap) outgoing(message []byte) (method, id string) {
	var e envelope
	if json.Unmarshal(message, &e) != nil || e.Method == "" || len(e.ID) == 0 {
		return e.Method, ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Method {
	case methodDiscover:
		t.pending[string(e.ID)] = &sent{method: e.Method}
		if t.discoverLimit > 0 && t.inject != nil {
			id := string(e.ID)
			t.discover = time.AfterFunc(t.discoverLimit, func() { t.answerDiscover(id) })
		}
	case methodListTools, methodCallTool:
		token, err := strconv.ParseInt(string(e.Params.Meta.Token), 10, 64)
		if s := t.slots[token]; err == nil && s != nil {
			s.ids = append(s.ids, string(e.ID))
			t.pending[string(e.ID)] = &sent{method: e.Method, slot: s}
		}
	case methodPrompt, methodRead:
		token, _ := strconv.ParseInt(string(e.Params.Meta.Token), 10, 64)
		s := t.slots[token]
		if s != nil {
			s.ids = append(s.ids, string(e.ID))
		}
		t.pending[string(e.ID)] = &sent{method: e.Method, slot: s}
	}
	return e.Method, string(e.ID)
}

// answerDiscover tells the SDK that the server does not know server/discover.
func (t *tap) answerDiscover(id string) {
	t.mu.Lock()
	p := t.pending[id]
	if p == nil || p.late {
		t.mu.Unlock()
		return
	}
	p.late = true
	t.mu.Unlock()
	t.inject(unknownDiscover(id))
}

func unknownDiscover(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no answer"}}`)
}

// close ends the tap's timer.
func (t *tap) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.discover != nil {
		t.discover.Stop()
	}
	for _, p := range t.pending {
		p.late = true
	}
}

// A response is a message of the server as far as the tap needs it.
type response struct {
	ID     json.RawMessage `json:"id"`
	Method json.RawMessage `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// incoming takes one text from the server and returns the messages for the SDK:
// none if it is junk, several if it was a batch.
func (t *tap) incoming(text []byte) [][]byte {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(text, &batch) == nil {
			var out [][]byte
			for _, m := range batch {
				if m := t.message(m); m != nil {
					out = append(out, m)
				}
			}
			return out
		}
	}
	if m := t.message(text); m != nil {
		return [][]byte{m}
	}
	return nil
}

func (t *tap) message(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	t.mu.Lock()
	if t.first.IsZero() {
		t.first = time.Now()
	}
	t.mu.Unlock()
	if text[0] != '{' {
		t.junk(text)
		return nil
	}
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		t.junk(text)
		return t.refuse(text)
	}
	t.mu.Lock()
	t.messages++
	waiting := len(t.pending) > 0
	t.mu.Unlock()
	var r response
	if !waiting || json.Unmarshal(text, &r) != nil || len(r.Method) > 0 {
		return text
	}
	return t.answer(text, &r)
}

// answer deals with a response.
func (t *tap) answer(text []byte, r *response) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[string(r.ID)]
	if p == nil {
		return text
	}
	delete(t.pending, string(r.ID))
	ok := len(r.Error) == 0 || string(r.Error) == "null"
	if p.method == methodDiscover {
		if t.discover != nil {
			t.discover.Stop()
		}
		if ok && isModern(r.Result) {
			t.modern.Store(true)
		}
		if p.late {
			return nil
		}
		return text
	}
	if !ok {
		return text
	}
	waited := p.slot != nil && t.slots[p.slot.token] == p.slot
	if p.method != methodListTools && wantsInput(r.Result) {
		in, err := readInput(r.Result)
		switch {
		case err != nil:
			return errorMessage(r.ID, err.Error())
		case waited && p.slot.pass:
			p.slot.raw, p.slot.input = r.Result, true
			return withResult(r.ID, emptyResults[p.method])
		}
		return withResult(r.ID, safeInput(in))
	}
	if !waited {
		return text
	}
	var stand []byte
	switch p.method {
	case methodListTools:
		stand = standInList(r.Result)
	case methodCallTool:
		stand = standInCall(r.Result)
	}
	if stand == nil {
		return text
	}
	p.slot.raw = r.Result
	return withResult(r.ID, stand)
}

// withResult is the message of a result.
func withResult(id, result []byte) []byte {
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"result":`...), result...), '}')
}

// isModern reports whether a result of server/discover offers a modern revision.
func isModern(result json.RawMessage) bool {
	var d struct {
		Versions []string `json:"supportedVersions"`
	}
	if json.Unmarshal(result, &d) != nil {
		return false
	}
	for _, v := range d.Versions {
		if v >= string(EraModern) {
			return true
		}
	}
	return false
}

// junk notes text that is no message.
func (t *tap) junk(text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.junkLines++
	if t.firstJunk == "" {
		t.firstJunk = string(text[:min(len(text), maxFirstBytes)])
	}
}

// dropped is how much of what came was no message.
func (t *tap) dropped() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.junkLines
}

// seen reports what came by: how the first junk began, and how many messages.
func (t *tap) seen() (junk string, messages int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.firstJunk, t.messages
}
