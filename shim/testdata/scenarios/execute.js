// executeTool: arguments, checks, input, results, errors.

//// a tool answers
await reg('a');
log(await rej(() => run('a')));

//// the tool argument must be an object with its members
for (const v of [undefined, null, 5, 'x', true, Symbol(), 1n]) log(await rej(() => mc.executeTool(v)));
log(await rej(() => mc.executeTool({})));
log(await rej(() => mc.executeTool(() => 1)));
await reg('a');
const t = await get('a');
for (const k of ['description', 'name', 'origin', 'window']) {
  const {[k]: _, ...rest} = t;
  log(await rej(() => mc.executeTool(rest)));
  log(await rej(() => mc.executeTool({...rest, [k]: null})));
  log(await rej(() => mc.executeTool({...rest, [k]: Symbol()})));
}
for (const k of ['title', 'inputSchema', 'annotations']) {
  const {[k]: _, ...rest} = t;
  log(await rej(() => mc.executeTool(rest)));
  log(await rej(() => mc.executeTool({...rest, [k]: 5})));
  log(await rej(() => mc.executeTool({...rest, [k]: null})));
  log(await rej(() => mc.executeTool({...rest, [k]: Symbol()})));
}

//// members are read in order
await reg('a', {annotations: {}, inputSchema: {}});
const order = [];
log(await rej(async () => mc.executeTool(spy(await get('a'), order), spy({}, order, 'input.'), spy({}, order, 'options.'))));
log(order);

//// annotations of the tool argument are converted too
await reg('a');
const order = [];
const t = {...(await get('a')), annotations: spy({}, order)};
log(await rej(() => mc.executeTool(t)), order);
log(await rej(() => mc.executeTool({...t, annotations: {get debugging() { throw new RangeError('x'); }}})));

//// hand-made tools run
await reg('a');
log(await rej(() => mc.executeTool({name: 'a', description: 'other', origin: location.origin, window})));
log(await rej(() => mc.executeTool({name: 'a', description: '', origin: location.href, window: window.window, title: 'x'})));
log(await rej(() => mc.executeTool({name: 'a', description: '', origin: location.origin + '/', window: self})));

//// the window must be a Window
await reg('a');
const t = await get('a');
for (const w of [null, undefined, {}, document, 5, Object.create(window), new Proxy(window, {})]) log(await rej(() => mc.executeTool({...t, window: w})));

//// the origin must be valid and not opaque
await reg('a');
const t = await get('a');
for (const origin of ['', 'null', 'zzz', '/', 'https://', 'data:,x', 'about:blank', 'http://other.example', 'https://other.example', 'javascript:1', 'blob:' + location.origin + '/1', location.origin.toUpperCase(), ' ' + location.origin, 'http://localhost:1', 'file:///x', 5, null]) {
  log(String(origin).replace(location.port, 'PORT'), await rej(() => mc.executeTool({...t, origin})));
}

//// unknown tools
await reg('a');
const t = await get('a');
for (const name of ['b', 'A', '', 'a ', '__proto__', 'constructor', 'toString', 'bad name', '\ud800']) log(await rej(() => mc.executeTool({...t, name})));

//// inputs that are no object
await reg('a', {execute: (i) => i});
const t = await get('a');
for (const v of [null, 5, 'x', '{}', true, Symbol(), 1n, NaN]) log(await rej(() => mc.executeTool(t, v)));
log(await rej(() => mc.executeTool(t, undefined)));
log(await rej(() => mc.executeTool(t)));

//// inputs that serialise to no object
await reg('a', {execute: (i) => i});
const t = await get('a');
log(await rej(() => mc.executeTool(t, () => 1)));
log(await rej(() => mc.executeTool(t, {toJSON() {}})));
log(await rej(() => mc.executeTool(t, {toJSON: () => 'undefined'})));
log(await rej(() => mc.executeTool(t, {toJSON: () => 'str'})));
log(await rej(() => mc.executeTool(t, {toJSON: () => null})));
log(await rej(() => mc.executeTool(t, {toJSON: () => 5})));
log(await rej(() => mc.executeTool(t, new Date(0))));
log(await rej(() => mc.executeTool(t, new String('x'))));
log(await rej(() => mc.executeTool(t, class {})));

