// Same-origin frames of one page, and their realms.

//// a frame has its own ModelContext
const f = await frame('/blank');
const w = f.contentWindow;
log(w.document.modelContext === mc, w.document.modelContext instanceof w.ModelContext, w.ModelContext === ModelContext);
log(w.document.modelContext === w.document.modelContext);

//// tools of parent and child are seen by both
const f = await frame('/blank');
const inner = f.contentWindow.document.modelContext;
await reg('parent');
await inner.registerTool(T('child'));
for (const m of [mc, inner]) {
  for (const t of await m.getTools()) log(t.name, t.window, t.origin === location.origin, realm(t));
}

//// sibling frames see each other
const a = await frame('/blank'), b = await frame('/blank');
await a.contentWindow.document.modelContext.registerTool(T('in-a'));
log(await names(b.contentWindow.document.modelContext));
log(await rej(async () => b.contentWindow.document.modelContext.executeTool(await get('in-a', b.contentWindow.document.modelContext))));

//// nested frames are seen from the top
const f = await frame('/blank');
const g = f.contentDocument.createElement('iframe');
f.contentDocument.body.append(g);
await g.contentDocument.modelContext.registerTool(T('deep'));
log(await names(), (await get('deep')).window === g.contentWindow);
await reg('top');
log(await names(g.contentDocument.modelContext));

//// about:blank frames take part at once
const f = await frame();
await f.contentDocument.modelContext.registerTool(T('blank'));
log(await names(), (await get('blank')).origin === location.origin, (await get('blank')).window);
log(await rej(() => run('blank')));

//// srcdoc frames take part
const f = document.createElement('iframe');
f.srcdoc = '<p>x';
const loaded = new Promise((done) => (f.onload = done));
document.body.append(f);
await loaded;
await f.contentDocument.modelContext.registerTool(T('srcdoc'));
log(await names(), (await get('srcdoc')).origin === location.origin);
log(await rej(() => run('srcdoc')));

//// equal names stay in the order of the frame tree
const f = await frame('/blank'), g = await frame('/blank');
await g.contentDocument.modelContext.registerTool(T('same', {title: 'second'}));
await f.contentDocument.modelContext.registerTool(T('same', {title: 'first'}));
await reg('same', {title: 'top'});
await reg('aaa');
log((await mc.getTools()).map((t) => t.title));
log((await f.contentDocument.modelContext.getTools()).map((t) => t.title));

//// the window picks the frame
const f = await frame('/blank');
await reg('same', {execute: () => 'top'});
await f.contentDocument.modelContext.registerTool(T('same', {execute: () => 'frame'}));
for (const t of await mc.getTools()) log(t.window, await rej(() => mc.executeTool(t)));
const t = await get('same');
log(await rej(() => mc.executeTool({...t, window: f.contentWindow})));
log(await rej(() => mc.executeTool({...t, window: f.contentWindow, name: 'other'})));

//// a duplicate in another frame is none
const f = await frame('/blank');
await reg('a');
log(await rej(() => f.contentDocument.modelContext.registerTool(T('a'))));

//// realm of promises and results of a frame's method
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
await inner.registerTool(T('a', {inputSchema: {}, annotations: {}}));
const p = inner.getTools();
log(p instanceof Promise, p instanceof f.contentWindow.Promise);
const list = await p;
log(realm(list), realm(list[0]), realm(list[0].inputSchema), realm(list[0].annotations));

//// realm of errors of a frame's method
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
log(await rej(() => inner.registerTool()));
log(await rej(() => inner.registerTool(T(''))));
log(await rej(() => inner.executeTool(5)));
log(await rej(() => inner.registerTool(T('a', {}), {exposedTo: ['*']})));
log(await rej(() => inner.registerTool(T('b', {inputSchema: 5}))));

//// one realm's method on another realm's object
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
const p = mc.registerTool.call(inner, T('a'));
log(p instanceof Promise, p instanceof f.contentWindow.Promise, await rej(() => p));
log((await mc.getTools.call(inner)).map((t) => [t.name, t.window]));
const q = mc.getTools.call(inner);
log(q instanceof Promise, q instanceof f.contentWindow.Promise, realm(await q), realm((await q)[0]));
log(await rej(() => mc.registerTool.call(inner, T('a'))));
log(await rej(() => mc.registerTool.call(inner)));
log(await rej(() => mc.registerTool.call(inner, 5)));
log(await rej(() => inner.registerTool.call(mc, T('b'))), (await get('b')).window);

