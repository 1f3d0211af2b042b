// Frames of other origins. See crossorigin-agent.js for the words.

//// a frame without allow may do nothing
const [w] = await open(B);
log(await ask(w, 'return three()'));
await reg('mine', {}, {exposedTo: [B]});
log(await tools(B), await three());
log(await ask(w, 'return rej(() => mc.getTools({fromOrigins: [A]}))'));

//// a denied frame says so after the types and before the rest
const [w] = await open(B);
log(await ask(w, 'return rej(() => mc.registerTool())'));
log(await ask(w, 'return rej(() => mc.registerTool({}))'));
log(await ask(w, 'return rej(() => mc.registerTool(T("")))'));
log(await ask(w, 'return rej(() => mc.registerTool(T("x", {description: ""})))'));
log(await ask(w, 'return rej(() => mc.registerTool(T("x"), {exposedTo: ["*"]}))'));
log(await ask(w, 'return rej(() => mc.registerTool(T("x"), {signal: AbortSignal.abort("no")}))'));
log(await ask(w, 'return rej(() => mc.getTools({fromOrigins: ["*"]}))'));
log(await ask(w, 'return rej(() => mc.executeTool({name: "x", description: "", origin: "zzz", window}))'));
log(await ask(w, 'return rej(() => mc.executeTool({name: "x", description: "", origin: A, window}, 5))'));
log(await ask(w, 'return typeof mc'));

//// allowed, but not exposed
const [w] = await open(B, {allow: 'tools'});
log(await ask(w, 'return rej(() => mc.registerTool(T("b")))'));
log(await ask(w, 'return tools()'), await tools(B), await tools());
log(await rej(() => mc.executeTool({name: 'b', description: '', origin: B, window: w})));

//// exposed and asked for
const [w] = await open(B, {allow: 'tools'});
await ask(w, 'await mc.registerTool(T("b", {title: "The B", inputSchema: {type: "object", properties: {z: {}, a: {}}}, annotations: {readOnlyHint: true}}), {exposedTo: [A]})');
await ask(w, 'await mc.registerTool(T("bare"), {exposedTo: [C, A]})');
log(await tools(), '|', await tools(B), '|', await tools(C), '|', await tools(B, C));
for (const {window, origin, ...rest} of await mc.getTools({fromOrigins: [B]})) log(rest, label(origin), window === w);
log(Object.keys((await mc.getTools({fromOrigins: [B]}))[0]), realm((await pick('b', B)).inputSchema));
log(await call('b', B), await call('bare', B));

//// fromOrigins is parsed like an origin
const [w] = await open(B, {allow: 'tools'});
await ask(w, 'await mc.registerTool(T("b"), {exposedTo: [A + "/path"]})');
log(await tools(B + '/x?y'), await tools(B.toUpperCase()), await rej(() => tools('zzz')), await rej(() => tools('http://x.example')), await tools(A), await tools(A, B));
log(await rej(() => tools(B, 'ftp://x')));

//// a frame sees and runs its parent's tools
const [w] = await open(B, {allow: 'tools'});
await reg('mine', {execute: (i) => 'for ' + i.who}, {exposedTo: [B]});
await reg('hidden');
log(await ask(w, 'return tools(A)'), '|', await ask(w, 'return tools()'));
log(await ask(w, 'return call("mine", A, {who: "b"})'));
log(await ask(w, 'return rej(() => mc.executeTool({name: "hidden", description: "", origin: A, window: parent}))'));
log(await ask(w, 'return show((await pick("mine", A)).window === parent)'));

//// siblings of other origins
const [b] = await open(B, {allow: 'tools'}), [c] = await open(C, {allow: 'tools'});
await ask(b, 'await mc.registerTool(T("b", {execute: () => "from b"}), {exposedTo: [C]})');
await ask(c, 'await mc.registerTool(T("c", {execute: () => "from c"}), {exposedTo: [B, A]})');
log(await ask(b, 'return tools(C, A)'), '|', await ask(c, 'return tools(B)'), '|', await tools(B, C));
log(await ask(b, 'return call("c", C)'), await ask(c, 'return call("b", B)'), await call('c', C));

