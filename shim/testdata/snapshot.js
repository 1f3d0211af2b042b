// snapshot() lists what a page can see of its realm: the own properties of every
// builtin, and the text of every function.
globalThis.snapshot = (w = window) => {
  const lines = [], seen = new Set();
  const visit = (path, o) => {
    if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) return;
    seen.add(o);
    if (typeof o === 'function') lines.push(path + ' is ' + w.Function.prototype.toString.call(o));
    for (const k of Reflect.ownKeys(o)) {
      const d = Reflect.getOwnPropertyDescriptor(o, k), at = path + '.' + String(k);
      lines.push(`${at} ${typeof d.value} ${!!d.get} ${!!d.set} ${d.writable} ${d.enumerable} ${d.configurable}`);
      if (typeof d.value === 'function') visit(at, d.value);
      else if (k === 'prototype') visit(at, d.value);
      if (d.get) lines.push(at + ' gets ' + w.Function.prototype.toString.call(d.get));
      if (d.set) lines.push(at + ' sets ' + w.Function.prototype.toString.call(d.set));
    }
  };
  const skip = new Set(['snapshot', 'digest']);
  for (const k of Reflect.ownKeys(w)) {
    if (skip.has(k)) continue;
    const d = Reflect.getOwnPropertyDescriptor(w, k);
    lines.push(`window.${String(k)} ${!!d.get} ${d.writable} ${d.enumerable} ${d.configurable} ${d.get ?? ''}`);
    if (typeof d.value === 'function') visit(String(k), d.value);
  }
  visit('document', w.document);
  visit('navigator', w.navigator);
  visit('performance', w.performance);
  for (const k of ['ModelContext', 'ToolActivatedEvent', 'ToolCancelEvent']) lines.push(k + ' ' + (k in w));
  lines.push('modelContext ' + ('modelContext' in w.document) + ('modelContext' in w.navigator));
  return lines;
};

// digest() is a short text that differs when a line differs.
globalThis.digest = (lines) => {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (const line of lines) {
    for (let i = 0; i < line.length; i++) {
      a = Math.imul(a ^ line.charCodeAt(i), 2654435761);
      b = Math.imul(b ^ line.charCodeAt(i), 1597334677);
    }
  }
  return lines.length + ' lines ' + (a >>> 0).toString(16) + (b >>> 0).toString(16);
};
