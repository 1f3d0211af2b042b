// When a form is a tool: eligibility, registration, updates, removal, shadow roots.

//// a form becomes a tool
const seen = told();
form('<input name=q>', 'tooltitle=T');
await settle();
log(await get('f'), seen);

//// both attributes are needed
put('<form toolname=a></form><form tooldescription=d></form><form toolname tooldescription></form><form toolname=b tooldescription=""></form><form toolname=c tooldescription></form><form toolname="" tooldescription=d></form>');
await settle();
for (const t of await mc.getTools()) log(t);

//// invalid names
const seen = told();
put(['a b', 'é', 'x'.repeat(129), 'x'.repeat(128), ' a', 'a/b', 'A.b_c-9'].map((n) => `<form toolname="${n}" tooldescription=d></form>`).join(''));
await settle();
log((await names()).length, seen);

//// titles and descriptions
put('<form toolname=a tooldescription=" d  e " tooltitle=""></form><form toolname=b tooldescription=d tooltitle=" T "></form><form toolname=c tooldescription=d title=x></form><form toolname=d tooldescription="&#xd83d;x" tooltitle=é></form>');
await settle();
for (const t of await mc.getTools()) log(t.name, t.title, t.description);

//// forms that are not in the document
const f = document.createElement('form');
f.setAttribute('toolname', 'f');
f.setAttribute('tooldescription', 'd');
await settle();
log(await names());
put('<template><form toolname=t tooldescription=d></form></template>');
const fragment = document.createDocumentFragment();
fragment.append(f);
await settle();
log(await names());
document.body.append(fragment);
await settle();
log(await names());
f.remove();
log(await names());

//// forms by every way of insertion
const make = (n) => { const f = document.createElement('form'); f.setAttribute('toolname', n); f.setAttribute('tooldescription', 'd'); return f; };
document.body.append(make('append'));
document.body.prepend(make('prepend'));
document.body.insertAdjacentHTML('beforeend', '<form toolname=adjacent tooldescription=d></form>');
document.body.insertAdjacentElement('afterbegin', make('element'));
document.documentElement.append(make('root'));
document.head.append(make('head'));
const r = document.createRange();
r.selectNode(document.body.firstChild);
r.insertNode(make('range'));
document.body.append(make('clone').cloneNode(true));
const parsed = new DOMParser().parseFromString('<form toolname=adopted tooldescription=d></form>', 'text/html');
document.body.append(parsed.forms[0]);
document.body.append(document.importNode(new DOMParser().parseFromString('<form toolname=imported tooldescription=d></form>', 'text/html').forms[0], true));
document.body.lastChild.replaceWith(document.body.lastChild, make('replace'));
await settle();
log(await names());

//// forms in other namespaces
put('<svg><foreignObject><form toolname=foreign tooldescription=d></form></foreignObject></svg><math><form toolname=math tooldescription=d></form></math>');
const svg = document.createElementNS('http://www.w3.org/2000/svg', 'form');
svg.setAttribute('toolname', 'svg');
svg.setAttribute('tooldescription', 'd');
document.body.append(svg);
await settle();
log(await names());

//// seen by getTools right after insertion
form('');
const now = mc.getTools();
log((await now).length);
log((await mc.getTools()).length);

//// seen by getTools after a task
form('');
await tick();
log(await names());

//// registration is not synchronous
const seen = told();
form('');
seen.push('sync');
await null;
seen.push('micro');
await settle();
log(seen);

//// removed before it was registered
const seen = told();
const f = form('');
f.remove();
await settle();
log(await names(), seen);
const g = form('');
await null;
g.remove();
await settle();
log(await names(), seen);

//// removal is seen at once
const f = form('');
await settle();
const seen = told();
f.remove();
log(await names());
await settle();
log(seen);

//// losing an attribute is seen at once
for (const a of ['toolname', 'tooldescription']) {
  const f = form('');
  await settle();
  const seen = told();
  f.removeAttribute(a);
  const now = mc.getTools();
  log((await now).length);
  await settle();
  f.setAttribute(a, 'f');
  await settle();
  log(await names(), seen);
  f.remove();
  await settle();
}

