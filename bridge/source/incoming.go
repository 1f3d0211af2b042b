package source

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A passed is what the tap lets pass to the SDK: a message, and the server's own text of
// it where it is unchanged, else nil.
type passed struct {
	message jsonrpc.Message
	text    []byte
}

// incoming takes one text from the server and returns the messages for the SDK:
// none if it is junk, several if it was a batch.
func (t *tap) incoming(text []byte) (out [][]byte) {
	for _, p := range t.read(text) {
		if p.text == nil {
			var err error
			if p.text, err = jsonrpc.EncodeMessage(p.message); err != nil {
				continue
			}
		}
		out = append(out, p.text)
	}
	return out
}

// read is incoming with the messages as they are decoded. They share no memory with text.
func (t *tap) read(text []byte) []passed {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(text, &batch) == nil {
			var out []passed
			for _, m := range batch {
				out = append(out, t.message(m)...)
			}
			return out
		}
	}
	return t.message(text)
}

func (t *tap) message(text []byte) []passed {
	if len(text) == 0 {
		return nil
	}
	t.live()
	if text[0] != '{' {
		t.junk(text)
		return nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		m = t.deepList(text)
	}
	if m == nil {
		t.junk(text)
		if m = decoded(t.refuse(text)); m == nil {
			return nil
		}
		return []passed{{message: m}}
	}
	out := t.pass(m)
	switch {
	case out == nil:
		return nil
	case out == m:
		return []passed{{m, text}}
	}
	return []passed{{message: out}}
}

// deepList is an answer to tools/list that is nested deeper than the SDK reads, for which a
// stand-in serves; nil if the text is none.
func (t *tap) deepList(text []byte) jsonrpc.Message {
	g := glance(text)
	t.mu.Lock()
	p := t.pending[string(g.id)]
	t.mu.Unlock()
	if p == nil || p.method != methodListTools || g.depth <= maxDepth {
		return nil
	}
	var r struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id"`
		Result  json.RawMessage `json:"result"`
	}
	if json.Unmarshal(text, &r) != nil || r.Version != "2.0" || readPage(r.Result) == nil {
		return nil
	}
	id, err := jsonrpc.MakeID(r.ID)
	if err != nil {
		return nil
	}
	return &jsonrpc.Response{ID: id, Result: r.Result}
}

// decoded is a message of our own making, nil for nil.
func decoded(text []byte) jsonrpc.Message {
	if text == nil {
		return nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil
	}
	return m
}

// live notes that the server has written something.
func (t *tap) live() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first.IsZero() {
		t.first = time.Now()
	}
}

// pass is a message of the server as the SDK is to see it, nil if it is not.
func (t *tap) pass(m jsonrpc.Message) jsonrpc.Message {
	if n, ok := m.(*jsonrpc.Request); ok && n.Method == methodProgress {
		t.onProgress(n.Params)
		m = nil
	}
	r, _ := m.(*jsonrpc.Response)
	p := t.settle(r)
	switch {
	case p == nil:
	case p.method == methodDiscover:
		if r.Error == nil && isModern(r.Result) {
			t.modern.Store(true)
		}
		if p.late {
			return nil
		}
	case r.Error == nil:
		if answer := t.answer(p, r); answer != nil {
			return answer
		}
	}
	return m
}

// settle counts a message, and takes the request that it answers from those under way; nil
// where there is none.
func (t *tap) settle(r *jsonrpc.Response) *sent {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if r == nil || len(t.pending) == 0 {
		return nil
	}
	id := idText(r.ID)
	p := t.pending[id]
	delete(t.pending, id)
	if p != nil && p.method == methodDiscover && t.discover != nil {
		t.discover.Stop()
	}
	return p
}

// answer deals with the result of a request: nil leaves it as it is.
func (t *tap) answer(p *sent, r *jsonrpc.Response) jsonrpc.Message {
	switch p.method {
	case methodListTools:
		if list := readPage(r.Result); list != nil {
			return t.standing(p, r, list.standIn(), list)
		}
		return nil
	case methodListPrompts, methodListResources, methodListTemplates:
		stand, problems := standInEntries(p.method, r.Result)
		for _, problem := range problems {
			t.report(problem)
		}
		if stand == nil {
			return nil
		}
		return &jsonrpc.Response{ID: r.ID, Result: stand}
	}
	if wantsInput(r.Result) {
		in, err := readInput(r.Result)
		switch {
		case err != nil:
			return decoded(errorMessage([]byte(idText(r.ID)), err.Error()))
		case p.slot != nil && p.slot.pass && t.keep(p.slot, r.Result, nil, true):
			return &jsonrpc.Response{ID: r.ID, Result: emptyResults[p.method]}
		}
		return &jsonrpc.Response{ID: r.ID, Result: safeInput(in)}
	}
	if p.method == methodCallTool {
		return t.standing(p, r, standInCall(r.Result), nil)
	}
	return nil
}

// standing is a response with a stand-in for its result, which its slot keeps, with the
// tools that were read of it; nil where nobody waits for that or there is no stand-in.
func (t *tap) standing(p *sent, r *jsonrpc.Response, stand []byte, list *page) jsonrpc.Message {
	if stand == nil || p.slot == nil || !t.keep(p.slot, r.Result, list, false) {
		return nil
	}
	return &jsonrpc.Response{ID: r.ID, Result: stand}
}

// keep gives a slot its result, if it was not released.
func (t *tap) keep(s *slot, result json.RawMessage, list *page, input bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots[s.token] != s {
		return false
	}
	s.raw, s.page, s.input = result, list, input
	return true
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
