// Evaluated before every scenario, in both browsers alike. It gives the scenario
// mc, log, show, T, rej, events, frame, get, settle and sleep; TRACE is the outcome.
globalThis.TRACE = [];
globalThis.text = JSON.stringify;
globalThis.mc = document.modelContext;
globalThis.tick = () => new Promise((done) => setTimeout(done));
globalThis.sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// realm names the window whose intrinsics made v.
globalThis.realm = (v) => {
  const named = [['main', window]];
  for (let i = 0; i < frames.length; i++) named.push(['frame' + i, frames[i]]);
  for (const [name, w] of Object.entries(globalThis.REALMS ?? {})) named.push([name, w]);
  for (const [name, w] of named) {
    try {
      if (v instanceof w.Object) return name;
    } catch {}
  }
  return '?';
};

// show renders a value so that two equal renderings mean that a page sees the same.
globalThis.show = (v, depth = 0) => {
  if (v === undefined) return 'undefined';
  if (v === null) return 'null';
  if (typeof v === 'string') return text(v);
  if (typeof v === 'bigint') return v + 'n';
  if (typeof v === 'function') return `function ${v.name}/${v.length}`;
  if (typeof v !== 'object') return String(v);
  for (let i = 0; i < frames.length; i++) if (v === frames[i]) return `[frame ${i}]`;
  if (v === window) return '[window]';
  if (Error.isError(v)) {
    const code = 'code' in v ? ' code ' + v.code : '';
    return `${v.constructor.name} ${v.name}${code} in ${realm(v)}: ${v.message}`;
  }
  if (v instanceof Promise) return 'Promise';
  if (v instanceof EventTarget || v instanceof Event) return String(v);
  if (depth > 5) return '...';
  if (Array.isArray(v)) return '[' + v.map((e) => show(e, depth + 1)).join(', ') + ']';
  return '{' + Object.keys(v).map((k) => `${k}: ${show(v[k], depth + 1)}`).join(', ') + '}';
};
globalThis.log = (...parts) => TRACE.push(parts.map((p) => (typeof p === 'string' ? p : show(p))).join(' '));

// A tool named name that answers "ok"; more overrides its members.
globalThis.T = (name, more) => ({name, description: 'd', execute: () => 'ok', ...more});
globalThis.reg = (name, more, options) => mc.registerTool(T(name, more), options);

// How a call ends, synchronous throws included.
globalThis.rej = async (call) => {
  let promise;
  try {
    promise = call();
  } catch (e) {
    return 'THROWN ' + show(e);
  }
  try {
    return 'resolved ' + show(await promise);
  } catch (e) {
    return 'rejected ' + show(e);
  }
};
globalThis.sync = (call) => {
  try {
    return 'returned ' + show(call());
  } catch (e) {
    return 'thrown ' + show(e);
  }
};
globalThis.names = async (from = mc) => (await from.getTools()).map((t) => t.name).join();
globalThis.get = async (name, from = mc) => (await from.getTools()).find((t) => t.name === name);
// Runs the tool of that name to its end.
globalThis.run = async (name, input, options) => mc.executeTool(await get(name), input, options);
// A proxy that records in which order members are read.
globalThis.spy = (target, order, label = '') => new Proxy(target, {
  get(t, k) { order.push(label + String(k)); return t[k]; },
  has(t, k) { order.push('has ' + label + String(k)); return k in t; },
  ownKeys(t) { order.push('keys'); return Reflect.ownKeys(t); },
});
// Opens a frame and waits for its load.
globalThis.frame = async (src, attributes = {}) => {
  const f = document.createElement('iframe');
  for (const [k, v] of Object.entries(attributes)) f.setAttribute(k, v);
  if (src !== undefined) {
    f.src = src;
    const loaded = new Promise((done) => (f.onload = done));
    document.body.append(f);
    await loaded;
  } else {
    document.body.append(f);
  }
  return f;
};
// Resolves when everything queued so far, in whatever task source, has happened.
globalThis.settle = async (from = mc) => {
  for (let i = 0; i < 3; i++) {
    try { await from.getTools(); } catch {}
    await sleep(5);
  }
};

// Forms: put adds HTML to the page, form makes one that is a tool, "f" by name.
globalThis.put = (html, parent = document.body) => {
  const holder = document.createElement('div');
  holder.innerHTML = html;
  parent.append(holder);
  return holder;
};
globalThis.form = (inner, attributes = '', parent = document.body) =>
  put(`<form toolname=f tooldescription=d ${attributes}>${inner}</form>`, parent).firstChild;
// Logs the schema of a form with each of these contents.
globalThis.schemas = async (...inners) => {
  inners.forEach((inner, i) => put(`<form toolname=s${i} tooldescription=d>${inner}</form>`));
  await settle();
  for (const [i, inner] of inners.entries()) log(inner, '=>', text((await get('s' + i))?.inputSchema.properties), text((await get('s' + i))?.inputSchema.required));
};
// Records every event that a form and its controls get.
globalThis.record = (form, types = 'input change beforeinput invalid submit reset click keydown formdata'.split(' ')) => {
  const seen = [];
  for (const type of types) form.addEventListener(type, (e) => seen.push(type + ' ' + (e.target.name || e.target.id || e.target.localName) + (e.target.value === undefined ? '' : '=' + e.target.value)), true);
  return seen;
};
// What a form holds.
globalThis.held = (form) => [...form.elements].map((e) => `${e.name || e.id}:${e.type}=${e.type === 'select-multiple' ? [...e.selectedOptions].map((o) => o.value).join('+') : e.value}${e.checked ? ' on' : ''}`).join(', ');
// Puts inner into a form and runs it with each input, from a fresh form each time.
globalThis.fills = async (inner, ...inputs) => {
  for (const input of inputs) {
    const f = form(inner, 'toolautosubmit');
    f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
    await settle();
    const seen = record(f, ['input', 'change', 'submit']);
    log(input, await rej(() => run('f', input)), held(f), seen);
    f.parentNode.remove();
    await settle();
  }
};
// Lists what the ModelContext is told from now on.
globalThis.told = () => {
  const seen = [];
  for (const type of ['toolchange', 'toolactivated', 'toolcancel']) mc.addEventListener(type, (e) => seen.push(type + (e.toolName ? ' ' + e.toolName : '')));
  return seen;
};
