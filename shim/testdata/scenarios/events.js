// toolchange, toolactivated, toolcancel.

//// toolchange comes before the registration resolves
const seen = [];
mc.addEventListener('toolchange', () => seen.push('change'));
await reg('a').then(() => seen.push('resolved'));
await settle();
log(seen);

//// toolchange is not synchronous
const seen = [];
mc.ontoolchange = () => seen.push('change');
const p = reg('a');
seen.push('sync');
await null;
seen.push('micro');
await p;
log(seen);

//// shape of toolchange
mc.ontoolchange = (e) => log(String(e), e.constructor.name, e.type, e.bubbles, e.cancelable, e.composed, e.target === mc, e.currentTarget === mc, e.eventPhase, Object.keys(e));
await reg('a');
await settle();

//// toolchange is trusted
mc.ontoolchange = (e) => log(e.isTrusted);
await reg('a');
await settle();

//// one toolchange for each registration
let n = 0;
mc.ontoolchange = () => n++;
await Promise.all(['a', 'b', 'c'].map((k) => reg(k)));
await settle();
log(n);

//// one toolchange for each unregistration
let n = 0;
const c = new AbortController();
await Promise.all(['a', 'b', 'c'].map((k) => reg(k, {}, {signal: c.signal})));
await settle();
mc.ontoolchange = () => n++;
c.abort();
log(n);
await settle();
log(n);

//// a registration undone at once has two events
let n = 0;
mc.ontoolchange = () => n++;
const c = new AbortController();
const p = rej(() => reg('a', {}, {signal: c.signal}));
c.abort('x');
log(await p);
await settle();
log(n);

//// no event for a failed registration
let n = 0;
await reg('a');
await settle();
mc.ontoolchange = () => n++;
await rej(() => reg('a'));
await rej(() => reg(''));
await rej(() => reg('b', {}, {signal: AbortSignal.abort()}));
await settle();
log(n);

//// getTools inside toolchange sees the tool
const seen = [];
mc.ontoolchange = async () => seen.push(await names());
await reg('a');
await settle();
log(seen);

//// toolchange does not reach the document or the window
const seen = [];
for (const [k, t] of Object.entries({document, window, html: document.documentElement})) for (const type of ['toolchange', 'toolactivated', 'toolcancel']) t.addEventListener(type, () => seen.push(k + type), true);
await reg('a');
await run('a');
await settle();
log(seen);

//// a toolchange listener that throws is reported, the registration resolves
const errors = [];
window.onerror = (m, u, l, c, e) => { errors.push(e.message); return true; };
mc.ontoolchange = () => { throw new Error('listener'); };
log(await rej(() => reg('a')));
await settle();
log(errors);

//// shape of toolactivated
mc.ontoolactivated = (e) => log(String(e), e instanceof ToolActivatedEvent, e.type, e.toolName, e.bubbles, e.cancelable, e.composed, e.target === mc, Object.keys(e));
await reg('a');
await run('a');
await settle();

//// toolactivated is trusted
mc.ontoolactivated = (e) => log(e.isTrusted);
await reg('a');
await run('a');
await settle();

//// toolactivated comes after the callback and all its microtasks
const seen = [];
await reg('a', {async execute() {
  seen.push('run');
  let p = Promise.resolve();
  for (let i = 0; i < 8; i++) p = p.then(() => seen.push(i));
  await null;
  seen.push('awaited');
  return 1;
}});
mc.ontoolactivated = () => { seen.push('activated'); Promise.resolve().then(() => seen.push('micro')); };
await run('a').then(() => seen.push('resolved'));
log(seen);

//// toolactivated comes before the end of a callback that needs a task
const seen = [];
await reg('a', {async execute() { seen.push('run'); await sleep(0); seen.push('end'); }});
mc.ontoolactivated = () => seen.push('activated');
await run('a');
log(seen);

//// toolactivated for a callback that fails
const seen = [];
await reg('a', {execute() { throw new Error('x'); }});
await reg('b', {async execute() { throw new Error('x'); }});
await reg('c', {execute() { return {toJSON() { throw new Error('x'); }}; }});
mc.ontoolactivated = (e) => seen.push(e.toolName);
mc.ontoolcancel = (e) => seen.push('cancel ' + e.toolName);
for (const n of ['a', 'b', 'c']) await rej(() => run(n));
await settle();
log(seen);

//// no toolactivated for a call that never starts
const seen = [];
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
mc.ontoolactivated = (e) => seen.push(e.toolName);
const t = await get('a');
await rej(() => mc.executeTool(t, new Date(0)));
await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort()}));
const p = rej(() => mc.executeTool(t));
c.abort();
await p;
await rej(() => mc.executeTool(t));
await settle();
log(seen);

//// shape of toolcancel
mc.ontoolcancel = (e) => log(String(e), e instanceof ToolCancelEvent, e.type, e.toolName, e.bubbles, e.cancelable, e.composed, e.target === mc);
const c = new AbortController();
await reg('a', {execute: () => new Promise(() => {})});
mc.ontoolactivated = () => c.abort();
await rej(() => run('a', {}, {signal: c.signal}));
await settle();

//// toolcancel is trusted
mc.ontoolcancel = (e) => log(e.isTrusted);
const c = new AbortController();
await reg('a', {execute: () => new Promise(() => {})});
mc.ontoolactivated = () => c.abort();
await rej(() => run('a', {}, {signal: c.signal}));
await settle();

//// a tool that ends because of its signal still gets toolcancel
const seen = [];
const c = new AbortController();
await reg('a', {execute: (i, {signal}) => new Promise((done, fail) => signal.addEventListener('abort', () => fail(signal.reason)))});
mc.ontoolactivated = () => c.abort('mine');
mc.ontoolcancel = () => seen.push('cancel');
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle();
log(seen);

//// a toolcancel listener that throws
const errors = [];
window.onerror = (m, u, l, c, e) => { errors.push(e.message); return true; };
const c = new AbortController();
await reg('a', {execute: () => new Promise(() => {})});
mc.ontoolactivated = () => { c.abort('mine'); throw new Error('activated'); };
mc.ontoolcancel = () => { throw new Error('cancel'); };
log(await rej(() => run('a', {}, {signal: c.signal})));
await settle();
log(errors);

//// calling again inside toolcancel
const c = new AbortController();
await reg('a', {execute: () => new Promise(() => {})});
await reg('b');
const again = new Promise((done) => (mc.ontoolcancel = () => done(rej(() => run('b')))));
mc.ontoolactivated = (e) => { if (e.toolName === 'a') c.abort('mine'); };
log(await rej(() => run('a', {}, {signal: c.signal})));
log(await again);

//// microtasks between two listeners
const seen = [];
for (const k of [1, 2]) mc.addEventListener('toolchange', () => { seen.push('listener' + k); queueMicrotask(() => seen.push('micro' + k)); });
await reg('a');
await settle();
log(seen);

//// listeners with options
const seen = [];
const c = new AbortController();
mc.addEventListener('toolchange', () => seen.push('once'), {once: true});
mc.addEventListener('toolchange', () => seen.push('signal'), {signal: c.signal});
mc.addEventListener('toolchange', {handleEvent(e) { seen.push('object ' + (e.currentTarget === mc)); }});
await reg('a');
await settle();
c.abort();
await reg('b');
await settle();
log(seen);

//// legacy window handlers are not called
window.ontoolactivated = () => log('never');
window.ontoolcancel = () => log('never');
document.ontoolactivated = () => log('never');
await reg('a');
await run('a');
await settle();
log('done');
