package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/bridge"
)

// deskTools are a few tools of two servers with the same names.
func deskTools() []bridge.Tool {
	issue := bridge.Tool{
		Server: "github", Name: "create_issue", Description: "Create a new issue in a repository. Needs write access.",
		InputSchema: json.RawMessage(`{"type":"object","required":["title","owner","repo"],"properties":{
			"owner":{"type":"string"},"repo":{"type":"string"},"title":{"type":"string"},
			"labels":{"type":"array","items":{"type":"string"}},"draft":{"type":"boolean"},"milestone":{"type":["integer","null"]},
			"state":{"type":"string","enum":["open","closed"]},"meta":{"type":"object"}}}`),
	}
	return []bridge.Tool{
		issue,
		tool("github", "list_issues", "List the issues of a repository.", "repo"),
		tool("gitlab", "create_issue", "Create an issue in a project.", "project"),
		{Server: "clock", Name: "now", Description: "Tell the time.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
}

func handle(t testing.TB, in *bridge.Injector, request string, invoker bridge.Invoker) bridge.Reply {
	t.Helper()
	reply, err := in.Handle(t.Context(), json.RawMessage(request), invoker)
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return reply
}

// echo invokes by returning what it was given.
var echo = bridge.InvokerFunc(func(_ context.Context, tool bridge.Tool, args json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(fmt.Sprintf(`{"id":%q,"args":%s}`, tool.ID(), args)), nil
})

func TestSignature(t *testing.T) {
	c := mustCatalog(t, deskTools()...)
	want := "create_issue(owner*, repo*, title*, labels[], draft:bool, milestone:int, state:open|closed, meta{})"
	if got := c.Signature("github/create_issue"); got != want {
		t.Errorf("signature is %s, want %s", got, want)
	}
	if got := c.Signature("clock/now"); got != "now()" {
		t.Errorf("signature of a tool without parameters is %s", got)
	}
	if got := c.Signature("no/such"); got != "" {
		t.Errorf("signature of an unknown tool is %s", got)
	}
}

func TestExecuteReachesTheToolMeant(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	for _, tc := range []struct{ request, want string }{
		{`{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`, `{"id":"github/list_issues","args":{"repo":"r"}}`},
		{`{"action":"execute","name":"github__list_issues","arguments":"{\"repo\":\"<r>\"}"}`, `{"id":"github/list_issues","args":{"repo":"<r>"}}`},
		{`{"action":"execute","name":"github:list_issues","arguments":{"z":1,"a":12345678901234567890.10}}`, `{"id":"github/list_issues","args":{"a":12345678901234567890.10,"z":1}}`},
		{`{"action":"execute","name":"clock/now"}`, `{"id":"clock/now","args":{}}`},
		{`{"action":"execute","name":"clock/now","arguments":null,"query":"","names":[]}`, `{"id":"clock/now","args":{}}`},
		{`{"action":"execute","name":"clock/now","arguments":""}`, `{"id":"clock/now","args":{}}`},
	} {
		reply := handle(t, in, tc.request, echo)
		if string(reply.Result) != tc.want || reply.IsError {
			t.Errorf("%s\ngot  %s %q\nwant %s", tc.request, reply.Result, reply.Text, tc.want)
		}
	}
}

func TestWrongRequestsNameTheCallToMake(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	never := bridge.InvokerFunc(func(_ context.Context, tool bridge.Tool, _ json.RawMessage) (json.RawMessage, error) {
		t.Errorf("%s was invoked", tool.ID())
		return nil, nil
	})
	for _, tc := range []struct{ request, want string }{
		{`not json`, `{"action":"search"`},
		{`[]`, `{"action":"search"`},
		{`{"action":"search"`, `{"action":"search"`},
		{`{}`, `{"action":"search"`},
		{`{"action":"search","action":"execute"}`, `stands twice`},
		{`{"action":"execute","name":"clock/now","arguments":{"a":{"b":1,"b":2}}}`, `stands twice`},
		{`{"action":"execute","name":"clock/now","arguments":"{\"a\":1,\"\\u0061\":2}"}`, `stands twice`},
		{`{"query":"weather"}`, `{"action":"search","query":"weather"}`},
		{`{"action":"search","query":7}`, `{"action":"search","query":"what`},
		{`{"action":"search","query":"x","limit":21}`, `{"action":"search","query":"x","limit":20}`},
		{`{"action":"search","query":"x","limit":1.5}`, `"limit":1}`},
		{`{"action":"search","query":"x","limit":-1}`, `"limit":1}`},
		{`{"action":"search","query":"x","limit":"7"}`, `{"action":"search","query":"x","limit":7}`},
		{`{"action":"search","query":"x","limit":"1e999"}`, `"limit":20}`},
		{`{"action":"search","query":"x","limit":"NaN"}`, `"limit":20}`},
		{`{"action":"search","query":["send mail","list files"]}`, `{"action":"search","queries":["send mail","list files"]}`},
		{`{"query":["send mail"],"queries":["list files"]}`, `{"action":"search","queries":["send mail","list files"]}`},
		{`{"tool":"github/list_issues","args":{"repo":"r"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"action":"execute","name":"github/list_issues","parameters":{"repo":"r"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"tool":"github/list_issues"}`, `{"action":"describe","name":"github/list_issues"}`},
		{`{"action":"execute","name":"github/list_issues","name":"clock/now","arguments":{"repo":"r"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"action":"execute","name":"github/list_issues","arguments":{"repo":"r","repo":"s"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"…"}}`},
		{`{"action":"search","queries":["a","b","c","d","e","f","g","h","i"]}`, `"queries":["a","b","c","d","e","f","g","h"]}`},
		{`{"action":"describe"}`, `{"action":"describe","name":"clock/now"}`},
		{`{"action":"describe","name":"list_issues"}`, `{"action":"describe","name":"github/list_issues"}`},
		{`{"action":"describe","names":["a","b","c","d","e","f","g","h","i","j","k"]}`, `"names":["a","b"`},
		{`{"action":"describe","name":{"x":1}}`, `{"action":"describe"`},
		{`{"action":"execute","name":"create_issue","arguments":{"title":"t"}}`, `{"action":"execute","name":"github/create_issue","arguments":{"title":"t"}}`},
		{`{"action":"execute","name":"github/list_isues","arguments":{"repo":"r"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"action":"execute","name":"github/list_issues","repo":"r"}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"action":"execute","name":"github/create_issue"}`, `{"action":"execute","name":"github/create_issue","arguments":{"owner":"…","repo":"…","title":"…"}}`},
		{`{"action":"execute","name":"github/list_issues","arguments":["r"]}`, `"arguments":{"repo":"…"}}`},
		{`{"action":"execute","name":"github/list_issues","arguments":"not json"}`, `"arguments":{"repo":"…"}}`},
		{`{"action":"execute","tool":"github/list_issues","arguments":{"repo":"r"}}`, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`},
		{`{"action":"call","name":"clock/now"}`, `{"action":"execute","name":"clock/now","arguments":{}}`},
		{`{"action":"read","handle":"r1"}`, `{"action":"search"`},
		{"{\"action\":\"search\",\"query\":\"\xff\"}", `{"action":"search"`},
		{strings.Repeat("[", 200), `{"action":"search"`},
		{`{"action":"execute","name":"clock/now","arguments":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}`, `deeply`},
	} {
		reply := handle(t, in, tc.request, never)
		if !reply.IsError || reply.Action != nil || !strings.Contains(reply.Text, tc.want) {
			t.Errorf("%.120s\ngot  %q\nwant %q in it", tc.request, reply.Text, tc.want)
		}
		checkClean(t, reply.Text)
	}
}

func TestRefusalsCanBeTold(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	_, err := in.Route(json.RawMessage(`{"action":"execute","name":"create_issue","arguments":{}}`))
	var request *bridge.RequestError
	if !errors.As(err, &request) || !errors.Is(err, bridge.ErrBareName) || !json.Valid(request.Call) {
		t.Errorf("Route = %v, want a *RequestError over ErrBareName with a call", err)
	}
}

func TestDescribeSeveral(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	reply := handle(t, in, `{"action":"describe","names":["github/list_issues","clock/now","list_isues","github:list_issues"]}`, nil)
	d, ok := reply.Action.(bridge.Describe)
	if !ok || len(d.Tools) != 2 || len(d.Missing) != 1 {
		t.Fatalf("action is %+v, want two tools and one missing", reply.Action)
	}
	for _, part := range []string{"List the issues", `"properties":{"repo"`, "Tell the time", `"list_isues"`, "github/list_issues"} {
		if !strings.Contains(reply.Text, part) {
			t.Errorf("the text lacks %q:\n%s", part, reply.Text)
		}
	}
}

func TestDescribeIsBounded(t *testing.T) {
	var tools []bridge.Tool
	for i := range 4 {
		schema := `{"type":"object","description":"` + strings.Repeat("x", 100_000) + `"}`
		tools = append(tools, bridge.Tool{Server: "s", Name: fmt.Sprint("t", i), Description: "big", InputSchema: json.RawMessage(schema)})
	}
	in := newInjector(t, mustCatalog(t, tools...), nil)
	reply := handle(t, in, `{"action":"describe","names":["s/t0","s/t1","s/t2","s/t3"]}`, nil)
	if n := len(reply.Text); n > 300_000 || strings.Count(reply.Text, "Describe it by itself") != 2 {
		t.Errorf("a reply of %d bytes, want two tools and word of two more", n)
	}
	if one := handle(t, in, `{"action":"describe","name":"s/t3"}`, nil); !strings.Contains(one.Text, "xxxx") {
		t.Error("a tool described by itself is not shown")
	}
}

func TestDescribeShowsTheSchemaAsItIs(t *testing.T) {
	odd := bridge.Tool{Server: "s", Name: "odd", Description: "x", InputSchema: json.RawMessage(
		`{ "type" : "object", "properties": {"a\u202eb": {"description": "` + "zero\u200bwidth ``` <aster_mcp_tools> \U000e0041 <b>" + `", "maximum": 10000000000000000000001}}}`)}
	in := newInjector(t, mustCatalog(t, odd), nil)
	reply := handle(t, in, `{"action":"describe","name":"s/odd"}`, nil)
	checkClean(t, reply.Text)
	_, schema, _ := strings.Cut(reply.Text, "schema: ")
	var got, want any
	if err := json.Unmarshal([]byte(schema), &got); err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	if err := json.Unmarshal(odd.InputSchema, &want); err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(got), fmt.Sprint(want); a != b || !strings.Contains(schema, "10000000000000000000001") {
		t.Errorf("schema is %s, want an equal of %s", schema, odd.InputSchema)
	}
}

func TestSearchReply(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	reply := handle(t, in, `{"action":"search","query":"create issue"}`, nil)
	if want := "github/create_issue(owner*, repo*, title*"; !strings.Contains(reply.Text, want) || strings.Contains(reply.Text, "~github/create") {
		t.Errorf("no strong hit with its signature:\n%s", reply.Text)
	}
	reply = handle(t, in, `{"action":"search","query":"create issue about qwertyish"}`, nil)
	if !strings.Contains(reply.Text, "No tool knows: qwertyish") {
		t.Errorf("the word that nothing fits is not named:\n%s", reply.Text)
	}
	reply = handle(t, in, `{"action":"search","query":"qwertyish zxcvbnm"}`, nil)
	if !strings.Contains(reply.Text, "No tool fits") || !strings.Contains(reply.Text, "github") || strings.Contains(reply.Text, "(") {
		t.Errorf("a search for nothing gives:\n%s", reply.Text)
	}
	reply = handle(t, in, `{"action":"search","queries":["list issues","what time is it"],"limit":1}`, nil)
	if lines := strings.Split(strings.TrimSpace(reply.Text), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "github/list_issues(") || !strings.HasPrefix(lines[1], "clock/now(") {
		t.Errorf("two queries with a limit of one give:\n%s", reply.Text)
	}
}

func TestExecuteIsCheckedAgain(t *testing.T) {
	tools := deskTools()
	in := newInjector(t, mustCatalog(t, tools...), nil)
	route := func() bridge.Execute {
		a, err := in.Route(json.RawMessage(`{"action":"execute","name":"clock/now"}`))
		if err != nil {
			t.Fatal(err)
		}
		return a.(bridge.Execute)
	}
	e := route()
	if err := in.Check(e); err != nil {
		t.Errorf("Check of a fresh action: %v", err)
	}
	if err := in.Check(bridge.Execute{}); !errors.Is(err, bridge.ErrToolChanged) {
		t.Errorf("Check of an action that Route did not make: %v", err)
	}
	in.SetCatalog(mustCatalog(t, tools[:3]...))
	reply, err := in.Do(t.Context(), e, echo)
	if err != nil || !reply.IsError || reply.Result != nil {
		t.Errorf("a tool that left was called: %+v, %v", reply, err)
	}
	changed := deskTools()
	changed[3].Description = "Set the time."
	in.SetCatalog(mustCatalog(t, changed...))
	if err := in.Check(e); !errors.Is(err, bridge.ErrToolChanged) {
		t.Errorf("Check of a tool that changed: %v", err)
	}
	// What Tool returns is a copy: changing it redirects nothing.
	e = route()
	other := e.Tool()
	other.Name = "format_disk"
	copy(e.Arguments(), "!!")
	if reply, _ := in.Do(t.Context(), e, echo); string(reply.Result) != `{"id":"clock/now","args":{}}` {
		t.Errorf("the action was redirected: %s", reply.Result)
	}
}

func TestRequireDescribe(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), func(c *bridge.Config) { c.RequireDescribe = true })
	request := `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`
	reply := handle(t, in, request, echo)
	if !reply.IsError || reply.Result != nil || !strings.Contains(reply.Text, `"properties":{"repo"`) {
		t.Errorf("an undescribed tool was called, or refused without its schema: %+v", reply)
	}
	if reply := handle(t, in, request, echo); reply.IsError {
		t.Errorf("refused again after the schema was shown: %s", reply.Text)
	}
	changed := deskTools()
	changed[1].InputSchema = json.RawMessage(`{"type":"object","properties":{"project":{}}}`)
	in.SetCatalog(mustCatalog(t, changed...))
	if reply := handle(t, in, request, echo); !reply.IsError {
		t.Error("called with a schema that the model has not seen")
	}
}

func TestBadArgumentsCarryTheSchema(t *testing.T) {
	wrong := errors.New("repo: want a string\u202e, got a number")
	in := newInjector(t, mustCatalog(t, deskTools()...), func(c *bridge.Config) {
		c.CheckArguments = func(_ context.Context, tool bridge.Tool, args json.RawMessage) error {
			if tool.ID() == "github/list_issues" && string(args) == `{"repo":1}` {
				return wrong
			}
			return nil
		}
	})
	reply := handle(t, in, `{"action":"execute","name":"github/list_issues","arguments":{"repo":1}}`, echo)
	if !reply.IsError || reply.Result != nil || !strings.Contains(reply.Text, "want a string") || !strings.Contains(reply.Text, `schema: {"properties":{"repo"`) {
		t.Errorf("reply to bad arguments: %+v", reply)
	}
	checkClean(t, reply.Text)
	if reply := handle(t, in, `{"action":"execute","name":"github/list_issues","arguments":{"repo":"r"}}`, echo); reply.IsError {
		t.Errorf("good arguments refused: %s", reply.Text)
	}
}

type recorder struct {
	mu     sync.Mutex
	events []bridge.Event
}

func (r *recorder) Record(e bridge.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func TestMetrics(t *testing.T) {
	var got recorder
	in := newInjector(t, mustCatalog(t, deskTools()...), func(c *bridge.Config) { c.Metrics = &got })
	in.Inject()
	handle(t, in, `{"action":"search","query":"qwertyish"}`, nil)
	handle(t, in, `{"action":"execute","name":"clock/now"}`, echo)
	handle(t, in, `{"action":"describe","name":"clock/now"}`, nil)
	handle(t, in, `{"action":"execute","name":"clock/now"}`, echo)
	handle(t, in, `{"action":"execute","name":"clock/when"}`, echo)
	for _, err := range []error{fmt.Errorf("the user said no: %w", bridge.ErrDenied), errors.New("connection lost")} {
		reply, got := in.Handle(t.Context(), json.RawMessage(`{"action":"execute","name":"clock/now"}`),
			bridge.InvokerFunc(func(context.Context, bridge.Tool, json.RawMessage) (json.RawMessage, error) { return nil, err }))
		if !errors.Is(got, err) || !reply.IsError || reply.Text != err.Error() {
			t.Errorf("invoker's %v gives %+v, %v", err, reply, got)
		}
	}
	var kinds []string
	for _, e := range got.events {
		kinds = append(kinds, fmt.Sprintf("%v %s %v", e.Kind, e.ID, e.Described))
	}
	want := "injected  false,searched  false,executed clock/now false,described clock/now false,executed clock/now true,refused  false,denied clock/now true,failed clock/now true"
	if list := strings.Join(kinds, ","); list != want {
		t.Errorf("events are\n%s\nwant\n%s", list, want)
	}
	if e := got.events[0]; e.ManifestTokens == 0 || e.BudgetTokens != 6000 || e.Level != bridge.LevelFull {
		t.Errorf("injected event is %+v", e)
	}
}

type pages map[string]string

func (p pages) ReadPage(_ context.Context, handle string) (string, error) {
	if s, ok := p[handle]; ok {
		return s, nil
	}
	return "", fmt.Errorf("no page %q", handle)
}

func TestRead(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), func(c *bridge.Config) { c.Pages = pages{"r1.2": "the second page"} })
	if got := in.Inject(); !strings.Contains(string(got.BridgeTool), `"read"`) || bridge.EstimateTokens(string(got.BridgeTool)) >= 350 {
		t.Errorf("bridge tool with pages: %s", got.BridgeTool)
	}
	if reply := handle(t, in, `{"action":"read","handle":"r1.2"}`, nil); reply.Text != "the second page" || reply.IsError {
		t.Errorf("read gives %+v", reply)
	}
	if reply := handle(t, in, `{"action":"read","handle":"r9"}`, nil); !reply.IsError {
		t.Errorf("an unknown handle gives %+v", reply)
	}
	if reply := handle(t, in, `{"action":"read"}`, nil); !reply.IsError || !strings.Contains(reply.Text, `{"action":"read","handle":`) {
		t.Errorf("read without a handle gives %+v", reply)
	}
}

func TestConcurrentUse(t *testing.T) {
	in := newInjector(t, mustCatalog(t, deskTools()...), nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				switch (i + j) % 4 {
				case 0:
					in.Inject()
				case 1:
					in.SetCatalog(mustCatalog(t, deskTools()[:1+j%4]...))
				case 2:
					in.Handle(context.Background(), json.RawMessage(`{"action":"search","query":"list issues"}`), nil)
				case 3:
					in.Handle(context.Background(), json.RawMessage(`{"action":"execute","name":"github/create_issue","arguments":{}}`), echo)
				}
			}
		})
	}
	wg.Wait()
}
