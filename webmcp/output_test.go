package webmcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// outputCases are output schemas, with what the client is told of each and what becomes
// of the result {"hello":"you"}.
var outputCases = []struct {
	schema string // JSON
	told   bool
	note   string // in the note on the schemas
	wrong  string // in the text of a result that does not fit
}{
	{schema: `{"type":"object","properties":{"hello":{"type":"string"}},"required":["hello"]}`, told: true},
	{schema: `{"properties":{"hello":{"type":"string"}}}`, told: true},
	{schema: `{"type":"object","properties":{"hello":{"type":"number"}}}`, told: true, wrong: "does not fit the output schema"},
	{schema: `{"type":"array","items":{}}`, note: "the page's output schema is left out"},
	{schema: `{"type":"string"}`, note: "the page's output schema is left out"},
	{schema: `{}`, note: `its type is not "object"`},
	{schema: `{"type":"object","properties":{"a":{"$ref":"https://elsewhere.example/x"}}}`, note: "the page's output schema is left out"},
	{schema: `{"type":"object","x-mcp-header":"Bad Name"}`, told: true},
}

// checkOutputs holds the tools out0, out1 and so on against outputCases.
func checkOutputs(t *testing.T, r *rig) {
	t.Helper()
	tools := r.pageTools(t)
	for i, tc := range outputCases {
		name := fmt.Sprintf("out%d", i)
		tool := tools[name]
		if tool == nil {
			t.Errorf("%s: the tool is not served", tc.schema)
			continue
		}
		note, _ := tool.Meta["aster/schemaNote"].(string)
		if (tool.OutputSchema != nil) != tc.told || (note == "") != (tc.note == "") || !strings.Contains(note, tc.note) {
			t.Errorf("%s: told %v, note %q; want told %v and %q in the note", tc.schema, tool.OutputSchema, note, tc.told, tc.note)
		}
		res := r.call(t, name, nil)
		wantText(t, res, tc.wrong != "", `{"hello":"you"}`)
		if tc.wrong != "" {
			wantText(t, res, true, tc.wrong)
		} else if fmt.Sprint(res.StructuredContent) != "map[hello:you]" {
			t.Errorf("%s: the structured result is %v", tc.schema, res.StructuredContent)
		}
		// Who calls by the fixed tool was promised nothing.
		wantText(t, r.call(t, "webmcp_call", map[string]any{"name": name}), false, `{"hello":"you"}`)
	}
}

func TestOutputSchemasOfNative(t *testing.T) {
	f := &fakePage{withID: true, product: "Chrome/160.0.8173.2"}
	for _, tc := range outputCases {
		f.output = append(f.output, rawJSON(tc.schema))
	}
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: f.handle})
	r := &rig{}
	r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, e.HTTP) })
	r.awaitTools(t, len(outputCases)+1)
	checkOutputs(t, r)
}

// rawJSON is a schema as it goes over the wire.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestOutputSchemasOfShim(t *testing.T) {
	for _, compat := range []string{webmcp.Compat159, webmcp.Compat160, webmcp.Compat156} {
		t.Run(compat, func(t *testing.T) {
			r := newRig(t, false, func(o *webmcp.Options) { o.Compat = compat })
			var js strings.Builder
			for i, tc := range outputCases {
				fmt.Fprintf(&js, "document.modelContext.registerTool({name: 'out%d', description: 'd', outputSchema: %s, execute: () => ({hello: 'you'})});\n", i, tc.schema)
			}
			p := r.browser.NewPage(t, r.Page("/outputs", script(js.String())))
			defer p.Close(t)
			r.awaitTools(t, len(outputCases))
			if compat != webmcp.Compat156 {
				checkOutputs(t, r)
				return
			}
			for name, tool := range r.pageTools(t) {
				if tool.OutputSchema != nil {
					t.Errorf("%s has an output schema, which 156 does not know", name)
				}
			}
		})
	}
}

// The shim plays the version that the browser says it is, unless another is asked for.
func TestCompatFollowsBrowser(t *testing.T) {
	for _, tc := range []struct{ product, compat, want string }{
		{"Chrome/156.0.8078.114", "", `\"compat\":156`},
		{"HeadlessChrome/160.0.8173.2", "", `\"compat\":160`},
		{"Edg/159.0.1.2", "auto", `\"compat\":159`},
		{"Chrome/161.0.1.2", "156", `\"compat\":156`},
		{"Chrome/156.0.8078.114", "160", `\"compat\":160`},
		{"nonsense", "", `\"compat\":156`},
	} {
		f := &fakePage{product: tc.product}
		e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: f.handle})
		r := &rig{}
		r.attach(t, func(o *webmcp.Options) { o.Finder, o.Compat = finder(t, e.HTTP), tc.compat })
		r.awaitNames(t, "greet")
		f.mu.Lock()
		scripts := strings.Join(f.scripts, "\n")
		f.mu.Unlock()
		if !strings.Contains(scripts, tc.want) {
			t.Errorf("%s with %q: no script has %s", tc.product, tc.compat, tc.want)
		}
		r.stop()
	}
	if _, err := webmcp.New(&webmcp.Options{Finder: finder(t, "http://127.0.0.1:1"), Compat: "155"}); err == nil {
		t.Error("version 155 can be asked for")
	}
}

// Tool objects of another origin stand for one registration too.
func TestToolObjectsAcrossOrigins(t *testing.T) {
	r := newRig(t, false, func(o *webmcp.Options) { o.Compat = webmcp.Compat160 })
	origin := strings.TrimSuffix(r.At("outer.localhost", "/"), "/")
	r.Page("/inner", script(`
		let controller, n = 0;
		const add = () => {
		  controller = new AbortController();
		  const result = 'run ' + ++n;
		  document.modelContext.registerTool({name: 'inner', description: 'd', outputSchema: {type: 'object'}, execute: () => result},
		    {exposedTo: ['`+origin+`'], signal: controller.signal}).catch(() => {});
		};
		onmessage = async () => { controller.abort(); add(); await document.modelContext.getTools(); parent.postMessage('again', '*'); };
		add();`))
	r.Page("/outer", `<!doctype html><title>outer</title><iframe allow="tools" src="`+r.At("inner.localhost", "/inner")+`"></iframe>`)
	p := r.browser.NewPage(t, r.At("outer.localhost", "/outer"))
	defer p.Close(t)
	r.awaitTools(t, 1)
	got := p.EvalString(t, `(async () => {
	  const mc = document.modelContext, from = '`+strings.TrimSuffix(r.At("inner.localhost", "/"), "/")+`';
	  const find = async () => (await mc.getTools({fromOrigins: [from]}))[0];
	  let tool;
	  while (!(tool = await find())) await new Promise((done) => setTimeout(done, 10));
	  const seen = [tool instanceof Tool, tool.source === frames[0], tool.origin === from, JSON.stringify(tool.outputSchema), tool.inputSchema];
	  seen.push(await mc.executeTool(tool));
	  const again = new Promise((done) => (onmessage = done));
	  frames[0].postMessage('', '*');
	  await again;
	  seen.push(await mc.executeTool(tool).catch((e) => e.name), await mc.executeTool(await find()));
	  return seen.join(' | ');
	})()`)
	if want := `true | true | true | {"type":"object"} |  | run 1 | UnknownError | run 2`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
