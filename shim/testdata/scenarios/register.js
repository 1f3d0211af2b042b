// registerTool: members, coercions, order of checks.

//// resolves with undefined
log(await rej(() => reg('a')));
log(await names());

//// missing members
for (const k of ['name', 'description', 'execute']) {
  const tool = T('a');
  delete tool[k];
  log(await rej(() => mc.registerTool(tool)));
  tool[k] = undefined;
  log(await rej(() => mc.registerTool(tool)));
}
log(await rej(() => mc.registerTool({})));
log(await names());

//// a tool that is no object
for (const v of [undefined, null, 5, 'x', true, Symbol(), 1n, () => 1, [], /x/]) log(await rej(() => mc.registerTool(v)));

//// options that are no object
for (const v of [undefined, null, 5, 'x', true, Symbol(), () => 1, []]) log(await rej(() => mc.registerTool(T('t' + String(typeof v) + (v === null)), v)));
log(await names());

//// execute must be callable
for (const v of [null, 5, 'x', {}, [], Symbol(), true]) log(await rej(() => reg('a', {execute: v})));
log(await rej(() => reg('class', {execute: class {}})));
log(await rej(() => reg('proxy', {execute: new Proxy(() => 1, {})})));

//// inputSchema must be an object
for (const v of [null, 's', 5, true, false, 1n, Symbol(), NaN]) log(await rej(() => reg('a', {inputSchema: v})));
log(await rej(() => reg('a', {inputSchema: undefined})), await get('a'));

//// annotations must be an object or nothing
for (const v of ['s', 5, true, 1n, Symbol()]) log(await rej(() => reg('a', {annotations: v})));
log(await rej(() => reg('null', {annotations: null})), (await get('null')).annotations);
log(await rej(() => reg('undef', {annotations: undefined})), 'annotations' in (await get('undef')));
log(await rej(() => reg('fn', {annotations: () => 1})), (await get('fn')).annotations);
log(await rej(() => reg('arr', {annotations: []})), (await get('arr')).annotations);

//// annotation values are coerced and unknown ones dropped
await reg('a', {annotations: {readOnlyHint: 1, untrustedContentHint: '', consequentialHint: 'x', debugging: {}, idempotentHint: true}});
log((await get('a')).annotations);
await reg('b', {annotations: {readOnlyHint: undefined, debugging: null}});
log((await get('b')).annotations);

//// annotation getters that throw
log(await rej(() => reg('a', {annotations: {get readOnlyHint() { throw new RangeError('mine'); }}})));

//// annotations are read in order
const order = [];
await reg('a', {annotations: spy({}, order)});
log(order);

//// members are read in order
const order = [];
await mc.registerTool(spy(T('a', {title: 't', inputSchema: {}, annotations: {}}), order), spy({}, order, 'options.'));
log(order);

//// conversion stops at the first bad member
for (const bad of [{annotations: 5, description: Symbol()}, {description: Symbol(), execute: 5}, {execute: 5, inputSchema: 5}, {inputSchema: 5, name: Symbol()}, {name: Symbol(), title: Symbol()}]) {
  const order = [];
  log(await rej(() => mc.registerTool(spy(T('a', bad), order), spy({}, order, 'options.'))));
  log(order);
}

//// names and titles are coerced to strings
for (const name of [123, null, true, 1.5]) log(await rej(() => reg(name)));
await reg('a', {title: 5});
await reg('b', {title: null});
await reg('c', {title: {toString: () => 'obj'}});
await reg('d', {title: ''});
await reg('e', {description: 5});
await reg('f', {description: null});
for (const t of await mc.getTools()) log(t.name, t.title, t.description);

//// symbols are no strings
for (const k of ['name', 'title', 'description']) log(await rej(() => reg('a', {[k]: Symbol('s')})));

//// conversions that throw are rethrown
for (const k of ['name', 'title', 'description']) log(await rej(() => reg('a', {[k]: {toString() { throw new RangeError(k); }}})));
for (const k of ['annotations', 'name', 'title', 'description', 'inputSchema', 'execute']) {
  log(await rej(() => mc.registerTool({...T('a'), get [k]() { throw new RangeError(k); }})));
}

//// conversion of an object without a primitive value
log(await rej(() => reg('a', {title: {toString: null, valueOf: null}})));
log(await rej(() => reg('a', {title: {toString: () => ({}), valueOf: () => ({})}})));
log(await rej(() => reg('a', {title: Object.create(null)})));

