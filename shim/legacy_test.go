package shim_test

import (
	"testing"

	"github.com/aster-mcp/aster/shim"
)

func TestLegacyOff(t *testing.T) {
	t.Parallel()
	pg, _ := startPage(t, shim.Config{})
	got := string(pg.eval(`(async () => {
	  const mc = document.modelContext;
	  const found = ['unregisterTool', 'provideContext', 'clearContext'].filter((k) => k in mc);
	  if ('modelContext' in navigator) found.push('navigator');
	  await mc.registerTool({name: 'a', description: 'd', execute: (i, o) => Object.keys(o).join()});
	  found.push(await mc.executeTool((await mc.getTools())[0]));
	  return found;
	})()`))
	if got != `["signal"]` {
		t.Errorf("without Legacy a page has %s", got)
	}
}

func TestLegacyOn(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{Legacy: true})
	pg.eval(`globalThis.mc = navigator.modelContext; globalThis.T = (name, more) => ({name, description: 'd', inputSchema: {type: 'object'}, execute: async () => name, ...more});
	  globalThis.names = async () => (await mc.getTools()).map((t) => t.name).join();
	  globalThis.attempt = (f) => { try { const r = f(); return r === undefined ? 'undefined' : typeof r; } catch (e) { return e.name + ': ' + e.message; } };`)
	for _, tc := range []struct{ name, js, want string }{
		{"one object by two names", `[mc === document.modelContext, mc === navigator.modelContext, mc instanceof ModelContext, 'modelContext' in Navigator.prototype].join()`, `"true,true,true,true"`},
		{"provideContext", `attempt(() => mc.provideContext({tools: [T('a'), T('b')]}))`, `"undefined"`},
		{"its tools", `names()`, `"a,b"`},
		{"registerTool", `mc.registerTool(T('c')).then(names)`, `"a,b,c"`},
		{"provideContext replaces", `attempt(() => mc.provideContext({tools: [T('b', {description: 'new'}), T('d')]}))`, `"undefined"`},
		{"its tools then", `mc.getTools().then((l) => l.map((t) => t.name + t.description).join())`, `"bnew,dd"`},
		{"a bad tool changes nothing", `attempt(() => mc.provideContext({tools: [T('x'), T('bad name')]}))`, `"InvalidStateError: Invalid tool name"`},
		{"two of a name change nothing", `attempt(() => mc.provideContext({tools: [T('x'), T('x')]}))`, `"InvalidStateError: Duplicate tool name"`},
		{"a missing member changes nothing", `attempt(() => mc.provideContext({tools: [{name: 'x'}]}))`, `"TypeError: Failed to execute 'provideContext' on 'ModelContext': Failed to read the 'tools' property from 'ProvideContextParams': Failed to read the 'description' property from 'ModelContextTool': Required member is undefined."`},
		{"its tools still", `names()`, `"b,d"`},
		{"unregisterTool", `attempt(() => mc.unregisterTool('b'))`, `"undefined"`},
		{"unregisterTool of nothing", `attempt(() => mc.unregisterTool('b'))`, `"InvalidStateError: Invalid tool name"`},
		{"what is left", `names()`, `"d"`},
		{"clearContext", `attempt(() => mc.clearContext())`, `"undefined"`},
		{"nothing left", `names()`, `""`},
		{"provideContext without tools", `attempt(() => mc.provideContext({}))`, `"undefined"`},
		{"wrong receivers", `[attempt(() => mc.clearContext.call({})), attempt(() => mc.unregisterTool.call(document, 'x')), attempt(() => mc.provideContext.call(null, {}))].join()`, `"TypeError: Illegal invocation,TypeError: Illegal invocation,TypeError: Illegal invocation"`},
		{"the client", `mc.registerTool(T('ask', {execute: async (input, client) => JSON.stringify([input, await client.requestUserInteraction(async () => 'yes'), client.signal.aborted])})).then(async () => mc.executeTool((await mc.getTools())[0], {q: 1}))`, `"[{\"q\":1},\"yes\",false]"`},
		{"a client without a callback", `(mc.unregisterTool('ask'), mc.registerTool(T('ask', {execute: (input, client) => client.requestUserInteraction(5)}))).then(async () => mc.executeTool((await mc.getTools())[0])).catch((e) => e.name)`, `"UnknownError"`},
	} {
		if got := string(pg.eval(tc.js)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	eventually(t, "the last tool", func() bool { return p.tools(t) == "ask" })
	pg.eval(`mc.provideContext({tools: [T('last')]}); void 0`)
	eventually(t, "what provideContext left", func() bool { return p.tools(t) == "last" })
	if r := p.run(t, p.api(t), "last", "{}"); r.Output != "last" {
		t.Errorf("last: %+v", *r)
	}
}
