package webmcp_test

import (
	"strings"
	"testing"

	"github.com/aster-mcp/aster/webmcp"
)

// generations are page scripts that play the page API of earlier browsers, or of
// polyfills, with one tool "old" that greets. They are in place before aster's shim
// could be, as a browser's own API would be.
var generations = map[string]string{
	"146 testing": `
		const tools = [{name: 'old', description: 'd', inputSchema: '{"type":"object","properties":{"who":{"type":"string"}}}'}];
		let changed = () => {};
		navigator.modelContextTesting = {listTools: () => tools, executeTool: async (n, json) => greet(JSON.parse(json)), registerToolsChangedCallback: (f) => { changed = f; }};
		window.more = () => { tools.push({name: 'more', description: 'd', inputSchema: '{}'}); changed(); };`,
	"150 document, JSON text": generation("document", "JSON.stringify(schema)", `if (typeof input !== 'string') throw new DOMException('Failed to parse input arguments', 'UnknownError'); return greet(JSON.parse(input));`, "window"),
	"150 navigator":           generation("navigator", "JSON.stringify(schema)", `if (typeof input !== 'string') throw new DOMException('Failed to parse input arguments', 'UnknownError'); return greet(JSON.parse(input));`, "window"),
	"154 object schema":       generation("document", "schema", `if (typeof input !== 'string') throw new SyntaxError('"[object Object]" is not valid JSON'); return greet(JSON.parse(input));`, "window"),
	"155 object input":        generation("document", "schema", `return greet(input);`, "window"),
	"160 source":              generation("document", "schema", `return greet(input);`, "source"),
	"polyfill with callTool": `
		const tools = [{name: 'old', description: 'd', inputSchema: {type: 'object'}}], mc = new EventTarget();
		mc.listTools = () => tools; mc.callTool = async ({arguments: a}) => ({content: [{type: 'text', text: greet(a)}]});
		navigator.modelContext = mc;
		window.more = () => { tools.push({name: 'more', description: 'd', inputSchema: {}}); mc.dispatchEvent(new Event('toolchange')); };`,
}

func generation(where, schema, execute, win string) string {
	return `
		const schema = {type: 'object', properties: {who: {type: 'string'}}};
		const tools = [{name: 'old', title: '', description: 'd', inputSchema: ` + schema + `, origin: location.origin, ` + win + `: window}];
		const mc = new EventTarget();
		mc.getTools = async () => tools.slice(); mc.executeTool = async (tool, input) => { ` + execute + ` };
		Object.defineProperty(` + where + `, 'modelContext', {value: mc, configurable: true});
		window.more = () => { tools.push({...tools[0], name: 'more'}); mc.dispatchEvent(new Event('toolchange')); };`
}

func TestGenerationsOfThePageAPI(t *testing.T) {
	r := newRig(t, false, nil)
	for name, js := range generations {
		t.Run(name, func(t *testing.T) {
			path := "/" + strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")
			// The script replaces what the shim put there: the probe at load meets it as it
			// would meet a browser's.
			p := r.browser.NewPage(t, r.Page(path, script(`window.greet = (a) => 'hello ' + (a.who ?? 'you'); {`+js+`}`)))
			defer p.Close(t)
			r.awaitTools(t, 1)
			who := map[string]any{"name": "old", "arguments": map[string]any{"who": "me"}}
			wantText(t, r.call(t, "webmcp_call", who), false, "hello me")
			p.Eval(t, "more()")
			r.awaitTools(t, 2)
			wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "more"}), false, "hello you")
			p.Navigate(t, r.Page("/none", script("")))
			r.awaitTools(t, 0)
		})
	}
}

func TestLegacyPages(t *testing.T) {
	page := script(`if (navigator.modelContext) {
		navigator.modelContext.registerTool({name: 'gone', description: 'd', inputSchema: {type: 'object'}, execute: () => 'gone'});
		navigator.modelContext.unregisterTool('gone');
		navigator.modelContext.provideContext({tools: [{name: 'old', description: 'd', inputSchema: {type: 'object'}, execute: async (a, client) => ({content: [{type: 'text', text: 'asked ' + await client.requestUserInteraction(async () => 'the user')}]})}]});
	}`)
	r := newRig(t, false, func(o *webmcp.Options) { o.LegacyAPI = true })
	before := r.browser.NewPage(t, r.Page("/legacy", page))
	r.awaitNames(t, "old")
	wantText(t, r.call(t, "old", nil), false, "asked the user")
	// The next bridge would adopt the shim of this page with its tools.
	before.Close(t)
	r.stop()
	r2 := newRig(t, false, nil)
	p := r2.browser.NewPage(t, r2.Page("/legacy", page))
	if got := p.EvalString(t, "typeof navigator.modelContext"); got != "undefined" {
		t.Errorf("without the flag navigator.modelContext is %s", got)
	}
	r2.awaitNames(t)
}
