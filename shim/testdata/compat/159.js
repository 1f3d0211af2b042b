// What Chromium 159 changes, as §9 of the facts has it: outputSchema in registerTool and
// getTools. Lines with "//=" are the trace that has to come.

//// outputSchema: a tool tells the schema of its results
await reg('a', {outputSchema: {type: 'object', properties: {n: {type: 'number'}}}});
const t = await get('a');
log(Object.keys(t), text(t.outputSchema), t.window === window);
//= ["description", "name", "origin", "outputSchema", "title", "window"] {"type":"object","properties":{"n":{"type":"number"}}} true

//// outputSchema: absent where the page gave none
await reg('a', {inputSchema: {}});
log(Object.keys(await get('a')), 'outputSchema' in await get('a'));
//= ["description", "inputSchema", "name", "origin", "title", "window"] false

//// outputSchema: a copy each time
const outputSchema = {type: 'object'};
await reg('a', {outputSchema});
outputSchema.type = 'array';
const one = await get('a'), two = await get('a');
log(one.outputSchema, one.outputSchema === two.outputSchema, one.outputSchema === outputSchema);
//= {type: "object"} false false

//// outputSchema: read between name and title
const order = [];
await mc.registerTool(spy(T('a', {title: 't', inputSchema: {}, outputSchema: {}}), order));
log(order);
//= ["annotations", "description", "execute", "inputSchema", "name", "outputSchema", "title"]

//// outputSchema: what is no object
for (const outputSchema of [null, 'x', 1, true, 1n]) log(await rej(() => reg('a', {outputSchema})));
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'ModelContextTool': Failed to convert value to 'object'.
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'ModelContextTool': Failed to convert value to 'object'.
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'ModelContextTool': Failed to convert value to 'object'.
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'ModelContextTool': Failed to convert value to 'object'.
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'ModelContextTool': Failed to convert value to 'object'.

//// outputSchema: what has no JSON
log(await rej(() => reg('a', {outputSchema: {toJSON() {}}})));
log(await rej(() => reg('a', {outputSchema: () => 1})));
log((await rej(() => reg('a', {outputSchema: {n: 1n}}))));
log(await rej(() => reg('a', {outputSchema: {toJSON() { throw new RangeError('mine'); }}})), await names());
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': invalid output schema: toJSON() returns undefined
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': invalid output schema: toJSON() returns undefined
//= rejected TypeError TypeError in main: Failed to execute 'registerTool' on 'ModelContext': Do not know how to serialize a BigInt
//= rejected RangeError RangeError in main: mine 

//// outputSchema: one that serialises to no object counts as none
await reg('a', {outputSchema: {toJSON: () => 'x'}});
log(Object.keys(await get('a')));
//= ["description", "name", "origin", "title", "window"]

//// outputSchema: executeTool reads it, and does not check results
await reg('a', {outputSchema: {type: 'number'}, execute: () => 'no number'});
const order = [];
log(await mc.executeTool(spy(await get('a'), order)), order);
log(await rej(() => mc.executeTool({description: 'd', name: 'a', origin, window, outputSchema: 1})));
//= no number ["annotations", "description", "inputSchema", "name", "origin", "outputSchema", "title", "window"]
//= rejected TypeError TypeError in main: Failed to execute 'executeTool' on 'ModelContext': Failed to read the 'outputSchema' property from 'RegisteredTool': Failed to convert value to 'object'.

//// outputSchema: forms have none
form('<input name=a>');
await settle();
log(Object.keys(await get('f')), typeof Tool);
//= ["description", "inputSchema", "name", "origin", "title", "window"] undefined
