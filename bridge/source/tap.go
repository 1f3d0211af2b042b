package source

import (
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Methods that the tap knows.
const (
	methodDiscover      = "server/discover"
	methodListen        = "subscriptions/listen"
	methodListTools     = "tools/list"
	methodCallTool      = "tools/call"
	methodPrompt        = "prompts/get"
	methodRead          = "resources/read"
	methodProgress      = "notifications/progress"
	methodListPrompts   = "prompts/list"
	methodListResources = "resources/list"
	methodListTemplates = "resources/templates/list"
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
	// report is told of entries of lists, other than tools, that are left out.
	report func(problem string)
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
	page    *page  // raw as tools/list, where it is an answer to that
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
	return &tap{modern: modern, report: func(string) {}, slots: map[int64]*slot{}, pending: map[string]*sent{}}
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

// onProgress passes a progress notification to its call. The tap does it, since the SDK may
// hand the call its answer before what came earlier.
func (t *tap) onProgress(params json.RawMessage) {
	var p struct {
		Token    any     `json:"progressToken"`
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	n, ok := p.Token.(float64)
	if text, isText := p.Token.(string); isText { // some servers send it back as text
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
		s.progress(p.Progress, p.Total, p.Message)
	}
}

// An envelope is the part of a message that the tap looks at.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// outgoing looks at a message that the SDK is about to send. The id, as JSON, is "" for
// what is no request.
func (t *tap) outgoing(message []byte) (method, id string) {
	var e envelope
	if json.Unmarshal(message, &e) != nil || e.Method == "" || len(e.ID) == 0 {
		return e.Method, ""
	}
	t.expect(e.Method, string(e.ID), e.Params)
	return e.Method, string(e.ID)
}

// sending is outgoing for a message that is not encoded yet.
func (t *tap) sending(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "" {
		t.expect(r.Method, idText(r.ID), r.Params)
	}
}

// idText is an id as JSON.
func idText(id jsonrpc.ID) string {
	if n, ok := id.Raw().(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return string(plain(id.Raw()))
}

// expect notes a request whose answer the tap looks at.
func (t *tap) expect(method, id string, params json.RawMessage) {
	switch method {
	case methodListTools, methodCallTool, methodPrompt, methodRead, methodDiscover, methodListPrompts, methodListResources, methodListTemplates:
	default:
		return
	}
	s := t.slotOf(params)
	t.mu.Lock()
	defer t.mu.Unlock()
	if s != nil {
		s.ids = append(s.ids, id)
	}
	switch {
	case method == methodDiscover:
		s = nil
		if t.discoverLimit > 0 && t.inject != nil {
			t.discover = time.AfterFunc(t.discoverLimit, func() { t.answerDiscover(id) })
		}
	case s == nil && (method == methodListTools || method == methodCallTool):
		return // nobody waits for what the tap would keep
	}
	t.pending[id] = &sent{method: method, slot: s}
}

// slotOf finds the slot of a request, nil if it has none.
func (t *tap) slotOf(params json.RawMessage) *slot {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	token, err := strconv.ParseInt(string(p.Meta.Token), 10, 64)
	if err != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slots[token]
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