//// a title with a lone surrogate
await reg('a', {title: 'x\ud800y'});
log((await get('a')).title);

//// a description with a lone surrogate
await reg('a', {description: 'x\ud800y'});
log((await get('a')).description);

//// valid names
const good = ['a', 'A', '0', '_', '-', '.', 'a.b', '__proto__', 'constructor', 'toString', '..', 'x'.repeat(128), '42', 'Z9_-.'];
for (const n of good) log(n.slice(0, 12), await rej(() => reg(n)));
log(await names());

//// invalid names
const bad = ['', ' ', 'a b', 'é', 'a/b', 'a:b', '\u0000', 'a\n', '😀', '\ud800', 'ａ', 'x'.repeat(129), 'a,b', '@', '[', '`', '{', '/'];
for (const n of bad) log(await rej(() => reg(n)));
log(await names());

//// duplicates
await reg('a');
log(await rej(() => reg('a')));
log(await rej(() => reg('A')));
log(await names());

//// a duplicate is found before other faults
await reg('a');
log(await rej(() => reg('a', {description: ''})));
const circular = {};
circular.c = circular;
log(await rej(() => reg('a', {inputSchema: circular})));
log(await rej(() => reg('a', {}, {signal: AbortSignal.abort('r')})));
log(await rej(() => reg('a', {}, {exposedTo: ['http://x.example']})));

//// a bad name is found before a bad description, schema, signal, exposure
const circular = {};
circular.c = circular;
const opts = {signal: AbortSignal.abort('r'), exposedTo: ['*']};
log(await rej(() => reg('a b', {description: '', inputSchema: circular}, opts)));
log(await rej(() => reg('a', {description: '', inputSchema: circular}, opts)));
log(await rej(() => reg('a', {inputSchema: circular}, opts)));
log(await rej(() => reg('a', {inputSchema: {}}, opts)));
log(await rej(() => reg('a', {inputSchema: {}}, {exposedTo: ['*']})));
log(await names());

//// the description is required
log(await rej(() => reg('a', {description: ''})));
log(await rej(() => reg('b', {description: ' '})));
log((await get('b')).description);

//// schemas that do not serialise
const circular = {};
circular.self = circular;
log(await rej(() => reg('a', {inputSchema: circular})));
log(await rej(() => reg('a', {inputSchema: {big: 1n}})));
log(await rej(() => reg('a', {inputSchema: () => 1})));
log(await rej(() => reg('a', {inputSchema: {toJSON() {}}})));
log(await rej(() => reg('a', {inputSchema: {toJSON() { throw new RangeError('mine'); }}})));
log(await rej(() => reg('a', {inputSchema: {get type() { throw 'a string'; }}})));
log(await rej(() => reg('a', {inputSchema: new Proxy({}, {ownKeys() { throw new RangeError('trap'); }})})));
log(await names());

//// a circular schema through arrays
const a = {list: [{}]};
a.list[0].up = a;
log(await rej(() => reg('a', {inputSchema: a})));

//// schemas are not validated
const odd = [{type: 'nonsense'}, {$ref: '#/nowhere'}, {pattern: '('}, {required: 5}, [], [1, 2], {type: [1]}, new Map(), new Date(0), /x/];
for (const [i, inputSchema] of odd.entries()) log(await rej(() => reg('t' + i, {inputSchema})));
for (const t of await mc.getTools()) log(t.name, t.inputSchema);

//// a schema that serialises to no object hides the tool from getTools
await reg('str', {inputSchema: {toJSON: () => 'text'}});
await reg('num', {inputSchema: {toJSON: () => 5}});
await reg('nul', {inputSchema: {toJSON: () => null}});
await reg('arr', {inputSchema: {toJSON: () => [1]}});
await reg('boxed', {inputSchema: new String('x')});
log(await names());
log(await rej(() => reg('str')));

//// a schema whose toJSON returns the word undefined
log(await rej(() => reg('a', {inputSchema: {toJSON: () => 'undefined'}})));
log(await names());

//// the schema is a snapshot
const inputSchema = {type: 'object', properties: {x: {type: 'string'}}};
const tool = T('a', {inputSchema, title: 'before'});
await mc.registerTool(tool);
inputSchema.properties.y = {};
tool.title = 'after';
tool.description = 'other';
tool.execute = () => 'other';
log(await get('a'));
log(await run('a'));

