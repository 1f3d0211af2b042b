package cdptest

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// MaxFakeMessage is the longest message in bytes that a [FakeConn] reads. What it
// sends has no limit.
const MaxFakeMessage = 64 << 20

// The opcodes of RFC 6455 section 5.2 that matter here.
const (
	opText  = 0x1
	opClose = 0x8
	opPing  = 0x9
	opPong  = 0xA
)

// Message is a command as a client sent it.
type Message struct {
	ID        int64           `json:"id"`
	Method    string          `json:"method"`
	SessionID string          `json:"sessionId"` // "" for the browser itself
	Params    json.RawMessage `json:"params"`    // nil when absent
}

// FakeConn is the browser's end of one DevTools websocket. Its methods may be called
// from any goroutine; after the connection has ended they do nothing.
type FakeConn struct {
	// Host, Path and Origin are those of the handshake.
	Host, Path, Origin string

	conn net.Conn
	br   *bufio.Reader
	done chan struct{}
	once sync.Once

	wmu sync.Mutex // serialises frames

	mu       sync.Mutex
	sessions map[int64]string // session of each unanswered command; guarded by mu
	messages []Message        // guarded by mu
}

// upgradeSocket performs the server's half of the opening handshake of RFC 6455 section 4.2.
func upgradeSocket(w http.ResponseWriter, r *http.Request) (*FakeConn, error) {
	key := r.Header.Get("Sec-WebSocket-Key")
	if key == "" || r.Header.Get("Sec-WebSocket-Version") != "13" {
		return nil, errors.New("not a websocket handshake of version 13")
	}
	h, ok := w.(http.Hijacker)
	if !ok {
		return nil, errors.New("connection cannot be taken over")
	}
	conn, rw, err := h.Hijack()
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(conn, "HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	return &FakeConn{
		Host: r.Host, Path: r.URL.Path, Origin: r.Header.Get("Origin"),
		conn: conn, br: rw.Reader, done: make(chan struct{}), sessions: map[int64]string{},
	}, nil
}

// Reply answers a command. The result is marshalled to JSON; a json.RawMessage goes as it is.
func (c *FakeConn) Reply(id int64, session string, result any) {
	c.forget(id)
	c.send(fmt.Sprintf(`{"id":%d,`, id), "result", result, session)
}

// Error answers a command with an error, on the session that the command came on.
// Chrome's codes are -32000 for most failures, -32601 for an unknown method and
// -32001 for an unknown session.
func (c *FakeConn) Error(id int64, code int64, msg string) {
	detail := map[string]any{"code": code, "message": msg}
	c.send(fmt.Sprintf(`{"id":%d,`, id), "error", detail, c.forget(id))
}

// Event sends an event on a session; "" is the browser's own. The parameters are
// marshalled as in Reply.
func (c *FakeConn) Event(session, method string, params any) {
	c.send(fmt.Sprintf(`{"method":%q,`, method), "params", params, session)
}

// WriteText sends one text frame, which need not be JSON.
func (c *FakeConn) WriteText(text []byte) { c.writeFrame(opText, text) }

// WriteRaw sends bytes as they are, such as a broken or half a frame.
func (c *FakeConn) WriteRaw(b []byte) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.conn.Write(b)
}

// Ping sends a ping frame.
func (c *FakeConn) Ping() { c.writeFrame(opPing, []byte("fake")) }

// CloseFrame sends a close frame with a status code (RFC 6455 section 7.4) and leaves
// the connection open for the client to answer.
func (c *FakeConn) CloseFrame(code uint16, reason string) {
	c.writeFrame(opClose, append(binary.BigEndian.AppendUint16(nil, code), reason...))
}

// Drop cuts the TCP connection without a close frame, by a reset.
func (c *FakeConn) Drop() { c.end(true) }

// end closes the connection; a reset drops what was not sent yet.
func (c *FakeConn) end(reset bool) {
	c.once.Do(func() {
		if tcp, ok := c.conn.(*net.TCPConn); ok && reset {
			tcp.SetLinger(0)
		}
		c.conn.Close()
		close(c.done)
	})
}

// Done is closed when the connection has ended, from either side.
func (c *FakeConn) Done() <-chan struct{} { return c.done }

// Messages lists the commands received so far, in order.
func (c *FakeConn) Messages() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message(nil), c.messages...)
}

func (c *FakeConn) forget(id int64) (session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	session = c.sessions[id]
	delete(c.sessions, id)
	return session
}

// send writes head, then value under key, then the session, as one text frame.
func (c *FakeConn) send(head, key string, value any, session string) {
	raw, ok := value.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(value); err != nil {
			panic("cdptest: the test sends what JSON cannot hold: " + err.Error())
		}
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	msg := append([]byte(head), fmt.Sprintf("%q:", key)...)
	msg = append(msg, raw...)
	if session != "" {
		msg = append(msg, fmt.Sprintf(`,"sessionId":%q`, session)...)
	}
	c.writeFrame(opText, append(msg, '}'))
}

// serve reads commands until the connection ends. Like Chrome it takes each message
// in a single frame only.
func (c *FakeConn) serve(handler func(*FakeConn, Message)) {
	for {
		op, payload, err := c.readFrame()
		if err != nil {
			return
		}
		switch op {
		case opPing:
			c.writeFrame(opPong, payload)
		case opPong:
		case opClose:
			c.writeFrame(opClose, payload[:min(len(payload), 2)])
			return
		case opText:
			var m Message
			if json.Unmarshal(payload, &m) != nil {
				return
			}
			c.mu.Lock()
			c.sessions[m.ID] = m.SessionID
			c.messages = append(c.messages, m)
			c.mu.Unlock()
			handler(c, m)
		default:
			return
		}
	}
}

// readFrame reads one final, masked frame (RFC 6455 section 5.2).
func (c *FakeConn) readFrame() (op byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(c.br, head[:]); err != nil {
		return 0, nil, err
	}
	op = head[0] & 0x0f
	if head[0]&0xf0 != 0x80 {
		return 0, nil, errors.New("fragmented frame or reserved bits")
	}
	if head[1]&0x80 == 0 {
		return 0, nil, errors.New("unmasked frame of a client")
	}
	n := uint64(head[1] & 0x7f)
	if op >= opClose && n > 125 {
		return 0, nil, errors.New("control frame over 125 bytes")
	}
	if ext := map[uint64]int{126: 2, 127: 8}[n]; ext > 0 {
		var b [8]byte
		if _, err := io.ReadFull(c.br, b[8-ext:]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(b[:])
	}
	if n > MaxFakeMessage {
		return 0, nil, fmt.Errorf("message of %d bytes", n)
	}
	var key [4]byte
	if _, err := io.ReadFull(c.br, key[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(c.br, payload); err != nil {
		return 0, nil, err
	}
	unmask(key, payload)
	return op, payload, nil
}

// unmask works on words: byte by byte, large messages would take seconds under -race.
func unmask(key [4]byte, b []byte) {
	word := uint64(binary.LittleEndian.Uint32(key[:])) * (1<<32 + 1)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
	}
	for i := range b {
		b[i] ^= key[i&3]
	}
}

// writeFrame sends one final, unmasked frame.
func (c *FakeConn) writeFrame(op byte, payload []byte) {
	head := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	c.wmu.Lock()
	defer c.wmu.Unlock()
	bufs := net.Buffers{head, payload}
	bufs.WriteTo(c.conn)
}

// String names the command, for failure messages.
func (m Message) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s %.200s", m.ID, m.Method, m.SessionID, m.Params))
}
