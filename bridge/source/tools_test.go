//lint:file-ignore SA1019 logging is deprecated and still passed on.

package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// raw is the spec of a stream whose other end answers in this process.
func raw(answer func(m message) string) source.Spec {
	return lines(func(m message) string {
		if a := strings.NewReplacer("\n", "", "\t", "").Replace(answer(m)); a != "" {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, a)
		}
		return ""
	})
}

// lines is the same with whole lines.
func lines(answer func(m message) string) source.Spec {
	return source.Spec{Name: "s", Era: source.EraLegacy, StartTimeout: patience, Dial: func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			d := json.NewDecoder(far)
			for {
				var m message
				if d.Decode(&m) != nil {
					return
				}
				if len(m.ID) == 0 || m.Method == "" {
					continue
				}
				if a := answer(m); a != "" {
					io.WriteString(far, a+"\n")
				}
			}
		}()
		return near, nil
	}}
}

// lists is the spec of a server that lists pages.
func lists(pages map[string]string) source.Spec {
	return raw(func(m message) string {
		if m.Method != "tools/list" {
			return legacy(m)
		}
		var p struct{ Cursor string }
		json.Unmarshal(m.Params, &p)
		if page, ok := pages[p.Cursor]; ok {
			return page
		}
		return `"error":{"code":-32602,"message":"no such page"}`
	})
}

func TestBadTools(t *testing.T) {
	t.Run("pitfall row 10, pitfall row 12: each bad tool costs itself", func(t *testing.T) {
		s := open(t, lists(map[string]string{"": `"result":{"ttlMs":999999,"tools":[
		{"name":"good","description":"d","inputSchema":{"type":"object","properties":{"z":{},"a":{"maximum":12345678901234567890}}},"_meta":{"k":1},"execution":{"x":1}},
		{"name":"hint","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"true","destructiveHint":false,"title":7}},
		{"name":"array","description":"d","inputSchema":[1]},
		{"name":"none","description":"d"},
		{"name":"typed","description":{"en":"d"},"inputSchema":{"type":"object"},"annotations":"x"},
		{"name":"web search!","description":"d","inputSchema":{"type":"object"}},
		{"name":"header","description":"d","inputSchema":{"type":"object","properties":{"o":{"type":"object","x-mcp-header":"O"}}}},
		{"name":""},{"description":"d"},null,7,
		{"name":"good","description":"another","inputSchema":{"type":"object"}}
	]}`}), nil)
		start(t, s)
		var names []string
		for _, tool := range s.Tools() {
			names = append(names, tool.Name)
		}
		if want := []string{"good", "hint", "array", "none", "typed", "web search!", "good"}; !slices.Equal(names, want) {
			t.Errorf("tools %q, want %q", names, want)
		}
		tools := s.Tools()
		if got, want := string(tools[0].InputSchema), `{"type":"object","properties":{"z":{},"a":{"maximum":12345678901234567890}}}`; got != want {
			t.Errorf("schema %s, want %s", got, want)
		}
		if a := tools[1].Annotations; a == nil || a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint {
			t.Errorf("hints %+v", a)
		}
		if def := string(s.Definitions()[0]); !strings.Contains(def, `"_meta":{"k":1},"execution":{"x":1}`) {
			t.Errorf("definition %s", def)
		}
		var problems []string
		for _, p := range s.Status().Problems {
			problems = append(problems, p.String())
		}
		for _, want := range []string{
			`s/hint: annotations.readOnlyHint is the text "true", not true or false (ignored)`,
			`s/hint: annotations.title is a number, not text (ignored)`,
			`s/typed: description is an object, not text (ignored)`,
			`s/typed: annotations is the text "x", not an object (ignored)`,
			`s/web search!: the name is not one that MCP allows`,
			`s/header: an x-mcp-header of its schema is not valid (left out)`,
			`s: tool 8 of the list has no name (left out)`,
			`s: tool 9 of the list has no name (left out)`,
			`s: tool 10 of the list is not an object (left out)`,
			`s: tool 11 of the list is not an object (left out)`,
		} {
			if !slices.Contains(problems, want) {
				t.Errorf("problem %q is missing in %q", want, problems)
			}
		}
		// The catalogue judges schemas and doubled names.
		set := openSet(t, []source.Spec{s.Spec()}, nil)
		set.Start(ctxFor(t))
		if n := set.Catalog().Len(); n != 5 {
			t.Errorf("%d tools in the catalogue, want 5", n)
		}
		all := fmt.Sprint(set.Problems())
		for _, want := range []string{"s/array: input schema is not the schema of an object (left out)", "s/good: another tool has this ID (left out)",
			"s/none: no input schema", "s/hint: annotations.readOnlyHint"} {
			if !strings.Contains(all, want) {
				t.Errorf("problem %q is missing in %s", want, all)
			}
		}
	})
}

