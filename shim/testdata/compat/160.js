// What Chromium 160 changes, as §9 of the facts has it: getTools returns Tool objects.
// Lines with "//=" are the trace that has to come.

//// Tool interface: the interface
log(typeof Tool, Tool.name, Tool.length, Object.getPrototypeOf(Tool) === Function.prototype, Object.getPrototypeOf(Tool.prototype) === Object.prototype);
log(sync(() => new Tool()), sync(() => Tool()));
const d = Object.getOwnPropertyDescriptor(window, 'Tool');
log(d.writable, d.enumerable, d.configurable, Object.prototype.toString.call(Tool.prototype));
//= function Tool 0 true true
//= thrown TypeError TypeError in main: Failed to construct 'Tool': Illegal constructor thrown TypeError TypeError in main: Illegal constructor
//= true false true [object Tool]

//// Tool interface: what getTools gives
await reg('a');
const t = await get('a'), list = await mc.getTools();
log(t instanceof Tool, t instanceof EventTarget, t.constructor === Tool, Array.isArray(list), Object.prototype.toString.call(t), list[0] === t);
//= true false true true [object Tool] false

//// Tool interface: attributes
await reg('a', {title: 't', inputSchema: {type: 'object'}, outputSchema: {type: 'array'}, annotations: {readOnlyHint: true}});
const t = await get('a');
log(t.name, t.title, t.description, t.inputSchema, t.outputSchema, t.origin === origin);
log(t.annotations);
for (const [key, d] of Object.entries(Object.getOwnPropertyDescriptors(Tool.prototype))) if (d.get) log(key, d.get.name, d.get.length, d.set, d.enumerable, d.configurable);
//= a t d {type: "object"} {type: "array"} true
//= {consequentialHint: false, debugging: false, readOnlyHint: true, untrustedContentHint: false}
//= name get name 0 undefined true true
//= title get title 0 undefined true true
//= description get description 0 undefined true true
//= inputSchema get inputSchema 0 undefined true true
//= outputSchema get outputSchema 0 undefined true true
//= annotations get annotations 0 undefined true true
//= origin get origin 0 undefined true true
//= source get source 0 undefined true true

//// Tool interface: attributes are read only, and belong to Tools
await reg('a');
const t = await get('a');
log(sync(() => { 'use strict'; t.name = 'x'; }), t.name);
const get2 = Object.getOwnPropertyDescriptor(Tool.prototype, 'name').get;
for (const v of [{}, mc, null, document, Object.create(t), () => 1]) log(sync(() => get2.call(v)));
//= thrown TypeError TypeError in main: Cannot set property name of #<Tool> which has only a getter a
//= thrown TypeError TypeError in main: Illegal invocation
//= thrown TypeError TypeError in main: Illegal invocation
//= thrown TypeError TypeError in main: Illegal invocation
//= thrown TypeError TypeError in main: Illegal invocation
//= thrown TypeError TypeError in main: Illegal invocation
//= thrown TypeError TypeError in main: Illegal invocation

//// source: stands where window was
await reg('a');
const t = await get('a');
log(t.source === window, 'window' in t, t.window);
//= true false undefined

//// source: of a frame
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('child'));
const t = await get('child');
log(t.source === f.contentWindow, t.origin === origin, await mc.executeTool(t));
//= true true ok

//// nulls: absent members
await reg('a');
const t = await get('a');
log(t.inputSchema, t.outputSchema, t.annotations, [t.title]);
form('<input name=x>');
await settle();
const g = await get('f');
log(g.inputSchema, g.outputSchema, g.annotations);
//= null null null [""]
//= {type: "object", properties: {x: {type: "string"}}, required: []} null null

//// nothing of its own: JSON.stringify, spread and keys
await reg('a', {title: 't', inputSchema: {}});
const t = await get('a');
log(text(t), text({...t}), Object.keys(t), Reflect.ownKeys(t), text(Object.assign({}, t)));
//= {} {} [] [] {}

//// not cloneable: structuredClone and postMessage
await reg('a');
const t = await get('a');
for (const clone of [() => structuredClone(t), () => postMessage(t, '*'), () => structuredClone([t])]) {
  try {
    clone();
    log('cloned');
  } catch (e) {
    log(e.name, e.code, e instanceof DOMException);
  }
}
//= DataCloneError 25 true
//= DataCloneError 25 true
//= DataCloneError 25 true