//// another origin of the same site
const [w] = await open(S, {allow: 'tools'});
await ask(w, 'await mc.registerTool(T("s"), {exposedTo: [A]})');
await reg('mine', {}, {exposedTo: [S]});
log(await tools(S), '|', await ask(w, 'return tools(A)'));
log(await call('s', S), await ask(w, 'return call("mine", A)'));
const [x] = await open(S);
log(await ask(x, 'return three()'));

//// two frames of one other origin
const [v] = await open(B, {allow: 'tools'}), [w] = await open(B, {allow: 'tools'});
for (const [n, x] of [[1, v], [2, w]]) await ask(x, `await mc.registerTool(T("same", {title: "${n}", execute: () => "frame ${n}"}), {exposedTo: [A]})`);
log(await ask(v, 'return tools()'), '|', await tools(B));
for (const t of await mc.getTools({fromOrigins: [B]})) log(t.title, where(t.window), await rej(() => mc.executeTool(t)));
const t = await pick('same', B);
log(await rej(() => mc.executeTool({...t, window: w})), await rej(() => mc.executeTool({...t, window: v})));

//// the order over all origins
const [b] = await open(B, {allow: 'tools'}), [c] = await open(A), [d] = await open(C, {allow: 'tools'});
for (const x of [d, c, b]) for (const n of ['m', 'a', 'z']) await ask(x, `await mc.registerTool(T("${n}"), {exposedTo: [A]})`);
await reg('m');
await reg('b');
log(await tools(B, C));

//// every kind of result
const [w] = await open(B, {allow: 'tools'});
await ask(w, `globalThis.values = {text: 'x', empty: '', number: 5, nothing: undefined, none: null, object: {a: [1, '\\u2028"']}, big: 12n, list: [],
  func: () => 1, error: new Error('x'), boxed: new String('s'), odd: {toJSON: () => undefined}, long: 'y'.repeat(200000)}`);
await ask(w, `for (const [n, v] of Object.entries(values)) await mc.registerTool(T(n, {execute: () => v}), {exposedTo: [A]})`);
for (const t of await mc.getTools({fromOrigins: [B]})) log(t.name, (await rej(() => mc.executeTool(t))).slice(0, 80));

//// every kind of failure
const [w] = await open(B, {allow: 'tools'});
await ask(w, `const circular = {}; circular.c = circular;
  globalThis.fails = {thrown: () => { throw new Error('secret'); }, rejected: () => Promise.reject(new TypeError('secret')), circular: () => circular, value: () => { throw 'secret'; }}`);
await ask(w, `for (const [n, f] of Object.entries(fails)) await mc.registerTool(T(n, {execute: f}), {exposedTo: [A]})`);
for (const t of await mc.getTools({fromOrigins: [B]})) log(t.name, await rej(() => mc.executeTool(t)));

//// what the tool gets
const [w] = await open(B, {allow: 'tools'});
await ask(w, `await mc.registerTool(T('echo', {execute(i, o, ...more) { return [this === undefined, text(i), realm(i), Object.keys(o), realm(o.signal), more.length].join(); }}), {exposedTo: [A]})`);
for (const input of [undefined, {}, {a: 1, 2: 'b', 1: {c: [null]}}, [1, 2], new Map([[1, 2]])]) log(await call('echo', B, input));
for (const input of [null, 5, 'x', new Date(0), {toJSON: () => 'x'}, () => 1]) log(await call('echo', B, input));

//// a large input
const [w] = await open(B, {allow: 'tools'});
await ask(w, `await mc.registerTool(T('size', {execute: (i) => i.x.length}), {exposedTo: [A]})`);
log(await call('size', B, {x: '\u20ac'.repeat(300000)}));

//// toolchange comes to those that a tool is exposed to
const [b] = await open(B, {allow: 'tools'}), [c] = await open(C, {allow: 'tools'});
mc.ontoolchange = (e) => seen.push('top ' + e.type + ' ' + (e.target === mc));
for (const x of [b, c]) await ask(x, 'mc.ontoolchange = () => seen.push("change"); await settle()');
await ask(b, 'globalThis.ac = new AbortController(); await mc.registerTool(T("b"), {exposedTo: [A], signal: ac.signal})');
await until(() => seen.length === 1);
await ask(b, 'ac.abort()');
await until(() => seen.length === 2);
await ask(b, 'await mc.registerTool(T("other"), {exposedTo: [C]})');
await ask(c, 'await until(() => seen.length === 1)');
await ask(b, 'await mc.registerTool(T("own"))');
await reg('mine', {}, {exposedTo: [C]});
await ask(c, 'await until(() => seen.length === 2)');
await settle();
log(seen, await ask(b, 'await settle(); return seen'), await ask(c, 'await settle(); return seen'));

