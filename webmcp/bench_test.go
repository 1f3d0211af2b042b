package webmcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// The benchmarks run the real command against a real browser, and beside it, in the
// same run, the raw DevTools round trip of the same call: the floor.

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "aster-bench-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "aster")
	// As a release is built.
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, "github.com/aster-mcp/aster/cmd/aster")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return exe, nil
})

// wire is an MCP client that costs next to nothing: lines in, lines out.
type wire struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	mu   sync.Mutex
	next int
	wait map[int]chan []byte
	list chan struct{} // a tools/list_changed came
}

func startWire(b *testing.B, args ...string) *wire {
	b.Helper()
	return startWireAt(b, b.TempDir(), args...)
}

// startWireAt is startWire for a user whose directory is home.
func startWireAt(b *testing.B, home string, args ...string) *wire {
	b.Helper()
	exe, err := buildOnce()
	if err != nil {
		b.Fatal(err)
	}
	w := &wire{cmd: exec.Command(exe, append([]string{"mcp", "serve", "webmcp"}, args...)...), wait: map[int]chan []byte{}, list: make(chan struct{}, 1000)}
	w.cmd.Env = append(os.Environ(), "ASTER_HOME="+home, "ASTER_DAEMON=off")
	w.cmd.Stderr = os.Stderr
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go w.read(out)
	b.Cleanup(func() { w.in.Close(); w.cmd.Wait() })
	w.request(b, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}`)
	fmt.Fprintln(w.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     *int
			Method string
		}
		if json.Unmarshal(line[:min(len(line), 200)], &m) != nil { // long lines: the ID comes early
			if i := strings.Index(string(line[:min(len(line), 200)]), `"id":`); i >= 0 {
				var id int
				fmt.Sscanf(string(line[i+5:min(len(line), i+20)]), "%d", &id)
				m.ID = &id
			}
		}
		if m.ID == nil {
			if m.Method == "notifications/tools/list_changed" {
				w.list <- struct{}{}
			}
			continue
		}
		w.mu.Lock()
		ch := w.wait[*m.ID]
		delete(w.wait, *m.ID)
		w.mu.Unlock()
		if ch != nil {
			ch <- line
		}
	}
}

func (w *wire) request(b *testing.B, method, params string) []byte {
	b.Helper()
	ch := make(chan []byte, 1)
	w.mu.Lock()
	w.next++
	id := w.next
	w.wait[id] = ch
	fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	w.mu.Unlock()
	select {
	case line := <-ch:
		return line
	case <-time.After(time.Minute):
		b.Fatalf("no answer to %s", method)
		return nil
	}
}

func (w *wire) call(b *testing.B, name, args string) []byte {
	return w.request(b, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
}

// rss is the resident memory of the server in MiB.
func (w *wire) rss(b *testing.B) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	var kb float64
	fmt.Sscan(rest, &kb)
	return kb / 1024
}

// countTools is the number of page tools in a whole listing.
func (w *wire) countTools(b *testing.B) (n int) {
	cursor := ""
	for {
		params := "{}"
		if cursor != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
		var r struct {
			Result struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
		}
		if err := json.Unmarshal(w.request(b, "tools/list", params), &r); err != nil {
			b.Fatal(err)
		}
		for _, t := range r.Result.Tools {
			if !strings.HasPrefix(t.Name, "webmcp_") {
				n++
			}
		}
		if cursor = r.Result.NextCursor; cursor == "" {
			return n
		}
	}
}

// awaitBrowser waits until aster has the browser: a page that was there before the shim has
// no tools.
func (w *wire) awaitBrowser(b *testing.B) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(string(w.call(b, "webmcp_tabs", "{}")), `"browser":"connected`); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatal("no browser")
		}
	}
}

func (w *wire) awaitTools(b *testing.B, n int) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); w.countTools(b) != n; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%d tools, want %d", w.countTools(b), n)
		}
	}
}

// quantiles reports p50 and p99 of durations in microseconds.
func quantiles(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) }
	b.ReportMetric(at(.5), name+"-p50-µs")
	b.ReportMetric(at(.99), name+"-p99-µs")
}

