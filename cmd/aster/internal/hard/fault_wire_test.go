//go:build unix

package hard_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// wireFault is what happens to one message from the browser.
type wireFault string

const (
	cutBefore wireFault = "cut before"
	cutWithin wireFault = "cut within"
	cutAfter  wireFault = "cut after"
	twice     wireFault = "sent twice"
	garbage   wireFault = "preceded by garbage"
	late      wireFault = "held for a second"
	// mixed begins with the message, and lasts: those of one session keep their order.
	mixed wireFault = "and all after it reordered across sessions"
)

var wireFaults = []wireFault{cutBefore, cutWithin, cutAfter, twice, garbage, late, mixed}

// wire is a proxy before a browser's websocket that does one fault to the nth message
// that the browser sends over its first connection.
type wire struct {
	listener net.Listener
	target   string
	fault    wireFault
	n        int

	mu    sync.Mutex
	conns int
	seen  int // messages of the first connection
}

// newWire starts a proxy; it ends with the test.
func newWire(a *arena, target string, fault wireFault, n int) *wire {
	a.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	w := &wire{listener: l, target: target, fault: fault, n: n}
	a.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(conn)
		}
	}()
	return w
}

func (w *wire) messages() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *wire) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	r := bufio.NewReader(server)
	status, err := r.ReadString('\n')
	if err != nil {
		return
	}
	io.WriteString(client, status)
	upgraded := strings.Contains(status, " 101 ")
	w.mu.Lock()
	if upgraded {
		w.conns++
	}
	first := upgraded && w.conns == 1
	w.mu.Unlock()
	if !first {
		io.Copy(client, r)
		return
	}
	for { // the rest of the handshake's answer
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		client.Write(line)
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	m := &mixer{out: client, queues: map[string]chan []byte{}}
	defer m.wait()
	for i := 0; ; i++ {
		frame, err := readMessage(r)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.seen = i + 1
		w.mu.Unlock()
		if w.fault == mixed && i >= w.n {
			m.send(frame)
			continue
		}
		if i != w.n {
			client.Write(frame)
			continue
		}
		switch w.fault {
		case cutBefore:
			return
		case cutWithin:
			client.Write(frame[:len(frame)/2])
			return
		case cutAfter:
			client.Write(frame)
			return
		case twice:
			client.Write(frame)
			client.Write(frame)
		case garbage:
			for _, text := range []string{"hello", "{", `{"id":1e99}`, `{"id":-1,"result":{}}`, `{"method":5}`, `{"method":"Target.attachedToTarget","params":[]}`, `[]`, "\xff\xfe", `{"id":1,"result":null,"error":null,"method":"x"}`} {
				client.Write(textFrame(text))
			}
			client.Write(frame)
		case late:
			time.Sleep(time.Second)
			client.Write(frame)
		}
	}
}

// mixer sends messages on late, each session's in their order, and those of different
// sessions in any.
type mixer struct {
	mu     sync.Mutex // guards out
	out    io.Writer
	queues map[string]chan []byte // by session; of the goroutine that sends
	wg     sync.WaitGroup
}

const (
	maxMixDelay = 30 * time.Millisecond // of one message
	maxMixed    = 4096                  // messages of a session that wait
)

func (m *mixer) send(frame []byte) {
	var head struct {
		SessionID string `json:"sessionId"`
	}
	json.Unmarshal(payload(frame), &head) // what is no message is in the browser's session
	queue := m.queues[head.SessionID]
	if queue == nil {
		queue = make(chan []byte, maxMixed)
		m.queues[head.SessionID] = queue
		m.wg.Go(func() {
			for frame := range queue {
				time.Sleep(rand.N(maxMixDelay))
				m.mu.Lock()
				m.out.Write(frame)
				m.mu.Unlock()
			}
		})
	}
	queue <- frame
}

// wait ends the queues.
func (m *mixer) wait() {
	for _, queue := range m.queues {
		close(queue)
	}
	m.wg.Wait()
}

// payload is what a frame without a mask carries.
func payload(frame []byte) []byte {
	switch frame[1] & 0x7f {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	}
	return frame[2:]
}

