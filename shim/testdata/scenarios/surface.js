// The interface objects, as a page can inspect them.

//// names on the window
log(Object.getOwnPropertyNames(window).filter((k) => /modelcontext|^tool(a|c)/i.test(k)));
log('modelContext' in window, 'modelContext' in navigator, 'modelContextTesting' in navigator);
log('ontoolchange' in window, 'ontoolactivated' in window, 'ontoolcancel' in document);

//// names that do not exist
log(['unregisterTool', 'provideContext', 'clearContext', 'callTool', 'listTools'].filter((k) => k in mc));
log(typeof ModelContextClient, typeof Tool, typeof ModelContextTool);

//// interface objects are writable, hidden and configurable
for (const k of ['ModelContext', 'ToolActivatedEvent', 'ToolCancelEvent']) {
  const d = Object.getOwnPropertyDescriptor(window, k);
  log(k, d.writable, d.enumerable, d.configurable, typeof d.value, d.value.name, d.value.length);
  log(Object.getPrototypeOf(d.value).name, Reflect.ownKeys(d.value).map(String));
  const p = Object.getOwnPropertyDescriptor(d.value, 'prototype');
  log(p.writable, p.enumerable, p.configurable);
  for (const own of ['name', 'length']) {
    const n = Object.getOwnPropertyDescriptor(d.value, own);
    log(own, n.writable, n.enumerable, n.configurable);
  }
}

//// order of the prototype's own keys
log(Reflect.ownKeys(ModelContext.prototype).map(String));
log(Reflect.ownKeys(ToolActivatedEvent.prototype).map(String));
log(Reflect.ownKeys(ToolCancelEvent.prototype).map(String));

//// descriptors of the prototype
for (const P of [ModelContext.prototype, ToolActivatedEvent.prototype, ToolCancelEvent.prototype]) {
  for (const k of Reflect.ownKeys(P)) {
    const d = Object.getOwnPropertyDescriptor(P, k);
    log(String(k), d.writable, d.enumerable, d.configurable, typeof d.value, d.value?.length, d.value?.name,
      d.get?.name, d.get?.length, d.set?.name, d.set?.length);
    for (const f of [d.value, d.get, d.set]) {
      if (typeof f === 'function' && k !== 'constructor') {
        log('prototype' in f, Object.getPrototypeOf(f) === Function.prototype, Reflect.ownKeys(f).map(String));
      }
    }
  }
}

//// the getter on Document.prototype
const d = Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext');
log(d.enumerable, d.configurable, d.set, d.get.name, d.get.length, 'prototype' in d.get);
log(Object.getOwnPropertyDescriptor(document, 'modelContext'), 'modelContext' in document);
log(Object.keys(Document.prototype).filter((k) => k === 'modelContext'));
log(Object.hasOwn(HTMLDocument.prototype, 'modelContext'));

//// the getter gives the same object each time
log(document.modelContext === document.modelContext, mc === document.modelContext);
log(mc instanceof ModelContext, mc instanceof EventTarget, Object.getPrototypeOf(mc) === ModelContext.prototype);
log(Reflect.ownKeys(mc), Object.isExtensible(mc));

//// assigning to modelContext
log(sync(() => { document.modelContext = 5; return document.modelContext === mc; }));
log(sync(() => { 'use strict'; document.modelContext = 5; }));
log(delete document.modelContext, document.modelContext === mc);

//// the getter refuses other receivers
const {get: getter} = Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext');
for (const v of [undefined, null, {}, window, document.body, mc, Document.prototype, 5]) log(sync(() => getter.call(v)));
log(sync(() => Document.prototype.modelContext));
log(getter.call(document) === mc);

//// a subclass or an object that inherits from the document is no document
log(sync(() => Object.create(document).modelContext));

//// interface tags
log(String(mc), Object.prototype.toString.call(ModelContext.prototype), String(new ToolActivatedEvent('x')));
log(String(new ToolCancelEvent('x')), String(Object.create(ModelContext.prototype)));

