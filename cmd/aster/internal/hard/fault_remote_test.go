//go:build unix

package hard_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// remoteFault is a way in which a remote server fails.
type remoteFault struct {
	serverFault
	// at is the method whose answer goes wrong, "GET" for the stream beside the calls.
	at string
	// answer writes what comes in place of the right answer; ok is that answer.
	answer func(w *remoteAnswer, ok string)
	// once says that the same request is answered rightly when it comes again.
	once bool
}

// remoteAnswer is where a fault writes, and can wait and break off.
type remoteAnswer struct {
	http.ResponseWriter
	r    *http.Request
	over <-chan struct{} // the case has ended
}

// stream begins a stream of events.
func (w *remoteAnswer) stream() {
	w.Header().Set("Content-Type", "text/event-stream")
	w.flush("")
}

// flush writes a text at once, and reports whether there is still somebody to read it.
func (w *remoteAnswer) flush(text string) bool {
	_, err := io.WriteString(w, text)
	return err == nil && http.NewResponseController(w.ResponseWriter).Flush() == nil
}

// repeat writes a text again and again, until nobody reads it.
func (w *remoteAnswer) repeat(text string, every time.Duration) {
	for w.flush(text) && w.wait(every) {
	}
}

// wait waits, and reports whether the request is still there.
func (w *remoteAnswer) wait(d time.Duration) bool {
	select {
	case <-w.r.Context().Done():
		return false
	case <-w.over:
		return false
	case <-time.After(d):
		return true
	}
}

// raw answers with bytes of its own and ends the connection.
func (w *remoteAnswer) raw(texts ...string) {
	conn, _, err := w.ResponseWriter.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	for _, text := range texts {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

func event(data string) string { return "event: message\ndata: " + data + "\n\n" }

const (
	remoteChunk   = 1 << 20
	remoteHuge    = 100 // chunks
	remoteForever = time.Hour
)

// status is a fault that answers with a code, a header and a text.
func status(code int, header, value, text string) func(*remoteAnswer, string) {
	return func(w *remoteAnswer, _ string) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

func remote(mode, did, ends, at string, answer func(*remoteAnswer, string)) remoteFault {
	return remoteFault{serverFault: serverFault{mode: mode, did: did, ends: ends}, at: at, answer: answer}
}

var remoteFaults = []remoteFault{
	remote("cut", "closes the connection in a call", "fails", "tools/call", func(w *remoteAnswer, _ string) { w.raw() }),
	remote("stall", "never answers a call", "fails", "tools/call", func(w *remoteAnswer, _ string) { w.wait(remoteForever) }),
	remote("stall-at-first", "never answers the handshake", "absent", "initialize", func(w *remoteAnswer, _ string) { w.wait(remoteForever) }),
	remote("stream-silent", "opens a stream in a call and is silent", "fails", "tools/call", func(w *remoteAnswer, _ string) { w.stream(); w.wait(remoteForever) }),
	remote("stream-comments", "sends comments without end in a call's stream", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.stream()
		w.repeat(": still here\n\n", time.Millisecond)
	}),
	remote("stream-notes", "notifies without end in a call's stream", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.stream()
		w.repeat(event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"more"}}`), 100*time.Microsecond)
	}),
	remote("stream-cut", "ends a call's stream in the middle of the answer", "fails", "tools/call", func(w *remoteAnswer, ok string) {
		w.stream()
		w.flush("event: message\ndata: " + ok[:len(ok)/2])
	}),
	remote("stream-line", "sends a line of 100 MiB in a call's stream", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.stream()
		w.flush("data: ")
		for i := 0; i < remoteHuge && w.flush(strings.Repeat("x", remoteChunk)); i++ {
		}
	}),
	remote("stream-lines", "sends an event of 100 MiB of short lines", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.stream()
		for i := 0; i < remoteHuge && w.flush(strings.Repeat("data: x\n", remoteChunk/8)); i++ {
		}
	}),
	remote("stream-one-byte", "sends a call's stream byte by byte", "answers", "tools/call", func(w *remoteAnswer, ok string) {
		w.stream()
		for _, c := range []byte(event(ok)) {
			w.flush(string([]byte{c}))
		}
	}),
	remote("wrong-id", "answers a call with the id of another", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.stream()
		w.flush(event(`{"jsonrpc":"2.0","id":99999,"result":{"content":[{"type":"text","text":"forged"}]}}`))
	}),
	remote("body-huge", "answers with a body of 100 MiB", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.flush(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"`)
		for i := 0; i < remoteHuge && w.flush(strings.Repeat("x", remoteChunk)); i++ {
		}
	}),
	remote("bomb", "answers with 200 MB that are compressed", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 2 * remoteHuge {
			if _, err := z.Write(make([]byte, remoteChunk)); err != nil {
				return
			}
		}
		z.Close()
	}),
	remote("headers", "sends headers without end", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.raw("HTTP/1.1 200 OK\r\n", strings.Repeat("X-More: "+strings.Repeat("h", 1000)+"\r\n", 20_000))
	}),
	remote("length-lies", "announces more than it sends", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
	}),
	remote("html", "answers with a web page", "fails", "tools/call", status(200, "Content-Type", "text/html", "<title>\x1b[2Jforged</title>")),
	remote("no-json", "answers with what is not JSON", "fails", "tools/call", status(200, "Content-Type", "application/json", "\xff\xfe{")),
	remote("deep", "answers with 100,000 nested arrays", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.flush(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`)
	}),
	remote("accepted", "takes a call and answers nothing", "fails", "tools/call", status(202, "", "", "")),
	remote("error-500", "answers a call with an error of its own", "fails", "tools/call", status(500, "", "", strings.Repeat("\x1b[2J no ", 100_000))),
	remote("later", "bids to come again in 30 years", "fails", "tools/call", status(429, "Retry-After", "999999999", "")),
	remote("login", "wants a sign-in that leads nowhere", "fails", "tools/call", status(401, "Www-Authenticate", `Bearer resource_metadata="http://127.0.0.1:1/\u001b[2J", error="`+strings.Repeat("e", 10_000)+`"`, "")),
	remote("circle", "redirects in a circle", "fails", "tools/call", func(w *remoteAnswer, _ string) {
		http.Redirect(w, w.r, "/mcp", http.StatusTemporaryRedirect)
	}),
	{serverFault: serverFault{mode: "session-gone", did: "has forgotten the session", ends: "answers"}, at: "tools/call", once: true, answer: status(404, "", "", "")},
	remote("session-id", "names a session of 100,000 letters", "absent", "initialize", func(w *remoteAnswer, ok string) {
		w.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: "+strings.Repeat("s", 100_000)+"\r\nMcp-Session-Id: \x1b[2J\r\n", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(ok)), ok)
	}),
	remote("stream-beside", "floods the stream beside the calls with lists that changed", "answers", "GET", func(w *remoteAnswer, _ string) {
		w.stream()
		w.repeat(event(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`), time.Millisecond)
	}),
	remote("stream-noise", "fills the stream beside the calls with noise", "answers", "GET", func(w *remoteAnswer, _ string) {
		w.stream()
		w.repeat("data: \xff\xfe{[\nid: \x00\nretry: -1\n\n", time.Millisecond)
	}),
}