// readMessage reads the frames of one message.
func readMessage(r io.Reader) (frames []byte, err error) {
	for {
		frame, err := readFrame(r)
		if err != nil {
			return nil, err
		}
		frames = append(frames, frame...)
		if frame[0]&0x80 != 0 { // the last
			return frames, nil
		}
	}
}

// readFrame reads a frame as servers send them, without a mask.
func readFrame(r io.Reader) ([]byte, error) {
	head := make([]byte, 2, 10)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size, more := uint64(head[1]&0x7f), 0
	switch size {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if more > 0 {
		head = head[:2+more]
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return nil, err
		}
		size = binary.BigEndian.Uint64(append(make([]byte, 8-more), head[2:]...))
	}
	if size > 256<<20 {
		return nil, io.ErrUnexpectedEOF
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	return append(head, body...), nil
}

// textFrame is a short text as a server sends it.
func textFrame(text string) []byte { return append([]byte{0x81, byte(len(text))}, text...) }

func TestWireFaults(t *testing.T) {
	cdptest.Require(t)
	play(t, "faults", []attack{
		{name: "websocket", did: "the browser's connection is cut before, within and after " + pick("random messages", "each message") + " of a session, messages are doubled, held, reordered across sessions and mixed with garbage", run: faultWire},
		{name: "browser-killed", did: fmt.Sprintf("the browser is killed at %d moments of the attaching", pick(2, 20)), run: faultBrowser},
	})
}

// faultWire records how many messages a session has, and plays it again with a fault.
func faultWire(a *arena) {
	b := cdptest.Shared(a.T, false)
	srv := cdptest.Serve(a.T)
	const host = "wire.localhost"
	srv.Page("/wire.html", "<!doctype html><script>"+register+`reg('act');</script>`)
	session := func(fault wireFault, n int) (messages int) {
		w := newWire(a, strings.TrimPrefix(b.HTTP, "http://"), fault, n)
		url := strings.Replace(b.WS, strings.TrimPrefix(b.HTTP, "http://"), w.listener.Addr().String(), 1)
		c := a.open(nil, "mcp", "serve", "webmcp", "--cdp-url", url, "--approve", "never", "--call-timeout", "20s", "--origin", "http://"+host+":*")
		a.eventually(awaitTimeout, "no browser", func() bool {
			return strings.Contains(c.call("webmcp_tabs", `{}`).text(), "Browser: connected")
		})
		page := b.NewPage(a.T, srv.At(host, "/wire.html"))
		var text string
		for deadline := time.Now().Add(awaitTimeout); ; time.Sleep(20 * time.Millisecond) {
			text, _ = c.call("act", `{"text":"x"}`).isError()
			if strings.Contains(text, "did act x") {
				break
			}
			if time.Now().After(deadline) {
				a.Errorf("message %d %s: the tool did not come back: %.200q; stderr:\n%s", n, fault, text, c.stderr.String())
				break
			}
		}
		if got := page.EvalString(a.T, `document.readyState`); got != "complete" {
			a.Errorf("message %d %s: the tab is %q", n, fault, got)
		}
		page.Close(a.T)
		messages = w.messages()
		c.close()
		return messages
	}
	messages, sessions := session("", -1), 0
	rnd := random("wire")
	for _, fault := range wireFaults {
		if long {
			for n := range messages {
				session(fault, n)
				sessions++
			}
			continue
		}
		session(fault, rnd.IntN(messages))
		sessions++
	}
	a.holds("the tool is called in the end, the tab lives")
	a.figure("%d messages, %d sessions", messages, sessions)
}

func faultBrowser(a *arena) {
	rnd := random("browser")
	for range pick(2, 20) {
		b := cdptest.New(a.T, nil)
		wait := time.Duration(rnd.IntN(150)) * time.Millisecond
		c := a.open(nil, "mcp", "serve", "webmcp", "--cdp-url", b.WS)
		time.Sleep(wait)
		b.Kill()
		a.eventually(awaitTimeout, fmt.Sprintf("killed after %v (seed %d): the program does not notice", wait, seed), func() bool {
			return !strings.Contains(c.call("webmcp_tabs", `{}`).text(), "Browser: connected")
		})
		if text := c.call("webmcp_tabs", `{}`).text(); text == "" {
			a.Error("the program does not say what became of the browser")
		}
		c.close()
	}
	a.holds("the program says so and lives on")
}
