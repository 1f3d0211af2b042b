package host

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch bounds the elements of a JSON-RPC batch.
const maxBatch = 1000

// MaxStdioRequests bounds the requests of one stdio client that wait for an answer.
const MaxStdioRequests = 4096

// lastBatchRevision is the last MCP revision that knows batches.
const lastBatchRevision = "2025-03-26"

// batch collects the answers to one JSON-RPC batch. The tracker's mutex guards it once it
// has an open call.
type batch struct {
	open  int      // calls without an answer
	parts [][]byte // encoded answers, in the order of their arrival
}

func (b *batch) text() []byte {
	return append(append([]byte{'['}, bytes.Join(b.parts, []byte{','})...), ']')
}

// call is a request of the client that has no answer yet.
type call struct {
	batch  *batch // nil when it came alone
	parked bool   // it ends with the session only, so nobody waits for it
}

// tracker knows which requests are in flight and what the session has negotiated.
// Methods may be called from any goroutine. The zero value is ready.
type tracker struct {
	mu       sync.Mutex
	calls    map[jsonrpc.ID]call
	pending  int           // answers owed: calls that are not parked, and queued replies
	quiet    chan struct{} // closed when pending is 0; made by idle
	initID   jsonrpc.ID    // of the last initialize request
	revision string        // negotiated by initialize, "" before that and without it
}

// begin registers a call, or says why it cannot be served.
func (t *tracker) begin(req *jsonrpc.Request, b *batch) (bad string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.calls[req.ID]; ok {
		return "a request with this id is still being answered"
	}
	if req.Method == methodInitialize {
		if b != nil {
			return "initialize must not be part of a batch"
		}
		t.initID = req.ID
	}
	if t.calls == nil {
		t.calls = make(map[jsonrpc.ID]call)
	}
	c := call{batch: b, parked: req.Method == methodListen}
	t.calls[req.ID] = c
	if b != nil {
		b.open++
	}
	if !c.parked {
		t.pending++
	}
	return ""
}

// crowded reports whether no more requests can wait for an answer.
func (t *tracker) crowded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.calls) >= MaxStdioRequests
}

// answer ends a call. It returns what to write: the response's text, the whole batch when
// this was its last open call, or nil; and whether done is due once that is written.
func (t *tracker) answer(resp *jsonrpc.Response, text []byte) (out []byte, counted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.calls[resp.ID]
	if !ok {
		return text, false
	}
	delete(t.calls, resp.ID)
	if resp.ID == t.initID && resp.Error == nil {
		t.revision = negotiated(resp.Result)
	}
	if c.batch == nil {
		return text, !c.parked
	}
	c.batch.open--
	c.batch.parts = append(c.batch.parts, text)
	if c.batch.open > 0 {
		return nil, !c.parked
	}
	return c.batch.text(), !c.parked
}

// refuseBatch says why a batch of n elements is refused, "" if it is not.
func (t *tracker) refuseBatch(n int) (bad string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.revision == "" || t.revision > lastBatchRevision:
		return "batches are not part of this protocol revision"
	case n == 0:
		return "the batch is empty"
	case n > maxBatch:
		return "a batch has at most " + strconv.Itoa(maxBatch) + " messages"
	}
	return ""
}

// add counts one more answer owed, done one less.
func (t *tracker) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending++
}

func (t *tracker) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending--; t.pending == 0 && t.quiet != nil {
		close(t.quiet)
		t.quiet = nil
	}
}

// idle returns a channel that is closed when no answer is owed. Only the goroutine that
// calls begin and add may use it.
func (t *tracker) idle() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	quiet := make(chan struct{})
	if t.pending == 0 {
		close(quiet)
	} else {
		t.quiet = quiet
	}
	return quiet
}

// negotiated reads the revision out of an answer to initialize, "" if there is none.
func negotiated(result json.RawMessage) string {
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) != nil {
		return ""
	}
	return r.ProtocolVersion
}
