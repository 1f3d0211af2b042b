// Forms of pages that are locked up, or that have replaced the builtins.

//// strict CSP and Trusted Types | Content-Security-Policy: script-src 'none'; style-src 'none'; require-trusted-types-for 'script'
const f = document.createElement('form'), input = document.createElement('input'), style = document.createElement('style');
for (const [k, v] of [['toolname', 'f'], ['tooldescription', 'd'], ['toolautosubmit', '']]) f.setAttribute(k, v);
input.setAttribute('name', 'a');
style.textContent = 'form:tool-form-active { color: rgb(1, 2, 3); }';
f.append(input);
document.body.append(style, f);
f.addEventListener('submit', (e) => { e.preventDefault(); e.respondWith([input.value, f.matches(':tool-form-active'), getComputedStyle(f).color]); });
await settle();
log((await get('f')).inputSchema, await rej(() => run('f', {a: 'x'})));

//// frozen prototypes
for (const I of [Object, Array, Function, Promise, EventTarget, Event, SubmitEvent, Node, Element, HTMLElement, HTMLFormElement, HTMLInputElement, Document, ShadowRoot, CSSStyleSheet, DocumentFragment]) Object.freeze(I.prototype);
const f = form('<input name=a><button>x</button>', 'toolautosubmit');
f.addEventListener('submit', (e) => { e.preventDefault(); e.respondWith(e.agentInvoked); });
await settle();
log((await get('f')).inputSchema, await rej(() => run('f', {a: 'x'})), held(f));
f.remove();
log(await names());

//// builtins replaced before the first form
const broken = (o, ...keys) => keys.map((k) => { const f = o[k]; o[k] = () => { throw new Error('broken ' + k); }; return () => (o[k] = f); });
const mend = [...broken(JSON, 'parse', 'stringify'), ...broken(Promise.prototype, 'catch', 'finally'), ...broken(Map.prototype, 'get', 'set'), ...broken(WeakMap.prototype, 'get', 'set', 'has'),
  ...broken(String.prototype, 'indexOf', 'slice', 'trim', 'toLowerCase'), ...broken(Object, 'keys', 'defineProperty', 'getOwnPropertyDescriptor'), ...broken(Reflect, 'apply', 'construct', 'defineProperty'),
  ...broken(Array, 'isArray'), ...broken(Number.prototype, 'toPrecision'), ...broken(window, 'setTimeout', 'queueMicrotask', 'MutationObserver', 'Proxy', 'WeakRef', 'reportError')];
const f = document.createElement('form'), input = document.createElement('input');
for (const [k, v] of [['toolname', 'f'], ['tooldescription', 'd'], ['toolautosubmit', '']]) f.setAttribute(k, v);
input.name = 'a';
f.append(input);
document.body.append(f);
f.addEventListener('submit', (e) => { e.preventDefault(); e.respondWith('sent'); });
for (let i = 0; i < 20 && (await mc.getTools()).length === 0; i++) await new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); });
const [tool] = await mc.getTools();
const result = tool && await mc.executeTool(tool, {a: 1.5});
for (const m of mend) m();
log(tool?.name, tool?.inputSchema, result, input.value);

//// builtins replaced after the first form
const f = form('<input name=a><select name=s multiple><option>1<option>2</select>', 'toolautosubmit');
f.addEventListener('submit', (e) => { e.preventDefault(); e.respondWith('sent'); });
await settle();
const [tool] = await mc.getTools();
const broken = (o, ...keys) => keys.map((k) => {
  const d = Object.getOwnPropertyDescriptor(o, k);
  Object.defineProperty(o, k, d.get ? {...d, get() { throw new Error('broken ' + k); }} : {...d, value() { throw new Error('broken ' + k); }});
  return () => Object.defineProperty(o, k, d);
});
const mend = [...broken(JSON, 'parse', 'stringify'), ...broken(WeakMap.prototype, 'get', 'set'), ...broken(String.prototype, 'indexOf', 'slice'), ...broken(EventTarget.prototype, 'addEventListener', 'removeEventListener', 'dispatchEvent'),
  ...broken(Element.prototype, 'matches', 'getAttribute', 'hasAttribute', 'localName', 'querySelectorAll'), ...broken(Node.prototype, 'getRootNode', 'isConnected', 'contains', 'ownerDocument', 'textContent'),
  ...broken(HTMLFormElement.prototype, 'elements', 'requestSubmit'), ...broken(HTMLInputElement.prototype, 'value', 'type', 'form', 'labels'), ...broken(HTMLSelectElement.prototype, 'options', 'multiple'),
  ...broken(HTMLOptionElement.prototype, 'value', 'selected'), ...broken(HTMLCollection.prototype, 'length'), ...broken(NodeList.prototype, 'length'), ...broken(Array.prototype, 'push', 'map', 'forEach')];
const result = await mc.executeTool(tool, {a: 'x', s: ['2']});
for (const m of mend) m();
log(result, held(f));

//// nothing of the shim in what a page replaces
const seen = [], spied = [];
const spyOn = (o, k) => {
  const f = o[k];
  o[k] = function (...a) { seen.push(k); return f.apply(this, a); };
  spied.push(() => (o[k] = f));
};
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
for (const [o, k] of [[Element.prototype, 'getAttribute'], [Element.prototype, 'hasAttribute'], [EventTarget.prototype, 'addEventListener'], [EventTarget.prototype, 'dispatchEvent'], [Document.prototype, 'querySelectorAll'], [Node.prototype, 'getRootNode'], [JSON, 'parse'], [HTMLFormElement.prototype, 'requestSubmit']]) spyOn(o, k);
const result = await mc.executeTool((await mc.getTools())[0], {a: 'x'});
for (const s of spied) s();
log(result, seen);