const echoTool = `document.modelContext.registerTool({name: 'echo', description: 'Says it again', inputSchema: {type: 'object', properties: {text: {type: 'string'}}, required: ['text']}, execute: ({text}) => text});`

// floor is the raw DevTools round trip of one call of echo, on a session of its own:
// the shim's own invoke and its answer, or the browser's.
func floor(b *testing.B, cb *cdptest.Browser, p *cdptest.Page, native bool) func() {
	if !native {
		return shimFloor(b)
	}
	c := cb.User(b)
	ctx := context.Background()
	must := func(raw json.RawMessage, err error) json.RawMessage {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return raw
	}
	var tree struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	json.Unmarshal(must(c.Call(ctx, p.Session, "Page.getFrameTree", nil)), &tree)
	must(c.Call(ctx, p.Session, "WebMCP.enable", nil))
	var mu sync.Mutex
	waiting := map[string]chan struct{}{}
	early := map[string]bool{}
	c.Subscribe(func(e cdptest.Event) {
		if e.Method != "WebMCP.toolResponded" || e.Session != p.Session {
			return
		}
		var r struct{ InvocationID string }
		json.Unmarshal(e.Params, &r)
		mu.Lock()
		defer mu.Unlock()
		if ch := waiting[r.InvocationID]; ch != nil {
			delete(waiting, r.InvocationID)
			close(ch)
		} else {
			early[r.InvocationID] = true
		}
	})
	return func() {
		var r struct{ InvocationID string }
		json.Unmarshal(must(c.Call(ctx, p.Session, "WebMCP.invokeTool", map[string]any{"frameId": tree.FrameTree.Frame.ID, "toolName": "echo", "input": map[string]any{"text": "probe"}})), &r)
		mu.Lock()
		if early[r.InvocationID] {
			delete(early, r.InvocationID)
			mu.Unlock()
			return
		}
		ch := make(chan struct{})
		waiting[r.InvocationID] = ch
		mu.Unlock()
		<-ch
	}
}

// shimFloor calls echo under a shim that only it speaks to, in a browser of its own.
func shimFloor(b *testing.B) func() {
	cb, s := cdptest.New(b, nil), cdptest.Serve(b)
	p, c := cb.NewPage(b, "about:blank"), cb.User(b)
	ctx := context.Background()
	must := func(method string, params any) {
		b.Helper()
		if _, err := c.Call(ctx, p.Session, method, params); err != nil {
			b.Fatal(err)
		}
	}
	var mu sync.Mutex
	waiting, api := map[string]chan struct{}{}, make(chan string, 1)
	c.Subscribe(func(e cdptest.Event) {
		if e.Method != "Runtime.inspectRequested" || e.Session != p.Session {
			return
		}
		var r struct {
			Object struct{ Value, ObjectID string }
		}
		json.Unmarshal(e.Params, &r)
		if r.Object.ObjectID != "" {
			api <- r.Object.ObjectID
			return
		}
		m, err := shim.Parse(r.Object.Value)
		if err != nil || m.Result == nil {
			return
		}
		mu.Lock()
		close(waiting[m.Result.ID])
		delete(waiting, m.Result.ID)
		mu.Unlock()
	})
	must("Page.enable", nil)
	must("Runtime.enable", nil)
	must("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": shim.Script(shim.Config{}), "includeCommandLineAPI": true})
	p.Navigate(b, s.Page("/echo", script(echoTool)))
	handle := <-api
	var next int
	return func() {
		mu.Lock()
		next++
		id, ch := fmt.Sprint(next), make(chan struct{})
		waiting[id] = ch
		mu.Unlock()
		must("Runtime.callFunctionOn", map[string]any{"objectId": handle, "functionDeclaration": shim.CallMethod, "arguments": []map[string]any{
			{"value": "invoke"}, {"value": id}, {"value": "echo"}, {"value": `{"text":"probe"}`}}})
		<-ch
	}
}

