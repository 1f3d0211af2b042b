//lint:file-ignore SA1019 logging is deprecated and still passed on.

package source_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// The test binary is also the servers that the tests start: FAKE names which.
func TestMain(m *testing.M) {
	if name := os.Getenv("FAKE"); name != "" {
		f, ok := fakes[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "error: no fake", name)
			os.Exit(2)
		}
		f()
		os.Exit(0)
	}
	os.Exit(cdptest.Main(m))
}

var fakes = map[string]func(){
	"sdk":  func() { sdkServer().Run(context.Background(), &mcp.StdioTransport{}) },
	"huge": func() { hugeServer().Run(context.Background(), &mcp.StdioTransport{}) },
	"silent": func() { // says nothing to what it does not know
		serve(func(m message) string {
			if m.Method == "server/discover" {
				return ""
			}
			return legacy(m)
		})
	},
	"leaver": func() { // leaves at the first message that it does not know
		serve(func(m message) string {
			if m.Method == "server/discover" {
				fmt.Fprintln(os.Stderr, "Error: expected initialize")
				os.Exit(1)
			}
			return legacy(m)
		})
	},
	"stuck": func() { // silent for ever after a first message that it does not know
		first := true
		serve(func(m message) string {
			if first && m.Method != "initialize" {
				fmt.Fprintln(os.Stderr, "up")
				select {}
			}
			first = false
			return legacy(m)
		})
	},
	"stuck silently": func() {
		first := true
		serve(func(m message) string {
			if first && m.Method != "initialize" {
				select {}
			}
			first = false
			return legacy(m)
		})
	},
	"late": func() { // knows server/discover but takes its time
		time.Sleep(600 * time.Millisecond)
		sdkServer().Run(context.Background(), &mcp.StdioTransport{})
	},
	"noisy": func() {
		fmt.Println("Welcome!\n\n{\"log\":\"started\"}\n[1,2]\n\"text\"")
		serve(func(m message) string {
			fmt.Printf("handling %s\n{\"no\": \"message\"}\n{broken\n\xff\xfe\n", m.Method)
			return legacy(m)
		})
	},
	"mute":  func() { io.Copy(io.Discard, os.Stdin) },
	"hello": func() { fmt.Println("Hello, this is a web server. \x1b[31mUsage:\x1b[0m run it") },
	"crash": func() {
		fmt.Fprintf(os.Stderr, "Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'mcp' (token %s)\n", os.Getenv("SECRET"))
		os.Exit(3)
	},
	"weak": func() { // comes up from the start after so many on, which are counted in a file
		f, _ := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		f.WriteString("x")
		f.Close()
		if b, _ := os.ReadFile(os.Getenv("STARTS")); len(b) <= len(os.Getenv("FAILS")) {
			fmt.Fprintln(os.Stderr, "Error: not yet")
			os.Exit(5)
		}
		serve(legacy)
	},
	"chatter": func() {
		for i := range 100 {
			fmt.Fprintf(os.Stderr, "line %d %s\n", i, strings.Repeat("x", 1000))
		}
		serve(legacy)
	},
	"deaf": func() { // heeds neither the end of input nor TERM
		signal.Ignore(syscall.SIGTERM)
		serve(legacy)
		select {}
	},
	"parent": func() { // leaves a grandchild that hears nothing of either
		cmd := exec.Command("sh", "-c", `trap "" TERM; echo $$ > "$PIDFILE"; exec sleep 1000`)
		cmd.Env = os.Environ()
		cmd.Stdout = os.Stdout // and holds the output open
		cmd.Start()
		serve(legacy)
	},
	"signin": func() {
		fmt.Fprintln(os.Stderr, "Please authorize this client by visiting:")
		fmt.Fprintln(os.Stderr, "https://login.example/authorize?x=1")
		for {
			if _, err := os.Stat(os.Getenv("SIGNEDIN")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		serve(legacy)
	},
	"lists": func() { // lists what the file named by LIST holds, page by page
		serve(func(m message) string {
			if m.Method != "tools/list" {
				return legacy(m)
			}
			var p struct{ Cursor string }
			json.Unmarshal(m.Params, &p)
			data, _ := os.ReadFile(os.Getenv("LIST"))
			for page := range strings.Lines(string(data)) {
				if cursor, result, _ := strings.Cut(strings.TrimSpace(page), " "); cursor == "cursor:"+p.Cursor {
					return `"result":` + result
				}
			}
			return `"error":{"code":-32602,"message":"no such page"}`
		})
	},
	"results": func() { // calls return what the file named by RESULT holds
		serve(func(m message) string {
			if m.Method == "tools/call" {
				data, _ := os.ReadFile(os.Getenv("RESULT"))
				return string(data)
			}
			return legacy(m)
		})
	},
	"dies": func() { // in every call
		serve(func(m message) string {
			if m.Method == "tools/call" {
				fmt.Fprintln(os.Stderr, "panic: out of cheese")
				os.Exit(4)
			}
			return legacy(m)
		})
	},
	"asks": func() { // asks for a form whose schema is a loop, or a good one
		serve(func(m message) string {
			if m.Method != "tools/call" {
				return legacy(m)
			}
			schema := `{"type":"object","$ref":"#"}`
			if strings.Contains(string(m.Params), "good") {
				schema = `{"type":"object","properties":{"name":{"type":"string"}}}`
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"mode":"form","message":"hm","requestedSchema":%s}}`+"\n", schema)
			answer, _ := stdin.ReadString('\n')
			b, _ := json.Marshal(answer)
			return `"result":{"content":[{"type":"text","text":` + string(b) + `}]}`
		})
	},
	"closed": func() { // reads no more after it was initialized
		serve(func(m message) string {
			if m.Method == "tools/list" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, legacy(m))
				select {}
			}
			return legacy(m)
		})
	},
}

// A message is what a raw fake gets.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

var stdin = bufio.NewReaderSize(os.Stdin, 1<<20)

// serve answers requests with what answer returns: `"result":…`, `"error":…` or nothing.
func serve(answer func(message) string) {
	for {
		line, err := stdin.ReadString('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || len(m.ID) == 0 || m.Method == "" {
			continue
		}
		if a := answer(m); a != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, a)
		}
	}
}

// legacy is a server of 2025-11-25 with one tool, which returns its arguments,
// the environment or, without end, progress.
func legacy(m message) string {
	switch m.Method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"},"instructions":"# Raw\nMore."}`
	case "tools/list":
		return `"result":{"tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		var p struct {
			Arguments json.RawMessage
			Meta      struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		json.Unmarshal(m.Params, &p)
		switch string(p.Arguments) {
		case `{"env":true}`:
			p.Arguments, _ = json.Marshal(os.Environ())
		case `{"hang":true}`:
			return ""
		case `{"progress":true}`:
			for i := range 8 {
				time.Sleep(400 * time.Millisecond)
				fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":8}}`+"\n", p.Meta.Token, i+1)
			}
		}
		text, _ := json.Marshal(string(p.Arguments))
		return `"result":{"content":[{"type":"text","text":` + string(text) + `}]}`
	}
	return `"error":{"code":-32601,"message":"method not found"}`
}