//// the schema of getTools is a copy each time
await reg('a', {inputSchema: {a: [1]}});
const one = await get('a'), two = await get('a');
log(one !== two, one.inputSchema !== two.inputSchema, one.inputSchema.a !== two.inputSchema.a);
one.inputSchema.a.push(2);
log(two.inputSchema, (await get('a')).inputSchema);

//// schema keys keep their order and duplicates of __proto__ stay data
await reg('a', {inputSchema: JSON.parse('{"z":1,"a":2,"10":3,"2":4,"__proto__":{"x":1}}')});
const s = (await get('a')).inputSchema;
log(Object.keys(s), Object.getPrototypeOf(s) === Object.prototype, Object.hasOwn(s, '__proto__'));

//// members that the page inherits
class Tool { get name() { return 'inherited'; } get description() { return 'd'; } execute() { return 'method'; } }
log(await rej(() => mc.registerTool(new Tool())));
log(await run('inherited'));

//// a signal must be an AbortSignal
for (const v of [null, 5, 'x', {}, new AbortController(), new EventTarget(), Object.create(AbortSignal.prototype)]) log(await rej(() => reg('a', {}, {signal: v})));
log(await rej(() => reg('a', {}, {signal: undefined})));

//// a signal aborted before
log(await rej(() => reg('a', {}, {signal: AbortSignal.abort()})));
log(await rej(() => reg('a', {}, {signal: AbortSignal.abort('text')})));
log(await rej(() => reg('a', {}, {signal: AbortSignal.abort({k: 1})})));
const reason = new RangeError('r');
let same;
try { await reg('a', {}, {signal: AbortSignal.abort(reason)}); } catch (e) { same = e === reason; }
log(same, await names());
log(await rej(() => reg('a')));

//// a signal aborted later unregisters at once
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
log(await names());
c.abort();
log(await names(), await rej(() => reg('a')));

//// a signal aborted while the registration is pending
const c = new AbortController();
const p = rej(() => reg('a', {}, {signal: c.signal}));
c.abort('why');
log(await p, await names());

//// a stale signal does not touch the next tool of that name
const c = new AbortController(), d = new AbortController();
await reg('a', {}, {signal: c.signal});
c.abort();
await reg('a', {title: 'second'}, {signal: d.signal});
c.abort();
log(await names());
d.abort();
log(await names());

//// abort unregisters before the page's own abort listeners run
const c = new AbortController();
let early, again;
c.signal.addEventListener('abort', () => { early = names(); again = rej(() => reg('a', {title: 'new'})); });
await reg('a', {}, {signal: c.signal});
c.abort();
log(await early, await again);
log((await mc.getTools()).map((t) => t.title));

//// one signal for many tools
const c = new AbortController();
await Promise.all(['a', 'b', 'c'].map((n) => reg(n, {}, {signal: c.signal})));
await reg('keep');
log(await names());
c.abort();
log(await names());

//// dependent and timed signals
const c = new AbortController();
await reg('any', {}, {signal: AbortSignal.any([c.signal])});
const timed = AbortSignal.timeout(200);
log(await rej(() => reg('timed', {}, {signal: timed})));
c.abort();
while (!timed.aborted) await sleep(5);
log(await names());

//// a page that overrides addEventListener on its signal
const c = new AbortController();
c.signal.addEventListener = () => log('called');
Object.defineProperty(c.signal, 'aborted', {get() { log('read'); return true; }});
log(await rej(() => reg('a', {}, {signal: c.signal})));
c.abort();
log(await names());

//// stopImmediatePropagation does not keep a tool alive
const c = new AbortController();
c.signal.addEventListener('abort', (e) => e.stopImmediatePropagation());
await reg('a', {}, {signal: c.signal});
c.abort();
log(await names());
log(await rej(() => reg('a')));

//// exposedTo takes any iterable of strings
for (const v of [[], ['https://a.example'], new Set(['https://b.example']), [new URL('https://c.example/path')], (function* () { yield 'https://d.example'; })(), new String('')]) log(await rej(() => reg('t' + Math.random().toString(36).slice(2), {}, {exposedTo: v})));

