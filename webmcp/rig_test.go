package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// patience bounds every wait of these tests.
const patience = 45 * time.Second

// rig is a browser, a page server, a bridge attached to the browser and an MCP client.
type rig struct {
	*cdptest.Server
	browser *cdptest.Browser
	bridge  *webmcp.Bridge
	client  *mcp.ClientSession
	stop    func()

	mu       sync.Mutex
	changes  int      // tools/list_changed notifications
	progress []string // progress messages
}

// modes runs a test under the shim and under native WebMCP.
func modes(t *testing.T, f func(t *testing.T, native bool)) {
	t.Helper()
	t.Run("shim", func(t *testing.T) { f(t, false) })
	t.Run("native", func(t *testing.T) { f(t, true) })
}

func TestMain(m *testing.M) {
	os.Exit(cdptest.Main(m))
}

// newRig attaches to the browser that the tests share.
func newRig(t testing.TB, native bool, edit func(*webmcp.Options)) *rig {
	t.Helper()
	r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, native)}
	r.attach(t, edit)
	return r
}

// newOwnRig starts a browser that the test may kill.
func newOwnRig(t testing.TB, native bool, edit func(*webmcp.Options)) *rig {
	t.Helper()
	r := &rig{Server: cdptest.Serve(t), browser: cdptest.New(t, &cdptest.Options{Native: native})}
	r.attach(t, edit)
	return r
}

// attach starts a bridge and a client of it, and waits until it is connected.
func (r *rig) attach(t testing.TB, edit func(*webmcp.Options)) {
	t.Helper()
	r.attachQuiet(t, edit)
	r.await(t, "the browser", func() bool { return strings.HasPrefix(r.tabs(t).Browser, "connected") })
}

// attachQuiet is attach without the wait.
func (r *rig) attachQuiet(t testing.TB, edit func(*webmcp.Options)) {
	t.Helper()
	opts := &webmcp.Options{Logger: testLogger(t)}
	if r.browser != nil {
		opts.Finder = finder(t, r.browser.HTTP)
	}
	if edit != nil {
		edit(opts)
	}
	b, err := webmcp.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	ct, st := mcp.NewInMemoryTransports()
	ss, err := b.Server().Connect(ctx, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			r.mu.Lock()
			r.changes++
			r.mu.Unlock()
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			r.mu.Lock()
			r.progress = append(r.progress, req.Params.Message)
			r.mu.Unlock()
		},
	})
	cs, err := client.Connect(ctx, ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.bridge, r.client = b, cs
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			cs.Close()
			ss.Close()
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				t.Error("Run did not end")
			}
		})
	}
	t.Cleanup(r.stop)
}

func finder(t testing.TB, spec string) *cdp.Finder {
	t.Helper()
	f, err := cdp.NewFinder(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func testLogger(t testing.TB) *slog.Logger {
	if !testing.Verbose() || os.Getenv("ASTER_TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// await polls until ok, and fails the test when that takes too long.
func (r *rig) await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s; tabs: %s", what, text(r.call(t, "webmcp_tabs", nil)))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pageTools lists the served page tools, the fixed ones left out.
func (r *rig) pageTools(t testing.TB) map[string]*mcp.Tool {
	t.Helper()
	tools := map[string]*mcp.Tool{}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for tool, err := range r.client.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(tool.Name, "webmcp_") {
			tools[tool.Name] = tool
		}
	}
	return tools
}

func (r *rig) names(t testing.TB) []string {
	t.Helper()
	var names []string
	for n := range r.pageTools(t) {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// awaitNames waits until exactly these page tools are served.
func (r *rig) awaitNames(t testing.TB, want ...string) {
	t.Helper()
	slices.Sort(want)
	var got []string
	deadline := time.Now().Add(patience)
	for {
		if got = r.names(t); slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("page tools are %q, want %q; tabs: %s", got, want, text(r.call(t, "webmcp_tabs", nil)))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitTools waits until that many page tools are served, under whatever names.
func (r *rig) awaitTools(t testing.TB, n int) {
	t.Helper()
	r.await(t, fmt.Sprintf("%d tools", n), func() bool { return len(r.names(t)) == n })
}

// call calls a tool and fails the test on a protocol error.
func (r *rig) call(t testing.TB, name string, args any) *mcp.CallToolResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	return res
}

// text joins the text parts of a result.
func text(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, tc.Text)
		} else {
			parts = append(parts, fmt.Sprintf("<%T>", c))
		}
	}
	return strings.Join(parts, "\n")
}

// tabsReport is the structured answer of webmcp_tabs.
type tabsReport struct {
	Browser string
	Tabs    []struct {
		ID, Title, URL, State string
		Tools, Notes          []string
	}
}

func (r *rig) tabs(t testing.TB) tabsReport {
	t.Helper()
	var rep tabsReport
	remarshal(t, r.call(t, "webmcp_tabs", nil).StructuredContent, &rep)
	return rep
}

func remarshal(t testing.TB, from, to any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantText fails unless the result is what was expected.
func wantText(t testing.TB, res *mcp.CallToolResult, isError bool, want string) {
	t.Helper()
	if got := text(res); res.IsError != isError || !strings.Contains(got, want) {
		t.Errorf("result (isError %v) %.500q, want isError %v and %q in it", res.IsError, got, isError, want)
	}
}

func (r *rig) changeCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// register is a script that registers a tool.
func register(name, body string) string {
	return fmt.Sprintf("document.modelContext.registerTool({name: %q, description: 'the tool %s', inputSchema: {type: 'object', properties: {}}, execute: %s});", name, name, body)
}

// script is a page with one script.
func script(js string) string { return "<!doctype html><title>test</title><script>" + js + "</script>" }