//// toolchange of several tools at once
const [b] = await open(B, {allow: 'tools'});
mc.ontoolchange = () => seen.push('change');
await ask(b, 'globalThis.ac = new AbortController(); for (const n of "abcdef") mc.registerTool(T(n), {exposedTo: [A], signal: ac.signal}).catch(() => {}); await settle()');
await until(() => seen.length === 6);
log(await tools(B));
await ask(b, 'ac.abort(); await settle()');
await until(() => seen.length === 12);
await settle();
log(seen.length, await tools(B));

//// toolchange by a listener that never called a method
const [b] = await open(B, {allow: 'tools'});
await ask(b, 'mc.addEventListener("toolchange", (e) => seen.push(e.bubbles + " " + e.cancelable + " " + (e.target === mc) + " " + realm(e))); await 0');
await reg('mine', {}, {exposedTo: [B]});
log(await ask(b, 'await until(() => seen.length); return seen'));

//// no toolchange in a denied frame
const [b] = await open(B), [c] = await open(C, {allow: 'tools'});
for (const x of [b, c]) await ask(x, 'mc.ontoolchange = () => seen.push("change"); await sleep(20)');
await reg('mine', {}, {exposedTo: [B, C]});
await ask(c, 'await until(() => seen.length)');
log(await ask(b, 'await sleep(50); return seen'));

//// a frame that goes takes its tools along, without an event
const [b, f] = await open(B, {allow: 'tools'});
await ask(b, 'await mc.registerTool(T("b"), {exposedTo: [A]})');
const t = await pick('b', B);
await settle();
mc.ontoolchange = () => seen.push('change');
f.remove();
await settle();
log(await tools(B), seen);
log(await rej(() => mc.executeTool(t)));
log(await rej(() => mc.executeTool({...t, origin: 'zzz'})));

//// a frame that navigates takes its tools along
const [b, f] = await open(B, {allow: 'tools'});
await ask(b, 'await mc.registerTool(T("b", {execute: () => "old"}), {exposedTo: [A]})');
const t = await pick('b', B);
const ready = new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(), {once: true}));
f.src = B + '/agent?2';
await ready;
log(await tools(B), await rej(() => mc.executeTool(t)));
await ask(b, 'await mc.registerTool(T("b", {execute: () => "new"}), {exposedTo: [A]})');
log(await tools(B), await rej(() => mc.executeTool(t)));

//// a frame that goes to an origin without the right
const [b, f] = await open(B, {allow: 'tools'});
log(await ask(b, 'return three()'));
const ready = new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(), {once: true}));
f.src = C + '/agent';
await ready;
log(await ask(b, 'return three()'));

//// a frame that comes to an origin with the right
const [b, f] = await open(C, {allow: 'tools ' + B});
log(await ask(b, 'return three()'));
const ready = new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(), {once: true}));
f.src = B + '/agent';
await ready;
log(await ask(b, 'return three()'));

//// a tool that is gone by the time of the call
const [b] = await open(B, {allow: 'tools'});
await ask(b, 'globalThis.ac = new AbortController(); await mc.registerTool(T("b", {execute: () => "old"}), {exposedTo: [A], signal: ac.signal})');
const t = await pick('b', B);
await ask(b, 'ac.abort(); await settle()');
log(await rej(() => mc.executeTool(t)));
await ask(b, 'await mc.registerTool(T("b", {execute: () => "hidden"}))');
log(await rej(() => mc.executeTool(t)));

//// a tool that was registered again
const [b] = await open(B, {allow: 'tools'});
await ask(b, 'globalThis.ac = new AbortController(); await mc.registerTool(T("b", {execute: () => "old"}), {exposedTo: [A], signal: ac.signal})');
const t = await pick('b', B);
await ask(b, 'ac.abort(); await mc.registerTool(T("b", {execute: () => "new"}), {exposedTo: [A]})');
log(await rej(() => mc.executeTool(t)));