//// one realm's handler attribute on another realm's object
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
const d = Object.getOwnPropertyDescriptor(ModelContext.prototype, 'ontoolchange');
d.set.call(inner, () => log('change'));
log(typeof d.get.call(inner), inner.ontoolchange === d.get.call(inner));
await inner.registerTool(T('a'));
await settle();

//// one realm's getter on another realm's document
const f = await frame('/blank');
const {get: getter} = Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext');
log(getter.call(f.contentDocument) === f.contentDocument.modelContext);
log(getter.call(f.contentDocument) instanceof f.contentWindow.ModelContext);
const g = await frame('/blank');
log(getter.call(g.contentDocument) instanceof g.contentWindow.ModelContext, getter.call(g.contentDocument) === g.contentDocument.modelContext);

//// the callback of one realm registered in another
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
await inner.registerTool(T('a', {execute: (i, o) => { log('input', realm(i), 'options', realm(o), 'signal', realm(o.signal)); return 1; }}));
log(await rej(() => run('a')));
await mc.registerTool({...T('b'), execute: f.contentWindow.eval('(i, o) => [i instanceof Object, o instanceof Object, o.signal instanceof AbortSignal].join()')});
log(await rej(() => run('b')));

//// the callback of a frame called from the parent
const f = await frame('/blank');
const w = f.contentWindow;
await w.document.modelContext.registerTool(w.eval(`({name: 'a', description: 'd', execute: (i, o) => [i instanceof Object, i.list instanceof Array, o instanceof Object, o.signal instanceof AbortSignal, this === window].join()})`));
log(await rej(() => run('a', {list: []})));

//// a result object of another realm
const f = await frame('/blank');
const w = f.contentWindow;
await reg('a', {execute: () => w.eval('({x: [1, {y: new Date(0)}]})')});
await reg('b', {execute: () => w.eval('Promise.resolve("p")')});
await reg('c', {execute: () => w.eval('Promise.reject(new Error("no"))')});
log(await rej(() => run('a')), await rej(() => run('b')), await rej(() => run('c')));

//// tool dictionaries of another realm
const f = await frame('/blank');
const w = f.contentWindow;
log(await rej(() => mc.registerTool(w.eval(`({name: 'a', description: 'd', execute: () => 'x', inputSchema: {type: 'object'}})`))));
log(await rej(() => mc.registerTool(w.eval(`({name: 'b', description: 'd', execute: () => 'x'})`), {signal: new w.AbortController().signal, exposedTo: new w.Array()})));
log((await mc.getTools()).map((t) => realm(t.inputSchema ?? t)));

//// a signal of another realm unregisters
const f = await frame('/blank');
const c = new f.contentWindow.AbortController();
await reg('a', {}, {signal: c.signal});
c.abort('why');
log(await names());
const d = new f.contentWindow.AbortController();
await reg('b', {execute: () => new Promise(() => {})});
mc.ontoolactivated = () => d.abort('x');
log(await rej(() => run('b', {}, {signal: d.signal})));

//// a schema error of the caller's realm
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
const circular = {};
circular.c = circular;
log(await rej(() => inner.registerTool(T('a', {inputSchema: circular}))));
log(await rej(() => inner.registerTool(T('a', {name: Symbol()}))));
log(await rej(() => inner.registerTool(T('a', {title: {toString: () => ({}), valueOf: () => ({})}}))));

//// toolchange reaches every frame
const f = await frame('/blank'), g = await frame('/blank');
const seen = [];
mc.ontoolchange = () => seen.push('top');
f.contentDocument.modelContext.ontoolchange = () => seen.push('f');
g.contentDocument.modelContext.ontoolchange = () => seen.push('g');
await settle(f.contentDocument.modelContext);
await settle(g.contentDocument.modelContext);
await reg('a');
await settle();
log(seen.splice(0).sort());
await f.contentDocument.modelContext.registerTool(T('b'));
await settle();
await settle(f.contentDocument.modelContext);
log(seen.splice(0).sort());

//// toolchange on unregistration in a frame
const f = await frame('/blank');
const c = new AbortController(), seen = [];
await f.contentDocument.modelContext.registerTool(T('a'), {signal: c.signal});
await settle(f.contentDocument.modelContext);
mc.ontoolchange = () => seen.push('top');
c.abort();
await settle();
await settle(f.contentDocument.modelContext);
log(seen);

//// the realm of a frame's events
const f = await frame('/blank');
const inner = f.contentDocument.modelContext, w = f.contentWindow;
inner.ontoolchange = (e) => log(e instanceof w.Event, e.target === inner);
inner.ontoolactivated = (e) => log(e instanceof w.ToolActivatedEvent, e.toolName);
await settle(inner);
await reg('x');
await settle(inner);
await inner.registerTool(T('a'));
await run('a');
await settle();

