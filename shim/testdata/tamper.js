// tamper(mode) puts something else in place of every builtin that a script could lean
// on. "wrap" and "proxy" pass calls through and note what they were given; "throw"
// throws. leaks(secrets) tells which of the notes hold what is not the page's own.
(() => {
  const {apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty} = Reflect;
  const Genuine = {Proxy, Error};
  const {includes} = String.prototype;
  const notes = {__proto__: null, n: 0};
  let quiet = false;

  const note = (v) => { if (!quiet) notes[notes.n++] = v; };
  const noteAll = (self, args) => {
    note(self);
    for (let i = 0; i < args.length; i++) note(args[i]);
  };

  function replacement(f, mode, keep) {
    if (mode === 'throw') return keep(function () { throw new Genuine.Error('tampered'); }, f);
    if (mode === 'proxy') {
      return new Genuine.Proxy(f, {
        __proto__: null,
        apply(t, self, args) { noteAll(self, args); return apply(t, self, args); },
        construct(t, args, target) { noteAll(target, args); return construct(t, args, target); },
      });
    }
    return keep(function W(...args) {
      noteAll(this, args);
      return new.target === undefined ? apply(f, this, args) : construct(f, args, new.target === W ? f : new.target);
    }, f);
  }
  // Statics and prototype go over to the replacement of a constructor.
  const keep = (w, f) => {
    const keys = ownKeys(f);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === 'arguments' || keys[i] === 'caller') continue;
      try { defineProperty(w, keys[i], {__proto__: null, ...getOwnPropertyDescriptor(f, keys[i])}); } catch {}
    }
    return w;
  };

  function member(holder, key, mode) {
    const d = getOwnPropertyDescriptor(holder, key);
    if (!d || !d.configurable) return;
    try {
      if (typeof d.value === 'function') defineProperty(holder, key, {__proto__: null, ...d, value: replacement(d.value, mode, keep)});
      else if (d.get) defineProperty(holder, key, {__proto__: null, ...d, get: replacement(d.get, mode, keep), set: d.set && replacement(d.set, mode, keep)});
    } catch {}
  }

  globalThis.tamper = (mode) => {
    const holders = [];
    const types = ['Object', 'Function', 'Array', 'String', 'Number', 'RegExp', 'Promise', 'Map', 'WeakMap', 'Set', 'WeakSet', 'Error', 'TypeError', 'DOMException', 'EventTarget', 'Event', 'CustomEvent', 'MessageEvent', 'MessageChannel', 'MessagePort', 'AbortController', 'AbortSignal', 'URL', 'Node', 'Document', 'DOMStringList', 'PageTransitionEvent', 'Performance', 'Iterator', 'Window', 'WeakRef', 'Symbol'];
    for (const k of types) {
      if (!globalThis[k]) continue;
      holders.push(globalThis[k]);
      if (globalThis[k].prototype) holders.push(globalThis[k].prototype);
    }
    holders.push(JSON, Reflect, console, Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(async function () {}));
    // From here on nothing is used that is being replaced.
    const targets = {__proto__: null, n: 0};
    for (const holder of holders) {
      for (const key of ownKeys(holder)) {
        if (key === 'constructor' || key === 'prototype' || (holder === Document.prototype && key === 'modelContext')) continue;
        targets[targets.n++] = {__proto__: null, holder, key};
      }
    }
    for (const key of [...types, 'setTimeout', 'queueMicrotask', 'Proxy', 'performance', 'length', 'closed', 'parent', 'self', 'frames', 'scheduler', 'inspect', 'console']) {
      targets[targets.n++] = {__proto__: null, holder: globalThis, key};
    }
    // What an assignment or a missing member would ask.
    const names = {__proto__: null, n: 0};
    for (const k of ['peer', 'value', 'get', 'set', 'done', 'next', 't', 'name', 'secret', 'invoke', 'connect', 'signal', 'tool', 'state', 'reset', 'add', 'remove', 'bubbles', 'detail', 'capture', 'once', 'status', 'output', 'error', 'stack', 'hops', 'job', 'first', 'last', 'annotations', 'schema', 'deny', 'allow', ...Array(12).keys()]) names[names.n++] = k;
    const roots = {__proto__: null, 0: Object.prototype, 1: Array.prototype};
    for (let i = 0; i < targets.n; i++) member(targets[i].holder, targets[i].key, mode);
    for (let i = 0; i < names.n; i++) {
      for (let r = 0; r < 2; r++) {
        const k = names[i];
        if (getOwnPropertyDescriptor(roots[r], k) !== undefined) continue;
        defineProperty(roots[r], k, {__proto__: null, configurable: true, get() { note(this); return undefined; }, set(v) {
          note(this);
          note(v);
          defineProperty(this, k, {__proto__: null, value: v, writable: true, enumerable: true, configurable: true});
        }});
      }
    }
    globalThis.tampered = targets.n;
  };

  globalThis.noted = () => notes.n;
  globalThis.leaks = (secrets) => {
    quiet = true;
    let found = '';
    const suspicious = (v) => {
      if (typeof v === 'string') {
        for (let i = 0; i < secrets.length; i++) if (apply(includes, v, [secrets[i]])) return 'text ' + secrets[i];
      } else if ((typeof v === 'object' && v !== null) || typeof v === 'function') {
        let d;
        try { d = getOwnPropertyDescriptor(v, 'secret') ?? getOwnPropertyDescriptor(v, 'invoke'); } catch {}
        if (d) return 'the api object';
      }
      return '';
    };
    for (let i = 0; i < notes.n; i++) {
      const v = notes[i];
      let bad = suspicious(v);
      if (!bad && typeof v === 'function') {
        // A door that somebody put within reach.
        let out;
        try { out = v(); } catch {}
        bad = suspicious(out);
      }
      if (bad) found += bad + ' in note ' + i + '; ';
    }
    quiet = false;
    return found;
  };
})();