//// tools made by hand
const [b] = await open(B, {allow: 'tools'}), [c] = await open(C, {allow: 'tools'});
await ask(b, 'await mc.registerTool(T("b"), {exposedTo: [A]})');
const hand = {name: 'b', description: '', origin: B, window: b};
log(await rej(() => mc.executeTool(hand)));
log(await rej(() => mc.executeTool({...hand, origin: B + '/path'})));
log(await rej(() => mc.executeTool({...hand, name: 'c'})));
log(await rej(() => mc.executeTool({...hand, origin: C})));
log(await rej(() => mc.executeTool({...hand, origin: A})));
log(await rej(() => mc.executeTool({...hand, window: c})));
log(await rej(() => mc.executeTool({...hand, window})));
log(await rej(() => mc.executeTool({...hand, origin: 'data:,x'})));
log(await ask(c, 'return rej(() => mc.executeTool({name: "b", description: "", origin: B, window: top.frames[0]}))'));

//// abort while it runs
const [b] = await open(B, {allow: 'tools'});
await ask(b, `mc.ontoolactivated = () => seen.push('activated'); mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
  await mc.registerTool(T('b', {execute: (i, {signal}) => new Promise((done) => { seen.push('runs'); signal.onabort = () => { seen.push('signal ' + signal.reason.name + ': ' + signal.reason.message); done('late'); }; })}), {exposedTo: [A]})`);
mc.ontoolactivated = mc.ontoolcancel = (e) => seen.push(e.type);
const c = new AbortController();
const p = call('b', B, {}, {signal: c.signal});
await ask(b, 'await until(() => seen.includes("activated"))');
c.abort('why');
log(await p, await ask(b, 'await until(() => seen.length === 4); return seen'), seen);

//// aborted before
const [b] = await open(B, {allow: 'tools'});
await ask(b, `await mc.registerTool(T('b', {execute: () => { seen.push('ran'); return 'ok'; }}), {exposedTo: [A]})`);
log(await call('b', B, {}, {signal: AbortSignal.abort('why')}), await ask(b, 'await settle(); return seen'));

//// aborted afterwards
const [b] = await open(B, {allow: 'tools'});
await ask(b, `mc.ontoolcancel = () => seen.push('cancel'); await mc.registerTool(T('b', {execute: (i, {signal}) => { signal.onabort = () => seen.push('signal'); return 'ok'; }}), {exposedTo: [A]})`);
const c = new AbortController();
log(await call('b', B, {}, {signal: c.signal}));
c.abort();
log(await ask(b, 'await settle(); return seen'));

//// the frame is removed while its tool runs
const [b, f] = await open(B, {allow: 'tools'});
await ask(b, `await mc.registerTool(T('b', {execute: () => { seen.push('ran'); return new Promise(() => {}); }}), {exposedTo: [A]})`);
const p = call('b', B);
await ask(b, 'await until(() => seen.length)');
f.remove();
log(await p);

//// the frame navigates while its tool runs
const [b, f] = await open(B, {allow: 'tools'});
await ask(b, `await mc.registerTool(T('b', {execute: () => { seen.push('ran'); return new Promise(() => {}); }}), {exposedTo: [A]})`);
const p = call('b', B);
await ask(b, 'await until(() => seen.length)');
f.src = C + '/agent';
log(await p);

//// the caller's frame is removed while the tool runs
const [b, f] = await open(B, {allow: 'tools'});
mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
await reg('mine', {execute: (i, {signal}) => new Promise(() => { seen.push('runs'); signal.onabort = () => seen.push('signal ' + signal.reason.name); })}, {exposedTo: [B]});
ask(b, 'call("mine", A)');
await until(() => seen.length);
f.remove();
await until(() => seen.length === 3);
log(seen);

//// the caller's frame navigates while the tool runs
const [b, f] = await open(B, {allow: 'tools'});
mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
await reg('mine', {execute: (i, {signal}) => new Promise(() => { seen.push('runs'); signal.onabort = () => seen.push('signal ' + signal.reason.name); })}, {exposedTo: [B]});
ask(b, 'call("mine", A)');
await until(() => seen.length);
f.src = B + '/agent?2';
await until(() => seen.length === 3);
log(seen);