//// an attribute lost and given back in one turn
const f = form('');
await settle();
const seen = told();
f.removeAttribute('toolname');
f.setAttribute('toolname', 'f');
await settle();
log(await names(), seen);

//// a name taken away frees it at once
const f = form('');
await settle();
f.removeAttribute('toolname');
log(await rej(() => reg('f')));

//// a form moved is registered anew
const f = form('<input name=a>');
await settle();
const seen = told();
document.body.prepend(f);
await settle();
log(await names(), seen);
document.body.append(document.body.lastChild, f);
await settle();
log(await names(), seen.length);

//// an ancestor moved
const holder = put('<div><form toolname=f tooldescription=d></form></div>');
await settle();
const seen = told();
document.body.prepend(holder);
await settle();
log(await names(), seen);
holder.remove();
await settle();
log(await names(), seen);

//// duplicates: the first wins
const seen = told();
put('<form toolname=f tooldescription=one></form><form toolname=f tooldescription=two></form>');
await settle();
log((await get('f')).description, seen);
document.forms[0].remove();
await settle();
log(await names(), seen);
document.forms[0].setAttribute('tooldescription', 'three');
await settle();
log((await get('f'))?.description, seen);

//// a loser that is touched by a control
put('<form toolname=f tooldescription=one></form><form toolname=f tooldescription=two><input name=a></form>');
await settle();
document.forms[0].remove();
await settle();
document.forms[0].elements.a.required = true;
await settle();
log(await names());

//// a loser that is touched by an equal value
put('<form toolname=f tooldescription=one></form><form toolname=f tooldescription=two></form>');
await settle();
document.forms[0].remove();
await settle();
document.forms[0].setAttribute('tooldescription', 'two');
await settle();
log(await names());

//// duplicates of imperative tools
await reg('a');
put('<form toolname=a tooldescription=form></form><form toolname=b tooldescription=form></form>');
await settle();
log((await get('a')).description, (await get('b')).description);
log(await rej(() => reg('b')));

//// a name freed by an imperative tool
const c = new AbortController();
await reg('a', {}, {signal: c.signal});
const f = put('<form toolname=a tooldescription=form></form>').firstChild;
await settle();
c.abort();
await settle();
log(await names());
f.setAttribute('tooltitle', 'x');
await settle();
log(await names());

//// changes of the form's attributes
const f = form('');
await settle();
const seen = told();
for (const [k, v] of [['toolname', 'g'], ['tooldescription', 'e'], ['tooltitle', 'T'], ['toolautosubmit', ''], ['toolautosubmit', 'x'], ['tooltitle', 'T'], ['action', '/x'], ['method', 'post'], ['name', 'n'], ['id', 'i']]) {
  f.setAttribute(k, v);
  await settle();
  log(k, v, await names(), seen.splice(0));
}
f.removeAttribute('tooltitle');
await settle();
f.removeAttribute('toolautosubmit');
await settle();
log(await get('g'), seen);

//// an update takes a turn
const f = form('');
await settle();
f.setAttribute('tooldescription', 'new');
const now = mc.getTools();
log((await now).map((t) => t.description));
await settle();
log((await mc.getTools()).map((t) => t.description));

//// changes in one turn are one
const f = form('<input name=a>');
await settle();
const seen = told();
f.setAttribute('tooldescription', '1');
f.setAttribute('tooltitle', '2');
f.elements.a.required = true;
f.append(document.createElement('textarea'));
await settle();
log(await get('f'), seen);

//// changes undone in one turn
const f = form('<input name=a>');
await settle();
const seen = told();
f.setAttribute('tooldescription', '1');
f.setAttribute('tooldescription', 'd');
f.elements.a.required = true;
f.elements.a.required = false;
await settle();
log(seen);