func TestRemoteFaults(t *testing.T) {
	var cases []attack
	for _, f := range remoteFaults {
		cases = append(cases, attack{name: "remote-" + f.mode, did: "a remote server " + f.did, run: f.play})
	}
	play(t, "faults", cases)
}

func (f remoteFault) play(a *arena) {
	over, done := make(chan struct{}), make(chan struct{}, 1)
	done <- struct{}{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct{ Text string }
			}
		}
		at := r.Method
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			at = m.Method
		}
		ok := remoteResult(m.Method, m.Params.ProtocolVersion, m.Params.Arguments.Text)
		ok = `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + ok + `}`
		if at == f.at {
			again := false
			if f.once {
				select {
				case <-done:
				default:
					again = true
				}
			}
			if !again {
				f.answer(&remoteAnswer{w, r, over}, ok)
				return
			}
		}
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodDelete || m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "one")
			io.WriteString(w, ok)
		}
	}))
	a.Cleanup(func() {
		close(over)
		server.CloseClientConnections()
		server.Close()
	})
	f.meet(a, server.URL+"/mcp")
}

// remoteResult is the result of a request as it should be.
func remoteResult(method, version, text string) string {
	switch method {
	case "initialize":
		return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"remote","version":"1"}}`, version)
	case "tools/list":
		return `{"tools":[{"name":"echo","description":"Echoes a text","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}`
	case "tools/call":
		return `{"content":[{"type":"text","text":` + quote("echo "+text) + `}]}`
	}
	return `{}`
}