//// a tool unregistered while it runs
const [b] = await open(B, {allow: 'tools'});
await ask(b, `globalThis.ac = new AbortController(); await mc.registerTool(T('b', {execute: () => new Promise((done) => { seen.push('runs'); globalThis.end = done; })}), {exposedTo: [A], signal: ac.signal})`);
const p = call('b', B);
await ask(b, 'await until(() => seen.length); ac.abort(); await settle(); end("done")');
log(await p, await tools(B));

//// several calls at once
const [b] = await open(B, {allow: 'tools'});
await ask(b, `globalThis.ends = []; await mc.registerTool(T('b', {execute: (i) => new Promise((done) => { seen.push(i.n); ends[i.n] = () => done('end ' + i.n); })}), {exposedTo: [A]})`);
const t = await pick('b', B), order = [];
const all = [0, 1, 2, 3].map((n) => mc.executeTool(t, {n}).then((v) => order.push(v)));
await ask(b, 'await until(() => seen.length === 4); for (const n of [2, 0, 3, 1]) { ends[n](); await sleep(30); }');
await Promise.all(all);
log(order, await ask(b, 'return seen'));

//// a tool that calls back
const [b] = await open(B, {allow: 'tools'});
await reg('mine', {execute: (i) => 'mine ' + i.n}, {exposedTo: [B]});
await ask(b, `await mc.registerTool(T('b', {execute: async (i) => 'b of ' + await mc.executeTool(await pick('mine', A), {n: i.n})}), {exposedTo: [A]})`);
log(await call('b', B, {n: 7}));

//// a frame of the own origin within another origin
const [b] = await open(B, {allow: 'tools'});
log(await ask(b, 'const [w] = await open(A, {allow: "tools"}); globalThis.inner = w; return ask(w, "return three()")'));
log(await ask(b, 'return ask(inner, "await mc.registerTool(T(\'deep\')); return tools()")'));
log(await tools(), await call('deep', A));

//// a frame within a denied frame has no more rights
const [b] = await open(B);
log(await ask(b, 'const [w] = await open(C, {allow: "tools *"}); return ask(w, "return three()")'));
log(await ask(b, 'const [w] = await open(A, {allow: "tools *"}); return ask(w, "return three()")'));
log(await ask(b, 'const [w] = await open(B, {allow: "tools *"}); return ask(w, "return three()")'));

//// a frame in a frame, three origins deep
const [b] = await open(B, {allow: 'tools'});
await ask(b, 'const [w] = await open(C, {allow: "tools"}); globalThis.inner = w');
await ask(b, 'return ask(inner, "await mc.registerTool(T(\'c\', {execute: () => \'deep\'}), {exposedTo: [A, B]})")');
await reg('mine', {}, {exposedTo: [C]});
log(await tools(C), '|', await ask(b, 'return tools(C)'), '|', await ask(b, 'return ask(inner, "return tools(A, B)")'));
log(await call('c', C), await ask(b, 'return ask(inner, "return call(\'mine\', A)")'));

//// the forms of allow
for (const allow of ['tools', 'tools *', "tools 'src'", "tools 'self'", "tools 'none'", 'tools ' + B, 'tools ' + C, 'tools ' + C + ' ' + B, 'camera; tools', 'camera *;tools;', ' tools  ', 'TOOLS', 'tools *; tools \'none\'', "tools 'none'; tools *", 'tools https://*.localhost', 'tools http:', 'tool', 'tools,camera', 'camera tools', 'tools=*', "tools 'SRC'", 'tools "*"', 'tools * ' + "'none'"]) {
  const [w, f] = await open(B, {allow});
  log(label(allow), '=>', (await ask(w, 'return three()')).split(' / ')[0]);
  f.remove();
}

//// allow on a frame of the own origin
for (const allow of ["tools 'none'", "tools 'self'", "tools 'src'", 'tools ' + B, 'tools', 'camera']) {
  const [w, f] = await open(A, {allow});
  log(label(allow), '=>', await ask(w, 'return three()'));
  f.remove();
}