//// inputs that do not serialise
await reg('a', {execute: (i) => i});
const t = await get('a');
const circular = {};
circular.me = circular;
log(await rej(() => mc.executeTool(t, circular)));
log(await rej(() => mc.executeTool(t, {b: 1n})));
log(await rej(() => mc.executeTool(t, {toJSON() { throw new RangeError('mine'); }})));
log(await rej(() => mc.executeTool(t, {get x() { throw 'text'; }})));

//// inputs make a JSON round trip
await reg('a', {execute: (i) => { log(i); return Object.getPrototypeOf(i) === Object.prototype || Array.isArray(i); }});
const t = await get('a');
for (const v of [{a: 1, z: [null, 'x'], b: {c: true}}, [1, [2]], new Map([[1, 2]]), {u: undefined, f() {}}, {d: new Date(0)}, {toJSON: () => ({via: 1})}, {'10': 1, '2': 2, b: 3, a: 4}, {s: '\ud800'}, {n: -0, i: 1e21, inf: Infinity}, new Proxy({p: 1}, {})]) log(await rej(() => mc.executeTool(t, v)));

//// the input has own properties only
await reg('a', {execute: (i) => { log(Object.hasOwn(i, '__proto__'), Object.getPrototypeOf(i) === Object.prototype); return 1; }});
log(await rej(() => run('a', JSON.parse('{"__proto__":{"x":1}}'))));

//// the input is taken when called
let seen;
await reg('a', {execute: (i) => { seen = i; }});
const t = await get('a'), input = {x: 1};
const p = mc.executeTool(t, input);
input.x = 2;
await p;
log(seen);

//// how the callback is called
await reg('a', {execute: function (...args) {
  log(this === undefined || this === window, args.length, Object.keys(args[1]), Object.getPrototypeOf(args[1]) === Object.prototype, args[1].signal.aborted, String(args[1].signal), args[1].signal instanceof AbortSignal, new.target);
  const d = Object.getOwnPropertyDescriptor(args[1], 'signal');
  log(d.writable, d.enumerable, d.configurable);
  return 1;
}});
log(await run('a'));
await reg('b', {execute: (0, eval)('(function () { return this === window; })')});
await reg('c', {execute: (0, eval)('(function () { "use strict"; return this === undefined; })')});
log(await run('b'), await run('c'));

//// a method keeps no this
class Tool { name = 'a'; description = 'd'; execute() { return String(this); } }
await mc.registerTool(new Tool());
log(await run('a'));

//// each call has its own signal
const signals = [];
await reg('a', {execute: (i, {signal}) => { signals.push(signal); }});
await run('a');
await run('a');
log(signals[0] === signals[1], signals.map((s) => s.aborted));

//// primitives as results
for (const [i, v] of ['text', 'quo"te', '', ' ', 5, -0, 0, 1.5, NaN, Infinity, 1e21, true, false, null, undefined, 12n, '{"a":1}', 'null'].entries()) {
  await reg('t' + i, {execute: () => v});
  log(v, await rej(() => run('t' + i)));
}

//// objects as results
const objects = [{a: 1}, [], [1, 'x', null], {}, new Error('e'), new Map([[1, 2]]), new Set([1]), new Date(0), /x/, new String('boxed'), new Number(5), new Boolean(false), Object(1n).constructor, () => 1, class {}, {toJSON: () => 'tj'}, {toJSON() {}}, {toJSON: () => null}, {toJSON: () => 5}, {toJSON: () => ''}, {content: [{type: 'text', text: 'hi'}]}, new Uint8Array([1, 2]), new ArrayBuffer(2), new Response('x'), Object.create(null), new Proxy({p: 1}, {}), {u: undefined}, [undefined], Promise.resolve({p: 1}), document.body, JSON.parse('{"__proto__":1}'), {n: NaN, d: -0}];
for (const [i, v] of objects.entries()) {
  await reg('t' + i, {execute: () => v});
  log(i, await rej(() => run('t' + i)));
}