// evaluation is what a page's function costs without any protocol between: a bound for
// every polyfill.
func evaluation(b *testing.B, cb *cdptest.Browser, p *cdptest.Page) func() {
	c := cb.User(b)
	one := func(params map[string]any) {
		if _, err := c.Call(context.Background(), p.Session, "Runtime.evaluate", params); err != nil {
			b.Fatal(err)
		}
	}
	one(map[string]any{"expression": "window.echo = async ({text}) => text"})
	return func() {
		one(map[string]any{"expression": `echo({text: "probe"})`, "awaitPromise": true, "returnByValue": true})
	}
}

func BenchmarkCall(b *testing.B) {
	for _, native := range []bool{false, true} {
		b.Run(mode(native), func(b *testing.B) {
			cb := cdptest.New(b, &cdptest.Options{Native: native})
			s := cdptest.Serve(b)
			w := startWire(b, "--cdp-url", cb.HTTP)
			w.awaitBrowser(b)
			p := cb.NewPage(b, s.Page("/echo", script("if (document.modelContext) {"+echoTool+"}")))
			w.awaitTools(b, 1)
			raw, eval := floor(b, cb, p, native), evaluation(b, cb, p)
			var ours, floors, evals []time.Duration
			for range 50 {
				raw()
				eval()
				w.call(b, "echo", `{"text":"probe"}`)
			}
			for b.Loop() { // interleaved, so that both meet the same machine
				t0 := time.Now()
				raw()
				t1 := time.Now()
				w.call(b, "echo", `{"text":"probe"}`)
				t2 := time.Now()
				eval()
				ours, floors, evals = append(ours, t2.Sub(t1)), append(floors, t1.Sub(t0)), append(evals, time.Since(t2))
			}
			quantiles(b, "aster", ours)
			quantiles(b, "floor", floors)
			quantiles(b, "evaluate", evals)
			b.ReportMetric(float64(ours[len(ours)/2])/float64(floors[len(floors)/2]), "ratio-p50")
		})
	}
}

func mode(native bool) string {
	if native {
		return "native"
	}
	return "shim"
}

func BenchmarkThroughput32(b *testing.B) {
	for _, native := range []bool{false, true} {
		b.Run(mode(native), func(b *testing.B) {
			cb := cdptest.New(b, &cdptest.Options{Native: native})
			s := cdptest.Serve(b)
			w := startWire(b, "--cdp-url", cb.HTTP)
			w.awaitBrowser(b)
			p := cb.NewPage(b, s.Page("/echo", script("if (document.modelContext) {"+echoTool+"}")))
			w.awaitTools(b, 1)
			raw := floor(b, cb, p, native)
			const batch = 32 * 25
			rate := func(one func()) float64 {
				var wg sync.WaitGroup
				t0 := time.Now()
				for range 32 {
					wg.Go(func() {
						for range batch / 32 {
							one()
						}
					})
				}
				wg.Wait()
				return batch / time.Since(t0).Seconds()
			}
			var ours, floors []float64
			for b.Loop() {
				floors = append(floors, rate(raw))
				ours = append(ours, rate(func() { w.call(b, "echo", `{"text":"probe"}`) }))
			}
			slices.Sort(ours)
			slices.Sort(floors)
			b.ReportMetric(ours[len(ours)/2], "aster-calls/s")
			b.ReportMetric(floors[len(floors)/2], "floor-calls/s")
			b.ReportMetric(100*ours[len(ours)/2]/floors[len(floors)/2], "percent")
		})
	}
}

