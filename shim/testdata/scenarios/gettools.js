// getTools: shape, order, copies, options.

//// an empty page
log(await mc.getTools());

//// key order and omitted members
await reg('full', {title: 't', inputSchema: {type: 'object'}, annotations: {readOnlyHint: true}, more: 1, outputSchema: {}});
await reg('bare');
for (const t of await mc.getTools()) log(Object.keys(t), {...t, window: t.window === window, origin: t.origin === location.origin});

//// tools are plain, extensible, fresh objects
await reg('a');
const one = await get('a'), two = await get('a');
log(one === two, Object.getPrototypeOf(one) === Object.prototype, Object.isExtensible(one), Object.isFrozen(one));
for (const k of Reflect.ownKeys(one)) {
  const d = Object.getOwnPropertyDescriptor(one, k);
  log(k, d.writable, d.enumerable, d.configurable, typeof d.value);
}
one.name = 'changed';
log((await get('a')).name);

//// the list is a plain, fresh array
await reg('a');
const one = await mc.getTools(), two = await mc.getTools();
log(one === two, Array.isArray(one), Object.getPrototypeOf(one) === Array.prototype);
one.push(1);
log((await mc.getTools()).length);

//// sorted by UTF-16 code units
for (const n of ['b', 'a', 'B', 'A', '_', '-', '.', '10', '9', 'a.b', 'aa', 'a-b', 'Z']) await reg(n);
log(await names());

//// window and origin
await reg('a');
const t = await get('a');
log(t.window === window, t.origin === location.origin, typeof t.origin);

//// options that are no object
for (const v of [undefined, null, 5, 'x', true, Symbol(), {}, () => 1, []]) log(await rej(() => mc.getTools(v)));

//// fromOrigins refuses what is no sequence
for (const v of [null, 'https://a.example', 5, {}, true]) log(await rej(() => mc.getTools({fromOrigins: v})));
log(await rej(() => mc.getTools({fromOrigins: undefined})));
log(await rej(() => mc.getTools({fromOrigins: [Symbol()]})));
log(await rej(() => mc.getTools({get fromOrigins() { throw new RangeError('x'); }})));

//// fromOrigins must be secure
for (const v of ['*', 'http://a.example', '', 'null', 'zzz', 'data:,x']) log(v, await rej(() => mc.getTools({fromOrigins: [v]})));
for (const v of ['https://a.example', 'http://localhost', location.origin]) log(await rej(() => mc.getTools({fromOrigins: [v]})));

//// fromOrigins adds, it does not filter
await reg('a');
log((await mc.getTools({fromOrigins: ['https://other.example']})).map((t) => t.name));
log((await mc.getTools({fromOrigins: []})).map((t) => t.name));

//// the options are read once
const order = [];
await mc.getTools(spy({}, order));
log(order);

//// annotations have all four members
await reg('a', {annotations: {}});
await reg('b', {annotations: {consequentialHint: true}});
log((await get('a')).annotations, Object.keys((await get('b')).annotations), (await get('b')).annotations);
const one = await get('a'), two = await get('a');
log(one.annotations !== two.annotations, Object.getPrototypeOf(one.annotations) === Object.prototype);

//// a tool removed after the call was made
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
const p = names();
const q = names();
c.abort();
log(await q, await names());

//// getTools during a registration callback
await reg('a', {inputSchema: {toJSON() { globalThis.inner = names(); return {}; }}});
log(await inner);

//// Object.prototype setters and getters of the page are not run
await reg('a', {title: 't', annotations: {}});
const hits = [];
for (const k of ['name', 'title', 'annotations', 'window', 'origin', 'readOnlyHint', 'inputSchema']) {
  Object.defineProperty(Object.prototype, k, {configurable: true, set() { hits.push(k); }, get() { return undefined; }});
}
Object.defineProperty(Array.prototype, '0', {configurable: true, set() { hits.push('0'); }, get() { return undefined; }});
const list = await mc.getTools();
delete Array.prototype[0];
for (const k of ['name', 'title', 'annotations', 'window', 'origin', 'readOnlyHint', 'inputSchema']) delete Object.prototype[k];
log(hits, list.length, Object.keys(list[0]));

//// a then on Array.prototype is asked, as by any promise
await reg('a');
let asked = 0;
Object.defineProperty(Array.prototype, 'then', {configurable: true, get() { asked++; return undefined; }});
await mc.getTools();
delete Array.prototype.then;
log(asked);

//// options that register and unregister
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
log((await mc.getTools({get fromOrigins() { reg('b'); c.abort(); return []; }})).map((t) => t.name));