//// ModelContext cannot be constructed
log(sync(() => ModelContext()));
log(sync(() => new ModelContext()));
log(sync(() => new (class extends ModelContext {})()));
log(sync(() => Reflect.construct(ModelContext, [])));
log(sync(() => Reflect.construct(EventTarget, [], ModelContext)));
log(sync(() => Reflect.construct(EventTarget, [], ModelContext).getTools().catch(() => {})));

//// an object that only looks like a ModelContext
const fake = Reflect.construct(EventTarget, [], ModelContext);
log(String(fake), fake instanceof ModelContext);
log(await rej(() => fake.getTools()));
log(sync(() => fake.ontoolchange));
log(sync(() => { fake.ontoolchange = () => {}; }));

//// wrong receivers reject, they do not throw
for (const v of [undefined, null, {}, 5, document, new EventTarget(), ModelContext.prototype]) {
  for (const m of ['registerTool', 'getTools', 'executeTool']) log(await rej(() => mc[m].call(v, T('a'))));
}

//// wrong receivers of handler attributes throw
for (const k of ['ontoolchange', 'ontoolactivated', 'ontoolcancel']) {
  const d = Object.getOwnPropertyDescriptor(ModelContext.prototype, k);
  for (const v of [undefined, null, {}, new EventTarget(), window, ModelContext.prototype]) {
    log(k, sync(() => d.get.call(v)), sync(() => d.set.call(v, () => {})));
  }
  log(sync(() => d.set.call(mc)), sync(() => d.get.call(mc)));
}

//// too few arguments
log(await rej(() => mc.registerTool()));
log(await rej(() => mc.executeTool()));
log(await rej(() => mc.getTools()));

//// every operation returns a promise of its own
const a = mc.getTools(), b = mc.getTools();
log(a, b, a === b, a.constructor === Promise);
const c = reg('a'), e = reg('a');
log(c, e, c === e);
await rej(() => e);

//// event constructors
for (const E of [ToolActivatedEvent, ToolCancelEvent]) {
  log(sync(() => E('x')));
  log(sync(() => new E()));
  log(sync(() => new E('x', 5)));
  log(sync(() => new E('x', 'y')));
  log(sync(() => new E('x', true)));
  log(sync(() => new E('x', Symbol())));
  log(sync(() => new E(Symbol())));
  log(sync(() => new E('x', {toolName: Symbol()})));
  log(sync(() => new E('x', {toolName: {toString() { throw new RangeError('mine'); }}})));
  for (const init of [undefined, null, {}, {toolName: 'n'}, {toolName: null}, {toolName: undefined}, {toolName: 7}, () => 1, []]) {
    const e = new E('t', init);
    log(e.type, e.toolName, e.bubbles, e.cancelable, e.composed, e.isTrusted, Object.keys(e), e.eventPhase);
  }
  const e = new E(null, {bubbles: 1, cancelable: true, composed: 'y', toolName: 'q'});
  log(e.type, e.toolName, e.bubbles, e.cancelable, e.composed, e instanceof Event, e instanceof E);
  log(Object.getPrototypeOf(E.prototype) === Event.prototype, Object.getPrototypeOf(e) === E.prototype);
}

//// event constructors read their members in order
for (const E of [ToolActivatedEvent, ToolCancelEvent]) {
  const order = [];
  new E('x', spy({toolName: 'a', bubbles: true}, order));
  log(order);
}
{
  const order = [];
  log(sync(() => new ToolActivatedEvent({toString() { order.push('type'); return 't'; }}, {
    get toolName() { order.push('toolName'); return 'x'; }, get bubbles() { order.push('bubbles'); throw new RangeError('b'); },
  })));
  log(order);
}

//// event constructors with a lone surrogate
log(new ToolActivatedEvent('x', {toolName: '\ud800'}).toolName);

//// subclasses of the events
class Sub extends ToolActivatedEvent {
  constructor(name) { super('sub', {toolName: name}); this.more = 1; }
}
const s = new Sub('n');
log(s.toolName, s instanceof Sub, s instanceof ToolActivatedEvent, s.type, s.more, String(s));
class Bare extends ToolCancelEvent {}
log(new Bare('b', {toolName: 'q'}).toolName, sync(() => new Bare()));
log(sync(() => Reflect.construct(ToolCancelEvent, ['x', {toolName: 'r'}], Sub).toolName));
log(Object.getPrototypeOf(Reflect.construct(ToolCancelEvent, ['x'], Sub)) === Sub.prototype);