//// internal id: executeTool takes Tools only
await reg('a');
for (const v of [{name: 'a', description: 'd', origin, window}, {...await get('a')}, null, 'a', mc, Object.create(await get('a'))]) log(await rej(() => mc.executeTool(v)));
log(await rej(() => mc.executeTool()));
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': parameter 1 is not of type 'Tool'.
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': 1 argument required, but only 0 present.

//// internal id: a tool that is registered again is another
const c = new AbortController();
reg('a', {execute: () => 'first'}, {signal: c.signal}).catch(() => {});
const t = await get('a');
log(await mc.executeTool(t));
c.abort();
await reg('a', {execute: () => 'second'});
log(await rej(() => mc.executeTool(t)), await mc.executeTool(await get('a')), t.name);
//= first
//= rejected DOMException UnknownError code 0 in main: The operation failed for an unknown transient reason (e.g. out of memory). second a

//// internal id: registered again between the call and its start
const c = new AbortController();
reg('a', {execute: () => 'first'}, {signal: c.signal}).catch(() => {});
const t = await get('a');
const p = rej(() => mc.executeTool(t));
c.abort();
reg('a', {execute: () => 'second'});
log(await p);
//= rejected DOMException UnknownError code 0 in main: Tool not found: a

//// internal id: unregistered
const c = new AbortController();
reg('a', {}, {signal: c.signal}).catch(() => {});
const t = await get('a');
c.abort();
log(await rej(() => mc.executeTool(t)));
//= rejected DOMException UnknownError code 0 in main: The operation failed for an unknown transient reason (e.g. out of memory).

//// internal id: a form that changed is another
const f = form('<input name=x>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
const t = await get('f');
log(await mc.executeTool(t));
f.setAttribute('tooldescription', 'other');
await settle();
log(await rej(() => mc.executeTool(t)), await run('f'));
//= sent
//= rejected DOMException UnknownError code 0 in main: The operation failed for an unknown transient reason (e.g. out of memory). sent

//// internal id: Tools of another realm
const f = await frame('/blank');
await reg('a');
const inner = f.contentDocument.modelContext, t = (await inner.getTools())[0];
log(t instanceof Tool, t instanceof f.contentWindow.Tool, realm(t), t.source === window);
log(await mc.executeTool(t), await inner.executeTool(await get('a')));
log(Object.getOwnPropertyDescriptor(Tool.prototype, 'name').get.call(t));
//= false true frame0 true
//= ok ok
//= a

//// internal id: a Tool of a frame that is gone
const f = await frame('/blank');
await f.contentDocument.modelContext.registerTool(T('child'));
const t = await get('child');
f.remove();
log(await rej(() => mc.executeTool(t)), t.name);
//= rejected DOMException InvalidStateError code 11 in main: Target frame is detached. child

//// internal id: aborted and late checks are those of 156
await reg('a');
const t = await get('a');
log(await rej(() => mc.executeTool(t, 1, {signal: AbortSignal.abort('x')})));
log(await rej(() => mc.executeTool(t, {}, {signal: AbortSignal.abort('x')})));
log(await rej(() => mc.executeTool(t, [])));
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': invalid input object: value is not an object
//= rejected "x"
//= resolved "ok"

//// opaque origins: as in 156 so far
const said = new Promise((done) => (window.onmessage = (e) => done(e.data)));
await frame('/opaque', {sandbox: 'allow-scripts', allow: 'tools *'});
log(await said);
//= null NotSupportedError: Cannot execute tools that live in a document with an opaque origin.

//// outputSchema: read and kept as in 159
const order = [];
await mc.registerTool(spy(T('a', {outputSchema: {toJSON: () => 'x'}}), order));
log(order, (await get('a')).outputSchema);
//= ["annotations", "description", "execute", "inputSchema", "name", "outputSchema", "title"] null

//// sameness: schemas and annotations are one object for each Tool
await reg('a', {inputSchema: {}, outputSchema: {}, annotations: {}});
const t = await get('a'), again = await get('a');
log(t.inputSchema === t.inputSchema, t.outputSchema === t.outputSchema, t.annotations === t.annotations, t.inputSchema === again.inputSchema);
//= true true true false

//// unchanged: order, events and removal
const seen = told(), c = new AbortController();
reg('b', {}, {signal: c.signal}).catch(() => {});
await reg('a');
log(await names(), await run('b'));
c.abort();
log(await names());
await settle();
log(seen);
//= a,b ok
//= a
//= ["toolchange", "toolchange", "toolactivated b", "toolchange"]