//// thenables as results are awaited
await reg('then', {execute: () => ({then(done) { done('later'); }})});
await reg('fail', {execute: () => ({then(done, fail) { fail(new Error('no')); }})});
await reg('throws', {execute: () => ({get then() { throw new Error('no'); }})});
await reg('nested', {execute: async () => ({then: (done) => done({then: (d) => d('deep')})})});
await reg('notcallable', {execute: () => ({then: 5})});
for (const n of ['then', 'fail', 'throws', 'nested', 'notcallable']) log(n, await rej(() => run(n)));

//// results that do not serialise
const circular = {};
circular.me = circular;
const bad = [circular, {b: 1n}, {toJSON() { throw new RangeError('mine'); }}, {get x() { throw 1; }}, Object(1n)];
for (const [i, v] of bad.entries()) {
  await reg('t' + i, {execute: () => v});
  log(i, await rej(() => run('t' + i)));
}

//// a result with a lone surrogate inside an object
await reg('a', {execute: () => ({s: 'x\ud800y', k: '\udfff'})});
log(await rej(() => run('a')));

//// a string result with a lone surrogate
await reg('a', {execute: () => 'x\ud800y'});
log(await rej(() => run('a')));

//// a large result
await reg('a', {execute: () => 'é'.repeat(1 << 20)});
const r = await run('a');
log(r.length, r[0], r.at(-1));

//// a callback that throws or rejects
const errors = [];
window.addEventListener('error', (e) => errors.push('error'));
window.addEventListener('unhandledrejection', (e) => errors.push('unhandled'));
const kinds = [() => { throw new Error('x'); }, async () => { throw new RangeError('x'); }, () => Promise.reject('text'), () => { throw undefined; }, () => Promise.reject(), () => { throw null; }, () => { throw new DOMException('d', 'AbortError'); }];
for (const [i, execute] of kinds.entries()) {
  await reg('t' + i, {execute});
  log(await rej(() => run('t' + i)));
}
await sleep(20);
log(errors);

//// a class is called without new
await reg('a', {execute: class {}});
log(await rej(() => run('a')));

//// the error is a fresh DOMException without a cause
await reg('a', {execute: () => { throw new Error('secret'); }});
const e = await run('a').catch((e) => e), f = await run('a').catch((e) => e);
log(e === f, e instanceof DOMException, Reflect.ownKeys(e), e.cause, e.code, String(e), e instanceof Error);

//// a signal must be an AbortSignal
await reg('a');
const t = await get('a');
for (const v of [null, 5, {}, new AbortController()]) log(await rej(() => mc.executeTool(t, {}, {signal: v})));
for (const v of [undefined, null, 5, 'x', true, () => 1]) log(await rej(() => mc.executeTool(t, {}, v)));
log(await rej(() => mc.executeTool(t, {}, {get signal() { throw new RangeError('x'); }})));

//// a signal aborted before
let ran = 0;
await reg('a', {execute: () => { ran++; }});
const t = await get('a');
log(await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort()})));
log(await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort('why')})));
log(await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort(null)})));
await settle();
log(ran);

//// order of checks
await reg('a');
const t = await get('a');
const circular = {};
circular.me = circular;
const signal = AbortSignal.abort('aborted');
log(await rej(() => mc.executeTool({...t, origin: 'zzz'}, circular, {signal})));
log(await rej(() => mc.executeTool({...t, origin: 'zzz'}, null, {signal})));
log(await rej(() => mc.executeTool({...t, origin: 'data:,x'}, circular, {signal})));
log(await rej(() => mc.executeTool(t, circular, {signal})));
log(await rej(() => mc.executeTool(t, null, {signal})));
log(await rej(() => mc.executeTool({...t, name: 'none'}, {}, {signal})));
log(await rej(() => mc.executeTool(t, new Date(0), {signal})));
log(await rej(() => mc.executeTool({...t, name: 'none'}, new Date(0))));
log(await rej(() => mc.executeTool({...t, name: 'none', origin: 'https://other.example'}, {}, {signal})));

