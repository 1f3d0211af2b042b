// Stacks: errors of the API and what the page is called by show the page's frames only.

//// stacks of errors of the operations
const stackOf = (e) => (typeof e.stack === 'string' ? e.stack.split('\n').map((l) => l.replace(/^\s+at /, '').replace(/\(?(https?:[^ ]*|<anonymous>|:\d+)+[:\d]*\)?/g, '@').trim()) : e.stack);
globalThis.stackOf = stackOf;
async function caller(f) {
  try {
    await f();
    log('no error');
  } catch (e) {
    log(e, stackOf(e), Object.getOwnPropertyNames(e), typeof Object.getOwnPropertyDescriptor(e, 'stack')?.value);
  }
}
await caller(() => mc.registerTool());
await caller(() => mc.registerTool({}));
await caller(() => mc.registerTool(T('a b')));
await caller(() => mc.registerTool(T('x', {description: ''})));
await caller(() => mc.registerTool(T('x', {inputSchema: {toJSON() {}}})));
await caller(() => mc.registerTool(T('x'), {exposedTo: ['http://x.example']}));
await caller(() => mc.getTools({fromOrigins: 5}));
await caller(() => mc.executeTool());
await caller(() => mc.executeTool({description: '', name: 'x', origin: '', window}));
await caller(() => mc.executeTool({description: '', name: 'x', origin: location.origin, window}, 5));
await caller(() => mc.executeTool({description: '', name: 'none', origin: location.origin, window}));
await caller(() => ModelContext.prototype.getTools.call({}));
await reg('twice');
await caller(() => reg('twice'));

await caller(() => mc.executeTool({description: '', name: 'x', origin: 'null', window}));
const gone = await frame('/blank');
const view = gone.contentWindow, theirs = view.document.modelContext;
gone.remove();
await caller(() => mc.executeTool({description: '', name: 'x', origin: location.origin, window: view}));
await caller(() => theirs.registerTool(T('x')));
await caller(() => mc.registerTool(T('x', {inputSchema: (() => { const o = {}; o.o = o; return o; })()})));
await caller(() => mc.registerTool(T('x', {inputSchema: {n: 1n}})));
await caller(() => mc.registerTool(T('x', {name: Symbol()})));
await caller(() => mc.registerTool(T('x', {name: {toString: () => ({})}})));
await caller(() => mc.registerTool(T('x'), {signal: 1}));
await caller(() => mc.registerTool(T('x'), {signal: AbortSignal.abort()}));

//// stacks of errors that are thrown at once
const at = (f) => {
  try {
    f();
    log('no error');
  } catch (e) {
    log(e, e.stack.split('\n').map((l) => l.replace(/^\s+at /, '').replace(/\(?(https?:[^ ]*|<anonymous>|:\d+)+[:\d]*\)?/g, '@').trim()));
  }
};
at(() => new ModelContext());
at(() => ModelContext());
at(() => new ToolActivatedEvent());
at(() => new ToolCancelEvent(Symbol()));
at(() => new ToolCancelEvent('x', 5));
at(() => ToolCancelEvent('x'));
at(() => ModelContext.prototype.ontoolchange);
at(() => { ModelContext.prototype.ontoolcancel = 1; });
at(() => ToolCancelEvent.prototype.toolName);
at(() => Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext').get.call({}));
at(() => SubmitEvent.prototype.agentInvoked);
at(() => new SubmitEvent('submit').respondWith());
at(() => new SubmitEvent('submit').respondWith(1));
at(() => SubmitEvent.prototype.respondWith.call({}, 1));

//// stacks of nested failures
const line = (e) => e.stack.split('\n').slice(1).filter((l) => /\bpage\w*/.test(l)).map((l) => /\bpage\w*/.exec(l)[0]);
async function pageOuter() {
  let inner;
  const e = await mc.registerTool(T('outer', {inputSchema: 5, get name() { inner = pageInner(); return 'n'; }})).catch((e) => e);
  log(e, line(e));
  const i = await inner;
  log(i, line(i)[0]);
}
function pageInner() {
  return mc.getTools({fromOrigins: 1}).catch((e) => e);
}
await pageOuter();
await pageOuter();

//// stacks of listeners
const depth = (e) => new Error().stack.split('\n').length;
const seen = [];
for (const type of ['toolchange', 'toolactivated', 'toolcancel']) mc.addEventListener(type, function listener() { seen.push(type + ' ' + new Error().stack.split('\n').length); });
await reg('a', {execute: () => 1});
await settle();
await run('a');
await settle();
await reg('b', {execute: () => new Promise(() => {})});
const c = new AbortController();
const p = rej(() => run('b', {}, {signal: c.signal}));
await settle();
c.abort();
log(await p);
await settle();
log(seen);

//// stacks of the listeners of a form that is run
const f = form('<input name=a><input name=b type=checkbox><select name=c><option>1<option>2</select>', 'toolautosubmit');
const seen = [];
for (const type of ['input', 'change', 'submit']) f.addEventListener(type, function listener() { seen.push(type + ' ' + new Error().stack.split('\n').length); });
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('x'); };
await settle();
log(await rej(() => run('f', {a: 'x', b: true, c: '2'})), seen);
f.parentNode.remove();
const g = form('<input name=a required><button>Go</button>', 'toolautosubmit');
g.elements.a.addEventListener('invalid', function listener() { seen.push('invalid ' + new Error().stack.split('\n').length); });
await settle();
log(await rej(() => run('f', {})), seen);

//// stacks of an abort of a tool
let stack;
await reg('a', {execute: (i, {signal}) => new Promise(() => { signal.onabort = () => { stack = [new Error().stack.split('\n').length, signal.reason.stack]; }; })});
const c = new AbortController();
const p = rej(() => run('a', {}, {signal: c.signal}));
await settle();
c.abort();
log(await p);
await settle();
log(stack);

//// no frames where the limit of stack traces is none
Error.stackTraceLimit = 0;
log(await mc.registerTool().catch((e) => e.stack));
delete Error.stackTraceLimit;
log(await mc.registerTool().catch((e) => e.stack));
Error.stackTraceLimit = 10;

//// frames as Error.prepareStackTrace gets them
Error.prepareStackTrace = (e, frames) => frames.map((f) => String(f.getFunctionName()));
async function pageAsks() {
  return mc.registerTool().catch((e) => e.stack);
}
log(await pageAsks());
delete Error.prepareStackTrace;
