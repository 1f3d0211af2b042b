package shim_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/shim"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, payload string
		want          *shim.Message
	}{
		{"reset of nothing", `{"t":"tools","reset":true}`, &shim.Message{Tools: &shim.Tools{Reset: true}}},
		{"remove and add", `{"t":"tools","remove":["a"],"add":[{"name":"a","title":"A","description":"d"}]}`,
			&shim.Message{Tools: &shim.Tools{Remove: []string{"a"}, Add: []shim.Tool{{Name: "a", Title: "A", Description: "d"}}}}},
		{"everything a tool can have",
			`{"t":"tools","add":[{"name":"A.b_c-9","title":"é","description":"x","inputSchema":"{\"type\":\"object\"}",` +
				`"annotations":{"readOnlyHint":true,"untrustedContentHint":true,"consequentialHint":true,"debugging":true},"exposedTo":["https://x.example"]}]}`,
			&shim.Message{Tools: &shim.Tools{Add: []shim.Tool{{
				Name: "A.b_c-9", Title: "é", Description: "x", InputSchema: json.RawMessage(`{"type":"object"}`),
				Annotations: &shim.Annotations{ReadOnly: true, UntrustedContent: true, Consequential: true, Debugging: true},
				ExposedTo:   []string{"https://x.example"},
			}}}}},
		{"an output schema and an id", `{"t":"tools","add":[{"name":"a","id":"7","outputSchema":"{\"type\":\"object\"}"}]}`,
			&shim.Message{Tools: &shim.Tools{Add: []shim.Tool{{Name: "a", ID: "7", OutputSchema: json.RawMessage(`{"type":"object"}`)}}}}},
		{"a run of a registration", `{"t":"run","id":"1","path":".0","origin":"https://x.example","name":"a","tool":"7","input":"{}"}`,
			&shim.Message{Run: &shim.Run{ID: "1", Path: ".0", Origin: "https://x.example", Name: "a", ToolID: "7", Input: "{}"}}},
		{"unknown members", `{"t":"tools","more":[1],"add":[{"name":"a","x":{"y":1},"annotations":{"z":1}}]}`,
			&shim.Message{Tools: &shim.Tools{Add: []shim.Tool{{Name: "a", Annotations: &shim.Annotations{}}}}}},
		{"a lone surrogate", `{"t":"tools","add":[{"name":"a","title":"x\ud800y"}]}`,
			&shim.Message{Tools: &shim.Tools{Add: []shim.Tool{{Name: "a", Title: "x\ufffdy"}}}}},
		{"completed", `{"t":"result","id":"1","status":"Completed","output":"null","error":"ignored"}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindCompleted, Status: shim.StatusCompleted, Output: "null"}}},
		{"error", `{"t":"result","id":"1","status":"Error","error":"Error: x","stack":"s","output":"ignored"}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindFailed, Status: shim.StatusError, Error: "Error: x", Stack: "s"}}},
		{"not found", `{"t":"result","id":"1","status":"Error","error":"Tool not found: x","notFound":true}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindFailed, Status: shim.StatusError, Error: "Tool not found: x", NotFound: true}}},
		{"a form", `{"t":"tools","add":[{"name":"a","form":{"autosubmit":true}},{"name":"b","form":{}}]}`,
			&shim.Message{Tools: &shim.Tools{Add: []shim.Tool{{Name: "a", Form: &shim.Form{Autosubmit: true}}, {Name: "b", Form: &shim.Form{}}}}}},
		{"waiting", `{"t":"waiting","id":"1","button":"Send"}`, &shim.Message{Waiting: &shim.Waiting{ID: "1", Button: "Send"}}},
		{"submitted", `{"t":"result","id":"1","status":"Submitted","target":"f","output":"ignored"}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindNavigated, Status: shim.StatusSubmitted, Target: "f"}}},
		{"canceled by the page", `{"t":"result","id":"1","status":"Canceled","error":"reset"}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindCanceled, Status: shim.StatusCanceled, Error: "reset"}}},
		{"canceled", `{"t":"result","id":"1","status":"Canceled"}`,
			&shim.Message{Result: &shim.Result{ID: "1", Kind: shim.KindCanceled, Status: shim.StatusCanceled}}},
	} {
		got, err := shim.Parse(tc.payload)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	tool := func(members string) string { return `{"t":"tools","add":[{"name":"a",` + members + `}]}` }
	list := func(n int, entry string) string { return strings.TrimSuffix(strings.Repeat(entry+",", n), ",") }
	for name, payload := range map[string]string{
		"nothing":                  ``,
		"no object":                `[]`,
		"null":                     `null`,
		"cut short":                `{"t":"tools","add":[`,
		"more after it":            `{"t":"tools"} {}`,
		"no type":                  `{"add":[]}`,
		"unknown type":             `{"t":"other"}`,
		"type of a wrong type":     `{"t":5}`,
		"a tool that is no tool":   `{"t":"tools","add":[5]}`,
		"a tool without a name":    `{"t":"tools","add":[{}]}`,
		"an empty name":            `{"t":"tools","add":[{"name":""}]}`,
		"a name with a space":      `{"t":"tools","add":[{"name":"a b"}]}`,
		"a name that is not text":  `{"t":"tools","add":[{"name":5}]}`,
		"a long name":              `{"t":"tools","add":[{"name":"` + long(shim.MaxNameBytes+1) + `"}]}`,
		"a bad name removed":       `{"t":"tools","remove":["\u0000"]}`,
		"a long title":             tool(`"title":"` + long(shim.MaxTextBytes+1) + `"`),
		"a long description":       tool(`"description":"` + long(shim.MaxTextBytes+1) + `"`),
		"a schema not in text":     tool(`"inputSchema":{}`),
		"a schema that is broken":  tool(`"inputSchema":"{"`),
		"an empty schema":          tool(`"inputSchema":""`),
		"a long schema":            tool(`"inputSchema":"[` + long(shim.MaxSchemaBytes) + `]"`),
		"a broken output schema":   tool(`"outputSchema":"{"`),
		"a long output schema":     tool(`"outputSchema":"[` + long(shim.MaxSchemaBytes) + `]"`),
		"a long id of a tool":      tool(`"id":"` + long(shim.MaxIDBytes+1) + `"`),
		"a run with a long id":     `{"t":"run","id":"1","tool":"` + long(shim.MaxIDBytes+1) + `"}`,
		"annotations that are no":  tool(`"annotations":5`),
		"a hint that is no bool":   tool(`"annotations":{"readOnlyHint":"yes"}`),
		"many origins":             tool(`"exposedTo":[` + list(shim.MaxExposedTo+1, `"https://x"`) + `]`),
		"a long origin":            tool(`"exposedTo":["` + long(shim.MaxTextBytes+1) + `"]`),
		"many tools":               `{"t":"tools","add":[` + list(shim.MaxTools+1, `{"name":"a"}`) + `]}`,
		"many removed":             `{"t":"tools","remove":[` + list(shim.MaxTools+1, `"a"`) + `]}`,
		"deep nesting":             `{"t":"tools","x":` + strings.Repeat("[", 1<<20),
		"a result without id":      `{"t":"result","status":"Canceled"}`,
		"a result with a long id":  `{"t":"result","id":"` + long(shim.MaxIDBytes+1) + `","status":"Canceled"}`,
		"an unknown status":        `{"t":"result","id":"1","status":"Fine"}`,
		"a status of wrong case":   `{"t":"result","id":"1","status":"completed"}`,
		"a long error":             `{"t":"result","id":"1","status":"Error","error":"` + long(shim.MaxTextBytes+1) + `"}`,
		"a long stack":             `{"t":"result","id":"1","status":"Error","stack":"` + long(shim.MaxTextBytes+1) + `"}`,
		"waiting without id":       `{"t":"waiting","button":"x"}`,
		"a long button":            `{"t":"waiting","id":"1","button":"` + long(shim.MaxTextBytes+1) + `"}`,
		"a long target":            `{"t":"result","id":"1","status":"Submitted","target":"` + long(shim.MaxTextBytes+1) + `"}`,
		"a form that is no object": tool(`"form":true`),
		"a long message":           `{"t":"result","id":"1","status":"Completed","output":"` + long(shim.MaxMessageBytes) + `"}`,
	} {
		m, err := shim.Parse(payload)
		if err == nil {
			t.Errorf("%s: accepted as %+v", name, m)
		} else if !errors.Is(err, shim.ErrMessage) {
			t.Errorf("%s: error %v does not wrap ErrMessage", name, err)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: the error is %d bytes long", name, len(err.Error()))
		}
	}
}

func TestParseTakesLargeMessages(t *testing.T) {
	t.Parallel()
	output := strings.Repeat("x", 8<<20)
	m, err := shim.Parse(`{"t":"result","id":"1","status":"Completed","output":"` + output + `"}`)
	if err != nil || m.Result.Output != output {
		t.Errorf("a result of 8 MiB: %v", err)
	}
	var names []string
	for range shim.MaxTools {
		names = append(names, `{"name":"`+strings.Repeat("n", shim.MaxNameBytes)+`"}`)
	}
	if m, err := shim.Parse(`{"t":"tools","add":[` + strings.Join(names, ",") + `]}`); err != nil || len(m.Tools.Add) != shim.MaxTools {
		t.Errorf("a message of exactly MaxTools tools: %v", err)
	}
}

// Whatever comes up, Parse gives an error or a message within the bounds that it promises.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"t":"list","id":"1","origins":["https://x.example"]}`, `{"t":"cancel","id":"1"}`,
		`{"t":"tools","add":[{"name":"a","id":"7","outputSchema":"{}"}]}`,
		`{"t":"run","id":"1","path":".0","origin":"https://x.example","name":"a","tool":"7","input":"{}"}`,
		`{"t":"tools","reset":true,"remove":["a","b.c"],"add":[{"name":"a","title":"T","description":"d","inputSchema":"{\"type\":\"object\"}","annotations":{"readOnlyHint":true},"exposedTo":["https://x.example"]}]}`,
		`{"t":"result","id":"7","status":"Completed","output":"{\"a\":1}"}`,
		`{"t":"result","id":"7","status":"Error","error":"TypeError: x","stack":"at y"}`,
		`{"t":"result","id":"7","status":"Error","error":"Tool not found: a","notFound":true}`,
		`{"t":"result","id":"7","status":"Canceled"}`,
		`{"t":"waiting","id":"7","button":"Send"}`, `{"t":"result","id":"7","status":"Submitted","target":"_top"}`,
		`{"t":"tools","add":[{"name":"\ud800"}]}`, `{"T":"tools"}`, `[[[[`, "\x00", `{"t":"tools","add":null}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		m, err := shim.Parse(payload)
		if err != nil {
			if m != nil || !errors.Is(err, shim.ErrMessage) {
				t.Fatalf("message %v with error %v", m, err)
			}
			return
		}
		kinds := 0
		for _, is := range []bool{m.Tools != nil, m.Result != nil, m.Waiting != nil, m.List != nil, m.Run != nil, m.Cancel != nil} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Fatalf("not exactly one of the kinds: %+v", m)
		}
		switch {
		case m.Result != nil:
			checkResult(t, m.Result)
		case m.Tools != nil:
			for _, tool := range m.Tools.Add {
				checkTool(t, tool)
			}
		case m.List != nil && len(m.List.Origins) > shim.MaxFromOrigins, m.Run != nil && (len(m.Run.Path) > shim.MaxPathBytes || len(m.Run.ToolID) > shim.MaxIDBytes):
			t.Fatalf("out of bounds: %+v", m)
		}
	})
}

func checkResult(t *testing.T, r *shim.Result) {
	switch r.Status {
	case shim.StatusCompleted, shim.StatusError, shim.StatusCanceled, shim.StatusSubmitted:
	default:
		t.Fatalf("status %q", r.Status)
	}
	if r.ID == "" || len(r.ID) > shim.MaxIDBytes || len(r.Error) > shim.MaxTextBytes || len(r.Stack) > shim.MaxTextBytes {
		t.Fatalf("out of bounds: %+v", r)
	}
	if r.Status != shim.StatusError && (r.Error != "" && r.Status != shim.StatusCanceled || r.Stack != "" || r.NotFound) {
		t.Fatalf("an error in a result that is none: %+v", r)
	}
}

func checkTool(t *testing.T, tool shim.Tool) {
	if tool.Name == "" || len(tool.Name) > shim.MaxNameBytes || strings.Trim(tool.Name, nameCharacters) != "" {
		t.Fatalf("name %q", tool.Name)
	}
	if !utf8.ValidString(tool.Title) || !utf8.ValidString(tool.Description) {
		t.Fatalf("text that is not UTF-8: %+v", tool)
	}
	if len(tool.Title) > shim.MaxTextBytes || len(tool.Description) > shim.MaxTextBytes || len(tool.ID) > shim.MaxIDBytes {
		t.Fatal("out of bounds")
	}
	for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
		if schema != nil && !json.Valid(schema) || len(schema) > shim.MaxSchemaBytes {
			t.Fatalf("schema %.200q", schema)
		}
	}
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