//// frames without a document of their own
const blank = await frame(undefined, {allow: "tools 'none'"});
log(await rej(() => blank.contentDocument.modelContext.registerTool(T('x'))));
const plain = await frame();
log(await rej(() => plain.contentDocument.modelContext.registerTool(T('y'))));
const f = document.createElement('iframe');
f.allow = "tools 'none'";
f.srcdoc = '<p>x';
const loaded = new Promise((done) => (f.onload = done));
document.body.append(f);
await loaded;
log(await rej(() => f.contentDocument.modelContext.registerTool(T('z'))), await names());

//// frames without a document of their own in a denied one
const [b] = await open(B);
log(await ask(b, 'const f = await frame(); return rej(() => f.contentDocument.modelContext.registerTool(T("x")))'));
log(await ask(b, 'const f = document.createElement("iframe"); f.srcdoc = "x"; f.allow = "tools *"; const p = new Promise((d) => f.onload = d); document.body.append(f); await p; return rej(() => f.contentDocument.modelContext.registerTool(T("x")))'));

//// allow that changes after the frame's navigation
const [b, f] = await open(B);
log(await ask(b, 'return three()'));
f.allow = 'tools';
log(await ask(b, 'return three()'));
const ready = new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(), {once: true}));
f.src = B + '/agent?2';
await ready;
log(await ask(b, 'return three()'));

//// a frame in a shadow root
const host = document.createElement('div');
document.body.append(host);
const root = host.attachShadow({mode: 'closed'});
for (const allow of ['', 'tools']) {
  const f = document.createElement('iframe');
  f.allow = allow;
  f.src = B + '/agent';
  const ready = new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(e.source), {once: true}));
  root.append(f);
  log(await ask(await ready, 'return three()'));
  f.remove();
}

//// sandboxed frames
for (const attributes of [{allow: 'tools'}, {allow: 'tools *'}, {}, {allow: "tools 'src'"}, {allow: 'tools ' + A}]) {
  const [w, f] = await open(A, {sandbox: 'allow-scripts', ...attributes});
  log(attributes, await ask(w, 'return three()'));
  log(await ask(w, 'return rej(async () => (await mc.getTools()).map((t) => [t.name, t.origin, t.window === window]))'));
  log(await ask(w, 'return rej(() => mc.registerTool(T("shown"), {exposedTo: [A]}))'), await tools());
  f.remove();
}

//// a sandboxed frame sees its own tools only
await reg('mine', {}, {exposedTo: [A, B]});
const [w] = await open(A, {sandbox: 'allow-scripts', allow: 'tools *'}), [v] = await open(A, {sandbox: 'allow-scripts', allow: 'tools *'});
for (const x of [w, v]) log(await ask(x, 'await mc.registerTool(T("x"), {exposedTo: [A]}); return rej(async () => (await mc.getTools({fromOrigins: [A]})).map((t) => t.name))'));
log(await tools(A), await ask(w, 'return rej(async () => mc.executeTool((await mc.getTools())[0]))'));
log(await rej(() => mc.executeTool({name: 'x', description: '', origin: 'null', window: w})), await rej(() => mc.executeTool({name: 'x', description: '', origin: A, window: w})));
log(await ask(w, 'return rej(() => mc.executeTool({name: "mine", description: "", origin: A, window: parent}))'));

//// a sandbox that keeps the origin
const [w] = await open(A, {sandbox: 'allow-scripts allow-same-origin'}), [v] = await open(B, {sandbox: 'allow-scripts allow-same-origin', allow: 'tools'});
log(await ask(w, 'return three()'), await ask(v, 'return three()'));
await ask(v, 'await mc.registerTool(T("v"), {exposedTo: [A]})');
log(await tools(B), await call('v', B));

//// a sandbox without scripts
const f = await frame(A + '/form', {sandbox: 'allow-same-origin'}), g = await frame(A + '/form', {sandbox: 'allow-same-origin allow-scripts'});
await until(() => g.contentDocument.forms.length);
await settle();
log(await names(), f.contentDocument.forms.length);

//// the top document's policy: none | Permissions-Policy: tools=()
log(await three());
const f = await frame();
log(await rej(() => f.contentDocument.modelContext.registerTool(T('x'))));
const [b] = await open(B, {allow: 'tools'});
log(await ask(b, 'return three()'));
document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d><input name=a></form>');
log(await rej(() => mc.registerTool(T(''))), await rej(() => mc.getTools()));