//// controls added and removed
const f = form('<input name=a>');
await settle();
const seen = told();
const step = async (what, act) => { act(); await settle(); log(what, Object.keys((await get('f')).inputSchema.properties), seen.splice(0)); };
const b = document.createElement('input');
b.name = 'b';
await step('added', () => f.append(b));
await step('moved', () => f.prepend(b));
await step('moved to the same place', () => f.prepend(b));
await step('removed', () => b.remove());
const outside = put('<input name=out><div><select name=s></select></div>');
await step('outside', () => 0);
f.id = 'fid';
await step('associated', () => outside.firstChild.setAttribute('form', 'fid'));
await step('dissociated', () => outside.firstChild.removeAttribute('form'));
await step('subtree', () => f.append(outside));
await step('emptied', () => { f.innerHTML = ''; });
await step('a button', () => { f.innerHTML = '<button>x</button>'; });
await step('text', () => f.append('text', document.createElement('p')));

//// the id of the form changes
put('<form id=fid toolname=f tooldescription=d></form><input name=a form=fid>');
await settle();
const seen = told();
document.forms[0].id = 'other';
await settle();
log((await get('f')).inputSchema, seen);
document.forms[0].id = 'fid';
await settle();
log((await get('f')).inputSchema, seen);

//// attributes of controls that are noticed
const seen = told();
for (const [html, k, v] of [['<input name=a>', 'name', 'b'], ['<input name=a>', 'type', 'number'], ['<input name=a>', 'required', ''], ['<input name=a type=number>', 'min', '1'], ['<input name=a type=number>', 'max', '1'], ['<input name=a type=number>', 'step', '2'], ['<input name=a>', 'pattern', 'x'], ['<select name=a></select>', 'multiple', ''], ['<input name=a>', 'disabled', ''], ['<input name=a>', 'readonly', ''], ['<input name=a>', 'toolparamdescription', 'x'], ['<input name=a>', 'aria-description', 'x'], ['<textarea name=a></textarea>', 'required', ''], ['<textarea name=a></textarea>', 'disabled', ''], ['<textarea name=a></textarea>', 'readonly', ''], ['<textarea name=a></textarea>', 'name', 'z'], ['<select name=a></select>', 'name', 'z'], ['<select name=a></select>', 'required', ''], ['<select name=a></select>', 'toolparamdescription', 'x'], ['<select name=a></select>', 'disabled', ''],
  ['<textarea name=a></textarea>', 'toolparamdescription', 'x'], ['<textarea name=a></textarea>', 'aria-description', 'x'], ['<input name=a type=time>', 'step', '1'], ['<input name=a type=hidden>', 'toolparamdescription', 'x'], ['<input type=hidden name=a value=1 toolparamdescription=x>', 'name', 'b'], ['<fieldset><input name=a></fieldset>', 'disabled', ''], ['<fieldset><input name=a type=radio value=1><input name=a type=radio value=2></fieldset>', 'toolparamdescription', 'x']]) {
  const f = form(html);
  await settle();
  seen.length = 0;
  f.firstChild.setAttribute(k, v);
  await settle();
  log(html, k, (await get('f')).inputSchema, seen.length);
  f.parentNode.remove();
  await settle();
}

//// attributes of controls that are not noticed
const seen = told();
for (const [html, k, v] of [['<input name=a type=checkbox><input name=a type=checkbox>', 'value', '1'], ['<input name=a type=radio>', 'value', '1'], ['<input name=a type=number step=2>', 'value', '3'], ['<input name=a>', 'placeholder', 'x'], ['<input name=a>', 'title', 'x'], ['<input name=a>', 'aria-label', 'x'], ['<input name=a>', 'maxlength', '3'], ['<input name=a>', 'hidden', ''], ['<input name=a type=range>', 'value', '7']]) {
  const f = form(html);
  await settle();
  seen.length = 0;
  f.firstChild.setAttribute(k, v);
  await settle();
  log(html, k, (await get('f')).inputSchema, seen.length);
  f.parentNode.remove();
  await settle();
}