//// exposedTo refuses what is no sequence
for (const v of [null, 'https://a.example', 5, {}, true, {[Symbol.iterator]: 5}, Symbol()]) log(await rej(() => reg('a', {}, {exposedTo: v})));
log(await rej(() => reg('a', {}, {exposedTo: {[Symbol.iterator]() { throw new RangeError('it'); }}})));
log(await rej(() => reg('a', {}, {exposedTo: {[Symbol.iterator]() { return 5; }}})));
log(await rej(() => reg('a', {}, {exposedTo: {[Symbol.iterator]() { return {}; }}})));
log(await rej(() => reg('a', {}, {exposedTo: {[Symbol.iterator]() { return {next: () => 5}; }}})));
log(await rej(() => reg('a', {}, {exposedTo: [Symbol()]})));
log(await rej(() => reg('a', {}, {exposedTo: [{toString() { throw new RangeError('str'); }}]})));

//// exposedTo accepts potentially trustworthy origins
const good = ['https://a.example', 'https://a.example/path?q#h', 'HTTPS://A.EXAMPLE:443', 'wss://a.example', 'file:///x', 'chrome-extension://abcdefghijklmnop', 'http://localhost', 'http://x.localhost:8080', 'http://127.0.0.1', 'http://127.9.9.9:1', 'http://[::1]:3', 'blob:https://a.example/uuid', 'filesystem:https://a.example/temporary/', 'https://user:pw@a.example', '  https://a.example  ', 'ws://localhost', 'ftp://localhost', 'blob:http://localhost/1'];
for (const [i, v] of good.entries()) log(v, await rej(() => reg('t' + i, {}, {exposedTo: [v]})));

//// exposedTo refuses other origins
const bad = ['*', '/', '', 'null', 'http://a.example', 'ftp://a.example', 'data:text/html,x', 'about:blank', 'javascript:1', 'zzz', 'https://', 'ws://a.example', 'http://localhost.example', 'http://128.0.0.1', 'blob:http://a.example/1', 'about:srcdoc', 'mailto:a@b', 'http://[::2]', 'http://0.0.0.0'];
for (const [i, v] of bad.entries()) log(v, await rej(() => reg('t' + i, {}, {exposedTo: [v]})));
log(await rej(() => reg('mixed', {}, {exposedTo: ['https://a.example', 'http://a.example']})));
log(await names());

//// options are read before any check
const order = [];
log(await rej(() => mc.registerTool(T(''), spy({signal: undefined, exposedTo: undefined}, order))));
log(order);
log(await rej(() => mc.registerTool(T(''), {get exposedTo() { throw new RangeError('x'); }})));
log(await rej(() => mc.registerTool(T(''), {get signal() { throw new RangeError('x'); }})));

//// exposedTo is converted before signal
log(await rej(() => reg('a', {}, {exposedTo: 5, signal: 5})));

//// toJSON that registers another tool
log(await rej(() => reg('a', {inputSchema: {toJSON() { reg('b'); return {}; }}})));
log(await names());

//// toJSON that aborts the signal
const c = new AbortController();
log(await rej(() => reg('a', {inputSchema: {toJSON() { c.abort('now'); return {}; }}}, {signal: c.signal})));
log(await names());

//// un-awaited registrations are seen by getTools in order
reg('a');
const one = names();
reg('b');
const two = names();
log(await one, await two);

//// a hundred tools
await Promise.all(Array.from({length: 100}, (_, i) => reg('t' + i)));
log((await mc.getTools()).length, (await mc.getTools()).slice(0, 5).map((t) => t.name));

//// exposedTo with a space in the host
log(await rej(() => reg('a', {}, {exposedTo: ['https:// a']})));

//// getters that register the same name
log(await rej(() => mc.registerTool(T('a', {get title() { reg('a', {title: 'inner'}); return 'outer'; }}))));
log((await mc.getTools()).map((t) => t.title));
log(await rej(() => mc.registerTool(T('b'), {get exposedTo() { reg('b'); return []; }})), await names());

//// options that remove the frame
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
globalThis.REALMS = {detached: f.contentWindow};
log(await rej(() => inner.registerTool(T('a'), {get signal() { f.remove(); }})));
log(await names());

//// an iterator of exposedTo that throws late or aborts
const c = new AbortController();
log(await rej(() => reg('a', {}, {signal: c.signal, exposedTo: (function* () { yield 'https://a.example'; c.abort('now'); yield 'https://b.example'; })()})));
log(await rej(() => reg('b', {}, {exposedTo: (function* () { yield 'https://a.example'; throw new RangeError('late'); })()})));
log(await names());
