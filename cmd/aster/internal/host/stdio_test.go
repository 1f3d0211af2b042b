package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newServer is a server whose tools behave well and badly.
func newServer(logger *slog.Logger) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	srv.AddReceivingMiddleware(host.Recover(logger))
	add := func(name string, h mcp.ToolHandler) {
		srv.AddTool(&mcp.Tool{Name: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add("echo", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("deaf", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(20 * time.Second) // longer than any test waits: a handler that ignores its context
		return text("late"), nil
	})
	add("panic", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("secret /home/user/key.pem")
	})
	add("nil", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	add("error", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("open /home/user/key.pem: permission denied")
	})
	add("badjson", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := text("x")
		res.StructuredContent = json.RawMessage(`{"a":`)
		return res, nil
	})
	add("unencodable", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := text("x")
		res.StructuredContent = json.RawMessage("{\n\"a\": 1\n}")
		return res, nil
	})
	return srv
}

// wire is a client of ServeStdio over operating system pipes that speaks in raw lines.
type wire struct {
	t     *testing.T
	in    *os.File // the server's stdin, our end
	out   *os.File // the server's stdout, our end
	lines chan string
	err   chan error // the result of ServeStdio
	log   *lockedBuffer
	stop  context.CancelFunc
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func startWire(t *testing.T, opts *host.StdioOptions) *wire {
	t.Helper()
	w := start(t, opts)
	go func() {
		defer close(w.lines)
		r := bufio.NewReader(w.out)
		for {
			text, err := r.ReadString('\n')
			if text != "" {
				w.lines <- strings.TrimSuffix(text, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

// start does not read the server's output.
func start(t *testing.T, opts *host.StdioOptions) *wire {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if opts == nil {
		opts = &host.StdioOptions{}
	}
	w := &wire{t: t, in: inW, out: outR, lines: make(chan string, 100_000), err: make(chan error, 1), log: &lockedBuffer{}}
	logger := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{ReplaceAttr: host.CleanAttr}))
	opts.Logger = logger
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	go func() {
		err := host.ServeStdio(ctx, newServer(logger), inR, outW, opts)
		outW.Close()
		w.err <- err
	}()
	t.Cleanup(func() { stop(); inW.Close(); outR.Close(); inR.Close() })
	return w
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(w.in, l+"\n"); err != nil {
			w.t.Fatal(err)
		}
	}
}

// recv returns the next line, which must be JSON-RPC.
func (w *wire) recv() string {
	w.t.Helper()
	select {
	case l, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("output ended; log:\n%s", w.log)
		}
		if !json.Valid([]byte(l)) {
			w.t.Fatalf("output is not JSON: %q", l)
		}
		return l
	case <-time.After(10 * time.Second):
		w.t.Fatalf("no answer; log:\n%s", w.log)
		return ""
	}
}

// finish closes the input and returns how ServeStdio ended.
func (w *wire) finish() error {
	w.t.Helper()
	w.in.Close()
	return w.wait()
}

func (w *wire) wait() error {
	w.t.Helper()
	begin := time.Now()
	select {
	case err := <-w.err:
		return err
	case <-time.After(10 * time.Second):
		w.t.Fatalf("still serving %v after the end; log:\n%s", time.Since(begin), w.log)
		return nil
	}
}

func initialize(id int, revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, id, revision)
}

// call is a tools/call; on the stateless revision every request says what it speaks.
func call(id any, tool, revision string) string {
	meta := ""
	if revision >= "2026-07-28" {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`, revision)
	}
	rawID, _ := json.Marshal(id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"n":1}%s}}`, rawID, tool, meta)
}

// open starts a session of the given revision on a new wire.
func open(t *testing.T, revision string, opts *host.StdioOptions) *wire {
	t.Helper()
	w := startWire(t, opts)
	if revision < "2026-07-28" {
		w.send(initialize(1, revision), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if got := w.recv(); !strings.Contains(got, `"protocolVersion":"`+revision+`"`) {
			t.Fatalf("initialize: %s", got)
		}
	}
	return w
}

var revisions = []string{"2024-11-05", "2025-11-25", "2026-07-28"}

func TestHostileLines(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	tests := []struct{ name, line, want string }{
		{"not JSON", `this is not json`, `"id":null,"error":{"code":-32700`},
		{"two values", `{"jsonrpc":"2.0","id":7,"method":"ping"} {"jsonrpc":"2.0","id":8,"method":"ping"}`, `"id":null,"error":{"code":-32700`},
		{"cut short", `{"jsonrpc":"2.0","id":7,"method":"pi`, `"id":null,"error":{"code":-32700`},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}", `"id":null,"error":{"code":-32700`},
		{"NUL", "\x00\x00", `"id":null,"error":{"code":-32700`},
		{"HTTP", "GET / HTTP/1.1", `"id":null,"error":{"code":-32700`},
		{"string", `"hello"`, `"id":null,"error":{"code":-32600`},
		{"number", `42`, `"id":null,"error":{"code":-32600`},
		{"null", `null`, `"id":null,"error":{"code":-32600`},
		{"empty object", `{}`, `"id":null,"error":{"code":-32600`},
		{"no version", `{"id":7,"method":"ping"}`, `"id":7,"error":{"code":-32600`},
		{"old version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"id":"a","error":{"code":-32600`},
		{"no method", `{"jsonrpc":"2.0","id":7}`, `"id":7,"error":{"code":-32600`},
		{"method of another case", `{"jsonrpc":"2.0","id":7,"Method":"ping"}`, `"id":7,"error":{"code":-32600`},
		{"method not a string", `{"jsonrpc":"2.0","id":7,"method":5}`, `"id":7,"error":{"code":-32600`},
		{"method twice", `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, `"id":7,"error":{"code":-32600`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":1.5,"error":{"code":-32600`},
		{"id beyond 53 bits", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `"id":9007199254740993,"error":{"code":-32600`},
		{"id beyond doubles", `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, `"id":1e999,"error":{"code":-32600`},
		{"deep", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":` + deep + `}}}`, `"id":7,"error":{"code":-32600`},
		{"deeper", strings.Repeat("[", 200_000), `"id":null,"error":{"code":-32700`},
		{"unknown method", `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, `"code":-32601`},
		{"params not an object", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, `"code":-32602`},
		{"batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `"id":null,"error":{"code":-32600`},
		{"empty batch", `[]`, `"id":null,"error":{"code":-32600`},
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		w := open(t, revision, nil)
		for i, tt := range tests {
			t.Run("pitfall row 9: "+revision+"/"+tt.name, func(t *testing.T) {
				w.t = t
				w.send(tt.line)
				if got := w.recv(); !strings.Contains(got, tt.want) {
					t.Errorf("answer %s, want %s in it", got, tt.want)
				}
				w.send(call(100+i, "echo", revision))
				if got := w.recv(); !strings.Contains(got, `{\"n\":1}`) {
					t.Errorf("the next call got %s", got)
				}
			})
		}
		w.t = t
		if err := w.finish(); err != nil {
			t.Errorf("%s: ServeStdio ended with %v", revision, err)
		}
	}
}

func TestSilentLines(t *testing.T) {
	w := open(t, "2025-11-25", nil)
	w.send("", "   ", "\r", "\t\r",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, // no answer to an answer
		`{"jsonrpc":"2.0","id":99,"result":{}}`,
		`{"jsonrpc":"2.0","id":99,"result":{},"error":5}`,
		`{"id":99,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/unheard-of"}`,
		call("x", "echo", "2025-11-25")+"\r")
	if got := w.recv(); !strings.Contains(got, `"id":"x"`) || !strings.Contains(got, `{\"n\":1}`) {
		t.Errorf("first answer is %s, want the one to the call", got)
	}
	if err := w.finish(); err != nil {
		t.Error(err)
	}
}

func TestByteOrderMark(t *testing.T) {
	w := startWire(t, nil)
	w.send("\xef\xbb\xbf" + initialize(1, "2025-11-25"))
	if got := w.recv(); !strings.Contains(got, `"protocolVersion"`) {
		t.Errorf("got %s", got)
	}
}

func TestLastLineWithoutBreak(t *testing.T) {
	for _, revision := range revisions {
		w := open(t, revision, nil)
		io.WriteString(w.in, call(5, "echo", revision))
		if err := w.finish(); err != nil {
			t.Errorf("%s: %v", revision, err)
		}
		if got := w.recv(); !strings.Contains(got, `"id":5`) || !strings.Contains(got, `{\"n\":1}`) {
			t.Errorf("%s: got %s", revision, got)
		}
	}
}

func TestLongLine(t *testing.T) {
	w := open(t, "2025-11-25", &host.StdioOptions{MaxLineBytes: 1 << 20})
	go func() {
		w.in.WriteString(`{"jsonrpc":"2.0","id":2,"method":"`)
		chunk := bytes.Repeat([]byte("a"), 1<<16)
		for range 64 {
			w.in.Write(chunk)
		}
		w.in.WriteString("\"}\n")
	}()
	if got := w.recv(); !strings.Contains(got, `"id":null,"error":{"code":-32600`) || !strings.Contains(got, "1048576 bytes") {
		t.Errorf("over-long line got %s", got)
	}
	w.send(call(3, "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":3`) {
		t.Errorf("the call after it got %s", got)
	}
	// One byte under the limit passes.
	pad := strings.Repeat("a", 1<<20-len(call(4, "echo", "")))
	w.send(strings.Replace(call(4, "echo", ""), `"n":1`, `"n":"`+pad[2:]+`"`, 1))
	if got := w.recv(); !strings.Contains(got, `"id":4,"result"`) {
		t.Errorf("a line within the limit got %.200s", got)
	}
}

func TestLongLineIsNotHeld(t *testing.T) {
	// An endless line must not grow the process; 256 MiB pass under a limit of 1 MiB.
	pr, pw := io.Pipe()
	out := &lockedBuffer{}
	done := make(chan error, 1)
	go func() {
		done <- host.ServeStdio(t.Context(), newServer(nil), pr, out, &host.StdioOptions{MaxLineBytes: 1 << 20})
	}()
	chunk := bytes.Repeat([]byte("a"), 1<<20)
	allocated := testing.AllocsPerRun(1, func() {
		for range 128 {
			pw.Write(chunk)
		}
	})
	pw.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if allocated > 1000 {
		t.Errorf("%v allocations while a long line was skipped", allocated)
	}
	if got := out.String(); !strings.Contains(got, "-32600") {
		t.Errorf("answer %q", got)
	}
}

func TestBatches(t *testing.T) {
	w := open(t, "2025-03-26", nil)
	w.send("[" + call(2, "echo", "") + "," + call(3, "echo", "") + `,{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},5,` + initialize(4, "2025-03-26") + "," + call(2, "echo", "") + "]")
	var got []struct {
		ID     any
		Error  *struct{ Code int }
		Result json.RawMessage
	}
	if err := json.Unmarshal([]byte(w.recv()), &got); err != nil {
		t.Fatal(err)
	}
	answered, refused := map[any]bool{}, 0
	for _, r := range got {
		switch {
		case r.Result != nil:
			answered[r.ID] = true
		case r.Error.Code == -32600 && r.ID == nil:
			refused++
		}
	}
	if len(got) != 5 || !answered[2.0] || !answered[3.0] || refused != 3 {
		t.Errorf("answers %+v, want results for 2 and 3 and three refusals", got)
	}
	w.send(`[]`)
	if got := w.recv(); !strings.Contains(got, `"id":null,"error":{"code":-32600`) {
		t.Errorf("empty batch: %s", got)
	}
	w.send(`[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`, "["+strings.Repeat("1,", 1500)+"1]")
	if got := w.recv(); !strings.Contains(got, "at most 1000") {
		t.Errorf("huge batch: %s", got)
	}
	w.send(`[1]`)
	if got := w.recv(); !strings.HasPrefix(got, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`) {
		t.Errorf("batch of a number: %s", got)
	}
	w.send(call("after", "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":"after","result"`) {
		t.Errorf("call after the batches: %s", got)
	}
	if err := w.finish(); err != nil {
		t.Error(err)
	}
}

func TestIDInUse(t *testing.T) {
	w := open(t, "2025-11-25", nil)
	w.send(call(2, "hang", ""), call(2, "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":null,"error":{"code":-32600`) {
		t.Errorf("got %s", got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if got := w.recv(); !strings.Contains(got, `"id":2`) {
		t.Errorf("cancelled call: %s", got)
	}
	w.send(call(2, "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":2,"result"`) {
		t.Errorf("the id is free again, but: %s", got)
	}
}

// Requests that wait for an answer are bounded; one beyond the bound is refused by its id,
// and the next is served once another has ended.
func TestManyRequestsAtOnce(t *testing.T) {
	w := open(t, "2025-11-25", nil)
	for i := range host.MaxStdioRequests {
		w.send(call(100+i, "hang", ""))
	}
	w.send(call("more", "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":"more","error"`) || !strings.Contains(got, "too many requests wait for an answer, at most 4096") {
		t.Errorf("one request too many: %s", got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}`)
	if got := w.recv(); !strings.Contains(got, `"id":100,`) {
		t.Errorf("cancelled call: %s", got)
	}
	w.send(call("more", "echo", ""))
	if got := w.recv(); !strings.Contains(got, `"id":"more","result"`) {
		t.Errorf("after one has ended: %s", got)
	}
}

func TestEndOfInput(t *testing.T) {
	for _, revision := range revisions {
		for _, tool := range []string{"", "echo", "hang", "deaf"} {
			t.Run(revision+"/"+tool, func(t *testing.T) {
				w := open(t, revision, nil)
				if tool != "" {
					w.send(call(5, tool, revision))
				}
				begin := time.Now()
				if err := w.finish(); err != nil {
					t.Errorf("ServeStdio ended with %v", err)
				}
				took := time.Since(begin)
				if took > 5*time.Second { // five times the figure
					t.Errorf("took %v", took)
				}
				if tool == "echo" {
					if got := w.recv(); !strings.Contains(got, `{\"n\":1}`) {
						t.Errorf("the call before the end of input got %s", got)
					}
				}
			})
		}
	}
}

func TestEndOfInputWhileListening(t *testing.T) {
	w := startWire(t, nil)
	w.send(strings.Replace(strings.Replace(call(1, "x", "2026-07-28"), "tools/call", "subscriptions/listen", 1), `"name":"x"`, `"notifications":{"toolsListChanged":true}`, 1))
	if got := w.recv(); !strings.Contains(got, "acknowledged") {
		t.Fatalf("listen: %s", got)
	}
	begin := time.Now()
	if err := w.finish(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > host.DrainTimeout {
		t.Errorf("took %v: a listening client is not worth waiting for", took)
	}
}

func TestContextEnds(t *testing.T) {
	w := open(t, "2025-11-25", nil)
	w.send(call(5, "hang", ""))
	w.stop()
	if err := w.wait(); err != nil {
		t.Errorf("ServeStdio ended with %v", err)
	}
}

func TestOutputBreaks(t *testing.T) {
	w := start(t, nil)
	w.out.Close()
	w.send(initialize(1, "2025-11-25"))
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "stdio: write") {
		t.Errorf("ServeStdio ended with %v, want a write error", err)
	}
}

func TestClientLeaves(t *testing.T) {
	w := start(t, nil)
	w.send(initialize(1, "2025-11-25"), call(2, "echo", ""))
	w.out.Close()
	if err := w.finish(); err != nil {
		t.Errorf("ServeStdio ended with %v: a client that goes away is no error", err)
	}
}

func TestFloodWithoutReading(t *testing.T) {
	w := start(t, nil) // nobody reads the output
	flood := strings.Repeat("garbage\n", 20_000)
	if _, err := io.WriteString(w.in, flood); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := w.finish(); err != nil {
		t.Errorf("ServeStdio ended with %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second { // five times the grace
		t.Errorf("took %v after the end of input", took)
	}
}

func TestFloodIsAnswered(t *testing.T) {
	const n = 5000
	w := startWire(t, nil)
	go io.WriteString(w.in, strings.Repeat("garbage\n", n)+initialize(1, "2025-11-25")+"\n")
	for i := range n {
		if got := w.recv(); !strings.Contains(got, "-32700") {
			if strings.Contains(got, `"id":1`) && i > n-300 { // replies and results have no order
				continue
			}
			t.Fatalf("line %d got %s", i, got)
		}
	}
}

func TestConcurrentWritesStayWhole(t *testing.T) {
	const n = 200
	w := open(t, "2025-11-25", nil)
	big := strings.Repeat("x", 20_000)
	go func() {
		for i := range n {
			w.in.WriteString(strings.Replace(call(1000+i, "echo", ""), `"n":1`, `"n":"`+big+`"`, 1) + "\nbad line\n")
		}
	}()
	seen, bad := map[string]bool{}, 0
	for range 2 * n {
		got := w.recv()
		var r struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(got), &r); err != nil {
			t.Fatal(err)
		}
		if string(r.ID) == "null" {
			bad++
		} else {
			seen[string(r.ID)] = true
		}
	}
	if len(seen) != n || bad != n {
		t.Errorf("%d results and %d errors, want %d of each", len(seen), bad, n)
	}
}