func TestListBounds(t *testing.T) {
	tools := func(n, from int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"t%d","description":"d","inputSchema":{"type":"object"}}`, from+i)
		}
		return strings.TrimPrefix(b.String(), ",")
	}
	page := func(n, from int, next string) string {
		return fmt.Sprintf(`"result":{"tools":[%s],"nextCursor":%q}`, tools(n, from), next)
	}
	long := map[string]string{"": page(1, 0, "1")}
	for i := 1; i < 100; i++ {
		long[fmt.Sprint(i)] = page(1, i, fmt.Sprint(i+1))
	}
	for _, tt := range []struct {
		name    string
		pages   map[string]string
		tools   int
		problem string
	}{
		{"repeated", map[string]string{"": page(1, 0, "a"), "a": page(1, 1, "a")}, 2, `s: the list repeats the cursor "a": cut after 2 pages`},
		{"circle", map[string]string{"": page(1, 0, "a"), "a": page(1, 1, "b"), "b": page(1, 2, "a")}, 3, `the list repeats the cursor "a"`},
		{"many pages", long, source.MaxPages, "s: the list has over 64 pages: cut"},
		{"many tools", map[string]string{"": page(1500, 0, "a"), "a": page(1500, 1500, "b")}, source.MaxTools, "s: the list has over 2000 tools: cut"},
		{"exactly", map[string]string{"": page(source.MaxTools, 0, "")}, source.MaxTools, ""},
		{"second fails", map[string]string{"": page(2, 0, "zz")}, 2, "page 2 of the tools"},
		{"no list", map[string]string{"": `"result":{"tools":{"a":1}}`}, 0, "the result holds no list of tools"},
		{"no tools", map[string]string{"": `"error":{"code":-32601,"message":"no such method"}`}, 0, ""},
		{"error", map[string]string{"": `"error":{"code":-32000,"message":"database down"}`}, 0, "tools/list: database down (-32000)"},
	} {
		t.Run("pitfall row 13: "+tt.name, func(t *testing.T) {
			s := open(t, lists(tt.pages), nil)
			start(t, s)
			st := s.Status()
			if st.Tools != tt.tools {
				t.Errorf("%d tools, want %d", st.Tools, tt.tools)
			}
			if got := fmt.Sprint(st.Problems); tt.problem == "" && len(st.Problems) > 0 || !strings.Contains(got, tt.problem) {
				t.Errorf("problems %s, want %q", got, tt.problem)
			}
		})
	}
}

// TestListChanged follows the list, and drops what repeats.
func TestListChanged(t *testing.T) {
	for _, era := range []source.Era{source.EraUnknown, source.EraLegacy} {
		t.Run(string(era), func(t *testing.T) {
			spec := source.Spec{Name: "s", Server: sdkServer(), Era: era}
			s := open(t, spec, nil)
			start(t, s)
			before := len(s.Tools())
			call(t, s, "grow", `{}`)
			eventually(t, "the new tool", func() bool { return len(s.Tools()) == before+1 })
			if got := call(t, s, "grown", `{}`); got != "new" {
				t.Errorf("the new tool returned %q", got)
			}
		})
	}
}

func TestResults(t *testing.T) {
	var answer string
	s := open(t, raw(func(m message) string {
		if m.Method == "tools/call" {
			return answer
		}
		return legacy(m)
	}), nil)
	start(t, s)
	for _, tt := range []struct{ name, result, want string }{
		{"as it is", `{"content":[{"type":"text","text":"a<b"}],"structuredContent":{"z":12345678901234567890,"a":1.50},"_meta":{"x":1},"more":true}`, ""},
		{"unknown type", `{"content":[{"type":"video","data":"AA=="},{"type":"text","text":"t"}]}`,
			`{"content":[{"type":"text","text":"[content of the unknown type \"video\"] {\"type\":\"video\",\"data\":\"AA==\"}"},{"type":"text","text":"t"}]}`},
		{"spaces in base64", `{"content":[{"type":"image","mimeType":"image/png","data":"AQID +g=="}]}`,
			`{"content":[{"type":"image","mimeType":"image/png","data":"AQID+g=="}]}`},
		{"URL alphabet", `{"content":[{"type":"image","mimeType":"image/png","data":"-_8","annotations":{"priority":1}}]}`,
			`{"content":[{"type":"image","mimeType":"image/png","data":"+/8=","annotations":{"priority":1}}]}`},
		{"not base64", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"%%%"}]}`,
			`{"content":[{"type":"text","text":"[left out: audio (audio/wav) whose data is not base64]"}]}`},
		{"blob", `{"content":[{"type":"resource","resource":{"uri":"x:y","blob":"-_8"}}]}`,
			`{"content":[{"type":"resource","resource":{"uri":"x:y","blob":"+/8="}}]}`},
		{"null content", `{"content":null,"isError":true}`, `{"content":[],"isError":true}`},
		{"no content", `{"structuredContent":1}`, `{"structuredContent":1,"content":[]}`},
		{"single block", `{"content":{"type":"text","text":"x"}}`, `{"content":[{"type":"text","text":"x"}]}`},
		{"bad block", `{"content":["x",{"type":"text"}]}`,
			`{"content":[{"type":"text","text":"[a content block of the wrong shape] \"x\""},{"type":"text","text":"[a text block without text] {\"type\":\"text\"}"}]}`},
		{"bad isError", `{"content":[],"isError":"yes"}`, `{"content":[],"isError":true}`},
		{"doubled", `{"content":[],"isError":true,"isError":false}`, `{"content":[],"isError":false}`},
	} {
		t.Run("pitfall row 11: "+tt.name, func(t *testing.T) {
			answer = `"result":` + tt.result
			got, err := s.Call(ctxFor(t), "echo", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want == "" {
				want = tt.result
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			var decoded mcp.CallToolResult
			if err := json.Unmarshal(got, &decoded); err != nil {
				t.Errorf("a client cannot decode it: %v", err)
			}
		})
	}
	answer = `"error":{"code":-32602,"message":"unknown tool\u001b[31m","data":{"k":1}}`
	_, err := s.Call(ctxFor(t), "echo", nil, nil)
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || string(rpc.Data) != `{"k":1}` || err.Error() != "s: unknown tool (-32602)" {
		t.Errorf("error %v", err)
	}
	if got := s.Status().State; got != source.Connected {
		t.Errorf("state %v", got)
	}
}

// TestLongMessage ends the call with a reason, before the message has an end.
func TestLongMessage(t *testing.T) {
	spec := source.Spec{Name: "s", Era: source.EraLegacy, Dial: func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			d := json.NewDecoder(far)
			var m message
			for d.Decode(&m) == nil {
				if m.Method == "tools/call" {
					fmt.Fprintf(far, `{"jsonrpc":"2.0","id":%s,"result":"`, m.ID)
					io.Copy(far, io.LimitReader(forever{}, source.MaxMessageBytes+1<<20))
				} else if len(m.ID) > 0 {
					fmt.Fprintf(far, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, legacy(m))
				}
				m = message{}
			}
		}()
		return near, nil
	}}
	s := open(t, spec, nil)
	start(t, s)
	if _, err := s.Call(ctxFor(t), "echo", nil, nil); err == nil || err.Error() != "s: the server's answer is not taken: it is over 32 MiB, the most that a message may have" {
		t.Errorf("Call: %v", err)
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("x"), len(p)))
	return len(p), nil
}

