// Documents: navigation inside the page, document.open, bfcache, headers.

//// pushState and hash keep the tools
await reg('a');
history.pushState({}, '', '?pushed');
location.hash = '#x';
log(await names(), await rej(() => run('a')));
log((await get('a')).origin === location.origin);

//// document.open keeps imperative tools
const m = document.modelContext;
await reg('a');
const {log: keep} = globalThis;
document.open();
document.write('<title>new</title><body>');
document.close();
log(document.modelContext === m, await names(), await rej(() => run('a')));
await reg('b');
log(await names());

//// document.open keeps handlers of the ModelContext
const seen = [];
mc.ontoolchange = () => seen.push('handler');
mc.addEventListener('toolchange', () => seen.push('listener'));
document.open();
document.close();
await reg('a');
await settle();
log(seen);

//// document.open in a frame
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
await inner.registerTool(T('a'));
f.contentDocument.open();
f.contentDocument.write('<p>x');
f.contentDocument.close();
log(await names(), f.contentDocument.modelContext === inner, await rej(() => run('a')));
const seen = [];
inner.ontoolchange = () => seen.push('change');
await reg('top');
await settle(inner);
log(seen);

//// without origin keying | Origin-Agent-Cluster: ?0
log(originAgentCluster, String(mc), mc === document.modelContext);
log(await rej(() => reg('a')));
log(await rej(() => mc.getTools()));
log(await rej(() => mc.executeTool({name: 'a', description: '', origin: location.origin, window})));
log(await rej(() => mc.executeTool(5)), await rej(() => mc.registerTool(T('', {}))), await rej(() => mc.getTools(5)));
log(await rej(() => mc.executeTool({name: 'a', description: '', origin: 'zzz', window}, null)));

//// without origin keying, a detached frame | Origin-Agent-Cluster: ?0
const f = await frame();
const doc = f.contentDocument, inner = doc.modelContext;
globalThis.REALMS = {detached: f.contentWindow};
f.remove();
log(await rej(() => inner.getTools()));

//// setting document.domain changes nothing when origin-keyed
log(originAgentCluster);
log(sync(() => { document.domain = 'localhost'; }));
await reg('a');
log(await rej(() => run('a')));

//// strict CSP and Trusted Types | Content-Security-Policy: script-src 'none'; require-trusted-types-for 'script'
await reg('a', {inputSchema: {type: 'object'}});
log(await names(), await rej(() => run('a', {x: 1})));

//// frozen prototypes
for (const o of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, ModelContext.prototype, EventTarget.prototype, Event.prototype, AbortSignal.prototype, document, mc]) Object.freeze(o);
await reg('a', {inputSchema: {}, annotations: {}});
log(await names(), await rej(() => run('a', {x: 1})));
const c = new AbortController();
await reg('b', {}, {signal: c.signal});
c.abort();
log(await names());

//// a page that removes the builtins
const keep = {Object, Promise, JSON, Reflect, WeakMap, Map, Event, AbortController, DOMException, MessageChannel, TypeError};
for (const k of Object.keys(keep)) delete globalThis[k];
const a = await reg('a').then(() => 'ok', String);
const t = (await mc.getTools())[0];
const r = await mc.executeTool(t, {x: 1});
keep.Object.assign(globalThis, keep);
log(a, t.name, r);

//// a page that patches Promise.prototype.then
const {then} = Promise.prototype;
let calls = 0;
Promise.prototype.then = function (...a) { calls++; return then.apply(this, a); };
await reg('a', {execute: async () => 1});
const t = (await mc.getTools())[0];
await mc.executeTool(t);
Promise.prototype.then = then;
log(calls);

//// a page with a Promise species
class Spy extends Promise {}
Object.defineProperty(Promise, Symbol.species, {configurable: true, get() { log('species'); return Spy; }});
await reg('a', {execute: async () => 1});
const t = (await mc.getTools())[0];
log(await mc.executeTool(t));
delete Promise[Symbol.species];

//// prepareStackTrace sees no functions but the page's
const foreign = [];
Error.prepareStackTrace = (e, sites) => {
  for (const s of sites) if (s.getFunction() && s.getFunction() !== execute) foreign.push(s.getFunctionName());
  return 'stack';
};
const execute = (0, eval)('(function () { return new Error("x").stack; })');
await reg('a', {execute});
log(await rej(() => run('a')), foreign);
delete Error.prepareStackTrace;

//// the stack of a callback
const depth = () => new Error('x').stack.split('\n').length;
const thenable = {then(done) { done(depth()); }};
await reg('a', {execute: depth});
await reg('b', {execute: async () => { const first = depth(); await null; return [first, depth()]; }});
await reg('c', {execute: () => thenable});
await reg('d', {execute: new Proxy(depth, {})});
await reg('e', {execute: () => depth().missing()});
for (const name of 'abcde') log(await rej(() => run(name)));

//// callers are not visible to sloppy callbacks
await reg('a', {execute: (0, eval)('(function f() { return String(f.caller); })')});
log(await rej(() => run('a')));

//// replaceState keeps tools and forms
await reg('a');
document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d></form>');
await settle();
history.replaceState(null, '', '?r');
log(await names(), document.modelContext === mc);