//// options and labels are not noticed until something else is
const f = form('<label>Old<input name=a></label><select name=s><option>one</select>');
await settle();
const seen = told();
f.querySelector('label').firstChild.data = 'New';
f.elements.s.add(new Option('two'));
await settle();
log((await get('f')).inputSchema, seen);
f.elements.a.required = true;
await settle();
log((await get('f')).inputSchema, seen);

//// a label from elsewhere is not noticed
const f = form('<input id=i name=a>');
await settle();
const seen = told();
put('<label for=i>Label</label>');
await settle();
log((await get('f')).inputSchema, seen);

//// options that change are not noticed
const f = form('<select name=s><option value=1>one</select>');
await settle();
const seen = told();
f.elements.s.options[0].value = '9';
await settle();
f.elements.s.options[0].disabled = true;
await settle();
f.elements.s.innerHTML = '';
await settle();
log((await get('f')).inputSchema, seen);

//// a control replaced by its equal
const f = form('<input name=a>');
await settle();
const seen = told();
f.elements.a.replaceWith(f.elements.a.cloneNode());
await settle();
log(seen);

//// open and closed shadow roots
for (const mode of ['open', 'closed']) {
  const host = document.createElement('div');
  const root = host.attachShadow({mode});
  root.innerHTML = `<form toolname=${mode} tooldescription=d><input name=a></form>`;
  document.body.append(host);
}
await settle();
log(await names(), (await get('closed')).inputSchema);

//// a shadow root filled later
const host = put('<p></p>').firstChild;
const root = host.attachShadow({mode: 'closed'});
await settle();
const seen = told();
root.innerHTML = '<p><form toolname=f tooldescription=d></form></p>';
await settle();
log(await names(), seen);
root.querySelector('form').setAttribute('tooldescription', 'e');
await settle();
log((await get('f')).description, seen);
root.innerHTML = '';
log(await names());
await settle();
log(seen);

//// a host that goes and comes
const host = document.createElement('div');
host.attachShadow({mode: 'closed'}).innerHTML = '<form toolname=f tooldescription=d></form>';
document.body.append(host);
await settle();
const seen = told();
host.remove();
log(await names());
await settle();
document.body.append(host);
await settle();
log(await names(), seen);
document.body.prepend(host);
await settle();
log(await names(), seen);

//// nested shadow roots
const outer = document.createElement('div'), inner = document.createElement('div');
outer.attachShadow({mode: 'closed'}).append(inner);
inner.attachShadow({mode: 'closed'}).innerHTML = '<form toolname=f tooldescription=d></form>';
await settle();
log(await names());
document.body.append(outer);
await settle();
log(await names());
inner.remove();
await settle();
log(await names());

//// custom elements with shadow roots
customElements.define('x-form', class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<form toolname=f tooldescription=d><input name=q></form>'; }
});
put('<x-form></x-form>');
await settle();
log(await get('f'));

//// declarative shadow roots
put('').setHTMLUnsafe('<div><template shadowrootmode=open><form toolname=open tooldescription=d></form></template></div>');
await settle();
log(await names());

//// the page's view of what the shim wraps
const host = document.createElement('div'), root = host.attachShadow({mode: 'open'});
log(root === host.shadowRoot, Element.prototype.attachShadow.name, Element.prototype.attachShadow.length, sync(() => host.attachShadow({mode: 'open'})), sync(() => Element.prototype.attachShadow.call(5)), sync(() => document.createElement('div').attachShadow()));
log(Object.getOwnPropertyDescriptor(Element.prototype, 'attachShadow'), Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'submit'));

//// document.open removes forms
put('<form toolname=f tooldescription=d></form>');
await reg('kept');
await settle();
const seen = told();
document.open();
document.write('<body>');
document.close();
await settle();
log(await names(), seen);

//// forms of frames
const one = await frame('/blank');
one.contentDocument.body.innerHTML = '<form toolname=f tooldescription=d></form>';
await settle();
await settle();
const tools = await mc.getTools();
log(tools.map((t) => [t.name, t.window === one.contentWindow]));
one.remove();
await settle();
log(await names());