//// activation and cancel are told to the target only
const f = await frame('/blank');
const inner = f.contentDocument.modelContext, seen = [];
const c = new AbortController();
mc.ontoolactivated = mc.ontoolcancel = (e) => seen.push('top ' + e.type);
inner.ontoolactivated = (e) => { seen.push('frame ' + e.type); c.abort('why'); };
inner.ontoolcancel = (e) => seen.push('frame ' + e.type);
await inner.registerTool(T('a', {execute: (i, {signal}) => new Promise(() => { signal.onabort = () => seen.push('signal ' + realm(signal.reason)); })}));
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle(inner);
await settle();
log(seen);

//// realm of the error when a frame's tool fails
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => { throw new Error('x'); }}));
log(await rej(() => run('a')));
const t = await get('a');
log(await rej(() => mc.executeTool({...t, name: 'gone'})));

//// a removed frame takes its tools along, without an event
const f = await frame('/blank');
const seen = [];
await f.contentDocument.modelContext.registerTool(T('a'));
await settle(f.contentDocument.modelContext);
log(await names());
mc.ontoolchange = () => seen.push('change');
f.remove();
await settle();
log(await names(), seen);

//// a removed frame's tool cannot be called
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a'));
const t = await get('a');
f.remove();
log(await rej(() => mc.executeTool(t)));
log(await rej(() => mc.executeTool({...t, origin: 'zzz'})));
log(await rej(() => mc.executeTool(t, null)));
log(await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort('x')})));
log(await rej(() => mc.executeTool(t, new Date(0))));

//// a frame removed while its tool runs
const f = await frame('/blank');
const seen = [];
f.contentDocument.modelContext.ontoolcancel = () => seen.push('cancel');
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => new Promise(() => {})}));
f.contentDocument.modelContext.ontoolactivated = () => f.remove();
log(await rej(() => run('a')));
log(seen);

//// a frame navigated while its tool runs
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => new Promise(() => {})}));
f.contentDocument.modelContext.ontoolactivated = () => { f.src = '/blank?2'; };
log(await rej(() => run('a')));

//// a frame that removes itself in its tool
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => { f.remove(); return 'gone'; }}));
f.contentDocument.modelContext.ontoolactivated = () => log('never');
log(await rej(() => run('a')));

//// the caller's frame goes away while the tool runs
const f = await frame('/blank');
const seen = [];
const started = new Promise((done) => reg('a', {execute: (i, {signal}) => { signal.onabort = () => seen.push('signal ' + signal.reason.name); done(); return new Promise(() => {}); }}));
const over = new Promise((done) => (mc.ontoolcancel = (e) => { seen.push('cancel ' + e.toolName); done(); }));
const inner = f.contentDocument.modelContext;
const t = await get('a', inner);
inner.executeTool(t);
await started;
f.remove();
await over;
log(seen);

//// the caller's frame navigates while the tool runs
const f = await frame('/blank');
const seen = [];
const started = new Promise((done) => reg('a', {execute: (i, {signal}) => { signal.onabort = () => seen.push('signal ' + signal.reason.name); done(); return new Promise(() => {}); }}));
const over = new Promise((done) => (mc.ontoolcancel = (e) => { seen.push('cancel ' + e.toolName); done(); }));
const inner = f.contentDocument.modelContext;
const t = await get('a', inner);
inner.executeTool(t);
await started;
f.src = '/blank?3';
await over;
log(seen);

//// a detached frame's methods reject in its own realm
const f = await frame('/blank');
const w = f.contentWindow, inner = f.contentDocument.modelContext, doc = f.contentDocument;
globalThis.REALMS = {detached: w};
await inner.registerTool(T('a'));
const t = await get('a');
f.remove();
log(inner === doc.modelContext, String(inner));
log(await rej(() => inner.registerTool(T('b'))));
log(await rej(() => inner.getTools()));
log(await rej(() => inner.executeTool(t)));
log(await rej(() => inner.registerTool()));
log(await rej(() => inner.registerTool(5)));
log(await rej(() => inner.executeTool(5)));
log(await rej(() => inner.getTools(5)));
log(inner.getTools().catch(() => {}) instanceof w.Promise);

//// a detached frame's first read of modelContext
const f = await frame('/blank');
const doc = f.contentDocument;
globalThis.REALMS = {detached: f.contentWindow};
f.remove();
log(String(doc.modelContext), doc.modelContext === doc.modelContext);
log(await rej(() => doc.modelContext.getTools()));

