//go:build unix

package hard_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// callTimeout bounds how long a test waits for one answer: longer than any time limit that
// a case gives the program.
const callTimeout = 90 * time.Second

// awaitTimeout bounds how long a test waits for what will come.
const awaitTimeout = 90 * time.Second

// errNoAnswer is the error of a request that was not answered.
var errNoAnswer = errors.New("no answer")

// client speaks MCP over the streams of a program, as raw as the test likes.
type client struct {
	*program
	writeMu sync.Mutex

	mu      sync.Mutex
	next    int
	waiting map[string]chan answer
	notes   map[string]int // notifications and requests of the program, by method
	stray   []string       // lines that are no message
	over    bool           // the output has ended
	asks    chan ask       // the program's requests; what finds no room is dropped
	reading chan struct{}  // closed when it has
}

// ask is a request of the program's.
type ask struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answer is a response.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
	bytes int
}

// isError says that a call failed, at either level, and how.
func (r answer) isError() (string, bool) {
	if r.Error != nil {
		return r.Error.Message, true
	}
	var v struct{ IsError bool }
	json.Unmarshal(r.Result, &v)
	return r.text(), v.IsError
}

// text is the text of a tool's result.
func (r answer) text() string {
	var v struct{ Content []struct{ Text string } }
	json.Unmarshal(r.Result, &v)
	var b strings.Builder
	for _, c := range v.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// connect starts aster and reads its output, without a word of its own.
func (a *arena) connect(env []string, args ...string) *client {
	a.Helper()
	return newClient(a.start(env, args...))
}

func newClient(p *program) *client {
	c := &client{program: p, waiting: map[string]chan answer{}, notes: map[string]int{}, asks: make(chan ask, 64), reading: make(chan struct{})}
	go c.read()
	return c
}

// open is connect with the handshake.
func (a *arena) open(env []string, args ...string) *client {
	a.Helper()
	c := a.connect(env, args...)
	c.initialize()
	return c
}

func (c *client) initialize() answer {
	c.a.Helper()
	r := c.must("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+cmp.Or(c.a.capabilities, "{}")+`,"clientInfo":{"name":"hard","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

func (c *client) read() {
	r := bufio.NewReaderSize(c.stdout, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			c.take(line)
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for id, ch := range c.waiting {
		delete(c.waiting, id)
		close(ch)
	}
	close(c.reading)
}

func (c *client) take(line []byte) {
	var r answer
	err := json.Unmarshal(line, &r)
	r.bytes = len(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || line[len(line)-1] != '\n' {
		c.stray = append(c.stray, fmt.Sprintf("%.200q", line))
		return
	}
	if r.Method != "" {
		c.notes[r.Method]++
		var q ask
		if json.Unmarshal(line, &q) == nil && q.ID != nil {
			select {
			case c.asks <- q:
			default:
			}
		}
		return
	}
	if ch := c.waiting[string(r.ID)]; ch != nil {
		delete(c.waiting, string(r.ID))
		ch <- r
	}
}

// send writes a line.
func (c *client) send(line string) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	_, err := io.WriteString(c.stdin, line+"\n")
	return err
}

// begin sends a request and returns where its answer comes; the channel is closed if none can.
func (c *client) begin(method, params string) (<-chan answer, error) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	c.next++
	id := fmt.Sprint(c.next)
	if c.over {
		c.mu.Unlock()
		return nil, errNoAnswer
	}
	c.waiting[id] = ch
	c.mu.Unlock()
	return ch, c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(method) + `,"params":` + params + `}`)
}

// ask sends a request and waits for its answer. It may be called from any goroutine.
func (c *client) ask(method, params string) (answer, error) {
	ch, err := c.begin(method, params)
	if err != nil {
		return answer{}, err
	}
	timer := time.NewTimer(callTimeout)
	defer timer.Stop()
	select {
	case r, ok := <-ch:
		if !ok {
			return answer{}, errNoAnswer
		}
		return r, nil
	case <-timer.C:
		return answer{}, fmt.Errorf("%w within %v", errNoAnswer, callTimeout)
	}
}

// must is ask for the test's goroutine, and fails it where no result comes.
func (c *client) must(method, params string) answer {
	c.a.Helper()
	r, err := c.ask(method, params)
	if err != nil {
		c.a.Fatalf("%s: %v; stderr:\n%s", method, err, c.stderr.String())
	}
	return r
}

// call calls a tool with arguments that are JSON.
func (c *client) call(tool, arguments string) answer {
	c.a.Helper()
	return c.must("tools/call", `{"name":`+quote(tool)+`,"arguments":`+arguments+`}`)
}

// tools lists the names of the tools on all pages of the list, sorted.
func (c *client) tools() (names []string) {
	c.a.Helper()
	for params := "{}"; ; {
		var v struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
		r := c.must("tools/list", params)
		if err := json.Unmarshal(r.Result, &v); err != nil {
			c.a.Fatalf("tools/list: %v", err)
		}
		for _, t := range v.Tools {
			names = append(names, t.Name)
		}
		if v.NextCursor == "" {
			slices.Sort(names)
			return names
		}
		params = `{"cursor":` + quote(v.NextCursor) + `}`
	}
}

// awaitTool waits until a tool is listed.
func (c *client) awaitTool(name string) {
	c.a.Helper()
	c.a.eventually(awaitTimeout, "the tool "+name+" is not listed", func() bool { return slices.Contains(c.tools(), name) })
}

// close ends the session and checks that all of the output were messages.
func (c *client) close() time.Duration {
	c.a.Helper()
	took := c.leave()
	select {
	case <-c.reading:
	case <-time.After(goneTimeout):
		c.a.Error("somebody holds the program's output open")
		return took
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stray) > 0 {
		c.a.Errorf("on stdout: %s", strings.Join(c.stray[:min(len(c.stray), 5)], "\n"))
	}
	return took
}

func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be written
	}
	return string(b)
}

// percentile is the time below which a share of the times lies; it sorts them.
func percentile(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(share*float64(len(times))))]
}

// ms is a time for the table.
func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