func BenchmarkPush(b *testing.B) {
	for _, native := range []bool{false, true} {
		b.Run(mode(native), func(b *testing.B) {
			cb := cdptest.New(b, &cdptest.Options{Native: native})
			s := cdptest.Serve(b)
			w := startWire(b, "--cdp-url", cb.HTTP)
			w.awaitBrowser(b)
			p := cb.NewPage(b, s.Page("/push", script("if (document.modelContext) {"+echoTool+"}")))
			w.awaitTools(b, 1)
			var all []time.Duration
			for i := 0; b.Loop(); i++ {
				time.Sleep(60 * time.Millisecond)
				for len(w.list) > 0 {
					<-w.list
				}
				t0 := time.Now()
				p.Send("Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("document.modelContext.registerTool({name: 'p%d', description: 'd', execute: () => 1})", i)})
				select {
				case <-w.list:
				case <-time.After(10 * time.Second):
					b.Fatal("no notification")
				}
				all = append(all, time.Since(t0))
			}
			quantiles(b, "push", all)
		})
	}
}

func BenchmarkStart(b *testing.B) {
	var all []time.Duration
	if _, err := buildOnce(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t0 := time.Now()
		w := startWire(b, "--cdp-url", "http://127.0.0.1:1")
		all = append(all, time.Since(t0))
		w.in.Close()
		w.cmd.Wait()
	}
	quantiles(b, "start", all)
}

func BenchmarkTabs(b *testing.B) {
	for _, c := range []struct{ tabs, tools int }{{30, 22}, {200, 10}} {
		for _, native := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d/%s", c.tabs, c.tools, mode(native)), func(b *testing.B) {
				cb := cdptest.New(b, &cdptest.Options{Native: native, Args: []string{"--renderer-process-limit=4"}})
				s := cdptest.Serve(b)
				url := s.Page("/tabs", script(fmt.Sprintf(`if (document.modelContext) for (let i = 0; i < %d; i++) document.modelContext.registerTool({name: 'tool_' + i, description: 'Does the thing number ' + i, inputSchema: {type: 'object', properties: {text: {type: 'string'}}}, execute: () => i});`, c.tools)))
				home := b.TempDir()
				first := startWireAt(b, home, "--cdp-url", cb.HTTP) // brings the shim to the pages
				first.awaitBrowser(b)
				for range c.tabs {
					cb.NewPage(b, url)
				}
				first.awaitTools(b, c.tabs*c.tools)
				rss := first.rss(b)
				first.in.Close()
				first.cmd.Wait()
				var all []time.Duration
				for b.Loop() {
					t0 := time.Now()
					w := startWireAt(b, home, "--cdp-url", cb.HTTP)
					w.awaitTools(b, c.tabs*c.tools)
					all = append(all, time.Since(t0))
					w.in.Close()
					w.cmd.Wait()
				}
				b.ReportMetric(rss, "MiB-RSS") // here, because Loop drops what was reported before it
				quantiles(b, "listed", all)
				b.ReportMetric(float64(all[0].Microseconds()), "listed-min-µs")
			})
		}
	}
}

func BenchmarkList500(b *testing.B) {
	cb := cdptest.New(b, nil)
	s := cdptest.Serve(b)
	w := startWire(b, "--cdp-url", cb.HTTP)
	w.awaitBrowser(b)
	cb.NewPage(b, s.Page("/list", script(`if (document.modelContext) for (let i = 0; i < 500; i++) document.modelContext.registerTool({name: 'tool_' + i, description: 'Does the thing number ' + i, inputSchema: {type: 'object', properties: {text: {type: 'string', description: 'What to do it with'}, count: {type: 'integer', minimum: 1}}, required: ['text']}, execute: () => i});`)))
	w.awaitTools(b, 500)
	var all []time.Duration
	var size int
	for b.Loop() {
		t0 := time.Now()
		size = len(w.request(b, "tools/list", "{}"))
		all = append(all, time.Since(t0))
	}
	quantiles(b, "list", all)
	b.ReportMetric(float64(size), "bytes")
}

func BenchmarkMemory(b *testing.B) {
	cb := cdptest.New(b, nil)
	s := cdptest.Serve(b)
	w := startWire(b, "--cdp-url", cb.HTTP)
	w.awaitBrowser(b)
	cb.NewPage(b, s.Page("/echo", script("if (document.modelContext) {"+echoTool+"}")))
	w.awaitTools(b, 1)
	const settles = 4 * time.Second // two seconds after its start, and after many calls, it gives memory back
	time.Sleep(settles)
	idle := w.rss(b)
	for b.Loop() {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 1250 {
					w.call(b, "echo", `{"text":"probe"}`)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(idle, "idle-MiB")
	after := w.rss(b)
	time.Sleep(settles)
	b.ReportMetric(after, "after-10000-calls-MiB")
	b.ReportMetric(w.rss(b), "idle-again-MiB")
}