//// the top document's policy: everybody | Permissions-Policy: tools=*
log(await three());
const [b] = await open(B), [c] = await open(B, {allow: 'tools'});
log(await ask(b, 'return three()'), await ask(c, 'return three()'));

//// the top document's policy: itself | Permissions-Policy: tools=(self)
log(await three());
const [b] = await open(B), [c] = await open(B, {allow: 'tools'});
log(await ask(b, 'return three()'), await ask(c, 'return three()'));

//// the top document's policy: itself without brackets | Permissions-Policy: tools=self
log(await three());
const [c] = await open(B, {allow: 'tools'});
log(await ask(c, 'return three()'));

//// the top document's policy: itself and another | Permissions-Policy: tools=(self "$B")
log(await three());
const [b] = await open(B), [c] = await open(B, {allow: 'tools'}), [d] = await open(C, {allow: 'tools'});
log(await ask(b, 'return three()'), await ask(c, 'return three()'), await ask(d, 'return three()'));

//// the top document's policy: another only | Permissions-Policy: tools=("$B")
log(await three());
const [c] = await open(B, {allow: 'tools'});
log(await ask(c, 'return three()'));

//// the top document's policy: a wildcard | Permissions-Policy: tools=(self "http://*.localhost:$PORT")
log(await three());
const [c] = await open(B, {allow: 'tools'});
log(await ask(c, 'return three()'));

//// the top document's policy: nonsense | Permissions-Policy: tools=(
log(await three());

//// the top document's policy: the last one counts | Permissions-Policy: tools=*, camera=(), tools=()
log(await three());

//// the top document's policy: with a parameter | Permissions-Policy: tools=();report-to=x, camera=*
log(await three());

//// the top document's policy: a flag | Permissions-Policy: tools
log(await three());

//// the top document's policy: a true flag | Permissions-Policy: tools=?1
log(await three());

//// the top document's policy: an unknown word | Permissions-Policy: tools=(none)
log(await three());

//// the top document's policy: a bare source | Permissions-Policy: tools="$A"
log(await three());

//// the top document's policy: source | Permissions-Policy: tools=(src)
log(await three());

//// the top document's policy: upper case | Permissions-Policy: TOOLS=()
log(await three());

//// the top document's policy: the old header | Feature-Policy: tools 'none'
log(await three());

//// the top document's policy: a sandbox by header | Content-Security-Policy: sandbox allow-scripts
log(await three());

//// the top document's policy: report only | Permissions-Policy-Report-Only: tools=()
log(await three());

//// a frame's own policy
for (const path of ['none', 'all', 'self', 'b']) {
  const [w, f] = await open(B, {allow: 'tools'}, '/agent-' + path), [v, g] = await open(B, {}, '/agent-' + path), [u, h] = await open(A, {}, '/agent-' + path);
  log(path, await ask(w, 'return three()'), '|', await ask(v, 'return three()'), '|', await ask(u, 'return three()'));
  for (const x of [f, g, h]) x.remove();
}

//// a frame of a frame with its own policy
for (const path of ['none', 'all', 'self', 'b']) {
  const [w, f] = await open(B, {allow: 'tools'}, '/agent-' + path);
  log(path, await ask(w, 'const [x] = await open(C, {allow: "tools"}), [y] = await open(B), [z] = await open(C); return (await Promise.all([x, y, z].map((v) => ask(v, "return three()")))).join(" | ")'));
  f.remove();
}

//// a page in a popup is another tree
const w = popup(B + '/agent');
await new Promise((done) => addEventListener('message', (e) => e.data === 'ready' && done(), {once: true}));
log(await ask(w, 'return rej(() => mc.registerTool(T("popup"), {exposedTo: [A]}))'));
log(await tools(B), await rej(() => mc.executeTool({name: 'popup', description: '', origin: B, window: w})));
await reg('mine', {}, {exposedTo: [B]});
log(await ask(w, 'return tools(A)'));
w.close();

//// a form of another origin stays there
const f = await frame(B + '/form', {allow: 'tools'});
await settle();
log(await tools(B), await rej(() => mc.executeTool({name: 'form', description: '', origin: B, window: f.contentWindow})));