//// a bad signal is found before a bad origin
await reg('a');
log(await rej(async () => mc.executeTool({...(await get('a')), origin: 'zzz'}, null, {signal: 5})));
log(await rej(async () => mc.executeTool(5, null, {signal: 5})));
log(await rej(async () => mc.executeTool({}, Symbol(), {signal: 5})));

//// abort while running rejects with the reason
const c = new AbortController();
let signal;
await reg('a', {execute: (i, o) => { signal = o.signal; return new Promise(() => {}); }});
mc.ontoolactivated = () => c.abort(new RangeError('mine'));
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle();
log(signal.aborted, signal.reason);

//// order of an abort
const seen = [];
await reg('a', {execute(i, {signal}) {
  seen.push('run');
  signal.addEventListener('abort', () => { seen.push('signal ' + signal.reason.name); Promise.resolve().then(() => seen.push('micro')); });
  return new Promise(() => {});
}});
mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
const activated = new Promise((done) => (mc.ontoolactivated = () => { seen.push('activated'); done(); }));
const c = new AbortController();
c.signal.addEventListener('abort', () => seen.push('early'));
const p = run('a', {}, {signal: c.signal}).then(() => seen.push('resolved'), (e) => seen.push('rejected ' + e));
await activated;
c.signal.addEventListener('abort', () => seen.push('late'));
c.abort('reason');
seen.push('after');
await settle();
log(seen);

//// abort before it started
const seen = [];
await reg('a', {execute(i, {signal}) {
  seen.push('run ' + signal.aborted);
  signal.addEventListener('abort', () => seen.push('signal'));
  return new Promise(() => {});
}});
mc.ontoolactivated = () => seen.push('activated');
mc.ontoolcancel = () => seen.push('cancel');
const t = await get('a'), c = new AbortController();
mc.executeTool(t, {}, {signal: c.signal}).catch((e) => seen.push('rejected ' + e));
c.abort('why');
seen.push('after');
await settle();
log(seen);

//// abort inside a callback that ends at once
const seen = [];
const c = new AbortController();
await reg('a', {execute(i, {signal}) { c.abort('inner'); seen.push(signal.aborted); signal.onabort = () => seen.push('signal'); return 5; }});
mc.ontoolactivated = () => seen.push('activated');
mc.ontoolcancel = () => seen.push('cancel');
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle();
log(seen);

//// abort after the end does nothing
const c = new AbortController(), seen = [];
let signal;
await reg('a', {execute: (i, o) => { signal = o.signal; return 'done'; }});
mc.ontoolcancel = () => seen.push('cancel');
log(await rej(() => run('a', {}, {signal: c.signal})));
c.abort();
await settle();
log(signal.aborted, seen);

//// late results of an aborted call are ignored
const c = new AbortController();
let finish;
await reg('a', {execute: () => new Promise((done) => (finish = done))});
mc.ontoolactivated = () => c.abort('why');
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle();
finish('late');
await settle();
log(await names());

//// one abort for two calls, another call goes on
const seen = [];
let n = 0, finish;
await reg('a', {execute: (i, {signal}) => { const k = ++n; signal.onabort = () => seen.push('signal ' + k); return new Promise((done) => { if (k === 3) finish = done; }); }});
mc.ontoolcancel = (e) => seen.push('cancel');
const t = await get('a'), c = new AbortController();
const ps = [rej(() => mc.executeTool(t, {}, {signal: c.signal})), rej(() => mc.executeTool(t, {}, {signal: c.signal})), rej(() => mc.executeTool(t))];
while (n < 3) await sleep(2);
c.abort('both');
await settle();
finish('third');
log(await Promise.all(ps), seen);

//// concurrent calls finish in their own order
const finish = {};
await reg('a', {execute: ({k}) => new Promise((done) => (finish[k] = () => done('r' + k)))});
const t = await get('a'), seen = [];
const ps = [1, 2, 3].map((k) => mc.executeTool(t, {k}).then((r) => seen.push(r)));
while (!finish[3]) await sleep(2);
finish[2]();
await ps[1];
finish[3]();
await ps[2];
finish[1]();
await ps[0];
log(seen);

