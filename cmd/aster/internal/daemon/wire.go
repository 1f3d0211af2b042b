package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// methodHandover is the notification before a daemon ends for a newer one.
const methodHandover = "notifications/aster/handover"

// errLinkLost ends the calls of a connection whose daemon went away.
var errLinkLost = errors.New("the aster daemon went away")

// wire speaks JSON-RPC to the daemon. Results stay as they were sent: decoding them into
// the SDK's types and back would cost numbers their precision.
type wire struct {
	conn   net.Conn
	notify func(method string, params json.RawMessage) // on the reading goroutine
	done   chan struct{}                               // closed when the connection is over

	writeMu sync.Mutex

	mu    sync.Mutex
	seq   int64
	calls map[int64]chan *reply // guarded by mu; nil when the connection is over
}

// reply is the answer to a request.
type reply struct {
	Result json.RawMessage
	Error  *jsonrpc.Error
}

func newWire(conn net.Conn, r *bufio.Reader, notify func(string, json.RawMessage)) *wire {
	w := &wire{conn: conn, notify: notify, done: make(chan struct{}), calls: map[int64]chan *reply{}}
	go w.read(r)
	return w
}

// read hands out what the daemon says until the connection ends.
func (w *wire) read(r *bufio.Reader) {
	for {
		line, err := readLine(r, maxMessage)
		if err != nil {
			break
		}
		var m struct {
			ID     *int64          `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  *jsonrpc.Error  `json:"error"`
		}
		if json.Unmarshal(line, &m) != nil {
			break
		}
		switch {
		case m.Method != "" && m.ID == nil:
			w.notify(m.Method, m.Params)
		case m.Method == "" && m.ID != nil:
			w.mu.Lock()
			c := w.calls[*m.ID]
			delete(w.calls, *m.ID)
			w.mu.Unlock()
			if c != nil {
				c <- &reply{m.Result, m.Error}
			}
		}
	}
	w.conn.Close()
	w.mu.Lock()
	w.calls = nil
	w.mu.Unlock()
	close(w.done)
}

func (w *wire) send(v any) error {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	return writeJSON(w.conn, v)
}

type request struct {
	Version string `json:"jsonrpc"`
	ID      *int64 `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

func (w *wire) tell(method string, params any) error {
	return w.send(&request{"2.0", nil, method, params})
}

// call makes a request and waits for its answer. errLinkLost means that it may or may not
// have been carried out; when ctx ends, the daemon is told.
func (w *wire) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan *reply, 1)
	w.mu.Lock()
	if w.calls == nil {
		w.mu.Unlock()
		return nil, errLinkLost
	}
	w.seq++
	id := w.seq
	w.calls[id] = answer
	w.mu.Unlock()
	if err := w.send(&request{"2.0", &id, method, params}); err != nil {
		w.conn.Close()
		return nil, errLinkLost
	}
	select {
	case r := <-answer:
		return r.unpack()
	case <-w.done:
		select {
		case r := <-answer:
			return r.unpack()
		default:
			return nil, errLinkLost
		}
	case <-ctx.Done():
		w.mu.Lock()
		delete(w.calls, id)
		w.mu.Unlock()
		w.tell("notifications/cancelled", map[string]any{"requestId": id, "reason": fmt.Sprint(context.Cause(ctx))})
		return nil, ctx.Err()
	}
}

func (r *reply) unpack() (json.RawMessage, error) {
	if r.Error != nil {
		return nil, r.Error
	}
	return r.Result, nil
}