// sdkServer speaks both eras and has a bit of everything.
func sdkServer() *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "all", Version: "2"}, &mcp.ServerOptions{Instructions: "All there is.\nReally."})
	schema := json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","maximum":9007199254740993}}}`)
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add := func(name string, h mcp.ToolHandler) {
		srv.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: schema}, h)
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("rich", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content: []mcp.Content{
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte{1, 2, 3, 250}},
				&mcp.ResourceLink{URI: "file:///x", Name: "x"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///y", Text: "y"}},
			},
			StructuredContent: json.RawMessage(`{"big":12345678901234567890,"b":1,"a":2}`),
			Meta:              mcp.Meta{"k": "v"},
		}, nil
	})
	add("grow", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("new"), nil })
		return text("ok"), nil
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		if f := os.Getenv("CANCELLED"); f != "" {
			os.WriteFile(f, nil, 0o600)
		}
		return text("cancelled"), nil
	})
	add("ask", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if res, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
			return text(res.Action), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Mode: "form", Message: "sure?",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}}}}}, nil
	})
	add("log", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "half"})
		r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "careful"})
		return text("logged"), nil
	})
	srv.AddResource(&mcp.Resource{URI: "file:///r", Name: "r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///r", Text: "content"}}}, nil
	})
	srv.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///{x}", Name: "t"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	srv.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "prompt p"}, nil
	})
	return srv
}