//// toolName refuses other receivers
const get1 = Object.getOwnPropertyDescriptor(ToolActivatedEvent.prototype, 'toolName');
for (const v of [undefined, null, {}, new Event('x'), new ToolCancelEvent('x'), ToolActivatedEvent.prototype]) log(sync(() => get1.get.call(v)));
log(get1.set, sync(() => ToolActivatedEvent.prototype.toolName));
const e = new ToolActivatedEvent('x', {toolName: 'a'});
e.toolName = 'b';
log(e.toolName);

//// page-made events at the ModelContext are delivered
mc.ontoolactivated = (e) => log('handler', e.toolName, e.isTrusted, e.target === mc);
mc.addEventListener('toolactivated', (e) => log('listener', e.toolName));
log(mc.dispatchEvent(new ToolActivatedEvent('toolactivated', {toolName: 'x', cancelable: true})));
mc.addEventListener('any', (e) => log(e.type, e.currentTarget === mc));
mc.dispatchEvent(new Event('any'));

//// handler attributes keep what they are given
for (const k of ['ontoolchange', 'ontoolactivated', 'ontoolcancel']) {
  log(k, mc[k]);
  for (const v of [5, null, undefined, 's', Symbol(), 0n, true]) { mc[k] = v; log(typeof mc[k], mc[k]); }
  for (const v of [{}, () => 1, [], {handleEvent() { log('never'); }}, document]) { mc[k] = v; log(typeof mc[k], mc[k] === v); }
  mc.dispatchEvent(new Event(k.slice(2)));
  mc[k] = null;
  log(mc[k]);
}

//// handler attributes keep their place among the listeners
const seen = [];
mc.addEventListener('toolchange', () => seen.push('first'));
mc.ontoolchange = () => seen.push('handler');
mc.addEventListener('toolchange', () => seen.push('last'));
mc.ontoolchange = () => seen.push('replaced');
mc.dispatchEvent(new Event('toolchange'));
log(seen.splice(0));
mc.ontoolchange = null;
mc.dispatchEvent(new Event('toolchange'));
log(seen.splice(0));
mc.ontoolchange = () => seen.push('again');
mc.dispatchEvent(new Event('toolchange'));
log(seen.splice(0));
mc.ontoolchange = {};
mc.ontoolchange = () => seen.push('kept');
mc.dispatchEvent(new Event('toolchange'));
log(seen.splice(0));

//// a handler's this, argument and return value
mc.ontoolchange = function (...args) { log(this === mc, args.length, args[0].type); return false; };
const e = new Event('toolchange', {cancelable: true});
log(mc.dispatchEvent(e), e.defaultPrevented);
mc.ontoolchange = () => true;
const f = new Event('toolchange', {cancelable: true});
log(mc.dispatchEvent(f), f.defaultPrevented);

//// a handler that throws is reported and stops nobody
const errors = [];
window.onerror = (m, u, l, c, e) => { errors.push(e.message); return true; };
mc.ontoolchange = () => { throw new Error('handler'); };
mc.addEventListener('toolchange', () => log('next'));
log(mc.dispatchEvent(new Event('toolchange')), errors);

//// a handler replaced while it runs
const seen = [];
mc.ontoolchange = () => { seen.push('a'); mc.ontoolchange = () => seen.push('b'); };
mc.dispatchEvent(new Event('toolchange'));
mc.dispatchEvent(new Event('toolchange'));
mc.ontoolchange = () => { seen.push('c'); mc.ontoolchange = null; };
mc.dispatchEvent(new Event('toolchange'));
mc.dispatchEvent(new Event('toolchange'));
log(seen);

//// a replaced prototype method is the page's business
const was = ModelContext.prototype.getTools;
ModelContext.prototype.getTools = () => 'mine';
log(mc.getTools());
delete ModelContext.prototype.getTools;
log('getTools' in mc, (await was.call(mc)).length);
