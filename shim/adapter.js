// Speaks for a modelContext that is not the shim's and of which DevTools tells nothing:
// one that the page brings itself, or that of a browser older than the DevTools domain.
// The tools are listed and run through the page's own functions, whichever generation
// they are of:
//
//   document.modelContext    getTools, executeTool                       since Chromium 150
//   navigator.modelContext   the same, or listTools and callTool         until 155; polyfills
//   navigator.modelContextTesting   listTools, executeTool with JSON     146 to 152
//
// Schemas are objects, or JSON text before 154; executeTool takes an object, or JSON text
// before 155. All of this is the page's: it can see and change it, and whatever it says
// concerns its own document only. The value is an api object like the shim's, or null.
(function (config) {
  'use strict';
  const doc = config.inDocument ? document.modelContext : undefined, nav = navigator.modelContext, testing = navigator.modelContextTesting;
  const has = (o, m) => o !== null && o !== undefined && typeof o[m] === 'function';
  let list, run, source;
  const mine = (t) => (t.window ?? t.source ?? window) === window;
  const modern = has(doc, 'getTools') ? doc : has(nav, 'getTools') ? nav : undefined;
  if (modern) {
    source = modern;
    list = async () => Array.from(await modern.getTools()).filter(mine);
    run = async (tool, args, signal) => {
      try {
        return await modern.executeTool(tool, args, {signal});
      } catch (e) {
        // Before 155 the object arrives as "[object Object]", which is refused before the tool runs.
        if (!/parse input arguments|not valid JSON|JSON\.parse/i.test(String(e && e.message))) throw e;
        return modern.executeTool(tool, JSON.stringify(args), {signal});
      }
    };
  } else if (has(testing, 'listTools')) {
    source = testing;
    list = async () => Array.from(await testing.listTools());
    run = (tool, args) => testing.executeTool(tool.name, JSON.stringify(args));
  } else if (has(nav, 'listTools') && has(nav, 'callTool')) {
    source = nav;
    list = async () => Array.from(await nav.listTools());
    run = (tool, args) => nav.callTool({name: tool.name, arguments: args});
  } else {
    return null;
  }

  let notify, told = new Map(), checking = false, again = false;
  const runs = new Map();
  const say = (message) => {
    try {
      notify?.(JSON.stringify(message));
    } catch {}
  };

  const text = (v) => (v === undefined || v === null ? '' : String(v));
  function entry(t) {
    const e = {name: text(t.name), title: text(t.title), description: text(t.description)};
    const schema = typeof t.inputSchema === 'string' ? t.inputSchema : t.inputSchema ? JSON.stringify(t.inputSchema) : undefined;
    if (schema) e.inputSchema = schema;
    if (t.outputSchema && typeof t.outputSchema === 'object') e.outputSchema = JSON.stringify(t.outputSchema);
    const a = t.annotations;
    if (a) e.annotations = {readOnlyHint: !!a.readOnlyHint, untrustedContentHint: !!a.untrustedContentHint, consequentialHint: !!a.consequentialHint, debugging: !!a.debugging};
    return e;
  }

  // Compares what there is with what was told.
  async function check(reset) {
    if (checking) {
      again = true;
      return;
    }
    checking = true;
    try {
      const found = new Map();
      for (const t of (await list()).slice(0, config.maxTools)) {
        try {
          const e = entry(t);
          // What the shim and native WebMCP refuse, or the bridge would.
          if (!/^[A-Za-z0-9_.-]{1,128}$/.test(e.name) || e.description.length > config.maxText || e.title.length > config.maxText || e.inputSchema?.length > config.maxSchema) continue;
          found.set(e.name, {tool: t, line: JSON.stringify(e), entry: e});
        } catch {}
      }
      const remove = [], add = [];
      for (const [name, old] of told) if (found.get(name)?.line !== old.line) remove.push(name);
      for (const [name, now] of found) if (reset || told.get(name)?.line !== now.line) add.push(now.entry);
      told = found;
      if (reset) say({t: 'tools', reset: true, remove: [], add});
      else if (remove.length || add.length) say({t: 'tools', remove, add});
    } catch {
    } finally {
      checking = false;
      if (again) {
        again = false;
        check(false);
      }
    }
  }

  const changed = () => void check(false);
  if (has(source, 'addEventListener')) source.addEventListener('toolchange', changed);
  if (has(testing, 'registerToolsChangedCallback')) testing.registerToolsChangedCallback(changed);
  setInterval(() => document.visibilityState === 'visible' && changed(), config.pollMs);

  const asText = (v) => (typeof v === 'string' ? v : v !== null && typeof v === 'object' ? JSON.stringify(v) ?? 'undefined' : String(v));
  return Object.freeze({
    __proto__: null,
    protocol: config.protocol, build: 'adapter',  // no secret: it would be among the page's builtins
    connect(n) {
      notify = n;
      check(true);
    },
    disconnect() {
      notify = undefined;
    },
    invoke(id, name, args) {
      const known = told.get(name);
      if (!known) return say({t: 'result', id, status: 'Error', error: 'Tool not found: ' + name, notFound: true});
      const c = new AbortController();
      runs.set(id, c);
      (async () => asText(await run(known.tool, JSON.parse(args), c.signal)))().then(
        (output) => runs.delete(id) && say({t: 'result', id, status: 'Completed', output}),
        (e) => runs.delete(id) && say({t: 'result', id, status: 'Error', error: e instanceof Error ? e.name + ': ' + e.message : String(e)}));
    },
    cancel(id) {
      const c = runs.get(id);
      if (!c) return;
      runs.delete(id);
      c.abort();
      say({t: 'result', id, status: 'Canceled'});
    },
  });
})