//// callbacks start in order and each in its own task
const seen = [];
await reg('a', {execute: ({k}) => { seen.push('run' + k); queueMicrotask(() => seen.push('micro' + k)); }});
const t = await get('a');
mc.ontoolactivated = () => seen.push('activated');
await Promise.all([1, 2, 3].map((k) => mc.executeTool(t, {k})));
log(seen);

//// a callback does not start synchronously
const seen = [];
await reg('a', {execute: () => { seen.push('run'); }});
const t = await get('a');
const p = mc.executeTool(t);
seen.push('sync');
await null;
seen.push('micro');
await p;
log(seen);

//// a tool that runs another tool
await reg('inner', {execute: ({x}) => 'inner' + x});
await reg('outer', {execute: async () => 'outer ' + (await run('inner', {x: 1}))});
log(await rej(() => run('outer')));

//// a tool that registers and unregisters tools
const c = new AbortController();
await reg('a', {execute: async () => { await reg('b'); c.abort(); return names(); }}, {signal: c.signal});
log(await rej(() => run('a')));
log(await names());

//// unregistered before the call
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
const t = await get('a');
c.abort();
log(await rej(() => mc.executeTool(t)));

//// unregistered between call and start
const c = new AbortController();
let ran = 0;
await reg('a', {execute: () => ++ran}, {signal: c.signal});
const t = await get('a');
const p = rej(() => mc.executeTool(t));
c.abort();
log(await p, ran);

//// unregistered and registered anew between call and start
const c = new AbortController();
await reg('a', {execute: () => 'old'}, {signal: c.signal});
const t = await get('a');
const p = rej(() => mc.executeTool(t));
c.abort();
reg('a', {execute: () => 'new'});
log(await p);

//// a tool object outlives a new registration of its name
const c = new AbortController();
await reg('a', {execute: () => 'old'}, {signal: c.signal});
const t = await get('a');
c.abort();
await reg('a', {execute: () => 'new', description: 'changed'});
log(await rej(() => mc.executeTool(t)));

//// unregistered while running
const c = new AbortController(), seen = [];
let finish, signal;
await reg('a', {execute: (i, o) => { signal = o.signal; return new Promise((done) => (finish = done)); }}, {signal: c.signal});
mc.ontoolcancel = () => seen.push('cancel');
const p = rej(() => run('a'));
while (!finish) await sleep(2);
c.abort();
await settle();
log(signal.aborted, seen);
finish('still');
log(await p);

//// a callback that unregisters itself
const c = new AbortController();
await reg('a', {execute: () => { c.abort(); return 'done'; }}, {signal: c.signal});
log(await rej(() => run('a')), await names());

//// a tool right after its un-awaited registration
reg('a');
log(await rej(() => mc.executeTool({name: 'a', description: '', origin: location.origin, window})));

//// a tool run by a page that tampered after registration
await reg('a', {execute: (i) => ({got: i})});
const t = await get('a');
const {parse, stringify} = JSON;
JSON.parse = () => { throw new Error('parse'); };
JSON.stringify = () => { throw new Error('stringify'); };
const r = await rej(() => mc.executeTool(t, {x: 1})).finally(() => { JSON.parse = parse; JSON.stringify = stringify; });
log(r);

//// an array result with a tampered toJSON
Array.prototype.toJSON = function () { return 'hooked ' + this.length; };
await reg('a', {execute: () => [1, 2]});
log(await rej(() => run('a')));
delete Array.prototype.toJSON;

//// user activation is left as it is
await reg('a', {execute: () => [navigator.userActivation.isActive, navigator.userActivation.hasBeenActive, document.hasFocus()].join()});
log(await run('a'));

//// an input whose toJSON unregisters the tool
const c = new AbortController();
await reg('a', {execute: () => 'ran'}, {signal: c.signal});
const t = await get('a');
log(await rej(() => mc.executeTool(t, {toJSON() { c.abort(); return {}; }})));

//// an input whose toJSON aborts the call
let ran = 0;
await reg('a', {execute: () => { ran++; }});
const t = await get('a'), c = new AbortController();
log(await rej(() => mc.executeTool(t, {toJSON() { c.abort('now'); return {}; }}, {signal: c.signal})));
await settle();
log(ran);
