// Command fake is an MCP server on stdin and stdout that behaves as its first argument
// says: the well-behaved one by default, and one for each way in which a server can fail,
// lie or attack. The tests of package hard run it behind aster. It uses no MCP library, so
// that it can send what none would.
//
// Its tools are echo, which answers with its argument text, size, which answers with that
// many bytes, and sleep, which answers after that many milliseconds.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxLine bounds one line of input.
const maxLine = 64 << 20

// message is a request, or a notification where ID is nil.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
		Cursor    string         `json:"cursor"`
		Version   string         `json:"protocolVersion"`
	} `json:"params"`
	raw json.RawMessage // the params as they came
}

// server is one run. A field that is nil is left to the default.
type server struct {
	mu    sync.Mutex // guards out
	out   *bufio.Writer
	args  []string // after the mode
	tools func(cursor string) string
	call  func(m message) bool // false leaves the call to the default
	first func(m message) bool // sees every message; true has dealt with it
	info  string               // further members of the answer to initialize, with a comma in front
	atEnd func()               // when the input ends
}

func main() {
	mode := "good"
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	s := &server{out: bufio.NewWriter(os.Stdout)}
	if len(os.Args) > 2 {
		s.args = os.Args[2:]
	}
	play, ok := modes[mode]
	if !ok {
		fmt.Fprintf(os.Stderr, "no mode %q\n", mode)
		os.Exit(2)
	}
	play(s)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		var m message
		if json.Unmarshal(in.Bytes(), &m) == nil {
			var whole struct {
				Params json.RawMessage `json:"params"`
			}
			if m.Method == "initialize" && json.Unmarshal(in.Bytes(), &whole) == nil {
				m.raw = whole.Params
			}
			s.handle(m)
		}
	}
	if s.atEnd != nil {
		s.atEnd()
	}
}

// number is argument i as a number, or def.
func (s *server) number(i, def int) int {
	if i < len(s.args) {
		if n, err := strconv.Atoi(s.args[i]); err == nil {
			return n
		}
	}
	return def
}

func (s *server) handle(m message) {
	if s.first != nil && s.first(m) || m.ID == nil {
		return
	}
	switch m.Method {
	case "initialize":
		s.result(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}%s}`, m.Params.Version, s.info))
	case "ping":
		s.result(m, `{}`)
	case "tools/list":
		if s.tools != nil {
			s.result(m, s.tools(m.Params.Cursor))
		} else {
			s.result(m, list(tool("echo", "Echoes a text"), tool("size", "Answers with many bytes"), tool("sleep", "Answers late")))
		}
	case "tools/call":
		if s.call == nil || !s.call(m) {
			s.answer(m)
		}
	default:
		s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"method not found"}}`)
	}
}

// answer answers a call of the three tools.
func (s *server) answer(m message) {
	n, _ := m.Params.Arguments["n"].(float64)
	switch m.Params.Name {
	case "size":
		s.text(m, strings.Repeat("x", int(n)))
	case "sleep":
		go func() {
			time.Sleep(time.Duration(n) * time.Millisecond)
			s.text(m, "late")
		}()
	default:
		text, _ := m.Params.Arguments["text"].(string)
		s.text(m, "echo "+text)
	}
}

// text answers a call with a text.
func (s *server) text(m message, text string) {
	s.result(m, `{"content":[{"type":"text","text":`+quote(text)+`}]}`)
}

func (s *server) result(m message, result string) {
	s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

// line writes a line in one piece.
func (s *server) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.WriteString(text)
	s.out.WriteByte('\n')
	if s.out.Flush() != nil {
		os.Exit(0) // nobody listens any more
	}
}

func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}

func list(tools ...string) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` }

// tool is a definition whose three arguments are optional.
func tool(name, description string) string {
	return fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"number"}}}}`, quote(name), quote(description))
}