func TestPassThrough(t *testing.T) {
	type key struct{}
	for _, era := range []source.Era{source.EraModern, source.EraLegacy} {
		t.Run(string(era), func(t *testing.T) {
			var asked, value string
			logs := make(chan string, 1)
			s := open(t, source.Spec{Name: "s", Server: sdkServer(), Era: era, CallTimeout: 400 * time.Millisecond}, &source.Options{Handlers: source.Handlers{
				Elicit: func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					time.Sleep(600 * time.Millisecond) // a user takes longer than a call may
					asked = server + ":" + p.Message
					value, _ = ctx.Value(key{}).(string)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"ok": true}}, nil
				},
				Log: func(server string, p *mcp.LoggingMessageParams) {
					logs <- fmt.Sprint(server, ":", p.Level, ":", p.Data)
				},
			}})
			start(t, s)
			if v := s.Status().Version; v != string(era) {
				t.Fatalf("version %s", v)
			}
			got, err := s.Call(context.WithValue(ctxFor(t), key{}, "of the call"), "ask", nil, nil)
			if err != nil || textOf(t, got) != "accept" || asked != "s:sure?" || value != "of the call" {
				t.Errorf("ask: %s, %v; asked %q under %q", got, err, asked, value)
			}
			want := `{"content":[{"type":"image","mimeType":"image/png","data":"AQID+g=="},{"type":"resource_link","uri":"file:///x","name":"x"},` +
				`{"type":"resource","resource":{"uri":"file:///y","text":"y"}}],"structuredContent":{"big":12345678901234567890,"b":1,"a":2}}`
			rich, err := s.Call(ctxFor(t), "rich", nil, nil)
			if !sameJSON(t, rich, want) || !strings.Contains(string(rich), `"k":"v"`) || !strings.Contains(string(rich), "12345678901234567890") {
				t.Errorf("rich: %s, %v\nwant %s", rich, err, want)
			}
			var progress string
			opts := &source.CallOptions{Progress: func(p, total float64, m string) { progress = fmt.Sprint(p, "/", total, " ", m) }}
			if era == source.EraModern {
				opts.Meta = map[string]any{"io.modelcontextprotocol/logLevel": "debug"}
			} else if err := s.SetLogLevel(ctxFor(t), "debug"); err != nil {
				t.Errorf("SetLogLevel: %v", err)
			}
			if _, err := s.Call(ctxFor(t), "log", nil, opts); err != nil || progress != "1/2 half" {
				t.Errorf("log: %v; progress %q", err, progress)
			}
			select {
			case l := <-logs:
				if l != "s:warning:careful" {
					t.Errorf("logged %q", l)
				}
			case <-time.After(patience):
				t.Error("nothing was logged")
			}
			access(t, s)
		})
	}
}