//// a document that was navigated away
const f = await frame('/blank');
const doc = f.contentDocument, inner = doc.modelContext;
await inner.registerTool(T('a'));
const loaded = new Promise((done) => (f.onload = done));
f.src = '/blank?2';
await loaded;
log(await names(), f.contentDocument.modelContext === inner);
log(String(inner), doc.modelContext === inner, inner.getTools() === inner.getTools());
await f.contentDocument.modelContext.registerTool(T('b'));
log(await names());

//// a stale tool of a frame that navigated
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => 'old'}));
const t = await get('a');
const loaded = new Promise((done) => (f.onload = done));
f.src = '/blank?2';
await loaded;
log(await rej(() => mc.executeTool(t)));
await f.contentDocument.modelContext.registerTool(T('a', {execute: () => 'new'}));
log(await rej(() => mc.executeTool(t)));

//// an initial about:blank that loads a same-origin page keeps its window
const f = document.createElement('iframe');
f.src = '/blank?reuse';
const loaded = new Promise((done) => (f.onload = done));
document.body.append(f);
const w = f.contentWindow, doc = f.contentDocument, early = doc.modelContext;
w.marker = 1;
early.registerTool(T('early')).catch(() => {});
await loaded;
log(w.marker, f.contentDocument === doc, f.contentDocument.modelContext === early, await names());
globalThis.REALMS = {reused: w};
log(await rej(() => early.registerTool(T('x'))));
await f.contentDocument.modelContext.registerTool(T('late'));
log(await names(), await rej(() => run('late')), f.contentDocument.modelContext instanceof w.ModelContext);
const seen = [];
f.contentDocument.modelContext.ontoolchange = () => seen.push('change');
await reg('top');
await settle(f.contentDocument.modelContext);
log(seen);

//// a page in a popup is another tree
const w = window.open('/blank?popup');
await new Promise((done) => w.addEventListener('load', done));
await w.document.modelContext.registerTool(T('popup'));
await reg('top');
log(await names(), (await w.document.modelContext.getTools()).map((t) => t.name));
const [t] = await w.document.modelContext.getTools();
log(t.window === w);
log(await rej(() => mc.executeTool(t)));
log(await rej(() => w.document.modelContext.executeTool(t)));
const seen = [];
w.document.modelContext.ontoolchange = () => seen.push('change');
await reg('more');
await settle();
log(seen);
w.close();

//// frames that shadow their builtins
const f = await frame('/blank');
const inner = f.contentDocument.modelContext, w = f.contentWindow;
await inner.registerTool(T('a'));
w.performance.dispatchEvent = () => { throw new Error('x'); };
w.EventTarget.prototype.dispatchEvent = () => { throw new Error('x'); };
Object.defineProperty(w, 'performance', {value: {}});
Object.defineProperty(w, 'length', {value: 7});
Object.defineProperty(w.Document.prototype, 'defaultView', {value: null});
log(await names(), await rej(() => run('a')));
Object.defineProperty(window, 'length', {value: 0, configurable: true});
Object.defineProperty(window, 'parent', {value: null, configurable: true});
log((await mc.getTools()).length);

//// a frame whose page hides its modelContext
const f = await frame('/blank');
const inner = f.contentDocument.modelContext;
await inner.registerTool(T('a'));
Object.defineProperty(f.contentDocument, 'modelContext', {get() { log('read'); return mc; }});
Object.defineProperty(f.contentWindow.Document.prototype, 'modelContext', {get() { log('read'); return mc; }});
log(await names(), await rej(() => run('a')));

//// a blob: frame
const f = document.createElement('iframe');
f.src = URL.createObjectURL(new Blob(['<p>x'], {type: 'text/html'}));
const loaded = new Promise((done) => (f.onload = done));
document.body.append(f);
await loaded;
log(f.contentDocument.modelContext === mc, await rej(() => f.contentDocument.modelContext.registerTool(T('blob'))), await names());
log((await get('blob')).origin === location.origin, await rej(() => run('blob')));

//// a javascript: frame
const f = await frame('javascript:"<p>x"');
log(await rej(() => f.contentDocument.modelContext.registerTool(T('js'))), await names(), await rej(() => run('js')));

//// a call whose caller is removed stays pending
const f = await frame('/blank');
await reg('a', {execute: () => new Promise(() => {})});
const inner = f.contentDocument.modelContext, t = await get('a', inner);
const started = new Promise((done) => (mc.ontoolactivated = done));
const p = inner.executeTool(t).then(() => 'resolved', () => 'rejected');
await started;
f.remove();
log(await Promise.race([p, sleep(300).then(() => 'pending')]));

//// toJSON of an input that removes the target
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('a'));
const t = await get('a');
log(await rej(() => mc.executeTool(t, {toJSON() { f.remove(); return {}; }})));
