// In every document of the cross-origin scenarios, after shim/testdata/prelude.js. It
// runs what another document asks for, and gives the scenario open, ask, until, where
// and tools. A is the scenario's own origin, B and C are of other sites, S is another
// origin of A's site.
globalThis.where = (w) => {
  const find = (v, path) => {
    if (v === w) return path;
    for (let i = 0; i < v.length; i++) {
      const at = find(v[i], path + '.' + i);
      if (at) return at;
    }
  };
  return find(top, 'top') ?? 'another tree';
};
globalThis.label = (text) => String(text).replaceAll(A, 'A').replaceAll(B, 'B').replaceAll(C, 'C').replaceAll(S, 'S');
// What getTools gives, each tool in a line.
globalThis.tools = async (...fromOrigins) => (await mc.getTools({fromOrigins})).map((t) => `${t.name}@${label(t.origin)}:${where(t.window)}`).join(' ');
globalThis.pick = async (name, ...fromOrigins) => (await mc.getTools({fromOrigins})).find((t) => t.name === name);
globalThis.call = async (name, from, input, options) => rej(async () => mc.executeTool(await pick(name, from), input, options));
// How the three methods end.
globalThis.three = async () => [
  await rej(() => mc.registerTool(T('three'))), await rej(async () => (await mc.getTools()).length),
  await rej(() => mc.executeTool({name: 'three', description: '', origin: location.origin, window})),
].map((s) => s.replace(/DOMException | in [\w?]+/g, '')).join(' / ');
globalThis.seen = [];
globalThis.until = async (ok) => {
  for (let i = 0; i < 1500 && !ok(); i++) await sleep(5);
  if (!ok()) log('NEVER', String(ok));
};
{
  let n = 0;
  const asked = new Map();
  addEventListener('message', async (e) => {
    const {js, id, answer, out} = e.data ?? {};
    if (answer !== undefined) {
      asked.get(answer)?.(out);
      asked.delete(answer);
    } else if (js !== undefined) {
      let out;
      try {
        out = await (0, eval)('(async () => {' + js + '})()');
      } catch (x) {
        out = 'FAILED ' + x;
      }
      e.source.postMessage({answer: id, out: typeof out === 'string' ? out : show(out)}, '*');
    }
  });
  // Runs js in another document and gives what it returns, as text.
  globalThis.ask = (w, js) => new Promise((done) => {
    const id = origin + Math.random() + n++;
    asked.set(id, done);
    w.postMessage({js, id}, '*');
  });
}
// Opens an agent in a frame. The value is the frame's window, with the element as its
// own second entry: [window, element].
globalThis.popup = globalThis.open.bind(window);
globalThis.open = (src, attributes = {}, path = '/agent') => new Promise((done) => {
  const f = document.createElement('iframe');
  for (const [k, v] of Object.entries(attributes)) f.setAttribute(k, v);
  if (src !== undefined) f.src = src + path;
  addEventListener('message', function ready(e) {
    if (e.data !== 'ready' || e.source !== f.contentWindow) return;
    removeEventListener('message', ready);
    done([f.contentWindow, f]);
  });
  document.body.append(f);
});
if (globalThis.opener || parent !== window) (globalThis.opener ?? parent).postMessage('ready', '*');