//// a form that moves to another frame
const f = form('');
await settle();
const one = await frame('/blank');
one.contentDocument.body.append(f);
await settle();
await settle();
log((await mc.getTools()).map((t) => [t.name, t.window === one.contentWindow, t.window === window]));

//// many forms
put(Array.from({length: 200}, (_, i) => `<form toolname=t${i} tooldescription=d><input name=a></form>`).join(''));
await settle();
log((await mc.getTools()).length);
document.body.innerHTML = '';
log((await mc.getTools()).length);

//// without origin keying there are no forms | Origin-Agent-Cluster: ?0
form('');
await settle();
log(await rej(() => mc.getTools()));

//// a form of a page that patches the DOM
Node.prototype.contains = Element.prototype.getAttribute = Element.prototype.hasAttribute = Element.prototype.matches = () => { throw new Error('patched'); };
document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d><input name=a></form>');
await settle();
log((await mc.getTools()).map((t) => t.name));

//// a form of a page that breaks its own forms
Object.defineProperty(HTMLFormElement.prototype, 'elements', {get() { throw new Error('patched'); }});
document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d><input name=a></form>');
await settle();
log((await mc.getTools()).map((t) => t.name));

//// a form of a page that replaces what its controls have
const broken = {get() { throw new Error('patched'); }, set() { throw new Error('patched'); }, configurable: true};
const values = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
for (const [I, k] of [[HTMLInputElement, 'value'], [HTMLInputElement, 'type'], [HTMLInputElement, 'labels'], [HTMLSelectElement, 'options']]) Object.defineProperty(I.prototype, k, broken);
globalThis.HTMLTextAreaElement = class {};
const f = form('<label>L<input name=a></label><select name=b><option>1<option>2</select><textarea name=c></textarea>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
log((await get('f'))?.inputSchema, await rej(() => run('f', {a: 'x', b: '2', c: 'y'})));
log(values.get.call(f.elements.a), f.elements.b.selectedIndex, f.elements.c.value);

//// a closed declarative shadow root of a component
customElements.define('x-closed', class extends HTMLElement {
  #internals = this.attachInternals();
  get root() { return this.#internals.shadowRoot; }
});
const host = put('');
host.setHTMLUnsafe('<x-closed><template shadowrootmode=closed><form toolname=f tooldescription=d><input name=q></form></template></x-closed>');
await settle();
log(host.firstChild.shadowRoot, host.firstChild.root?.mode, await names(), (await get('f'))?.inputSchema);
host.firstChild.root.firstChild.remove();
log(await names());
log(sync(() => host.firstChild.attachInternals()), sync(() => document.body.attachInternals()), HTMLElement.prototype.attachInternals.name);

//// a component of a page that replaces how a closed root is found
Object.defineProperty(ElementInternals.prototype, 'shadowRoot', {get: () => null, configurable: true});
customElements.define('x-hidden', class extends HTMLElement {
  constructor() { super(); this.attachInternals(); }
});
const host = put('');
host.setHTMLUnsafe('<x-hidden><template shadowrootmode=closed><form toolname=f tooldescription=d><input name=q></form></template></x-hidden>');
await settle();
log(await names(), (await get('f'))?.inputSchema);

//// a component that is defined later
const host = put('');
host.setHTMLUnsafe('<x-later><template shadowrootmode=closed><form toolname=f tooldescription=d></form></template></x-later>');
let root;
customElements.define('x-later', class extends HTMLElement {
  constructor() { super(); root = this.attachInternals().shadowRoot; }
});
await settle();
log(await names(), root.mode);

//// a closed declarative shadow root that no script ever sees
const host = put('');
host.setHTMLUnsafe('<p><template shadowrootmode=closed><form toolname=f tooldescription=d></form></template></p>');
await settle();
log(host.firstChild.shadowRoot, await names());

//// an imperative tool takes a lost name
const f = form('');
await settle();
f.remove();
log(await rej(() => reg('f')));
document.body.append(f);
await settle();
log((await mc.getTools()).length, await rej(() => run('f')));