func access(t *testing.T, s *source.Source) {
	t.Helper()
	ctx := ctxFor(t)
	resources, err := s.Resources(ctx)
	if err != nil || len(resources) != 1 || resources[0].Name != "r" {
		t.Errorf("Resources: %v, %v", resources, err)
	}
	if templates, err := s.ResourceTemplates(ctx); err != nil || len(templates) != 1 {
		t.Errorf("ResourceTemplates: %v, %v", templates, err)
	}
	if r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///r"}); err != nil || r.Contents[0].Text != "content" {
		t.Errorf("ReadResource: %v, %v", r, err)
	}
	if prompts, err := s.Prompts(ctx); err != nil || len(prompts) != 1 {
		t.Errorf("Prompts: %v, %v", prompts, err)
	}
	if p, err := s.Prompt(ctx, &mcp.GetPromptParams{Name: "p"}); err != nil || p.Description != "prompt p" {
		t.Errorf("Prompt: %v, %v", p, err)
	}
	if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///none"}); err == nil {
		t.Error("ReadResource of nothing succeeded")
	}
}

func sameJSON(t *testing.T, a json.RawMessage, b string) bool {
	t.Helper()
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	delete(x, "_meta") // 2026-07-28 puts the server's name there
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// TestHostileForm refuses a form whose schema would end this process.
func TestHostileForm(t *testing.T) {
	asked := 0
	s := open(t, fake(t, "asks"), &source.Options{Handlers: source.Handlers{
		Elicit: func(context.Context, string, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked++
			if asked > 1 {
				panic("in a handler")
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "x"}}, nil
		},
	}})
	start(t, s)
	if got := call(t, s, "echo", `{}`); !strings.Contains(got, "uses $ref") || asked != 0 {
		t.Errorf("the server was told %s, the user was asked %d times", got, asked)
	}
	if got := call(t, s, "echo", `{"a":"good"}`); !strings.Contains(got, `"accept"`) || asked != 1 {
		t.Errorf("the server was told %s, the user was asked %d times", got, asked)
	}
	if got := call(t, s, "echo", `{"a":"good"}`); !strings.Contains(got, "internal error") || asked != 2 {
		t.Errorf("the server was told %s, the user was asked %d times", got, asked)
	}
}
